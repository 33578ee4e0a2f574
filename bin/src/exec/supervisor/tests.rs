use core::time::Duration;

use proptest::prelude::*;

use super::*;

const GRACE: u64 = 3_000;
const RESERVE: u64 = 500;
const START: u64 = 1_000;

/// A supervisor with its time, in milliseconds.
struct Story {
    supervisor: Supervisor,
    now: u64,
}

impl Story {
    fn new(has_worker: bool, is_once: bool) -> Self {
        let of = Duration::from_millis;
        let limits = Limits { grace: of(GRACE), hook: Duration::ZERO, reserve: of(RESERVE) };
        Self { supervisor: Supervisor::new(has_worker, is_once, false, limits), now: START }
    }

    /// A member without a worker's program that leads until `until`, and whose program runs.
    fn leader(is_once: bool, until: u64) -> Self {
        let mut story = Self::new(false, is_once);
        assert_eq!(story.on(Event::Wake), []);
        assert!(story.stands());
        assert_eq!(story.on(Event::Leads(Time::from_millis(until))), [Action::Start(Role::Leader)]);
        assert!(!story.stands());
        story
    }

    fn on(&mut self, event: Event) -> Vec<Action> {
        let mut out = Vec::new();
        self.supervisor.handle(Time::from_millis(self.now), event, &mut out);
        out
    }

    fn stands(&self) -> bool {
        self.supervisor.stands(Time::from_millis(self.now))
    }

    fn deadline(&self) -> Option<u64> {
        let deadline = self.supervisor.next_deadline(Time::from_millis(self.now));
        deadline.map(|time| time.as_nanos() / 1_000_000)
    }

    fn wait(&mut self) -> Vec<Action> {
        self.now = self.deadline().expect("something is awaited");
        self.on(Event::Wake)
    }
}

fn gone(cause: Cause, end: End) -> Event {
    Event::Gone { cause, end: Some(end), bits: 0 }
}

const DONE: End = End::Exited(0);
const FAILED: End = End::Exited(3);
const TERMED: End = End::Signaled(15);
const TERM: u8 = 15;

#[test]
fn a_program_that_ends_gives_the_lead_back_at_once_and_rests_while_others_may_lead() {
    let mut story = Story::leader(false, 10_000);
    assert_eq!(story.on(gone(Cause::Itself, DONE)), [Action::GiveBack]);
    assert!(!story.stands());
    assert_eq!(story.deadline(), Some(START + 500));
    assert_eq!(story.wait(), []);
    assert!(story.stands());
    // The second rest is twice as long.
    story.on(Event::Leads(Time::from_millis(20_000)));
    assert_eq!(story.on(gone(Cause::Itself, FAILED)), [Action::GiveBack]);
    assert_eq!(story.deadline(), Some(START + 500 + 1_000));
}

#[test]
fn a_workers_program_is_gone_before_the_leaders_starts_and_comes_back_after_the_term() {
    let mut story = Story::new(true, false);
    assert_eq!(story.on(Event::Wake), [Action::Start(Role::Worker)]);
    assert!(story.stands());
    assert_eq!(story.on(Event::Leads(Time::from_millis(10_000))), [Action::Stop]);
    assert_eq!(story.on(Event::Wake), [], "it is told once");
    assert_eq!(story.on(gone(Cause::Asked, TERMED)), [Action::Start(Role::Leader)]);
    assert_eq!(story.on(Event::MustEnd), [Action::Stop]);
    assert_eq!(story.on(gone(Cause::Asked, TERMED)), [Action::GiveBack, Action::Start(Role::Worker)]);
    assert!(story.stands(), "who was asked to resign needs no rest");
}

#[test]
fn a_workers_program_that_ends_rests_and_the_member_may_lead_meanwhile() {
    let mut story = Story::new(true, false);
    story.on(Event::Wake);
    assert_eq!(story.on(gone(Cause::Itself, FAILED)), []);
    assert!(story.stands());
    assert_eq!(story.wait(), [Action::Start(Role::Worker)]);
    story.on(gone(Cause::Itself, FAILED));
    assert_eq!(story.on(Event::Leads(Time::from_millis(10_000))), [Action::Start(Role::Leader)]);
}

