//! The shape of all exhibits.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use crate::Time;

/// Number of a node, or of the store that the nodes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Peer(pub u8);

impl Peer {
    /// The store. It has no part in elections whose nodes speak to each other.
    pub const STORE: Self = Self(u8::MAX);
}

/// A message with its receiver.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Envelope<M> {
    /// The receiver.
    pub to: Peer,
    /// The message.
    pub message: M,
}

/// Something that happened to a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event<M> {
    /// Its process has started, for the first time or again.
    Start,
    /// A message arrived.
    Received {
        /// The sender.
        from: Peer,
        /// The message.
        message: M,
    },
    /// The wall clock of its machine was set to another time. The clock that `now` is read from does not notice.
    ClockSet {
        /// Length of the step.
        by: Duration,
        /// True for a step into the future.
        forward: bool,
    },
    /// The driver's timer. It does no harm if it comes early or twice.
    Wake,
}

/// Reason of a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Timer {
    /// The answers to a question are due.
    Answers,
    /// The leader shows that it lives.
    Heartbeat,
    /// Nothing was heard of a leader for too long.
    Silence,
    /// The store is asked again.
    Poll,
    /// A key expires.
    Expiry,
    /// A connection is looked after.
    Link,
    /// A reason of the machine inside.
    Inner,
}

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    /// A node waits for nothing and no deadline, and does not lead.
    Stuck,
    /// A node believes in a leader that does not exist.
    UnknownLeader(Peer),
    /// A node leads without having won.
    LeadsWithoutRight,
    /// The machine inside broke an invariant of its own.
    Inner(crate::Violation),
}

/// One part of an election: a node, or the store that the nodes share.
pub trait Contender: fmt::Debug {
    /// What the parts say to each other.
    type Message: Clone + fmt::Debug;

    /// Handles an event. It never fails and never panics.
    fn handle(&mut self, now: Time, event: Event<Self::Message>, out: &mut Vec<Envelope<Self::Message>>);

    /// Time at which it wants to be woken, and the reason.
    fn next_deadline(&self) -> Option<(Time, Timer)>;

    /// Checks every invariant that the state alone can show.
    ///
    /// # Errors
    /// The first invariant that is broken.
    fn check(&self) -> Result<(), Broken>;

    /// Time until which this node believes that it may act as leader, by its own clock; [`Time::MAX`] if it does so
    /// until something tells it otherwise, and `None` if it does not lead.
    fn leads_until(&self) -> Option<Time>;

    /// The process that starts in its place after a crash. It remembers only what its source keeps on disk.
    fn restarted(&self, seed: u64) -> Box<dyn Contender<Message = Self::Message>>;
}
