//! No second write while the first may still happen.

use alloc::vec::Vec;
use core::mem::{Discriminant, discriminant};

use crate::store::{Answer, Reply, Request};
use crate::{OpId, Violation};

/// The writes to the queue of one session whose outcome nobody knows yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Doubts(Vec<Doubt>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Doubt {
    kind: Discriminant<Request>,
    write: OpId,
    settling: Settling,
}

/// How far it is from being known: a sync that was sent after the write, and a listing sent after the answer to that.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Settling {
    No,
    Syncing(OpId),
    Synced,
    Listing(OpId),
}

impl Doubts {
    /// A request is sent.
    ///
    /// # Errors
    /// If another write of its kind may still happen.
    pub(super) fn asked(&mut self, id: OpId, request: &Request) -> Result<(), Violation> {
        match request {
            Request::Enter { .. } | Request::Delete { .. } | Request::Claim { .. } | Request::Beat { .. } => {
                let kind = discriminant(request);
                let in_doubt = self.0.iter().any(|doubt| doubt.kind == kind);
                self.0.push(Doubt { kind, write: id, settling: Settling::No });
                if in_doubt { Err(Violation::WriteInDoubt) } else { Ok(()) }
            }
            Request::Sync => {
                self.advance(|settling| match settling {
                    Settling::No | Settling::Syncing(_) => Settling::Syncing(id),
                    Settling::Synced | Settling::Listing(_) => settling.clone(),
                });
                Ok(())
            }
            Request::List => {
                self.advance(|settling| match settling {
                    Settling::Synced | Settling::Listing(_) => Settling::Listing(id),
                    Settling::No | Settling::Syncing(_) => settling.clone(),
                });
                Ok(())
            }
            // Entries have fixed names: a second write finds what the first did.
            Request::Join { .. } | Request::Leave { .. } | Request::Settle { .. } => Ok(()),
            Request::Inspect { .. } | Request::ReadTerm | Request::Verify { .. } | Request::Members { .. } => Ok(()),
        }
    }

    /// A request is answered, however late.
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
            Answer::Done(Reply::Candidates { .. }) => {
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
