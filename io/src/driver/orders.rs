//! Orders of a node's owner, which never wait and are never lost.

use rolecall_core::Event;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

/// Gives a node its orders: to end, to resign, to stand. What comes from outside, as often as others like, does not go this way.
#[derive(Clone, Debug)]
pub(crate) struct Orders(UnboundedSender<Event>);

impl Orders {
    pub(crate) fn channel() -> (Self, UnboundedReceiver<Event>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    pub(crate) fn give(&self, order: Event) {
        // A node that has ended needs to be told nothing.
        drop(self.0.send(order));
    }
}