#[test]
fn a_term_that_ends_while_the_worker_still_stops_starts_no_leader() {
    let mut story = Story::new(true, false);
    story.on(Event::Wake);
    story.on(Event::Leads(Time::from_millis(10_000)));
    assert_eq!(story.on(Event::Over), []);
    assert_eq!(story.on(gone(Cause::Asked, TERMED)), [Action::GiveBack, Action::Start(Role::Worker)]);
}

#[test]
fn a_term_that_is_over_takes_the_grace_away() {
    let mut story = Story::leader(false, 10_000);
    assert_eq!(story.on(Event::MustEnd), [Action::Stop]);
    assert_eq!(story.on(Event::Over), [Action::Kill]);
    assert_eq!(story.on(Event::Over), []);
    assert_eq!(story.on(gone(Cause::Asked, End::Signaled(9))), [Action::GiveBack]);
    assert!(story.stands());
}

#[test]
fn a_guard_that_is_late_is_killed_before_the_term_ends() {
    let mut story = Story::leader(false, 10_000);
    assert_eq!(story.on(Event::Renewed(Time::from_millis(12_000))), []);
    assert_eq!(story.deadline(), Some(12_000 - RESERVE / 2));
    assert_eq!(story.wait(), [Action::Crush]);
    assert_eq!(story.on(Event::Over), [], "there is nobody to order");
    assert_eq!(story.on(gone(Cause::Time, End::Signaled(9))), [Action::GiveBack]);
}

#[test]
fn a_guard_that_does_not_obey_is_killed_though_the_term_lasts() {
    let mut story = Story::leader(false, 100_000);
    assert_eq!(story.on(Event::Shutdown { signal: TERM }), [Action::Stop]);
    assert_eq!(story.deadline(), Some(START + GRACE + RESERVE));
    assert_eq!(story.wait(), [Action::Crush]);
}

#[test]
fn a_signal_ends_the_program_then_the_term_then_the_command() {
    let mut story = Story::leader(false, 10_000);
    assert_eq!(story.on(Event::Shutdown { signal: TERM }), [Action::Stop]);
    assert_eq!(story.on(Event::Hurry), [Action::Kill]);
    let end = Action::Finish(Verdict::Signaled(TERM));
    assert_eq!(story.on(gone(Cause::Asked, TERMED)), [Action::GiveBack, end]);
    assert_eq!(story.on(Event::Wake), [], "it ends once");
    assert_eq!((Verdict::Signaled(TERM).code(false), story.deadline()), (0, None));

    let mut idle = Story::new(false, false);
    assert_eq!(idle.on(Event::Shutdown { signal: TERM }), [end]);
}

#[test]
fn a_membership_that_has_ended_takes_the_program_with_it() {
    let mut story = Story::leader(false, 10_000);
    assert_eq!(story.on(Event::Left), [Action::Kill]);
    assert_eq!(story.on(gone(Cause::Asked, TERMED)), [Action::GiveBack, Action::Finish(Verdict::Left)]);
}

#[test]
fn the_end_of_a_program_that_runs_once_is_that_of_the_command() {
    for (end, code) in [(DONE, 0), (FAILED, 3), (TERMED, 143)] {
        let mut story = Story::leader(true, 10_000);
        let verdict = Verdict::Ended(end);
        assert_eq!(story.on(gone(Cause::Itself, end)), [Action::GiveBack, Action::Finish(verdict)]);
        assert_eq!(verdict.code(true), code);
        assert!(!story.stands());
    }
}

