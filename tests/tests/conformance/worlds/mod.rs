//! The stores that are compared.

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
    /// Its connections.
    type Store: Store;

    /// Starts a node.
    async fn open(&mut self, node: Node) -> Outcome<Self::Store>;

    /// A node loses its connection, and finds none until [`mend`](Self::mend).
    fn cut(&mut self, node: Node);

    /// A node's connection falls silent until [`mend`](Self::mend), and so do new ones.
    fn silence(&mut self, node: Node);

    /// A node hears nothing until [`mend`](Self::mend), while the store hears what it asks for next.
    fn deafen(&mut self, node: Node);

    fn mend(&mut self, node: Node);

    /// A node has asked for something.
    fn asked(&mut self, _: Node) {}

    /// What a node hears of what it is told.
    fn hears(&self, _: Node, event: StoreEvent) -> StoreEvent {
        event
    }

    /// Lets some time pass; whether these sessions, which nobody uses, have ended by it.
    async fn outlasts(&mut self, sessions: &[Session]) -> Outcome<bool>;

    /// A node loses its connection and may come back at once.
    fn flap(&mut self, node: Node);

    /// A node dies and leaves its session.
    fn crash(&mut self, node: Node, store: Self::Store);

    /// Ends all sessions of a node, which are `sessions` or have ended already. If its connection is `up` it may come back.
    async fn expire(&mut self, node: Node, sessions: &[Session], up: bool) -> Outcome;

    /// Does what an operator does.
    async fn operate(&mut self, act: Act) -> Outcome;

    /// Stops the store and starts it again.
    async fn restart(&mut self, keep_data: bool) -> Outcome;
}

fn participant(cluster: &str, node: Node, session_timeout: Duration) -> Participant {
    let id = node.id();
    Participant { cluster: cluster.into(), id: id.into(), address: format!("{id}:80"), session_timeout }
}
