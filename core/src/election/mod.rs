//! Elections among the nodes that are willing to lead.
//!
//! There is a folder for each family of stores, and one enum of their machines. A [`Node`](crate::Node) asks little of
//! its election: whether this node leads, with which fence and until when. It says how far to go, wakes the election at
//! its deadlines, and checks its promises. No other part of a node knows the family; from outside, only the [`Timing`]
//! shows it.
//!
//! # The promises, by family
//! [`Violation`] has their texts. Those about services, registries, answers and wishes (P3, P8 to P11, P13, P15) do not
//! depend on the family at all.
//!
//! | | by a queue | by a lease |
//! | --- | --- | --- |
//! | P1: no two nodes begin a leader-only act at once | holds, for clocks whose rates are within the configured error; not if an outsider deletes the candidate of a leader that is cut off | holds for clocks whose rates are within the configured error, the server's too, and for as many steps forward of the server's clock within one lease as [`LeaseTiming`] allows for; not if an outsider deletes the lease, nor while two servers take writes as the primary, which only a write that waits for a replica rules out |
//! | P2: a leader owns its claim | the first candidate, in its current session | the lease, under the token of its last attempt |
//! | P4: nothing is created after a stop was asked for | candidates and entries | attempts and entries |
//! | P5: at rest a session has no spare claim | one candidate at most | one lease at most: an attempt of unknown outcome is given back |
//! | P6: there is a leader in bounded time | a session timeout, one tick, the rounding of expiry, the drain time and a second | a lease, the drain time and a second; the first leader of a new store, or of a store that has restarted, waits for one lease more |
//! | P7: a waiter at rest will wake | it watches its direct predecessor alone | it listens for a release, and has a time at which it looks again |
//! | P12: epochs rise | with the store's revisions, within an incarnation | with each acquisition, within an incarnation; a server that may have lost writes begins a new one |
//! | P14: older epochs are refused | by whoever has seen a newer one | likewise |

mod family;
pub(crate) mod lease;
pub(crate) mod queue;
#[cfg(feature = "textbook")]
pub mod textbook;
mod timing;

pub use family::Family;
pub use lease::LeaseTiming;
pub use queue::{Candidate, Guid, QueueTiming};
pub use timing::Timing;

use alloc::sync::Arc;
use core::time::Duration;

use lease::Lease;
use queue::Queue;

use crate::floor::Floor;
use crate::pass::{Pass, Soonest, Standing};
use crate::rename::{Rename, Renamer};
use crate::store::{Answer, Notice};
use crate::{Config, Fence, OpId, Sink, Time, Violation};

/// This node's standing in its election, by the family of its store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::large_enum_variant, reason = "a node has one election, which every event reaches without a detour")]
pub(crate) enum Election {
    /// A queue of candidates that live as long as their sessions.
    Queue(Queue),
    /// A lease with a time to live.
    Lease(Lease),
}

/// Extent to which a node takes part in its election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Will {
    /// Stand, and lead when it is this node's turn.
    Stand,
    /// Keep a term that is held, but begin nothing: requests in flight may end.
    Keep,
    /// Give up the term and every candidate.
    Withdraw,
}

/// A node's position in its election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Position {
    /// Not known yet, or no longer.
    Unknown,
    /// Behind another candidate, or until the lease of another may be over.
    Waiting,
    /// In possession of a term.
    Leading {
        /// Fence of the term.
        fence: Fence,
        /// End of the term's validity.
        until: Time,
    },
}

impl Position {
    /// Fence of the term that is held, and the end of its validity.
    pub(crate) fn term(self) -> Option<(Fence, Time)> {
        match self {
            Self::Leading { fence, until } => Some((fence, until)),
            Self::Waiting | Self::Unknown => None,
        }
    }
}

/// Everything that an answer is judged by.
pub(crate) struct Context<'a> {
    pub(crate) now: Time,
    pub(crate) standing: &'a Standing,
    pub(crate) config: &'a Config,
}

/// Discoveries in an answer that concern the rest of the node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Discovery {
    /// The session is not the one that the node believed in.
    pub(crate) session_is_wrong: bool,
    /// The term record is not as it was read.
    pub(crate) record_is_wrong: bool,
    /// A candidate that turned out to have no owner.
    pub(crate) ownerless: Option<Candidate>,
}

impl Election {
    /// An election of this family, in which the node does not stand yet.
    pub(crate) fn new(timing: Timing) -> Self {
        match timing {
            Timing::Queue(timing) => Self::Queue(Queue::new(timing)),
            Timing::Lease(_) => Self::Lease(Lease::new()),
        }
    }

    /// A session is connected that is not the one from before.
    pub(crate) fn begin(&mut self, now: Time, standing: &Standing, config: &Config) {
        match self {
            Self::Queue(queue) => queue.begin(now, standing, config),
            Self::Lease(lease) => lease.begin(now, standing, config),
        }
    }

    /// The session from before is connected again: everything is read again, what is there and ours is kept.
    pub(crate) fn resume(&mut self, now: Time, standing: &Standing, config: &Config) {
        match self {
            Self::Queue(queue) => queue.resume(now, standing, config),
            Self::Lease(lease) => lease.begin(now, standing, config),
        }
    }

    /// The connection is lost: nothing that is pending will be answered for sure, no watch is certain.
    pub(crate) fn suspend(&mut self) {
        match self {
            Self::Queue(queue) => queue.suspend(),
            Self::Lease(lease) => lease.suspend(),
        }
    }

