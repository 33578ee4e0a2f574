//! Any events into a node, in any order, with answers to real and invented requests: the node never panics, and keeps
//! every promise that concerns one node after each event.

use rolecall_core::Family;
use rolecall_core::testing::hostile;

/// Plays the events that `data` decodes to, for a node of each family.
///
/// # Panics
/// If a promise is broken.
pub fn run(data: &[u8]) {
    for family in [Family::Queue, Family::Lease] {
        if let Err(broken) = hostile::play(family, data, |_| {}) {
            panic!("{family}: {broken}");
        }
    }
}
