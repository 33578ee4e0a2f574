//! Supervisor: decides which run starts and stops, when a term is given back, when this member stands for the lead, and with what
//! the command ends.

use rolecall::Time;

use super::Limits;
use super::backoff::Backoff;
use super::end::{Cause, End};
use super::script::Role;

/// Event for the supervisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// This member leads, until this time.
    Leads(Time),
    /// The term was renewed until this time.
    Renewed(Time),
    /// The term must end in good order.
    MustEnd,
    /// The term is over.
    Over,
    /// Nothing of the run is left. `bits` are random.
    Gone { cause: Cause, end: Option<End>, bits: u64 },
    /// A signal asks the command to end.
    Shutdown { signal: u8 },
    /// A second signal asks it to end at once.
    Hurry,
    /// The membership has ended by itself.
    Left,
    /// Time has passed.
    Wake,
}

/// Action of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Start the run of a role.
    Start(Role),
    /// End the run in good order.
    Stop,
    /// End the run without a grace.
    Kill,
    /// The guard is late: kill it, with all that it guards.
    Crush,
    /// Give the term back: others may lead.
    GiveBack,
    /// Leave the election, and end the command.
    Finish(Verdict),
}

/// Outcome of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The leader's program has ended, and its end is the command's.
    Ended(End),
    /// The lead was lost, and the command was told not to try again.
    Lost,
    /// A signal ended the command, before its program has run if it runs once only.
    Signaled(u8),
    /// The membership has ended.
    Left,
}

/// Supervisor of one member.
#[derive(Clone, Debug)]
pub(super) struct Supervisor {
    has_worker: bool,
    /// True if the end of the leader's program ends the command.
    is_once: bool,
    /// True if a hook ends each term.
    has_leave: bool,
    limits: Limits,
    term: Term,
    run: Option<Run>,
    leader: Backoff,
    worker: Backoff,
    verdict: Option<Verdict>,
    is_finished: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Term {
    None,
    /// A program may run under it.
    Live {
        until: Time,
    },
    /// Valid, but no program is to be started any more.
    Ending {
        until: Time,
    },
    /// Nothing may run under it.
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    role: Role,
    since: Time,
    stop: Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    No,
    /// The guard must be done at this time.
    Asked {
        by: Time,
    },
    /// The same, without a grace.
    Killed {
        by: Time,
    },
    /// The guard was late, and is killed with all that it guards.
    Crushed,
}

impl Supervisor {
    pub(super) fn new(has_worker: bool, is_once: bool, has_leave: bool, limits: Limits) -> Self {
        Self {
            has_worker,
            is_once,
            has_leave,
            limits,
            term: Term::None,
            run: None,
            leader: Backoff::default(),
            worker: Backoff::default(),
            verdict: None,
            is_finished: false,
        }
    }

    /// Handles `event` at `now`.
    pub(super) fn handle(&mut self, now: Time, event: Event, out: &mut Vec<Action>) {
        match event {
            Event::Leads(until) => self.term = Term::Live { until },
            Event::Renewed(until) => match &mut self.term {
                Term::Live { until: end } | Term::Ending { until: end } => *end = until,
                Term::None | Term::Over => {}
            },
            Event::MustEnd => self.spend(),
            Event::Over => match self.term {
                Term::Live { .. } | Term::Ending { .. } => self.term = Term::Over,
                Term::None | Term::Over => {}
            },
            Event::Gone { cause, end, bits } => self.gone(now, cause, end, bits),
            Event::Shutdown { signal } => self.end(Verdict::Signaled(signal)),
            Event::Hurry => self.kill(now, out),
            Event::Left => {
                self.end(Verdict::Left);
                if self.term != Term::None {
                    self.term = Term::Over;
                }
            }
            Event::Wake => {}
        }
        self.advance(now, out);
    }

    /// True if this member is a candidate.
    pub(super) fn stands(&self, now: Time) -> bool {
        self.term == Term::None && self.verdict.is_none() && self.leader.is_over(now)
    }

    /// Time at which the supervisor must be woken.
    pub(super) fn next_deadline(&self, now: Time) -> Option<Time> {
        let is_idle = self.verdict.is_none() && self.term == Term::None;
        let rests = [
            is_idle.then_some(self.leader.until()),
            (is_idle && self.has_worker && self.run.is_none()).then_some(self.worker.until()),
        ];
        let rests = rests.into_iter().flatten().filter(|until| *until > now);
        rests.chain(self.crush_at()).min()
    }

