use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};

use super::*;
use rolecall::{Entropy, SeededEntropy};

fn time(at: u64) -> Time {
    Time::from_millis(at)
}

fn done(at: u64, version: u64, value: Option<u64>) -> Heard {
    Heard::Done { at: time(at), incarnation: Incarnation(1), version, value }
}

fn write(value: u64, begun: u64, heard: Heard) -> Operation {
    Operation { client: 1, asked: Asked::Write(value), begun: time(begun), heard }
}

fn wrote(version: u64, value: u64, begun: u64, at: u64) -> Operation {
    write(value, begun, done(at, version, Some(value)))
}

fn read(version: u64, value: u64, begun: u64, at: u64) -> Operation {
    let value = (version > 0).then_some(value);
    Operation { client: 2, asked: Asked::Read, begun: time(begun), heard: done(at, version, value) }
}

fn wrong(history: &[Operation]) -> Option<(Time, Wrong)> {
    check(history, &[]).err().map(|wrong| (wrong.at, wrong.what))
}

#[test]
fn a_leader_that_answers_after_the_next_one_wrote_is_found() {
    let history = [wrote(1, 7, 0, 1), read(1, 7, 2, 3), wrote(2, 8, 4, 5), read(1, 7, 6, 7), read(2, 8, 8, 9)];

    let wrong = check(&history, &[]).expect_err("there is no order");

    assert_eq!((wrong.at, wrong.what), (time(7), Wrong::Outdated));
    assert_eq!(
        wrong.to_string(),
        "what is told was over before it was asked for: client 1 writes 8 as version 2 (0.004 to 0.005 s); client 2 reads 7 as \
         version 1 (0.006 to 0.007 s)"
    );
    assert_eq!(check(&history[..3], &[]), Ok(3));
}

#[test]
fn a_write_that_is_let_in_late_is_found_after_the_next_load() {
    // The storage did the late one between the two, and nobody told their writer.
    let history = [wrote(1, 7, 0, 1), write(9, 2, Heard::Nothing), wrote(2, 8, 4, 5), read(3, 8, 6, 7)];
    assert_eq!(wrong(&history), Some((time(7), Wrong::Ambiguous)));
    // And so it is found where one was done twice.
    let twice = [wrote(1, 7, 0, 1), write(9, 2, Heard::Nothing), read(2, 9, 3, 4), read(3, 9, 6, 7)];
    assert_eq!(wrong(&twice), Some((time(7), Wrong::Ambiguous)));
}

#[test]
fn what_overlaps_may_have_come_in_any_order() {
    assert_eq!(check(&[wrote(1, 7, 0, 5), read(0, 0, 1, 2), read(1, 7, 3, 4)], &[]), Ok(3));
    assert_eq!(check(&[wrote(2, 7, 0, 5), wrote(1, 8, 1, 5), read(2, 7, 6, 7)], &[]), Ok(3));
    assert_eq!(wrong(&[wrote(1, 7, 0, 2), wrote(1, 8, 0, 2)]), Some((time(2), Wrong::Ambiguous)));
}

#[test]
fn a_write_that_nothing_is_known_of_may_come_at_any_time_or_never_but_once() {
    let open = write(9, 2, Heard::Nothing);
    assert_eq!(check(&[wrote(1, 7, 0, 1), open, read(1, 7, 3, 4), read(2, 9, 50, 51)], &[]), Ok(4));
    assert_eq!(check(&[wrote(1, 7, 0, 1), open, read(1, 7, 50, 51)], &[]), Ok(2), "the open one does not count");
    assert_eq!(check(&[wrote(1, 7, 0, 1), open, wrote(3, 8, 3, 4)], &[]), Ok(2), "nobody read it, but it was done");
    assert_eq!(wrong(&[wrote(1, 7, 0, 1), open, wrote(4, 8, 3, 4)]), Some((time(4), Wrong::Unasked)));
    assert_eq!(wrong(&[wrote(2, 7, 0, 1), open]), Some((time(1), Wrong::Unasked)), "it began too late");
    assert_eq!(wrong(&[read(1, 9, 0, 1), open]), Some((time(1), Wrong::Unwritten)));
}

#[test]
fn a_write_that_was_refused_is_never_read() {
    let refused = write(7, 0, Heard::Refused);
    assert_eq!(wrong(&[refused, read(1, 7, 2, 3)]), Some((time(3), Wrong::Unwritten)));
    assert_eq!(check(&[refused, read(0, 0, 2, 3)], &[]), Ok(1));
}

