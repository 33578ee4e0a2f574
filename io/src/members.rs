//! Members of a directory: a snapshot, and the differences between successive snapshots.

use std::sync::Arc;

use rolecall_core::{Difference, Snapshot};
use tokio::sync::watch;

use crate::mutant::Mutant;

/// Writing end: the driver's copy of a directory.
#[derive(Debug, Default)]
pub struct Roster(watch::Sender<Arc<Snapshot>>);

impl Roster {
    /// Applies a difference.
    pub fn apply(&self, difference: &Difference) {
        if Mutant::LeaversStayListed.lives() && !difference.left.is_empty() {
            return self.apply(&Difference { left: Vec::new(), ..difference.clone() });
        }
        self.0.send_modify(|snapshot| difference.apply(&mut Arc::make_mut(snapshot).members));
    }

    /// Replaces the whole snapshot.
    pub fn replace(&self, snapshot: Snapshot) {
        self.0.send_replace(Arc::new(snapshot));
    }

    /// Present snapshot of the directory.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.borrow())
    }

    /// Makes a reader that begins with the present snapshot.
    #[must_use]
    pub fn subscribe(&self) -> Members {
        Members { source: self.0.subscribe(), seen: self.snapshot() }
    }
}

/// Reading end. A slow reader gets one difference for everything that it missed, so nothing queues up.
#[derive(Clone, Debug)]
pub struct Members {
    source: watch::Receiver<Arc<Snapshot>>,
    seen: Arc<Snapshot>,
}

impl Members {
    /// Snapshot as this reader has seen it: the sum of all differences so far.
    #[must_use]
    pub fn seen(&self) -> &Arc<Snapshot> {
        &self.seen
    }

    /// Present snapshot, including changes that this reader has not seen yet.
    #[must_use]
    pub fn now(&self) -> Arc<Snapshot> {
        Arc::clone(&self.source.borrow())
    }

    /// Waits until the directory differs from what this reader has seen, and returns the difference. `None` once the node is
    /// gone.
    pub async fn changed(&mut self) -> Option<Difference> {
        loop {
            let latest = Arc::clone(&self.source.borrow_and_update());
            let difference = Difference::between(&self.seen.members, &latest.members);
            self.seen = latest;
            if !difference.is_empty() {
                return Some(difference);
            }
            self.source.changed().await.ok()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::{Member, MemberKey, Session};

    use super::*;

    fn member(id: &str, address: &str) -> Member {
        Member {
            key: MemberKey { id: id.into(), session: Session(1) },
            address: address.into(),
            epoch: None,
            session_timeout: None,
            created: 1,
            metadata: Default::default(),
        }
    }

    #[tokio::test]
    async fn a_slow_reader_gets_one_difference_for_all_it_missed() {
        let roster = Roster::default();
        let mut members = roster.subscribe();
        roster.apply(&Difference { joined: vec![member("b", "b:1"), member("c", "c:1")], ..Difference::default() });
        roster.apply(&Difference { joined: vec![member("a", "a:1")], ..Difference::default() });
        roster.apply(&Difference {
            left: vec![member("b", "").key],
            changed: vec![member("c", "c:2")],
            ..Difference::default()
        });

        let difference = members.changed().await.expect("the roster lives");

        assert_eq!(difference.joined, [member("a", "a:1"), member("c", "c:2")]);
        assert_eq!(difference.left, []);
        assert_eq!(members.seen().members, [member("a", "a:1"), member("c", "c:2")]);
        drop(roster);
        assert_eq!(members.changed().await, None);
    }

    #[tokio::test]
    async fn a_change_that_was_undone_before_it_was_seen_is_not_a_difference() {
        let roster = Roster::default();
        roster.apply(&Difference { joined: vec![member("a", "a:1")], ..Difference::default() });
        let mut members = roster.subscribe();
        roster.apply(&Difference { left: vec![member("a", "").key], ..Difference::default() });
        roster.apply(&Difference { joined: vec![member("a", "a:1")], ..Difference::default() });
        roster.apply(&Difference { joined: vec![member("b", "b:1")], ..Difference::default() });

        let difference = members.changed().await.expect("the roster lives");

        assert_eq!(difference, Difference { joined: vec![member("b", "b:1")], ..Difference::default() });
    }
}
