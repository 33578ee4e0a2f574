//! Checks whether a history is linearizable: whether one order of all operations explains every answer.
//!
//! Each value is written once, and each write takes the next version. So the versions give the order: a write, then the
//! reads that saw it. The history is linearizable if and only if all of these hold:
//! - Each value has one version and each version one value. Some client wrote that value, and the write was not refused.
//! - No operation precedes one that had ended before it began. That is, no operation that had ended by then has a later
//!   version; if the new operation is a write, they all have an earlier one.
//! - Each version that no answer names belongs to a write of unknown result. There is a different such write for each,
//!   and it began before any operation of a later version ended.
//!
//! This check is quick, whereas trying all orders takes exponential time. The tests compare it with stateright's tester,
//! which tries them all. A write of unknown result may take effect at any time after it began, or never. A read without an
//! answer proves nothing. Registers of different incarnations of the store are judged separately, because linearizability
//! is local (Herlihy and Wing, "Linearizability", 1990). A write of unknown result may have reached any of them.

use std::collections::BTreeMap;

use rolecall::{Incarnation, Time};
use thiserror::Error;

use super::history::{Call, Completion, Operation};

#[cfg(test)]
mod tests;

/// Proof that no order explains the answers that clients received.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what}: {}", list(operations))]
pub struct NotLinearizable {
    /// Time of the first answer that no order explains.
    pub at: Time,
    /// Reason why the operations have no order.
    pub what: Anomaly,
    /// Operations that contradict each other.
    pub operations: Vec<Operation>,
}

/// Reason why operations have no order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Anomaly {
    /// A read returned a value that nobody wrote, or whose write was refused.
    #[error("a value was read that was not written")]
    Unwritten,
    /// One value has two versions, or one version two values.
    #[error("a value has two versions, or a version two values")]
    Ambiguous,
    /// An answer names a version that was already replaced when the operation began.
    #[error("an answer was outdated before it was asked for")]
    Outdated,
    /// A version is missing from the answers, and no write of unknown result accounts for it.
    #[error("an earlier version was written that no client asked for")]
    Unexplained,
}

fn list(operations: &[Operation]) -> String {
    operations.iter().map(Operation::to_string).collect::<Vec<_>>().join("; ")
}

/// Checks that the history is linearizable and returns the number of operations that count.
///
/// Reads that overlap one of the periods `unjudged` do not count: two leaders were possible then, and only the storage knew
/// which of them was right.
///
/// # Errors
/// If the history is not linearizable: what is wrong with its shortest prefix that is not.
pub fn check(operations: &[Operation], unjudged: &[(Time, Time)]) -> Result<usize, NotLinearizable> {
    let counts: Vec<_> = operations.iter().copied().filter(|operation| !is_unjudged(operation, unjudged)).collect();
    if let Ok(number) = judge(&counts) {
        return Ok(number);
    }
    // A contradiction never goes away later, so a binary search finds the first moment at which there is one.
    let mut ends: Vec<_> = counts.iter().filter_map(end).collect();
    ends.sort_unstable();
    let known_at = |time: Time| counts.iter().filter_map(|operation| operation.known_at(time)).collect::<Vec<_>>();
    let first = ends.partition_point(|end| judge(&known_at(*end)).is_ok());
    let at = ends.get(first).copied().unwrap_or(Time::MAX);
    judge(&known_at(at)).map_err(|(what, operations)| NotLinearizable { at, what, operations })
}

fn is_unjudged(operation: &Operation, unjudged: &[(Time, Time)]) -> bool {
    let Some(end) = end(operation) else { return false };
    operation.call == Call::Read && unjudged.iter().any(|(from, until)| operation.begun <= *until && end >= *from)
}

fn end(operation: &Operation) -> Option<Time> {
    match operation.completion {
        Completion::Done { at, .. } => Some(at),
        Completion::Unknown | Completion::Refused => None,
    }
}

/// Operations that have no order, with the reason.
type Conflict = (Anomaly, Vec<Operation>);

fn judge(operations: &[Operation]) -> Result<usize, Conflict> {
    let mut registers = BTreeMap::<Incarnation, Vec<Placed>>::new();
    for operation in operations {
        if let Completion::Done { incarnation, version, value, at } = operation.completion {
            let placed = Placed { operation: *operation, version, value, end: Some(at) };
            registers.entry(incarnation).or_default().push(placed);
        }
    }
    let writes: BTreeMap<_, _> =
        operations.iter().filter_map(|write| written(write).map(|value| (value, write))).collect();
    let mut count = 0;
    for (incarnation, mut placed) in registers {
        let mut open = values(incarnation, &mut placed, &writes)?;
        times(&mut placed)?;
        open.sort_unstable();
        gaps(&placed, &open)?;
        count += placed.len();
    }
    Ok(count)
}

