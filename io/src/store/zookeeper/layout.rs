//! Paths of everything that belongs to one cluster.

use rolecall_core::{Directory, Session};

use super::record::directory_name;

/// Paths of one cluster's znodes.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    root: String,
}

impl Layout {
    /// Paths of `cluster` under `chroot`, which is empty or begins with a slash.
    pub(super) fn new(chroot: &str, cluster: &str) -> Self {
        Self { root: format!("{chroot}/rolecall/{cluster}") }
    }

    pub(super) fn root(&self) -> &str {
        &self.root
    }

    pub(super) fn election(&self) -> String {
        self.child("election")
    }

    pub(super) fn candidate(&self, name: &str) -> String {
        format!("{}/election/{name}", self.root)
    }

    pub(super) fn term(&self) -> String {
        self.child("term")
    }

    pub(super) fn beat(&self) -> String {
        self.child("beat")
    }

    pub(super) fn settings(&self) -> String {
        self.child("settings")
    }

    pub(super) fn wish(&self) -> String {
        self.child("wish")
    }

    pub(super) fn directory(&self, directory: Directory) -> String {
        format!("{}/services/{}", self.root, directory_name(directory))
    }

    pub(super) fn entry(&self, directory: Directory, name: &str) -> String {
        format!("{}/{name}", self.directory(directory))
    }

    /// Path of the znode that proves which session a connection serves.
    pub(super) fn probe(&self, Session(session): Session) -> String {
        format!("{}/probe-{session:016x}", self.root)
    }

    fn child(&self, name: &str) -> String {
        format!("{}/{name}", self.root)
    }
}