    /// Handles the end of the session, which had this timeout, or the loss of all knowledge about it: nothing of it is
    /// this node's any more.
    pub(crate) fn lose(&mut self, now: Time, timeout: Duration) {
        match self {
            Self::Queue(queue) => queue.lose(now, timeout),
            Self::Lease(lease) => lease.lose(now, timeout),
        }
    }

    /// Gives up the term at once. The candidate stays, so everything is read again before the next claim.
    pub(crate) fn step_down(&mut self) {
        match self {
            Self::Queue(queue) => queue.step_down(),
            Self::Lease(lease) => lease.step_down(),
        }
    }

    /// Applies the passing of time: validity ends, and answers become overdue. Returns true if everything has to be read
    /// again.
    pub(crate) fn expire(&mut self, now: Time, standing: Option<&Standing>, config: &Config) -> bool {
        match self {
            Self::Queue(queue) => queue.expire(now, standing, config),
            Self::Lease(lease) => lease.expire(now, standing, config),
        }
    }

    /// Handles an answer in one of the election's slots.
    pub(crate) fn answered(&mut self, context: &Context<'_>, id: OpId, answer: &Answer) -> Discovery {
        match self {
            Self::Queue(queue) => queue.answered(context, id, answer),
            Self::Lease(lease) => lease.answered(context, id, answer),
        }
    }

    /// Handles a fired watch.
    pub(crate) fn noticed(&mut self, id: OpId, notice: Notice) {
        match self {
            Self::Queue(queue) => queue.noticed(id, notice),
            Self::Lease(lease) => lease.noticed(id),
        }
    }

    /// Notes a change of the coordinators, which may hint at a change among other kinds of clients.
    pub(crate) fn coordinators_changed(&mut self) {
        match self {
            Self::Queue(queue) => queue.coordinators_changed(),
            Self::Lease(_) => {}
        }
    }

    /// Notes the rank of this node among the members, by which those who wait for the same moment do not act in step.
    pub(crate) fn ranked(&mut self, rank: u32) {
        match self {
            Self::Queue(_) => {}
            Self::Lease(lease) => lease.ranked(rank),
        }
    }

    /// Sends what is to be sent now. The caller has let time and will take their effect ([`Self::expire`],
    /// [`Self::step_down`]).
    pub(crate) fn advance<S: Sink>(&mut self, pass: &mut Pass<'_, S>, will: Will, floor: &Floor) {
        match self {
            Self::Queue(queue) => queue.advance(pass, will, floor),
            Self::Lease(lease) => lease.advance(pass, will, floor),
        }
    }

    /// Position of this node.
    pub(crate) fn position(&self) -> Position {
        match self {
            Self::Queue(queue) => queue.position(),
            Self::Lease(lease) => lease.position(),
        }
    }

    /// The id of whoever stands first, if that is another kind of client.
    pub(crate) fn foreign_head(&self) -> Option<&Arc<str>> {
        match self {
            Self::Queue(queue) => queue.foreign_head(),
            Self::Lease(_) => None,
        }
    }

    /// Number of names in the election that are not candidates.
    pub(crate) fn skipped(&self) -> u32 {
        match self {
            Self::Queue(queue) => queue.skipped(),
            Self::Lease(_) => 0,
        }
    }

    /// True if nothing of this node is left in the election, for certain.
    pub(crate) fn is_withdrawn(&self) -> bool {
        match self {
            Self::Queue(queue) => queue.is_withdrawn(),
            Self::Lease(lease) => lease.is_withdrawn(),
        }
    }

    /// True if it waits for the answer to this operation.
    pub(crate) fn awaits(&self, now: Time, id: OpId) -> bool {
        match self {
            Self::Queue(queue) => queue.awaits(now, id),
            Self::Lease(lease) => lease.awaits(now, id),
        }
    }

    /// True if it waits for this watch.
    pub(crate) fn relies_on(&self, id: OpId) -> bool {
        match self {
            Self::Queue(queue) => queue.relies_on(id),
            Self::Lease(lease) => lease.relies_on(id),
        }
    }

    /// True if nothing keeps it from deleting unwanted candidates.
    pub(crate) fn may_sweep(&self) -> bool {
        match self {
            Self::Queue(queue) => queue.may_sweep(),
            Self::Lease(lease) => lease.may_sweep(),
        }
    }

    /// Considers the times at which it wants to wake.
    pub(crate) fn deadlines(&self, connected: bool, soonest: &mut Soonest) {
        match self {
            Self::Queue(queue) => queue.deadlines(connected, soonest),
            Self::Lease(lease) => lease.deadlines(connected, soonest),
        }
    }

    /// Every invariant that the state alone can show.
    pub(crate) fn check(&self, standing: Option<&Standing>, will: Will, floor: &Floor) -> Result<(), Violation> {
        match self {
            Self::Queue(queue) => queue.check(standing, will, floor),
            Self::Lease(lease) => lease.check(standing, will, floor),
        }
    }
}

#[cfg(test)]
impl Election {
    pub(crate) fn queue(&mut self) -> &mut Queue {
        match self {
            Self::Queue(queue) => queue,
            Self::Lease(_) => panic!("this election is by a lease"),
        }
    }
}

impl Rename for Election {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        match self {
            Self::Queue(queue) => queue.rename(renamer),
            Self::Lease(lease) => lease.rename(renamer),
        }
    }
}