    /// Moves on from (wanted, actual), one step at a time.
    fn advance(&mut self, now: Time, out: &mut Vec<Action>) {
        if let Some(run) = self.run {
            if self.crush_at().is_some_and(|time| time <= now) {
                self.run = Some(Run { stop: Stop::Crushed, ..run });
                out.push(Action::Crush);
            } else if run.role == Role::Leader && self.term == Term::Over {
                self.kill(now, out);
            } else if self.wanted() != Some(run.role) && run.stop == Stop::No {
                let by = now + self.limits.total(self.has_leave);
                self.run = Some(Run { stop: Stop::Asked { by }, ..run });
                out.push(Action::Stop);
            }
            return;
        }
        let is_spent = match self.term {
            Term::None => false,
            Term::Live { .. } => self.verdict.is_some(),
            Term::Ending { .. } | Term::Over => true,
        };
        if is_spent {
            self.term = Term::None;
            out.push(Action::GiveBack);
        }
        if let Some(verdict) = self.verdict {
            if !self.is_finished {
                self.is_finished = true;
                out.push(Action::Finish(verdict));
            }
            return;
        }
        let wanted = self.wanted().filter(|role| match role {
            Role::Leader => true,
            Role::Worker => self.worker.is_over(now),
        });
        if let Some(role) = wanted {
            self.run = Some(Run { role, since: now, stop: Stop::No });
            out.push(Action::Start(role));
        }
    }

    /// Role whose program is to run.
    fn wanted(&self) -> Option<Role> {
        if self.verdict.is_some() {
            return None;
        }
        match self.term {
            Term::Live { .. } => Some(Role::Leader),
            Term::None | Term::Ending { .. } | Term::Over => self.has_worker.then_some(Role::Worker),
        }
    }

    fn gone(&mut self, now: Time, cause: Cause, end: Option<End>, bits: u64) {
        let Some(run) = self.run.take() else { return };
        let ended_itself = match cause {
            Cause::Itself => end,
            Cause::Asked | Cause::Time | Cause::Orphaned => None,
        };
        match run.role {
            Role::Leader => {
                self.spend();
                if ended_itself.is_some() {
                    self.leader.ended(now, now.since(run.since), bits);
                }
                if self.is_once {
                    self.end_once(ended_itself, end);
                }
            }
            Role::Worker if ended_itself.is_some() => self.worker.ended(now, now.since(run.since), bits),
            Role::Worker => {}
        }
    }

    /// Ends a command whose program runs once. `ended_itself` is the program's end if nobody asked for it.
    fn end_once(&mut self, ended_itself: Option<End>, end: Option<End>) {
        match (ended_itself, self.verdict, end) {
            (Some(end), _, _) | (None, Some(Verdict::Signaled(_)), Some(end)) => {
                self.verdict = Some(Verdict::Ended(end))
            }
            (None, None, _) => self.verdict = Some(Verdict::Lost),
            (None, Some(_), _) => {}
        }
    }

    /// Lets nothing more be started under the term.
    fn spend(&mut self) {
        if let Term::Live { until } = self.term {
            self.term = Term::Ending { until };
        }
    }

    fn end(&mut self, verdict: Verdict) {
        self.verdict = self.verdict.or(Some(verdict));
    }

    fn kill(&mut self, now: Time, out: &mut Vec<Action>) {
        let Some(run) = &mut self.run else { return };
        match run.stop {
            Stop::No | Stop::Asked { .. } => {
                let by = now + self.limits.after_grace(self.has_leave);
                run.stop = Stop::Killed { by };
                out.push(Action::Kill);
            }
            Stop::Killed { .. } | Stop::Crushed => {}
        }
    }

    /// Time at which a guard is late: half of the reserve after its own last kill, while the term still lasts as long.
    fn crush_at(&self) -> Option<Time> {
        let run = self.run?;
        let asked = match run.stop {
            Stop::No => Time::MAX,
            Stop::Asked { by } | Stop::Killed { by } => by,
            Stop::Crushed => return None,
        };
        let term = match (run.role, self.term) {
            (Role::Leader, Term::Live { until } | Term::Ending { until }) => until - self.limits.reserve / 2,
            (Role::Leader, Term::None | Term::Over) | (Role::Worker, _) => Time::MAX,
        };
        let time = asked.min(term);
        (time < Time::MAX).then_some(time)
    }
}

impl Verdict {
    /// Exit code of the command, where it is decided by the programs.
    pub(super) fn code(self, is_once: bool) -> u8 {
        /// EX_TEMPFAIL of sysexits.h: try again later.
        const LOST: u8 = 75;
        match self {
            Self::Ended(end) => end.code(),
            Self::Lost => LOST,
            Self::Signaled(signal) if is_once => End::Signaled(signal).code(),
            Self::Signaled(_) | Self::Left => 0,
        }
    }
}

#[cfg(test)]
mod tests;
