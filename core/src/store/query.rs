//! Queries of judges and operators: the store's committed state, without a session of their own.

use alloc::sync::Arc;

use super::lease::LeaseMachine;
use super::{Client, Contender, Holding, Machine, Wish};
use crate::{Directory, Member, Session};

impl Machine {
    /// The session of every client that has one, as far as the store's majority knows.
    pub fn sessions(&self) -> impl Iterator<Item = (Session, &Client)> {
        self.living().map(|(session, life)| (session, &life.client))
    }

    /// The contender that may lead: the first of the queue that a session owns.
    #[must_use]
    pub fn holder(&self) -> Option<&Contender> {
        self.contenders().iter().find(|contender| contender.owner != Session::NOBODY)
    }

    /// The lease that somebody holds, where the store keeps one. Its end is judged at the last call.
    #[must_use]
    pub fn lease(&self) -> Option<Holding> {
        self.tree.lease.as_ref().and_then(LeaseMachine::holder)
    }

    /// Every contender in the queue, in order, including those without a session.
    #[must_use]
    pub fn contenders(&self) -> &[Contender] {
        &self.tree.queue.contenders
    }

    /// The members of a directory, ordered by name.
    pub fn members(&self, directory: Directory) -> impl Iterator<Item = &Member> {
        self.tree.directory(directory).entries.iter().map(|entry| &entry.member)
    }

    /// Settings of the cluster, if there are any.
    #[must_use]
    pub fn settings(&self) -> Option<&Arc<str>> {
        self.tree.settings.as_ref()
    }

    /// Wish of an operator, answered or not.
    #[must_use]
    pub fn wish(&self) -> Option<&Wish> {
        self.tree.wish.wish()
    }
}
