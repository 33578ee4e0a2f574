//! The rule that no second write is sent while the first may still happen.

use alloc::vec::Vec;
use core::mem::{Discriminant, discriminant};

use crate::store::{Answer, QueueReply, QueueRequest, Reply};
use crate::{OpId, Slot, Violation};

/// Writes to the queue in one session whose outcome is still unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Doubts(Vec<Doubt>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Doubt {
    kind: Discriminant<QueueRequest>,
    write: OpId,
    settling: Settling,
}

/// Progress of a doubt: a sync sent after the write, then a listing sent after the answer to the sync.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Settling {
    No,
    Syncing(OpId),
    Synced,
    Listing(OpId),
}

impl Doubts {
    /// Notes a sync. Syncs of the registries settle nothing here, though they may be under way at the same time.
    pub(super) fn synchronizing(&mut self, id: OpId) {
        if id.slot == Slot::Election {
            self.advance(|settling| match settling {
                Settling::No | Settling::Syncing(_) => Settling::Syncing(id),
                Settling::Synced | Settling::Listing(_) => settling.clone(),
            });
        }
    }

    /// Judges a request that is sent.
    ///
    /// # Errors
    /// Another write of its kind may still happen.
    pub(super) fn asked(&mut self, id: OpId, request: &QueueRequest) -> Result<(), Violation> {
        match request {
            QueueRequest::Enter { .. }
            | QueueRequest::Delete { .. }
            | QueueRequest::Claim { .. }
            | QueueRequest::Beat { .. } => {
                let kind = discriminant(request);
                let in_doubt = self.0.iter().any(|doubt| doubt.kind == kind);
                self.0.push(Doubt { kind, write: id, settling: Settling::No });
                if in_doubt { Err(Violation::WriteInDoubt) } else { Ok(()) }
            }
            QueueRequest::List => {
                self.advance(|settling| match settling {
                    Settling::Synced | Settling::Listing(_) => Settling::Listing(id),
                    Settling::No | Settling::Syncing(_) => settling.clone(),
                });
                Ok(())
            }
            QueueRequest::Inspect { .. } => Ok(()),
        }
    }

    /// Notes an answer, however late.
    pub(super) fn answered(&mut self, id: OpId, answer: &Answer) {
        if *answer != Answer::Unknown {
            self.0.retain(|doubt| doubt.write != id);
        }
        match answer {
            Answer::Done(Reply::Synced) => {
                self.advance(
                    |settling| {
                        if *settling == Settling::Syncing(id) { Settling::Synced } else { settling.clone() }
                    },
                )
            }
            Answer::Done(Reply::Queue(QueueReply::Candidates { .. })) => {
                self.0.retain(|doubt| doubt.settling != Settling::Listing(id));
            }
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => {}
        }
    }

    fn advance(&mut self, next: impl Fn(&Settling) -> Settling) {
        for doubt in &mut self.0 {
            doubt.settling = next(&doubt.settling);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Directory, Link};

    fn id(slot: Slot, sequence: u32) -> OpId {
        OpId { link: Link(1), slot, sequence }
    }

    #[test]
    fn a_sync_for_a_registry_does_not_stand_in_the_way_of_the_queues_own() {
        let mut doubts = Doubts::default();
        let enter = || QueueRequest::Enter { guid: crate::Guid(1) };
        assert_eq!(doubts.asked(id(Slot::Election, 1), &enter()), Ok(()));
        doubts.answered(id(Slot::Election, 1), &Answer::Unknown);

        for (slot, sequence) in [(Slot::Election, 2), (Slot::Membership(Directory::Workers), 3)] {
            doubts.synchronizing(id(slot, sequence));
        }
        assert_eq!(doubts.clone().asked(id(Slot::Election, 4), &enter()), Err(Violation::WriteInDoubt));
        doubts.answered(id(Slot::Election, 2), &Answer::Done(Reply::Synced));
        assert_eq!(doubts.asked(id(Slot::Election, 4), &QueueRequest::List), Ok(()));
        doubts.answered(
            id(Slot::Election, 4),
            &Answer::Done(Reply::Queue(QueueReply::Candidates { candidates: Vec::new(), skipped: 0 })),
        );

        assert_eq!(doubts.asked(id(Slot::Election, 5), &enter()), Ok(()));
    }
}
