//! Orders from a node's owner, which never wait and are never lost.

use rolecall_core::Event;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

/// Sender of orders to a node: to end, to resign, to be a candidate. Events from outside, which may be numerous, do not use it.
#[derive(Clone, Debug)]
pub(crate) struct Orders(UnboundedSender<Event>);

impl Orders {
    pub(crate) fn channel() -> (Self, UnboundedReceiver<Event>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        (Self(sender), receiver)
    }

    pub(crate) fn give(&self, order: Event) {
        // This fails only if the node has ended.
        drop(self.0.send(order));
    }
}
