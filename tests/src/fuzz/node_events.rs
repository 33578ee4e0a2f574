//! Any events into a node, in any order, with answers to real and invented requests: the node never panics, and keeps
//! every promise that concerns one node after each event.

#[allow(dead_code, reason = "shared with the tests of the core, which look at every step")]
#[path = "../../../core/tests/common/hostile.rs"]
mod hostile;

/// Plays the events that `data` decodes to.
///
/// # Panics
/// If a promise is broken.
pub fn run(data: &[u8]) {
    if let Err(broken) = hostile::play(data, |_| {}) {
        panic!("{broken}");
    }
}
