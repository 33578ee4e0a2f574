//! The services of a node: desired against actual, and the ordered steps between them.

use core::time::Duration;

use crate::pass::{Backoff, Soonest};
use crate::rename::{Rename, Renamer, TimeKind};
use crate::{Action, Config, Fence, Run, Sink, Time, Timer, Violation};

/// The role that a node serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Role {
    /// No role, yet or any more.
    #[default]
    None,
    /// Answers tasks.
    Worker,
    /// Coordinates.
    Leader,
}

/// The role that a node should serve, and the term of a leader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Duty {
    #[default]
    None,
    Worker,
    Leader(Fence),
}

impl Duty {
    pub(crate) fn role(self) -> Role {
        match self {
            Self::None => Role::None,
            Self::Worker => Role::Worker,
            Self::Leader(_) => Role::Leader,
        }
    }

    pub(crate) fn fence(self) -> Option<Fence> {
        match self {
            Self::Leader(fence) => Some(fence),
            Self::None | Self::Worker => None,
        }
    }
}

/// The service that runs, starts or stops. There is room for one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Services {
    phase: Phase,
    last_run: Run,
    /// Failures to start the present duty.
    failing: Option<Failing>,
    backoff: Backoff,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Starting { run: Run, duty: Duty, deadline: Time },
    Running { run: Run, duty: Duty },
    Stopping { run: Run, duty: Duty, drain_until: Time, halt_at: Time },
}

/// A duty since its first start, while it is not served.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Failing {
    duty: Duty,
    since: Time,
    failures: u8,
}

/// Conditions for a step towards a duty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    pub(crate) duty: Duty,
    /// True if the registries let the service start.
    pub(crate) may_start: bool,
    /// True if the term of a leader's service is over, so that the service stops at once, without draining.
    pub(crate) term_over: bool,
}

impl Services {
    /// Number of failed starts after which a leader resigns.
    const FAILURES: u8 = 3;

    pub(crate) fn new() -> Self {
        Self { phase: Phase::Idle, last_run: Run(0), failing: None, backoff: Backoff::default() }
    }

    /// The duty that is served.
    pub(crate) fn serving(&self) -> Duty {
        match self.phase {
            Phase::Running { duty, .. } => duty,
            Phase::Idle | Phase::Starting { .. } | Phase::Stopping { .. } => Duty::None,
        }
    }

