use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};

use super::*;
use rolecall::{Entropy, SeededEntropy};

fn time(at: u64) -> Time {
    Time::from_millis(at)
}

fn done(at: u64, version: u64, value: Option<u64>) -> Completion {
    Completion::Done { at: time(at), incarnation: Incarnation(1), version, value }
}

fn write(value: u64, begun: u64, completion: Completion) -> Operation {
    Operation { client: 1, call: Call::Write(value), begun: time(begun), completion }
}

fn wrote(version: u64, value: u64, begun: u64, at: u64) -> Operation {
    write(value, begun, done(at, version, Some(value)))
}

fn read(version: u64, value: u64, begun: u64, at: u64) -> Operation {
    let value = (version > 0).then_some(value);
    Operation { client: 2, call: Call::Read, begun: time(begun), completion: done(at, version, value) }
}

fn wrong(history: &[Operation]) -> Option<(Time, Anomaly)> {
    check(history, &[]).err().map(|wrong| (wrong.at, wrong.what))
}

#[test]
fn a_leader_that_answers_after_the_next_one_wrote_is_found() {
    let history = [wrote(1, 7, 0, 1), read(1, 7, 2, 3), wrote(2, 8, 4, 5), read(1, 7, 6, 7), read(2, 8, 8, 9)];

    let wrong = check(&history, &[]).expect_err("there is no order");

    assert_eq!((wrong.at, wrong.what), (time(7), Anomaly::Outdated));
    assert_eq!(
        wrong.to_string(),
        "an answer was outdated before it was asked for: client 1 writes 8 as version 2 (0.004 to 0.005 s); client 2 reads 7 as \
         version 1 (0.006 to 0.007 s)"
    );
    assert_eq!(check(&history[..3], &[]), Ok(3));
}

#[test]
fn a_write_that_is_let_in_late_is_found_after_the_next_load() {
    // The storage did the late write between the other two, and the later leader did not notice.
    let history = [wrote(1, 7, 0, 1), write(9, 2, Completion::Unknown), wrote(2, 8, 4, 5), read(3, 8, 6, 7)];
    assert_eq!(wrong(&history), Some((time(7), Anomaly::Ambiguous)));
    // A write that was done twice is found in the same way.
    let twice = [wrote(1, 7, 0, 1), write(9, 2, Completion::Unknown), read(2, 9, 3, 4), read(3, 9, 6, 7)];
    assert_eq!(wrong(&twice), Some((time(7), Anomaly::Ambiguous)));
}

#[test]
fn overlapping_operations_may_have_happened_in_any_order() {
    assert_eq!(check(&[wrote(1, 7, 0, 5), read(0, 0, 1, 2), read(1, 7, 3, 4)], &[]), Ok(3));
    assert_eq!(check(&[wrote(2, 7, 0, 5), wrote(1, 8, 1, 5), read(2, 7, 6, 7)], &[]), Ok(3));
    assert_eq!(wrong(&[wrote(1, 7, 0, 2), wrote(1, 8, 0, 2)]), Some((time(2), Anomaly::Ambiguous)));
}

#[test]
fn a_write_of_unknown_result_may_happen_at_any_time_or_never_but_not_twice() {
    let open = write(9, 2, Completion::Unknown);
    assert_eq!(check(&[wrote(1, 7, 0, 1), open, read(1, 7, 3, 4), read(2, 9, 50, 51)], &[]), Ok(4));
    assert_eq!(check(&[wrote(1, 7, 0, 1), open, read(1, 7, 50, 51)], &[]), Ok(2), "the open one does not count");
    assert_eq!(check(&[wrote(1, 7, 0, 1), open, wrote(3, 8, 3, 4)], &[]), Ok(2), "nobody read it, but it was done");
    assert_eq!(wrong(&[wrote(1, 7, 0, 1), open, wrote(4, 8, 3, 4)]), Some((time(4), Anomaly::Unexplained)));
    assert_eq!(wrong(&[wrote(2, 7, 0, 1), open]), Some((time(1), Anomaly::Unexplained)), "it began too late");
    assert_eq!(wrong(&[read(1, 9, 0, 1), open]), Some((time(1), Anomaly::Unwritten)));
}

