//! Whether one order of all operations explains what each of them was told.
//!
//! Each value is written once, so a history falls into clusters: the write of a value, and the reads that saw it. With `first_end`
//! the first end in a cluster and `last_begin` the last begin in it:
//! - If `first_end < last_begin` the register held that value throughout in between: it did something before, and something after.
//! - Else all operations of the cluster overlap from `last_begin` to `first_end`, and one instant of that is enough for all of them.
//!
//! An order exists if and only if every read has a write that began before the read ended, no two values are held at once, and no
//! cluster that needs an instant lies within a time in which another value is held (Gibbons and Korach, "Testing Shared Memories",
//! 1997). That is quick, where trying orders takes exponentially long; the tests hold it to stateright's tester, which does that.
//!
//! A write that nothing is known of may take effect at any time after its begin, or never: it has no end, and where nobody read its
//! value it may as well have come last. A read without an answer says nothing. Registers of different lives of the store are judged
//! one by one, for linearizability is local (Herlihy and Wing, "Linearizability", 1990).

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
    /// A value was read that nobody had written: one that was refused, or that was written only later.
    #[error("a value is read that is not written before")]
    Unwritten,
    /// A value is seen between two others that show that another was held throughout.
    #[error("another value is seen while the register held one throughout")]
    Interrupted,
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
    let clusters = clusters(operations)?;
    for held in clusters.iter().filter(|cluster| cluster.first_end < cluster.last_begin) {
        let meanwhile = |other: &&Cluster| held.first_end < other.last_begin && other.first_end < held.last_begin;
        let mut others = clusters.iter().filter(|other| held.register == other.register && held.value != other.value);
        if let Some(other) = others.find(meanwhile) {
            return Err((Wrong::Interrupted, witnesses(held, other)));
        }
    }
    Ok(clusters.iter().map(|cluster| cluster.operations.len()).sum())
}

/// The operations of one value in one register.
#[derive(Clone, Debug)]
struct Cluster {
    register: Incarnation,
    value: Option<u64>,
    operations: Vec<Operation>,
    /// `None` is before everything: the value that a register begins with was never written.
    first_end: Option<Time>,
    last_begin: Option<Time>,
}

impl Cluster {
    fn new(register: Incarnation, value: Option<u64>, operations: Vec<Operation>) -> Self {
        let first_end = operations.iter().filter_map(end).min().filter(|_| value.is_some());
        let last_begin = operations.iter().map(|operation| operation.begun).max();
        Self { register, value, operations, first_end, last_begin }
    }
}

/// All that took effect, by register and value.
fn clusters(operations: &[Operation]) -> Result<Vec<Cluster>, Conflict> {
    let mut writes = BTreeMap::new();
    let mut reads = BTreeMap::<(Incarnation, Option<u64>), Vec<Operation>>::new();
    for operation in operations {
        match (operation.asked, operation.heard) {
            (Asked::Write(value), heard) => {
                writes.insert(value, operation);
                if let Heard::Done { incarnation, .. } = heard {
                    reads.entry((incarnation, Some(value))).or_default();
                }
            }
            (Asked::Read, Heard::Done { incarnation, value, .. }) => {
                reads.entry((incarnation, value)).or_default().push(*operation);
            }
            (Asked::Read, Heard::Nothing | Heard::Refused) => {}
        }
    }
    let mut clusters = Vec::new();
    for ((incarnation, value), reads) in reads {
        let Some(value) = value else {
            clusters.push(Cluster::new(incarnation, None, reads));
            continue;
        };
        // Each write has one register: that of a write which nothing is known of is the first in which it was seen.
        let write = writes.remove(&value).filter(|write| match write.heard {
            Heard::Done { incarnation: home, .. } => home == incarnation,
            Heard::Nothing => true,
            Heard::Refused => false,
        });
        let could_not = |read: &&Operation| write.is_none_or(|write| end(read) < Some(write.begun));
        if let Some(read) = reads.iter().find(could_not) {
            return Err((Wrong::Unwritten, write.into_iter().chain([read]).copied().collect()));
        }
        let operations = write.into_iter().copied().chain(reads).collect();
        clusters.push(Cluster::new(incarnation, Some(value), operations));
    }
    Ok(clusters)
}

/// What shows that one value was held throughout, and the other seen meanwhile.
fn witnesses(held: &Cluster, other: &Cluster) -> Vec<Operation> {
    let mut witnesses: Vec<Operation> = Vec::new();
    for Cluster { operations, .. } in [held, other] {
        let ended = operations.iter().filter(|operation| end(operation).is_some());
        witnesses.extend(ended.min_by_key(|operation| end(operation)));
        witnesses.extend(operations.iter().max_by_key(|operation| operation.begun));
    }
    witnesses.sort_by_key(|operation| operation.begun);
    witnesses.dedup();
    witnesses
}
