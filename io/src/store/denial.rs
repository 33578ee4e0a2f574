//! Access that a store denies.

use core::fmt;
use std::sync::Arc;

/// Access that a store denies to this node. Only an operator can grant it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Denial {
    /// Name under which the store knows this node.
    pub user: Arc<str>,
    /// Path, or pattern of keys, to which access is denied.
    pub path: Arc<str>,
    /// Permission that is missing, for people.
    pub need: Arc<str>,
}

impl fmt::Display for Denial {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { user, path, need } = self;
        write!(formatter, "the store denies {user} access to {path}: {need}")
    }
}