#[test]
fn a_write_that_was_refused_is_never_read() {
    let refused = write(7, 0, Completion::Refused);
    assert_eq!(wrong(&[refused, read(1, 7, 2, 3)]), Some((time(3), Anomaly::Unwritten)));
    assert_eq!(check(&[refused, read(0, 0, 2, 3)], &[]), Ok(1));
}

#[test]
fn each_incarnation_of_the_store_has_its_own_register() {
    let elsewhere = |mut operation: Operation| {
        if let Completion::Done { incarnation, .. } = &mut operation.completion {
            *incarnation = Incarnation(2);
        }
        operation
    };
    assert_eq!(check(&[wrote(1, 7, 0, 1), elsewhere(read(0, 0, 2, 3)), read(1, 7, 4, 5)], &[]), Ok(3));
    assert_eq!(wrong(&[wrote(1, 7, 0, 1), elsewhere(read(1, 7, 2, 3))]), Some((time(3), Anomaly::Unwritten)));
}

#[test]
fn reads_while_two_could_lead_do_not_count_and_writes_do() {
    let history = [wrote(1, 7, 0, 1), wrote(2, 8, 4, 5), read(1, 7, 6, 8)];
    assert!(check(&history, &[]).is_err());
    assert_eq!(check(&history, &[(time(7), time(20))]), Ok(2));
    assert!(check(&history, &[(time(9), time(20))]).is_err());
    assert!(check(&[wrote(1, 7, 0, 1), wrote(1, 8, 4, 5)], &[(time(0), time(20))]).is_err());
}

/// Compares the verdicts on small random histories with those of a tester that tries every order.
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

/// Random history whose operations took effect at a random moment between their beginning and their end. Half of the
/// histories are then changed so that they may be wrong.
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
        let (call, is_known) = match kind {
            0 => (Call::Write(value), false),
            1 => (Call::Write(value), true),
            _ => (Call::Read, true),
        };
        if call != Call::Read && (is_known || below(2) == 0) {
            now = (now.0 + 1, Some(value));
        }
        let completion = if is_known { done(at, now.0, now.1) } else { Completion::Unknown };
        history.push(Operation { client: 1, call, begun: time(begun), completion });
    }
    if below(2) == 0 {
        let place = usize::try_from(below(1_000)).unwrap_or(0) % history.len();
        let other = history[usize::try_from(below(1_000)).unwrap_or(0) % history.len()].completion;
        match (&mut history[place], other) {
            (Operation { completion: Completion::Done { version, .. }, .. }, _) if below(2) == 0 => *version += 1,
            (Operation { call: Call::Read, completion, .. }, Completion::Done { .. }) => *completion = other,
            (operation, _) => operation.begun = time(below(12)),
        }
        let begun = history[place].begun;
        if let Completion::Done { at, .. } = &mut history[place].completion {
            *at = begun.max(*at);
        }
    }
    history
}

/// Register that counts its writes.
#[derive(Clone, Debug)]
struct Counting(u64, Option<u64>);

impl SequentialSpec for Counting {
    type Op = Call;
    type Ret = (u64, Option<u64>);

    fn invoke(&mut self, call: &Call) -> Self::Ret {
        if let Call::Write(value) = call {
            *self = Self(self.0 + 1, Some(*value));
        }
        (self.0, self.1)
    }
}

/// Feeds a history to the tester. Each operation is its own thread, so only times order them.
fn tester(history: &[Operation]) -> LinearizabilityTester<usize, Counting> {
    let begun = history.iter().enumerate().map(|(thread, operation)| (operation.begun, false, thread));
    let ended = history.iter().enumerate().filter_map(|(thread, operation)| Some((end(operation)?, true, thread)));
    let mut events: Vec<_> = begun.chain(ended).collect();
    // At the same instant, beginnings come first, so that an operation overlaps with one that ends then.
    events.sort_unstable();
    let mut tester = LinearizabilityTester::new(Counting(0, None));
    for (_, has_ended, thread) in events {
        let Operation { call, completion, .. } = history[thread];
        let noted = match completion {
            Completion::Done { version, value, .. } if has_ended => tester.on_return(thread, (version, value)),
            Completion::Done { .. } | Completion::Unknown | Completion::Refused => tester.on_invoke(thread, call),
        };
        noted.expect("each operation is a thread of its own");
    }
    tester
}
