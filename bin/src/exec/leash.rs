//! Leash: decides in the guard when the programs of one run start, and when they are told to end and killed.
//!
//! ```text
//!   enter hook ──► program ── told to end, or time is short ──► TERM … KILL ──► nothing left ──► leave hook … KILL ──► gone
//! ```

use rolecall::Time;

use super::Limits;
use super::end::{Cause, End};
use super::kills::Kills;
use super::script::Script;

/// Step of a run: one program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Enter,
    Main,
    Leave,
}

/// Event of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// The run begins.
    Begin,
    /// The term was renewed and ends at this time.
    Until(Time),
    /// The run must end in good order.
    Stop(Cause),
    /// The run must end without a grace.
    Kill,
    /// The program of the present step has ended.
    Ended(End),
    /// No process of the run is left.
    Empty,
    /// Time has passed.
    Wake,
}

/// Action of the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Start the program of a step.
    Run(Step),
    /// Ask all processes of the run to end.
    Terminate,
    /// Kill all processes of the run.
    Kill,
    /// Nothing of the run is left: report it, and exit.
    Gone { cause: Cause, end: Option<End> },
}

/// Machine of one run.
#[derive(Clone, Debug)]
pub(super) struct Leash {
    has_enter: bool,
    has_main: bool,
    has_leave: bool,
    limits: Limits,
    /// End of the term; [`Time::MAX`] for a run that has none.
    until: Time,
    phase: Phase,
    cause: Cause,
    end: Option<End>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The first hook runs.
    Entering {
        limit: Time,
    },
    /// The program runs, or the run has none.
    Running,
    /// All were asked to end.
    Stopping {
        kill_at: Time,
    },
    /// All were killed, and are killed again until nothing is left.
    Killing(Kills),
    /// The last hook runs.
    Leaving {
        kill_at: Time,
    },
    /// The last hook is over. What it left behind is killed.
    Sweeping(Kills),
    Gone,
}

impl Leash {
    pub(super) fn new(script: &Script, limits: Limits, until: Option<Time>) -> Self {
        Self {
            has_enter: script.enter.is_some(),
            has_main: script.main.is_some(),
            has_leave: script.leave.is_some(),
            limits,
            until: until.unwrap_or(Time::MAX),
            phase: Phase::Running,
            cause: Cause::Itself,
            end: None,
        }
    }

    /// Handles `event` at `now`.
    pub(super) fn handle(&mut self, now: Time, event: Event, out: &mut Vec<Action>) {
        match event {
            Event::Begin if self.has_enter => {
                self.phase = Phase::Entering { limit: now + self.limits.hook };
                out.push(Action::Run(Step::Enter));
            }
            Event::Begin => self.run(out),
            Event::Until(until) => self.until = until,
            Event::Stop(cause) => self.stop(now, cause, out),
            Event::Kill => match self.phase {
                Phase::Entering { .. } | Phase::Running => {
                    self.cause = Cause::Asked;
                    self.kill(now, out);
                }
                Phase::Stopping { .. } => self.kill(now, out),
                Phase::Killing(_) | Phase::Leaving { .. } | Phase::Sweeping(_) | Phase::Gone => {}
            },
            Event::Ended(end) => self.ended(now, end, out),
            Event::Empty => match self.phase {
                Phase::Stopping { .. } | Phase::Killing(_) if self.has_leave => self.leave(now, out),
                Phase::Stopping { .. } | Phase::Killing(_) | Phase::Sweeping(_) => {
                    self.phase = Phase::Gone;
                    out.push(Action::Gone { cause: self.cause, end: self.end });
                }
                Phase::Entering { .. } | Phase::Running | Phase::Leaving { .. } | Phase::Gone => {}
            },
            Event::Wake => self.wake(now, out),
        }
    }

    /// Time at which the leash must be woken.
    pub(super) fn next_deadline(&self) -> Option<Time> {
        let deadline = match self.phase {
            Phase::Entering { limit } => limit.min(self.stop_at()),
            Phase::Running => self.stop_at(),
            Phase::Stopping { kill_at } | Phase::Leaving { kill_at } => kill_at,
            Phase::Killing(kills) | Phase::Sweeping(kills) => kills.next,
            Phase::Gone => return None,
        };
        (deadline < Time::MAX).then_some(deadline)
    }

