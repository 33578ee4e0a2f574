//! Whether one order of all operations explains what each of them was told.
//!
//! Each value is written once, and each write has the version after the one before it. So the versions give the order: a write, and
//! after it the reads that saw it. The history is linearizable if and only if
//! - a value has one version and a version one value, which somebody wrote and was not told to be refused,
//! - nothing comes before what had ended when it began: whatever had ended by then has no later version, and for a write an earlier,
//! - each version that nobody was told of is that of a write which nothing is known of: another one for each, which began before
//!   anything of a later version had ended.
//!
//! That is quick, where trying orders takes exponentially long; the tests hold it to stateright's tester, which does that. A write
//! that nothing is known of may take effect at any time after its begin, or never; a read without an answer says nothing. Registers
//! of different lives of the store are judged one by one, for linearizability is local (Herlihy and Wing, "Linearizability", 1990);
//! a write that nothing is known of may have come in any of them.

use std::collections::BTreeMap;

use rolecall_core::{Incarnation, Time};
use thiserror::Error;

use super::history::{Asked, Heard, Operation};

#[cfg(test)]
mod tests;

/// No order explains what clients were told.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what}: {}", list(operations))]
pub struct NotLinearizable {
    /// When a client was told something that no order explains.
    pub at: Time,
    /// What is wrong with the operations.
    pub what: Wrong,
    /// The operations that can't be ordered.
    pub operations: Vec<Operation>,
}

/// What is wrong with operations that can't be ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Wrong {
    /// A value was read that nobody wrote, or whose write was refused.
    #[error("what is read was not written")]
    Unwritten,
    /// One value has two versions, or one version two values.
    #[error("a value and its version do not belong together")]
    Ambiguous,
    /// Something was told that was over when it was asked for.
    #[error("what is told was over before it was asked for")]
    Outdated,
    /// There was a write that nobody asked for.
    #[error("there is a version before these that nobody wrote")]
    Unasked,
}

fn list(operations: &[Operation]) -> String {
    operations.iter().map(Operation::to_string).collect::<Vec<_>>().join("; ")
}

/// Whether the history is linearizable. Reads that overlap one of the times `unjudged` do not count: two leaders were possible
/// then, and only the storage knew which of them was right. Returns how many operations count.
///
/// # Errors
/// It is not: what is wrong in the shortest beginning of it that is not.
pub fn check(operations: &[Operation], unjudged: &[(Time, Time)]) -> Result<usize, NotLinearizable> {
    let counts: Vec<_> = operations.iter().copied().filter(|operation| !is_unjudged(operation, unjudged)).collect();
    if let Ok(number) = judge(&counts) {
        return Ok(number);
    }
    // What is wrong stays wrong, whatever comes later: the first moment at which it was is found by halving.
    let mut ends: Vec<_> = counts.iter().filter_map(end).collect();
    ends.sort_unstable();
    let known_at = |time: Time| counts.iter().filter_map(|operation| operation.known_at(time)).collect::<Vec<_>>();
    let first = ends.partition_point(|end| judge(&known_at(*end)).is_ok());
    let at = ends.get(first).copied().unwrap_or(Time::MAX);
    judge(&known_at(at)).map_err(|(what, operations)| NotLinearizable { at, what, operations })
}

fn is_unjudged(operation: &Operation, unjudged: &[(Time, Time)]) -> bool {
    let Some(end) = end(operation) else { return false };
    operation.asked == Asked::Read && unjudged.iter().any(|(from, until)| operation.begun <= *until && end >= *from)
}

fn end(operation: &Operation) -> Option<Time> {
    match operation.heard {
        Heard::Done { at, .. } => Some(at),
        Heard::Nothing | Heard::Refused => None,
    }
}

/// Operations that can't be ordered, and why.
type Conflict = (Wrong, Vec<Operation>);

fn judge(operations: &[Operation]) -> Result<usize, Conflict> {
    let mut registers = BTreeMap::<Incarnation, Vec<Placed>>::new();
    for operation in operations {
        if let Heard::Done { incarnation, version, value, at } = operation.heard {
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

/// An operation with its place in the order.
#[derive(Clone, Copy, Debug)]
struct Placed {
    operation: Operation,
    version: u64,
    value: Option<u64>,
    /// `None` where nothing is known of it but that somebody saw what it wrote.
    end: Option<Time>,
}

fn written(operation: &Operation) -> Option<u64> {
    match operation.asked {
        Asked::Write(value) => Some(value),
        Asked::Read => None,
    }
}

/// Whether values and versions belong together. Adds the writes that nothing is known of but what was read, and returns the begins
/// of the others.
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
            return Err((Wrong::Ambiguous, vec![other.operation, told.operation]));
        }
    }
    let mut open = writes.clone();
    open.retain(|_, write| write.heard == Heard::Nothing);
    for told in by_version.into_values() {
        let write = told.value.and_then(|value| writes.get(&value));
        match (told.version, told.value, write.map(|write| write.heard)) {
            (0, None, _) => {}
            (1.., Some(_), Some(Heard::Done { incarnation: home, .. })) if home == incarnation => {}
            (1.., Some(value), Some(Heard::Nothing)) => {
                let write = open.remove(&value).into_iter().copied();
                placed.extend(write.map(|operation| Placed { operation, end: None, ..told }));
            }
            (_, _, _) => {
                return Err((
                    Wrong::Unwritten,
                    write.into_iter().map(|write| **write).chain([told.operation]).collect(),
                ));
            }
        }
    }
    Ok(open.into_values().map(|write| write.begun).collect())
}

/// Whether nothing comes before what had ended when it began.
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
            return Err((Wrong::Outdated, vec![newest.operation, next.operation]));
        }
    }
    Ok(())
}

/// Whether each version that nobody was told of can be that of one of the writes that began at `open`, in their order.
fn gaps(placed: &[Placed], open: &[Time]) -> Result<(), Conflict> {
    let mut by_version: Vec<_> = placed.iter().collect();
    by_version.sort_by_key(|placed| placed.version);
    // For each place, who ended first of those from there on.
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
                return Err((Wrong::Unasked, vec![limit.operation]));
            }
        }
        last = told.version;
    }
    Ok(())
}