#[test]
fn each_life_of_the_store_has_a_register_of_its_own() {
    let elsewhere = |mut operation: Operation| {
        if let Heard::Done { incarnation, .. } = &mut operation.heard {
            *incarnation = Incarnation(2);
        }
        operation
    };
    assert_eq!(check(&[wrote(1, 7, 0, 1), elsewhere(read(0, 0, 2, 3)), read(1, 7, 4, 5)], &[]), Ok(3));
    assert_eq!(wrong(&[wrote(1, 7, 0, 1), elsewhere(read(1, 7, 2, 3))]), Some((time(3), Wrong::Unwritten)));
}

#[test]
fn reads_while_two_could_lead_do_not_count_and_writes_do() {
    let history = [wrote(1, 7, 0, 1), wrote(2, 8, 4, 5), read(1, 7, 6, 8)];
    assert!(check(&history, &[]).is_err());
    assert_eq!(check(&history, &[(time(7), time(20))]), Ok(2));
    assert!(check(&history, &[(time(9), time(20))]).is_err());
    assert!(check(&[wrote(1, 7, 0, 1), wrote(1, 8, 4, 5)], &[(time(0), time(20))]).is_err());
}

/// Random small histories, and the verdict of a tester that tries every order.
#[test]
fn the_verdict_is_that_of_a_tester_that_tries_every_order() {
    let mut dice = SeededEntropy::new(7);
    let mut verdicts = [0, 0];
    for _ in 0..30_000 {
        let history = random(&mut dice);
        let expected = tester(&history).is_consistent();
        assert_eq!(check(&history, &[]).is_ok(), expected, "{history:#?}");
        verdicts[usize::from(expected)] += 1;
    }
    assert!(verdicts.iter().all(|count| *count > 5_000), "{verdicts:?}");
}

/// Operations that took effect at a random moment between their begin and their end; half of the histories are spoilt.
fn random(dice: &mut SeededEntropy) -> Vec<Operation> {
    let mut below = |bound: u64| dice.bits() % bound;
    let mut plans: Vec<_> = (0..2 + below(5))
        .map(|value| {
            let begun = below(12);
            let (took_effect, rest) = (begun + below(4), 1 + below(3));
            (took_effect, value, begun, took_effect + rest, below(4))
        })
        .collect();
    plans.sort_unstable();
    let mut now = (0, None);
    let mut history = Vec::new();
    for (_, value, begun, at, kind) in plans {
        let (asked, is_known) = match kind {
            0 => (Asked::Write(value), false),
            1 => (Asked::Write(value), true),
            _ => (Asked::Read, true),
        };
        if asked != Asked::Read && (is_known || below(2) == 0) {
            now = (now.0 + 1, Some(value));
        }
        let heard = if is_known { done(at, now.0, now.1) } else { Heard::Nothing };
        history.push(Operation { client: 1, asked, begun: time(begun), heard });
    }
    if below(2) == 0 {
        let place = usize::try_from(below(1_000)).unwrap_or(0) % history.len();
        let other = history[usize::try_from(below(1_000)).unwrap_or(0) % history.len()].heard;
        match (&mut history[place], other) {
            (Operation { heard: Heard::Done { version, .. }, .. }, _) if below(2) == 0 => *version += 1,
            (Operation { asked: Asked::Read, heard, .. }, Heard::Done { .. }) => *heard = other,
            (operation, _) => operation.begun = time(below(12)),
        }
        let begun = history[place].begun;
        if let Heard::Done { at, .. } = &mut history[place].heard {
            *at = begun.max(*at);
        }
    }
    history
}

/// A register that counts its writes.
#[derive(Clone, Debug)]
struct Counting(u64, Option<u64>);

impl SequentialSpec for Counting {
    type Op = Asked;
    type Ret = (u64, Option<u64>);

    fn invoke(&mut self, asked: &Asked) -> Self::Ret {
        if let Asked::Write(value) = asked {
            *self = Self(self.0 + 1, Some(*value));
        }
        (self.0, self.1)
    }
}

/// Each operation is a thread of its own: only their times order them.
fn tester(history: &[Operation]) -> LinearizabilityTester<usize, Counting> {
    let begun = history.iter().enumerate().map(|(thread, operation)| (operation.begun, false, thread));
    let ended = history.iter().enumerate().filter_map(|(thread, operation)| Some((end(operation)?, true, thread)));
    let mut events: Vec<_> = begun.chain(ended).collect();
    // Of one instant the begins come first, so that they overlap with what ends then.
    events.sort_unstable();
    let mut tester = LinearizabilityTester::new(Counting(0, None));
    for (_, has_ended, thread) in events {
        let Operation { asked, heard, .. } = history[thread];
        let noted = match heard {
            Heard::Done { version, value, .. } if has_ended => tester.on_return(thread, (version, value)),
            Heard::Done { .. } | Heard::Nothing | Heard::Refused => tester.on_invoke(thread, asked),
        };
        noted.expect("each operation is a thread of its own");
    }
    tester
}
