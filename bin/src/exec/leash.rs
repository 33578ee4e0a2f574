//! Leash: decides in the guard when the programs of one run start, and when they are told to end and killed.
//!
//! ```text
//!   enter hook ──► program ── told to end, or time is short ──► TERM … KILL ──► nothing left ──► leave hook … KILL ──► gone
//! ```

use core::time::Duration;

use rolecall::Time;

use super::Limits;
use super::end::{Cause, End};
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
    /// All were killed, and are killed again until nothing is left: a kill may miss a process that was just made.
    Killing {
        again: Time,
        pause: Duration,
    },
    /// The last hook runs.
    Leaving {
        kill_at: Time,
    },
    /// The last hook is over. What it left behind is killed.
    Sweeping {
        again: Time,
        pause: Duration,
    },
    Gone,
}

/// Pause before what is left is killed again, at first.
const PAUSE: Duration = Duration::from_millis(2);
/// Longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

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
                Phase::Killing { .. } | Phase::Leaving { .. } | Phase::Sweeping { .. } | Phase::Gone => {}
            },
            Event::Ended(end) => self.ended(now, end, out),
            Event::Empty => match self.phase {
                Phase::Stopping { .. } | Phase::Killing { .. } if self.has_leave => self.leave(now, out),
                Phase::Stopping { .. } | Phase::Killing { .. } | Phase::Sweeping { .. } => {
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
            Phase::Killing { again, .. } | Phase::Sweeping { again, .. } => again,
            Phase::Gone => return None,
        };
        (deadline < Time::MAX).then_some(deadline)
    }

    /// True while the leash waits until no process of the run is left.
    pub(super) fn awaits_the_last(&self) -> bool {
        match self.phase {
            Phase::Stopping { .. } | Phase::Killing { .. } | Phase::Sweeping { .. } => true,
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
            Phase::Killing { again, pause } if again <= now => {
                out.push(Action::Kill);
                let pause = (pause * 2).min(LONGEST_PAUSE);
                self.phase = Phase::Killing { again: now + pause, pause };
            }
            Phase::Leaving { kill_at } if kill_at <= now => self.sweep(now, PAUSE, out),
            Phase::Sweeping { again, pause } if again <= now => self.sweep(now, (pause * 2).min(LONGEST_PAUSE), out),
            Phase::Entering { .. }
            | Phase::Running
            | Phase::Stopping { .. }
            | Phase::Killing { .. }
            | Phase::Leaving { .. }
            | Phase::Sweeping { .. }
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
            Phase::Stopping { .. } | Phase::Killing { .. } => self.end = self.end.or(Some(end)),
            Phase::Leaving { .. } => self.sweep(now, PAUSE, out),
            Phase::Sweeping { .. } | Phase::Gone => {}
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
            Phase::Stopping { .. }
            | Phase::Killing { .. }
            | Phase::Leaving { .. }
            | Phase::Sweeping { .. }
            | Phase::Gone => {}
        }
    }

    fn kill(&mut self, now: Time, out: &mut Vec<Action>) {
        self.phase = Phase::Killing { again: now + PAUSE, pause: PAUSE };
        out.push(Action::Kill);
    }

    fn leave(&mut self, now: Time, out: &mut Vec<Action>) {
        let (limit, last) = (now + self.limits.hook, self.until - self.limits.reserve);
        // Once the term is over, there is nothing left to be in time for.
        let kill_at = if last > now { limit.min(last) } else { limit };
        self.phase = Phase::Leaving { kill_at };
        out.push(Action::Run(Step::Leave));
    }

    fn sweep(&mut self, now: Time, pause: Duration, out: &mut Vec<Action>) {
        self.phase = Phase::Sweeping { again: now + pause, pause };
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
mod tests {
    use super::*;
    use crate::exec::Words;

    const GRACE: u64 = 3_000;
    const HOOK: u64 = 1_000;
    const RESERVE: u64 = 500;

    fn limits() -> Limits {
        let of = Duration::from_millis;
        Limits { grace: of(GRACE), hook: of(HOOK), reserve: of(RESERVE) }
    }

    fn words() -> Option<Words> {
        Words::exact(vec!["true".into()])
    }

    /// A leash with its time, which renders what it does.
    struct Story {
        leash: Leash,
        now: Time,
    }

    impl Story {
        /// A run that was begun at 1 s, with or without hooks, in a term that ends at `until` (in milliseconds).
        fn begin(script: &Script, until: Option<u64>) -> (Self, Vec<Action>) {
            let leash = Leash::new(script, limits(), until.map(Time::from_millis));
            let mut story = Self { leash, now: Time::from_millis(1_000) };
            let begun = story.on(Event::Begin);
            (story, begun)
        }

        fn program(until: u64) -> Self {
            let script = Script { main: words(), ..Script::default() };
            let (story, begun) = Self::begin(&script, Some(until));
            assert_eq!(begun, [Action::Run(Step::Main)]);
            story
        }

        fn on(&mut self, event: Event) -> Vec<Action> {
            let mut out = Vec::new();
            self.leash.handle(self.now, event, &mut out);
            out
        }

        /// Waits for the next deadline and returns its time in milliseconds, and what is done then.
        fn wait(&mut self) -> (u64, Vec<Action>) {
            self.now = self.leash.next_deadline().expect("something is awaited");
            (self.now.as_nanos() / 1_000_000, self.on(Event::Wake))
        }
    }

    fn gone(cause: Cause, end: Option<End>) -> Vec<Action> {
        vec![Action::Gone { cause, end }]
    }

    const DONE: End = End::Exited(0);
    const TERMED: End = End::Signaled(15);
    const KILLED: End = End::Signaled(9);

    #[test]
    fn a_program_that_ends_by_itself_is_gone_once_nothing_of_it_is_left() {
        let mut story = Story::program(10_000);
        assert_eq!(story.on(Event::Ended(End::Exited(3))), [Action::Terminate], "what it left behind is asked to end");
        assert_eq!(story.wait(), (1_000 + GRACE, vec![Action::Kill]), "and killed after the grace");
        assert_eq!(story.on(Event::Empty), gone(Cause::Itself, Some(End::Exited(3))));
        assert_eq!(story.leash.next_deadline(), None);
    }

    #[test]
    fn a_term_that_is_not_renewed_ends_the_program_before_its_own_end() {
        let mut story = Story::program(10_000);
        assert_eq!(story.wait(), (10_000 - RESERVE - GRACE, vec![Action::Terminate]));
        assert_eq!(story.wait(), (10_000 - RESERVE, vec![Action::Kill]));
        story.on(Event::Ended(KILLED));
        assert_eq!(story.on(Event::Empty), gone(Cause::Time, Some(KILLED)));
    }

    #[test]
    fn a_renewal_moves_the_end_but_saves_no_program_that_was_told_to_end() {
        let mut story = Story::program(10_000);
        assert_eq!(story.on(Event::Until(Time::from_millis(12_000))), []);
        assert_eq!(story.wait(), (12_000 - RESERVE - GRACE, vec![Action::Terminate]));
        assert_eq!(story.on(Event::Until(Time::from_millis(20_000))), []);
        assert_eq!(story.wait(), (12_000 - RESERVE, vec![Action::Kill]));
    }

    #[test]
    fn a_guard_that_wakes_after_the_end_kills_at_once() {
        let mut story = Story::program(10_000);
        story.now = Time::from_millis(60_000);
        assert_eq!(story.on(Event::Wake), [Action::Terminate]);
        assert_eq!(story.on(Event::Wake), [Action::Kill], "without a grace");
    }

    #[test]
    fn a_stop_has_its_grace_but_not_beyond_the_term() {
        let mut story = Story::program(10_000);
        assert_eq!(story.on(Event::Stop(Cause::Asked)), [Action::Terminate]);
        assert_eq!(story.on(Event::Stop(Cause::Orphaned)), [], "it is stopping already");
        assert_eq!(story.leash.next_deadline(), Some(Time::from_millis(1_000 + GRACE)));
        story.on(Event::Ended(TERMED));
        assert_eq!(story.on(Event::Empty), gone(Cause::Asked, Some(TERMED)));

        let mut story = Story::program(2_000);
        story.on(Event::Stop(Cause::Orphaned));
        assert_eq!(story.wait(), (2_000 - RESERVE, vec![Action::Kill]));
    }

    #[test]
    fn a_kill_takes_the_rest_of_the_grace_away_and_is_repeated_until_nothing_is_left() {
        let mut story = Story::program(10_000);
        story.on(Event::Stop(Cause::Asked));
        assert_eq!(story.on(Event::Kill), [Action::Kill]);
        assert_eq!(story.on(Event::Kill), []);
        let waits: Vec<(u64, Vec<Action>)> = (0..8).map(|_| story.wait()).collect();
        assert!(waits.iter().all(|(_, done)| *done == [Action::Kill]), "{waits:?}");
        assert_eq!(waits[7].0 - waits[6].0, 100, "with pauses that grow");
        assert_eq!(story.on(Event::Empty), gone(Cause::Asked, None));
    }

    #[test]
    fn a_worker_has_no_end_but_a_grace() {
        let (mut story, _) = Story::begin(&Script { main: words(), ..Script::default() }, None);
        assert_eq!(story.leash.next_deadline(), None);
        story.on(Event::Stop(Cause::Asked));
        assert_eq!(story.wait(), (1_000 + GRACE, vec![Action::Kill]));
    }

    fn hooked() -> Story {
        let script = Script { enter: words(), main: words(), leave: words() };
        let (story, begun) = Story::begin(&script, Some(10_000));
        assert_eq!(begun, [Action::Run(Step::Enter)]);
        story
    }

    #[test]
    fn hooks_run_before_the_program_and_once_nothing_of_it_is_left() {
        let mut story = hooked();
        assert_eq!(story.on(Event::Empty), [], "this says nothing before the hook's end was told");
        assert_eq!(story.on(Event::Ended(DONE)), [Action::Run(Step::Main)]);
        assert_eq!(story.wait(), (10_000 - RESERVE - HOOK - GRACE, vec![Action::Terminate]));
        assert_eq!(story.wait(), (10_000 - RESERVE - HOOK, vec![Action::Kill]));
        story.on(Event::Ended(KILLED));
        assert_eq!(story.on(Event::Empty), [Action::Run(Step::Leave)]);
        assert_eq!(story.wait(), (10_000 - RESERVE, vec![Action::Kill]), "the hook takes too long");
        assert_eq!(story.on(Event::Ended(KILLED)), []);
        assert_eq!(story.on(Event::Empty), gone(Cause::Time, Some(KILLED)));
    }

    #[test]
    fn a_first_hook_that_fails_or_takes_too_long_ends_the_run_with_its_last_hook() {
        for is_late in [false, true] {
            let mut story = hooked();
            if is_late {
                assert_eq!(story.wait(), (1_000 + HOOK, vec![Action::Terminate]));
                story.on(Event::Ended(TERMED));
            } else {
                assert_eq!(story.on(Event::Ended(End::Exited(1))), [Action::Terminate]);
            }
            assert_eq!(story.on(Event::Empty), [Action::Run(Step::Leave)]);
            assert_eq!(story.on(Event::Ended(DONE)), [Action::Kill], "what the hook left behind");
            let end = if is_late { TERMED } else { End::Exited(1) };
            assert_eq!(story.on(Event::Empty), gone(Cause::Itself, Some(end)));
        }
    }

    #[test]
    fn a_last_hook_that_comes_too_late_still_has_its_limit() {
        let mut story = hooked();
        story.on(Event::Ended(DONE));
        story.now = Time::from_millis(30_000);
        story.on(Event::Kill);
        assert_eq!(story.on(Event::Empty), [Action::Run(Step::Leave)]);
        assert_eq!(story.wait(), (30_000 + HOOK, vec![Action::Kill]));
    }

    #[test]
    fn a_run_without_a_program_lasts_until_it_is_stopped() {
        let script = Script { enter: words(), main: None, leave: words() };
        let (mut story, _) = Story::begin(&script, Some(10_000));
        assert_eq!(story.on(Event::Ended(DONE)), []);
        assert_eq!(story.on(Event::Empty), [], "nothing runs, and the role lasts");
        assert_eq!(story.on(Event::Stop(Cause::Asked)), [Action::Terminate]);
        assert_eq!(story.on(Event::Empty), [Action::Run(Step::Leave)]);
    }
}
