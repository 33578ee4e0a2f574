//! Elections from the textbook, for study and comparison.
//!
//! | module | rule | source |
//! | --- | --- | --- |
//! | [`bully`] | The highest node that answers leads. | Garcia-Molina 1982 |
//! | [`ring`] | The highest number that gets round a ring leads. | Chang and Roberts 1979 |
//! | [`raft`] | Whoever gets the votes of a majority leads for one term. | Ongaro and Ousterhout 2014 |
//! | [`naive_lease`] | Whoever sets a key that expires leads, and prolongs it. | a recipe for Redis in wide use |
//!
//! These are exhibits: no [`Node`](crate::Node) can be configured to use them. Each shows its source as it stands, with
//! what it is known to get wrong. The first two trust that a node that does not answer in time is down, and the last
//! trusts that a key is still its own; all three have two leaders after a pause. Raft has one leader a *term*, which is
//! enough for its log, but two nodes can believe at the same instant that they lead.
//! `testing::comparison` (features `testing` and `textbook`) puts them through the same
//! faults as the elections of a node, and counts.
//!
//! The machines have the shape of all machines of this crate: an event and its time go in, messages come out, and
//! nothing else happens. The driver carries the messages and wakes the machine at its deadline.
//!
//! ```
//! use core::time::Duration;
//! use rolecall_core::Time;
//! use rolecall_core::election::textbook::bully::Bully;
//! use rolecall_core::election::textbook::{Config, Contender, Event, Peer};
//!
//! let mut alone = Bully::new(Config::new(Peer(0), 1));
//! let mut out = Vec::new();
//! alone.handle(Time::ZERO, Event::Start, &mut out);
//! assert!(out.is_empty(), "there is nobody to ask");
//! assert!(alone.leads_until().is_some());
//! ```

pub mod bully;
mod contender;
pub mod naive_lease;
mod outbox;
pub mod raft;
pub mod ring;

pub use contender::{Broken, Contender, Envelope, Event, Peer, Timer};

use core::time::Duration;

/// Settings of one node of [`bully`], [`ring`] or [`raft`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Number of this node. The nodes are numbered from 0 without gaps.
    pub me: Peer,
    /// Number of nodes, which never changes.
    pub nodes: u8,
    /// Time in which a node that is up answers. Default: 1 s.
    pub answer_within: Duration,
    /// Interval at which a leader shows that it lives. Default: 1 s.
    pub heartbeat: Duration,
    /// Silence after which a leader counts as down. Default: 10 s.
    pub silence: Duration,
    /// Random number, which differs from node to node and from start to start.
    pub seed: u64,
}

impl Config {
    /// The defaults for one of `nodes` nodes.
    #[must_use]
    pub const fn new(me: Peer, nodes: u8) -> Self {
        Self {
            me,
            nodes,
            answer_within: Duration::from_secs(1),
            heartbeat: Duration::from_secs(1),
            silence: Duration::from_secs(10),
            seed: me.0 as u64,
        }
    }

    fn others(&self) -> impl DoubleEndedIterator<Item = Peer> + use<> {
        let me = self.me;
        (0..self.nodes).map(Peer).filter(move |peer| *peer != me)
    }

    fn higher(&self) -> impl Iterator<Item = Peer> + use<> {
        (self.me.0.saturating_add(1)..self.nodes).map(Peer)
    }

    fn lower(&self) -> impl Iterator<Item = Peer> + use<> {
        (0..self.me.0).map(Peer)
    }

    /// Smallest number of nodes that is more than half of them.
    fn majority(&self) -> usize {
        usize::from(self.nodes) / 2 + 1
    }
}
