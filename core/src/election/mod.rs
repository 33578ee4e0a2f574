//! Elections: who of the willing leads.
//!
//! A folder for each family of stores, and one enum of their machines. What a [`Node`](crate::Node) asks of its election is
//! small: whether it leads, with which token and until when; how far it is to go; when to be woken; whether it holds its
//! promises. Nothing else of a node knows the family. From outside only the [`Timing`] tells it.

pub(crate) mod queue;
mod timing;

pub use queue::{Candidate, Guid, QueueTiming};
pub use timing::Timing;

use alloc::sync::Arc;
use core::time::Duration;

use queue::Queue;

use crate::floor::Floor;
use crate::names::{Named, Names};
use crate::step::{Soonest, Standing, Step};
use crate::store::{Answer, Notice};
use crate::{Config, Fence, OpId, Sink, Time, Violation};

/// This node's standing in its election, by the family of its store.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub(crate) enum Election {
    /// A queue of candidates that live as long as their sessions.
    Queue(Queue),
}

/// How far a node wants to go in its election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Will {
    /// Stand, and lead when it is this node's turn.
    Stand,
    /// Keep what is held, begin nothing: a term goes on while its requests in flight end.
    Keep,
    /// Give up the term and everything that stands for it.
    Withdraw,
}

/// Where a node stands in its election.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Position {
    /// Not known, or not yet.
    Unknown,
    /// Behind somebody.
    Waiting,
    /// This node holds a term.
    Leading {
        /// Its token.
        fence: Fence,
        /// The end of its validity.
        until: Time,
    },
}

impl Position {
    /// The term that is held: its token, and the end of its validity.
    pub(crate) fn term(self) -> Option<(Fence, Time)> {
        match self {
            Self::Leading { fence, until } => Some((fence, until)),
            Self::Waiting | Self::Unknown => None,
        }
    }
}

/// What an answer is judged by.
pub(crate) struct Context<'a> {
    pub(crate) now: Time,
    pub(crate) standing: &'a Standing,
    pub(crate) config: &'a Config,
}

/// What the rest of the node has to see to after an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The session is not what it was believed to be.
    pub(crate) session_is_wrong: bool,
    /// The term record is not what it was read to be.
    pub(crate) record_is_wrong: bool,
    /// A candidate that was found to be nobody's.
    pub(crate) ownerless: Option<Candidate>,
}

impl Election {
    /// The election of a family, in which this node does not stand yet.
    pub(crate) fn new(timing: Timing) -> Self {
        match timing {
            Timing::Queue(timing) => Self::Queue(Queue::new(timing)),
        }
    }

    /// A session is connected that is not the one from before.
    pub(crate) fn begin(&mut self, now: Time, standing: &Standing, config: &Config) {
        match self {
            Self::Queue(queue) => queue.begin(now, standing, config),
        }
    }

    /// The session from before is connected again: everything is read again, what is there and ours is kept.
    pub(crate) fn resume(&mut self, now: Time, standing: &Standing, config: &Config) {
        match self {
            Self::Queue(queue) => queue.resume(now, standing, config),
        }
    }

    /// The connection is lost: nothing that is pending will be answered for sure, no watch is certain.
    pub(crate) fn suspend(&mut self) {
        match self {
            Self::Queue(queue) => queue.suspend(),
        }
    }

    /// The session, which had this timeout, is over, or nothing can be known of it: nothing of it is ours any more.
    pub(crate) fn lose(&mut self, now: Time, timeout: Duration) {
        match self {
            Self::Queue(queue) => queue.lose(now, timeout),
        }
    }

    /// Gives up the term at once; what stands for it stays, so everything is looked at again before the next claim.
    pub(crate) fn step_down(&mut self) {
        match self {
            Self::Queue(queue) => queue.step_down(),
        }
    }

    /// What time alone brings about: the end of validity, answers that are overdue. True when everything is to be read
    /// again.
    pub(crate) fn expire(&mut self, now: Time, standing: Option<&Standing>, config: &Config) -> bool {
        match self {
            Self::Queue(queue) => queue.expire(now, standing, config),
        }
    }

    /// An answer in one of the election's slots.
    pub(crate) fn answered(&mut self, context: &Context<'_>, id: OpId, answer: &Answer) -> Outcome {
        match self {
            Self::Queue(queue) => queue.answered(context, id, answer),
        }
    }

    /// A watch fired.
    pub(crate) fn noticed(&mut self, id: OpId, notice: Notice) {
        match self {
            Self::Queue(queue) => queue.noticed(id, notice),
        }
    }

    /// The coordinators changed, which may tell of who leads among other kinds of clients.
    pub(crate) fn coordinators_changed(&mut self) {
        match self {
            Self::Queue(queue) => queue.coordinators_changed(),
        }
    }

    /// Sends what is to be sent now. The caller has let time and will take their effect ([`Self::expire`],
    /// [`Self::step_down`]).
    pub(crate) fn advance<S: Sink>(&mut self, step: &mut Step<'_, S>, will: Will, floor: &Floor) {
        match self {
            Self::Queue(queue) => queue.advance(step, will, floor),
        }
    }

    /// Where this node stands.
    pub(crate) fn position(&self) -> Position {
        match self {
            Self::Queue(queue) => queue.position(),
        }
    }

    /// The id of whoever stands first, if that is another kind of client.
    pub(crate) fn foreign_head(&self) -> Option<&Arc<str>> {
        match self {
            Self::Queue(queue) => queue.foreign_head(),
        }
    }

    /// How many names in the election are not those of candidates.
    pub(crate) fn skipped(&self) -> u32 {
        match self {
            Self::Queue(queue) => queue.skipped(),
        }
    }

    /// True when nothing of this node is left in the election, for certain.
    pub(crate) fn is_withdrawn(&self) -> bool {
        match self {
            Self::Queue(queue) => queue.is_withdrawn(),
        }
    }

    /// True while the answer to this operation is waited for.
    pub(crate) fn awaits(&self, now: Time, id: OpId) -> bool {
        match self {
            Self::Queue(queue) => queue.awaits(now, id),
        }
    }

    /// True while it waits for this watch.
    pub(crate) fn relies_on(&self, id: OpId) -> bool {
        match self {
            Self::Queue(queue) => queue.relies_on(id),
        }
    }

    /// True when nothing keeps it from deleting what should not be there.
    pub(crate) fn may_sweep(&self) -> bool {
        match self {
            Self::Queue(queue) => queue.may_sweep(),
        }
    }

    /// The instants at which it wants to be woken.
    pub(crate) fn deadlines(&self, connected: bool, soonest: &mut Soonest) {
        match self {
            Self::Queue(queue) => queue.deadlines(connected, soonest),
        }
    }

    /// Every invariant that the state alone can show.
    pub(crate) fn check(&self, standing: Option<&Standing>, will: Will, floor: &Floor) -> Result<(), Violation> {
        match self {
            Self::Queue(queue) => queue.check(standing, will, floor),
        }
    }
}

#[cfg(test)]
impl Election {
    pub(crate) fn queue(&mut self) -> &mut Queue {
        match self {
            Self::Queue(queue) => queue,
        }
    }
}

impl Named for Election {
    fn names(&mut self, names: &mut dyn Names) {
        match self {
            Self::Queue(queue) => queue.names(names),
        }
    }
}
