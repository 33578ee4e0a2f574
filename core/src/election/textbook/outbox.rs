//! Sending to several nodes.

use alloc::vec::Vec;

use super::{Envelope, Peer};

/// Puts a message into the buffer of its driver.
pub(super) fn send<M>(out: &mut Vec<Envelope<M>>, to: Peer, message: M) {
    out.push(Envelope { to, message });
}

/// Puts the same message for each of these nodes into the buffer.
pub(super) fn send_all<M: Clone>(out: &mut Vec<Envelope<M>>, to: impl IntoIterator<Item = Peer>, message: &M) {
    for to in to {
        send(out, to, message.clone());
    }
}