    /// The duty that is served, starts, or stops.
    pub(crate) fn occupied_by(&self) -> Duty {
        match self.phase {
            Phase::Idle => Duty::None,
            Phase::Starting { duty, .. } | Phase::Running { duty, .. } | Phase::Stopping { duty, .. } => duty,
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.phase == Phase::Idle
    }

    /// Number of times in a row that the present duty could not be started.
    pub(crate) fn failures(&self) -> u8 {
        self.failing.as_ref().map_or(0, |failing| failing.failures)
    }

    /// True if a leader has tried for long enough: three starts, or the time limit of one.
    pub(crate) fn has_failed_to_lead(&self, now: Time, config: &Config) -> bool {
        self.failing.as_ref().is_some_and(|failing| {
            failing.duty.role() == Role::Leader
                && (failing.failures >= Self::FAILURES || failing.since + config.start_limit <= now)
        })
    }

    pub(crate) fn started(&mut self, run: Run) {
        if let Phase::Starting { run: starting, duty, .. } = self.phase
            && starting == run
        {
            self.phase = Phase::Running { run, duty };
            self.failing = None;
            self.backoff.clear();
        }
    }

    pub(crate) fn failed(&mut self, now: Time, run: Run) {
        match self.phase {
            Phase::Starting { run: current, duty, .. } | Phase::Running { run: current, duty } if current == run => {
                self.phase = Phase::Idle;
                self.note_failure(now, duty);
            }
            Phase::Stopping { run: current, .. } if current == run => self.phase = Phase::Idle,
            Phase::Idle | Phase::Starting { .. } | Phase::Running { .. } | Phase::Stopping { .. } => {}
        }
    }

    fn note_failure(&mut self, now: Time, duty: Duty) {
        let failing = self.failing.get_or_insert(Failing { duty, since: now, failures: 0 });
        failing.failures = failing.failures.saturating_add(1);
        self.backoff.fail(now);
    }

    pub(crate) fn stopped(&mut self, run: Run) {
        if let Phase::Stopping { run: current, .. } = self.phase
            && current == run
        {
            self.phase = Phase::Idle;
        }
    }

    /// Takes one step towards the duty.
    ///
    /// # Errors
    /// A stop has outlasted its drain and its grace.
    pub(crate) fn advance<S: Sink>(
        &mut self,
        now: Time,
        config: &Config,
        conditions: Conditions,
        out: &mut S,
    ) -> Result<(), Violation> {
        self.failing.take_if(|failing| failing.duty != conditions.duty);
        self.backoff.holds(now);
        match self.phase {
            Phase::Idle => self.start(now, config, conditions, out),
            Phase::Starting { run, duty, deadline } => {
                if duty != conditions.duty {
                    self.stop(now, config, run, duty, conditions.term_over, out);
                } else if deadline <= now {
                    self.note_failure(now, duty);
                    self.stop(now, config, run, duty, true, out);
                }
            }
            Phase::Running { run, duty } => {
                if duty != conditions.duty {
                    self.stop(now, config, run, duty, conditions.term_over, out);
                }
            }
            Phase::Stopping { run, duty, drain_until, halt_at } => {
                if halt_at <= now {
                    return Err(Violation::StopOverran);
                }
                if conditions.term_over && duty.role() == Role::Leader && now < drain_until {
                    self.stop(now, config, run, duty, true, out);
                }
            }
        }
        Ok(())
    }

    fn start<S: Sink>(&mut self, now: Time, config: &Config, conditions: Conditions, out: &mut S) {
        let duty = conditions.duty;
        if duty == Duty::None || !conditions.may_start {
            return;
        }
        self.failing.get_or_insert(Failing { duty, since: now, failures: 0 });
        if self.backoff.holds(now) {
            return;
        }
        self.last_run = Run(self.last_run.0.wrapping_add(1));
        let run = self.last_run;
        self.phase = Phase::Starting { run, duty, deadline: now + config.start_limit };
        out.push(Action::StartService { run, role: duty.role(), fence: duty.fence() });
    }

    fn stop<S: Sink>(&mut self, now: Time, config: &Config, run: Run, duty: Duty, at_once: bool, out: &mut S) {
        let drain = if at_once { Duration::ZERO } else { config.drain };
        let drain_until = now + drain;
        self.phase = Phase::Stopping { run, duty, drain_until, halt_at: drain_until + config.stop_grace };
        out.push(Action::StopService { run, drain_until });
    }

    pub(crate) fn deadlines(&self, config: &Config, soonest: &mut Soonest) {
        match self.phase {
            Phase::Idle => {
                soonest.retry(&self.backoff);
                self.resignation(config, soonest);
            }
            Phase::Starting { deadline, .. } => {
                soonest.consider(deadline, Timer::Service);
                self.resignation(config, soonest);
            }
            Phase::Running { .. } => {}
            Phase::Stopping { halt_at, .. } => soonest.consider(halt_at, Timer::Service),
        }
    }

    /// Considers the time at which a leader that does not serve resigns.
    fn resignation(&self, config: &Config, soonest: &mut Soonest) {
        if let Some(failing) = self.failing.as_ref().filter(|failing| failing.duty.role() == Role::Leader) {
            soonest.consider(failing.since + config.start_limit, Timer::Service);
        }
    }
}

impl Rename for Duty {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Leader(fence) => fence.rename(renamer),
            Self::None | Self::Worker => {}
        }
    }
}

impl Rename for Services {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        renamer.last_run(&mut self.last_run, self.phase != Phase::Idle);
        match &mut self.phase {
            Phase::Idle => {}
            Phase::Starting { run, duty, deadline } => {
                renamer.run(run);
                duty.rename(renamer);
                renamer.time(TimeKind::Deadline(Timer::Service), deadline);
            }
            Phase::Running { run, duty } => {
                renamer.run(run);
                duty.rename(renamer);
            }
            Phase::Stopping { run, duty, drain_until, halt_at } => {
                renamer.run(run);
                duty.rename(renamer);
                renamer.time(TimeKind::Limit, drain_until);
                renamer.time(TimeKind::Deadline(Timer::Service), halt_at);
            }
        }
        if let Some(failing) = &mut self.failing {
            failing.duty.rename(renamer);
            renamer.time(TimeKind::Past, &mut failing.since);
        }
        self.backoff.rename(renamer);
    }
}
