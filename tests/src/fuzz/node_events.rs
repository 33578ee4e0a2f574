//! Any events into a node, in any order, with answers to real and invented requests: the node never panics, and keeps
//! every promise that concerns one node after each event.

use rolecall_core::testing::hostile;

/// Plays the events that `data` decodes to.
///
/// # Panics
/// If a promise is broken.
pub fn run(data: &[u8]) {
    if let Err(broken) = hostile::play(data, |_| {}) {
        panic!("{broken}");
    }
}