#[test]
fn a_lost_lead_ends_a_command_that_runs_once() {
    for cause in [Cause::Time, Cause::Asked] {
        let mut story = Story::leader(true, 10_000);
        story.on(Event::MustEnd);
        assert_eq!(story.on(gone(cause, TERMED)), [Action::GiveBack, Action::Finish(Verdict::Lost)]);
        assert_eq!(Verdict::Lost.code(true), 75);
    }
}

#[test]
fn a_signal_to_a_command_that_runs_once_passes_on_the_programs_end() {
    let mut story = Story::leader(true, 10_000);
    story.on(Event::Shutdown { signal: TERM });
    assert_eq!(story.on(gone(Cause::Asked, FAILED)), [Action::GiveBack, Action::Finish(Verdict::Ended(FAILED))]);

    let mut idle = Story::new(false, true);
    assert_eq!(idle.on(Event::Shutdown { signal: TERM }), [Action::Finish(Verdict::Signaled(TERM))]);
    assert_eq!(Verdict::Signaled(TERM).code(true), 143);
}

/// Kind of an event, to be made into one that the driver could send in the present state.
fn kind() -> impl Strategy<Value = (u64, u8, bool)> {
    (0..5_000_u64, 0..8_u8, any::<bool>())
}

proptest! {
    /// Whatever happens, one run at most is under way and is told to end once it is out of place, a leader's run starts under a term
    /// that lasts and is gone before the term is given back, the command ends once and with nothing left, and a quiet supervisor has
    /// a reason.
    #[test]
    fn a_leaders_run_lies_within_its_term(
        has_worker in any::<bool>(),
        is_once in any::<bool>(),
        kinds in proptest::collection::vec(kind(), 0..60),
    ) {
        let mut story = Story::new(has_worker, is_once);
        let (mut term, mut run, mut is_told, mut finished, mut is_ending) = (None, None, false, false, false);
        let events = core::iter::once((0, 7, false)).chain(kinds);
        for (pause, kind, flag) in events {
            let next = story.now + pause;
            story.now = story.deadline().map_or(next, |deadline| next.min(deadline.max(story.now)));
            let later = Time::from_millis(story.now + 6_000);
            let event = match kind {
                0 if story.stands() => {
                    term = Some(true);
                    Event::Leads(later)
                }
                1 if term == Some(true) => Event::Renewed(later),
                2 if term.is_some() => {
                    term = Some(false);
                    if flag { Event::MustEnd } else { Event::Over }
                }
                3 | 4 if run.is_some() => {
                    if run.take() == Some(Role::Leader) {
                        term = term.map(|_| false);
                    }
                    let cause = if flag { Cause::Itself } else { Cause::Asked };
                    Event::Gone { cause, end: Some(FAILED), bits: pause }
                }
                5 if is_ending => Event::Hurry,
                5 if flag => {
                    is_ending = true;
                    Event::Shutdown { signal: TERM }
                }
                _ => Event::Wake,
            };
            for action in story.on(event) {
                prop_assert!(!finished, "{action:?} after the end");
                match action {
                    Action::Start(role) => {
                        prop_assert_eq!(run, None);
                        prop_assert!(!is_ending && (role == Role::Worker || term == Some(true)), "{:?} {:?}", role, term);
                        (run, is_told) = (Some(role), false);
                    }
                    Action::Stop | Action::Kill | Action::Crush => {
                        prop_assert!(run.is_some());
                        is_told = true;
                    }
                    Action::GiveBack => {
                        prop_assert!(run.is_none() && term.is_some());
                        term = None;
                    }
                    Action::Finish(_) => {
                        prop_assert!(run.is_none() && term.is_none());
                        finished = true;
                    }
                }
            }
            let is_in_place = match run {
                Some(Role::Leader) => term == Some(true) && !is_ending,
                Some(Role::Worker) => term != Some(true) && !is_ending,
                None => true,
            };
            prop_assert!(is_in_place || is_told, "{run:?} {term:?}");
            let has_reason = finished || run.is_some() || story.stands() || story.deadline().is_some();
            prop_assert!(has_reason, "{:?}", story.supervisor);
        }
    }
}
