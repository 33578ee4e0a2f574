use core::time::Duration;

use proptest::prelude::*;

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

/// Event from outside that a run meets, beside the time that passes.
#[derive(Clone, Copy, Debug)]
enum Happening {
    Renewal,
    Stop,
    Kill,
    End(bool),
    Nothing,
}

fn happening() -> impl Strategy<Value = (u64, Happening)> {
    let kind = prop_oneof![
        4 => Just(Happening::Renewal),
        1 => Just(Happening::Stop),
        1 => Just(Happening::Kill),
        2 => any::<bool>().prop_map(Happening::End),
        2 => Just(Happening::Nothing),
    ];
    (1..2_000_u64, kind)
}

/// Processes of a run, which heed a SIGTERM or do not, and always a SIGKILL.
#[derive(Debug, Default)]
struct Processes {
    /// True while the program of the step lives.
    current: bool,
    /// True while others live that it has made.
    others: bool,
}

proptest! {
    /// Whatever happens, a guard that is woken on time has ended everything by the reserve before the end of the term, runs the last
    /// hook exactly once if there is one, after everything else, and says exactly once that nothing is left.
    #[test]
    fn nothing_of_a_run_outlives_its_term(
        has in any::<[bool; 3]>(),
        heeds in any::<bool>(),
        makes_others in any::<bool>(),
        // From a term that is too short for the grace to one that is long enough for everything.
        validity in RESERVE + HOOK + 1..RESERVE + 2 * HOOK + GRACE,
        happenings in proptest::collection::vec(happening(), 0..24),
    ) {
        let [enter, main, leave] = has.map(|has| if has { words() } else { None });
        let script = Script { enter, main, leave };
        let (mut now, mut until) = (1_000, 1_000 + validity);
        let mut leash = Leash::new(&script, limits(), Some(Time::from_millis(until)));
        let (mut processes, mut told, mut events) = (Processes::default(), Vec::new(), vec![Event::Begin]);
        // The end of the happenings is followed by the end of the term.
        for (pause, happening) in happenings.into_iter().chain([(60_000, Happening::Nothing)]) {
            let next = now + pause;
            loop {
                while let Some(event) = events.pop() {
                    let mut out = Vec::new();
                    leash.handle(Time::from_millis(now), event, &mut out);
                    for action in &out {
                        let ends = match action {
                            Action::Run(step) => {
                                let is_clean = !processes.current && (*step == Step::Main || !processes.others);
                                prop_assert!(is_clean, "{step:?} beside {processes:?}");
                                processes = Processes { current: true, others: makes_others || processes.others };
                                false
                            }
                            Action::Terminate => heeds,
                            Action::Kill => true,
                            Action::Gone { .. } => {
                                prop_assert!(!processes.current && !processes.others, "{processes:?}");
                                false
                            }
                        };
                        if ends {
                            processes.others = false;
                            if core::mem::take(&mut processes.current) {
                                events.push(Event::Ended(KILLED));
                            }
                        }
                    }
                    told.extend(out);
                    if events.is_empty() && !processes.current && !processes.others && leash.awaits_the_last() {
                        events.push(Event::Empty);
                    }
                }
                let is_left = processes.current || processes.others;
                prop_assert!(now <= until - RESERVE || !is_left, "{processes:?} at {now}, term until {until}");
                let Some(deadline) = leash.next_deadline().map(|time| time.as_nanos() / 1_000_000) else { break };
                if deadline > next {
                    break;
                }
                now = now.max(deadline);
                events.push(Event::Wake);
            }
            now = next;
            match happening {
                Happening::Renewal if now < until => {
                    until = until.max(now + validity);
                    events.push(Event::Until(Time::from_millis(until)));
                }
                Happening::Stop => events.push(Event::Stop(Cause::Asked)),
                Happening::Kill => events.push(Event::Kill),
                Happening::End(well) if core::mem::take(&mut processes.current) => {
                    events.push(Event::Ended(if well { DONE } else { KILLED }));
                }
                Happening::Renewal | Happening::End(_) | Happening::Nothing => {}
            }
        }
        let count = |wanted: fn(&Action) -> bool| told.iter().filter(|action| wanted(action)).count();
        prop_assert_eq!(count(|action| matches!(action, Action::Gone { .. })), 1, "{:?}", told);
        let hooks = count(|action| *action == Action::Run(Step::Leave));
        prop_assert_eq!(hooks, usize::from(script.leave.is_some()), "{:?}", told);
        prop_assert!(matches!(told.last(), Some(Action::Gone { .. })), "{told:?}");
    }
}
