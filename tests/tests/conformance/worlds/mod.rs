//! The stores under comparison.

mod memory;
mod password;
mod zookeeper;

use core::time::Duration;
use std::error::Error;

use rolecall::store::{Participant, Store, StoreEvent};
use rolecall_core::Session;
use rolecall_core::store::Act;

pub(crate) use self::memory::Memory;
pub(crate) use self::zookeeper::ZooKeeper;
use super::step::Node;

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// A store, and the ways to disturb it.
pub(crate) trait World {
    /// Type of a node's connection.
    type Store: Store;

    /// Starts a node.
    async fn open(&mut self, node: Node) -> Outcome<Self::Store>;

    /// Cuts a node's connection, until [`mend`](Self::mend).
    fn cut(&mut self, node: Node);

    /// Silences a node's connection and new ones, until [`mend`](Self::mend).
    fn silence(&mut self, node: Node);

    /// Loses the answers to a node, until [`mend`](Self::mend), while the store gets the node's next request.
    fn deafen(&mut self, node: Node);

    fn mend(&mut self, node: Node);

    /// Notes that a node has sent a request.
    fn asked(&mut self, _: Node) {}

    /// The part of an event that a node hears.
    fn hears(&self, _: Node, event: StoreEvent) -> StoreEvent {
        event
    }

    /// Lets some time pass. Returns true if these sessions, which nobody uses, have ended by then.
    async fn outlasts(&mut self, sessions: &[Session]) -> Outcome<bool>;

    /// Cuts a node's connection; the node may come back at once.
    fn flap(&mut self, node: Node);

    /// Crashes a node, which leaves its session.
    fn crash(&mut self, node: Node, store: Self::Store);

    /// Ends all sessions of a node, which are `sessions` or have ended already. If its connection is `up` it may come
    /// back.
    async fn expire(&mut self, node: Node, sessions: &[Session], up: bool) -> Outcome;

    /// Carries out an operator's act.
    async fn operate(&mut self, act: Act) -> Outcome;

    /// Stops the store and starts it again.
    async fn restart(&mut self, keep_data: bool) -> Outcome;
}

fn participant(cluster: &str, node: Node, session_timeout: Duration) -> Participant {
    let id = node.id();
    Participant::new(cluster, id, session_timeout).at(format!("{id}:80"))
}
