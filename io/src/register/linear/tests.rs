use stateright::semantics::register::{Register, RegisterOp, RegisterRet};
use stateright::semantics::{ConsistencyTester, LinearizabilityTester};

use super::*;
use crate::{Entropy, SeededEntropy};

fn time(at: u64) -> Time {
    Time::from_millis(at)
}

fn done(at: u64, value: Option<u64>) -> Heard {
    Heard::Done { at: time(at), incarnation: Incarnation(1), value }
}

fn write(value: u64, begun: u64, heard: Heard) -> Operation {
    Operation { client: 1, asked: Asked::Write(value), begun: time(begun), heard }
}

fn wrote(value: u64, begun: u64, at: u64) -> Operation {
    write(value, begun, done(at, Some(value)))
}

fn read(value: Option<u64>, begun: u64, at: u64) -> Operation {
    Operation { client: 2, asked: Asked::Read, begun: time(begun), heard: done(at, value) }
}

#[test]
fn a_value_that_comes_back_after_another_was_seen_has_no_order() {
    let history = [wrote(7, 0, 1), read(Some(7), 2, 3), wrote(8, 4, 5), read(Some(7), 6, 7), read(Some(8), 8, 9)];

    let wrong = check(&history, &[]).expect_err("there is no order");

    assert_eq!((wrong.at, wrong.what), (time(7), Wrong::Interrupted));
    assert_eq!(
        wrong.to_string(),
        "another value is seen while the register held one throughout: client 1 writes 7 (0.000 to 0.001 s); client 1 \
         writes 8 (0.004 to 0.005 s); client 2 reads 7 (0.006 to 0.007 s)"
    );
    assert_eq!(check(&history[..3], &[]), Ok(3));
}

#[test]
fn what_overlaps_may_have_come_in_any_order_but_in_one_for_all() {
    assert_eq!(check(&[wrote(7, 0, 5), read(None, 1, 2), read(Some(7), 3, 4)], &[]), Ok(3));
    assert_eq!(check(&[wrote(7, 0, 5), wrote(8, 1, 5), read(Some(7), 6, 7)], &[]), Ok(3));
    let flickers = [wrote(7, 0, 5), wrote(8, 1, 5), read(Some(7), 6, 7), read(Some(8), 8, 9)];
    assert!(check(&flickers, &[]).is_err());
}

#[test]
fn a_write_that_nothing_is_known_of_may_come_at_any_time_or_never_but_once() {
    let open = write(9, 2, Heard::Nothing);
    assert_eq!(check(&[wrote(7, 0, 1), open, read(Some(7), 3, 4), read(Some(9), 50, 51)], &[]), Ok(4));
    assert_eq!(check(&[wrote(7, 0, 1), open, read(Some(7), 50, 51)], &[]), Ok(2), "the open one does not count");
    let undone = [wrote(7, 0, 1), open, read(Some(9), 3, 4), read(Some(7), 5, 6)];
    assert_eq!(check(&undone, &[]).map_err(|wrong| wrong.at), Err(time(6)));
    let early = [read(Some(9), 0, 1), open];
    assert_eq!(check(&early, &[]).map_err(|wrong| wrong.what), Err(Wrong::Unwritten));
}

#[test]
fn a_write_that_was_refused_is_never_read() {
    let history = [write(7, 0, Heard::Refused), read(Some(7), 2, 3)];
    assert_eq!(check(&history, &[]).map_err(|wrong| (wrong.at, wrong.what)), Err((time(3), Wrong::Unwritten)));
    assert_eq!(check(&[write(7, 0, Heard::Refused), read(None, 2, 3)], &[]), Ok(1));
}

#[test]
fn each_life_of_the_store_has_a_register_of_its_own() {
    let elsewhere = |mut operation: Operation| {
        if let Heard::Done { incarnation, .. } = &mut operation.heard {
            *incarnation = Incarnation(2);
        }
        operation
    };
    let history = [wrote(7, 0, 1), elsewhere(read(None, 2, 3)), read(Some(7), 4, 5)];
    assert_eq!(check(&history, &[]), Ok(3));
    assert!(check(&[wrote(7, 0, 1), elsewhere(read(Some(7), 2, 3))], &[]).is_err());
}

#[test]
fn reads_while_two_could_lead_do_not_count_and_writes_do() {
    let history = [wrote(7, 0, 1), wrote(8, 4, 5), read(Some(7), 6, 8)];
    assert!(check(&history, &[]).is_err());
    assert_eq!(check(&history, &[(time(7), time(20))]), Ok(2));
    assert!(check(&history, &[(time(9), time(20))]).is_err());
    assert!(check(&[write(7, 0, Heard::Refused), read(Some(7), 2, 3)], &[(time(9), time(20))]).is_err());
}

/// Random small histories, of which about half have an order, and the verdict of a tester that tries them all.
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

fn random(dice: &mut SeededEntropy) -> Vec<Operation> {
    let mut below = |bound: u64| dice.bits() % bound;
    let (count, writes) = (2 + below(6), 1 + below(3));
    let mut history = Vec::new();
    for value in 0..count {
        let begun = below(12);
        let at = begun + 1 + below(5);
        history.push(match (value < writes, below(4)) {
            (true, 0) => write(value, begun, Heard::Nothing),
            (true, _) => wrote(value, begun, at),
            (false, 0) => read(None, begun, at),
            (false, _) => read(Some(below(writes)), begun, at),
        });
    }
    history
}

/// Each operation is a thread of its own: only their times order them.
fn tester(history: &[Operation]) -> LinearizabilityTester<usize, Register<Option<u64>>> {
    let begun = history.iter().enumerate().map(|(thread, operation)| (operation.begun, false, thread));
    let ended = history.iter().enumerate().filter_map(|(thread, operation)| Some((end(operation)?, true, thread)));
    let mut events: Vec<_> = begun.chain(ended).collect();
    // Of one instant the begins come first, so that they overlap with what ends then.
    events.sort_unstable();
    let mut tester = LinearizabilityTester::new(Register(None));
    for (_, has_ended, thread) in events {
        let (asked, told) = match (history[thread].asked, history[thread].heard) {
            (Asked::Write(value), _) => (RegisterOp::Write(Some(value)), RegisterRet::WriteOk),
            (Asked::Read, Heard::Done { value, .. }) => (RegisterOp::Read, RegisterRet::ReadOk(value)),
            (Asked::Read, Heard::Nothing | Heard::Refused) => continue,
        };
        let noted = if has_ended { tester.on_return(thread, told) } else { tester.on_invoke(thread, asked) };
        noted.expect("each operation is a thread of its own");
    }
    tester
}