    /// True while the leash waits until no process of the run is left.
    pub(super) fn awaits_the_last(&self) -> bool {
        match self.phase {
            Phase::Stopping { .. } | Phase::Killing(_) | Phase::Sweeping(_) => true,
            Phase::Entering { .. } | Phase::Running | Phase::Leaving { .. } | Phase::Gone => false,
        }
    }

    fn run(&mut self, out: &mut Vec<Action>) {
        self.phase = Phase::Running;
        if self.has_main {
            out.push(Action::Run(Step::Main));
        }
    }

    fn wake(&mut self, now: Time, out: &mut Vec<Action>) {
        match self.phase {
            Phase::Entering { .. } | Phase::Running if self.stop_at() <= now => self.stop(now, Cause::Time, out),
            // The hook takes too long, as if it had failed.
            Phase::Entering { limit } if limit <= now => self.stop(now, Cause::Itself, out),
            Phase::Stopping { kill_at } if kill_at <= now => self.kill(now, out),
            Phase::Killing(kills) if kills.next <= now => {
                self.phase = Phase::Killing(kills.after(now));
                out.push(Action::Kill);
            }
            Phase::Leaving { kill_at } if kill_at <= now => self.sweep(now, Kills::from(now), out),
            Phase::Sweeping(kills) if kills.next <= now => self.sweep(now, kills, out),
            Phase::Entering { .. }
            | Phase::Running
            | Phase::Stopping { .. }
            | Phase::Killing(_)
            | Phase::Leaving { .. }
            | Phase::Sweeping(_)
            | Phase::Gone => {}
        }
    }

    fn ended(&mut self, now: Time, end: End, out: &mut Vec<Action>) {
        match self.phase {
            Phase::Entering { .. } if end.is_success() => self.run(out),
            Phase::Entering { .. } | Phase::Running => {
                self.end = Some(end);
                self.stop(now, Cause::Itself, out);
            }
            Phase::Stopping { .. } | Phase::Killing(_) => self.end = self.end.or(Some(end)),
            Phase::Leaving { .. } => self.sweep(now, Kills::from(now), out),
            Phase::Sweeping(_) | Phase::Gone => {}
        }
    }

    fn stop(&mut self, now: Time, cause: Cause, out: &mut Vec<Action>) {
        match self.phase {
            Phase::Entering { .. } | Phase::Running => {
                self.cause = cause;
                let kill_at = (now + self.limits.grace).min(self.kill_by());
                self.phase = Phase::Stopping { kill_at };
                out.push(Action::Terminate);
            }
            Phase::Stopping { .. } | Phase::Killing(_) | Phase::Leaving { .. } | Phase::Sweeping(_) | Phase::Gone => {}
        }
    }

    fn kill(&mut self, now: Time, out: &mut Vec<Action>) {
        self.phase = Phase::Killing(Kills::from(now).after(now));
        out.push(Action::Kill);
    }

    fn leave(&mut self, now: Time, out: &mut Vec<Action>) {
        let (limit, last) = (now + self.limits.hook, self.until - self.limits.reserve);
        // Once the term is over, there is nothing left to be in time for.
        let kill_at = if last > now { limit.min(last) } else { limit };
        self.phase = Phase::Leaving { kill_at };
        out.push(Action::Run(Step::Leave));
    }

    fn sweep(&mut self, now: Time, kills: Kills, out: &mut Vec<Action>) {
        self.phase = Phase::Sweeping(kills.after(now));
        out.push(Action::Kill);
    }

    /// Time at which the run must be told to end unless the term is renewed.
    fn stop_at(&self) -> Time {
        if self.until == Time::MAX { Time::MAX } else { self.until - self.limits.total(self.has_leave) }
    }

    /// Time at which whatever is left must be killed, so that the last hook still has its time.
    fn kill_by(&self) -> Time {
        if self.until == Time::MAX { Time::MAX } else { self.until - self.limits.after_grace(self.has_leave) }
    }
}

#[cfg(test)]
mod tests;