/// Operation with its place in the order.
#[derive(Clone, Copy, Debug)]
struct Placed {
    operation: Operation,
    version: u64,
    value: Option<u64>,
    /// Time of the answer; `None` for a write of unknown result whose value somebody read.
    end: Option<Time>,
}

fn written(operation: &Operation) -> Option<u64> {
    match operation.call {
        Call::Write(value) => Some(value),
        Call::Read => None,
    }
}

/// Checks that values and versions correspond. Adds to `placed` the writes of unknown result whose value was read, and
/// returns the start times of the others.
fn values(
    incarnation: Incarnation,
    placed: &mut Vec<Placed>,
    writes: &BTreeMap<u64, &Operation>,
) -> Result<Vec<Time>, Conflict> {
    let (mut by_version, mut by_value) = (BTreeMap::<u64, Placed>::new(), BTreeMap::<Option<u64>, Placed>::new());
    for told in &*placed {
        let first = by_version.entry(told.version).or_insert(*told);
        let same = by_value.entry(told.value).or_insert(*told);
        let other = [first, same].into_iter().find(|other| (other.version, other.value) != (told.version, told.value));
        if let Some(other) = other {
            return Err((Anomaly::Ambiguous, vec![other.operation, told.operation]));
        }
    }
    let mut open = writes.clone();
    open.retain(|_, write| write.completion == Completion::Unknown);
    for told in by_version.into_values() {
        let write = told.value.and_then(|value| writes.get(&value));
        match (told.version, told.value, write.map(|write| write.completion)) {
            (0, None, _) => {}
            (1.., Some(_), Some(Completion::Done { incarnation: home, .. })) if home == incarnation => {}
            (1.., Some(value), Some(Completion::Unknown)) => {
                let write = open.remove(&value).into_iter().copied();
                placed.extend(write.map(|operation| Placed { operation, end: None, ..told }));
            }
            (_, _, _) => {
                return Err((
                    Anomaly::Unwritten,
                    write.into_iter().map(|write| **write).chain([told.operation]).collect(),
                ));
            }
        }
    }
    Ok(open.into_values().map(|write| write.begun).collect())
}

/// Checks that no operation precedes one that had ended before it began.
fn times(placed: &mut [Placed]) -> Result<(), Conflict> {
    let mut ended: Vec<_> = placed.iter().filter(|placed| placed.end.is_some()).copied().collect();
    ended.sort_by_key(|placed| placed.end);
    placed.sort_by_key(|placed| placed.operation.begun);
    let mut ended = ended.into_iter().peekable();
    let mut newest: Option<Placed> = None;
    for next in placed {
        while let Some(before) = ended.next_if(|before| before.end < Some(next.operation.begun)) {
            newest = newest.filter(|newest| newest.version > before.version).or(Some(before));
        }
        let is_write = written(&next.operation).is_some();
        let outdated = |newest: &Placed| newest.version > next.version || (is_write && newest.version == next.version);
        if let Some(newest) = newest.filter(outdated) {
            return Err((Anomaly::Outdated, vec![newest.operation, next.operation]));
        }
    }
    Ok(())
}

/// Checks that each version missing from the answers can belong to one of the writes of unknown result, which began at the
/// times `open`, in ascending order.
fn gaps(placed: &[Placed], open: &[Time]) -> Result<(), Conflict> {
    let mut by_version: Vec<_> = placed.iter().collect();
    by_version.sort_by_key(|placed| placed.version);
    // For each place, the operation that ended first among those from there on.
    let mut first_ended: Vec<&Placed> = by_version.clone();
    for place in (1..first_ended.len()).rev() {
        let (one, later) = (first_ended[place - 1], first_ended[place]);
        let is_earlier = later.end.is_some() && (one.end.is_none() || later.end < one.end);
        first_ended[place - 1] = if is_earlier { later } else { one };
    }
    let mut open = open.iter();
    let mut last = 0;
    for (place, told) in by_version.into_iter().enumerate() {
        for _ in last + 1..told.version {
            let limit = first_ended[place];
            if open.next().is_none_or(|begun| limit.end.is_some_and(|end| end < *begun)) {
                return Err((Anomaly::Unexplained, vec![limit.operation]));
            }
        }
        last = told.version;
    }
    Ok(())
}
