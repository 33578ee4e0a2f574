//! Queries about a node.

use alloc::sync::Arc;
use core::fmt;

use super::{Node, Stop};
use crate::election::Will;
use crate::membership::Membership;
use crate::pass::Soonest;
use crate::registry::Registry;
use crate::{Config, Epoch, Fence, Leader, Member, OpId, Role, Session, Time, Timer};

/// State of a node's service, or the reason why it does not serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Health {
    /// It serves its role and is registered.
    Serving,
    /// It serves its role, but its entry is not in the registry, or not known to be.
    Unregistered,
    /// It has no connection to its store and serves no role.
    NoStore,
    /// Something that is not a record stands in the place of the term record. The next leader overwrites it.
    TermUnreadable,
    /// It asks the store for the settings of the cluster, which must be the same on every node.
    Unsettled,
    /// Another session is registered under its id; it may be an earlier life of its own.
    IdentityHeld,
    /// It does not know its role yet.
    Undecided,
    /// The service of its role starts or stops.
    Changing,
    /// The service of its role could not be started, this many times in a row.
    Failing(u8),
    /// It only observes, as configured.
    Observing,
    /// It is shutting down.
    Ending,
}

impl Health {
    /// True if the node does its part, as far as the store lets it.
    #[must_use]
    pub const fn is_ready(self) -> bool {
        match self {
            Self::Serving | Self::Unregistered | Self::Observing => true,
            Self::NoStore
            | Self::TermUnreadable
            | Self::Unsettled
            | Self::IdentityHeld
            | Self::Undecided
            | Self::Changing
            | Self::Failing(_)
            | Self::Ending => false,
        }
    }
}

impl fmt::Display for Health {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Serving => "the node serves its role",
            Self::Unregistered => "the node serves its role, but is not registered",
            Self::NoStore => "the node has no connection to the store and serves no role",
            Self::TermUnreadable => {
                "the record of the latest term in the store is malformed; the next leader overwrites it"
            }
            Self::Unsettled => "the settings of the cluster have not been read from the store yet",
            Self::IdentityHeld => "another session is registered under this node's id",
            Self::Undecided => "the node has no role yet",
            Self::Changing => "the application is starting or stopping",
            Self::Failing(times) => {
                return write!(formatter, "the application could not be started, {times} times");
            }
            Self::Observing => "the node observes",
            Self::Ending => "the node is ending",
        })
    }
}

impl Node {
    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The role that this node serves now.
    #[must_use]
    pub fn role(&self) -> Role {
        self.services.serving().role()
    }

    /// Fence of the term that this node holds, and the end of its validity.
    #[must_use]
    pub fn term(&self) -> Option<(Fence, Time)> {
        self.election.position().term()
    }

    /// Fence of the newest term that this node knows of.
    #[must_use]
    pub fn floor(&self) -> Option<Fence> {
        self.floor.fence()
    }

    /// The session; true if it is connected.
    #[must_use]
    pub fn session(&self) -> Option<(Session, bool)> {
        self.standing.map(|standing| (standing.session, standing.connected))
    }

    /// The leader, as far as this node can see. While the store cannot be reached, a node knows of no other leader, but
    /// a node in a valid term knows that it leads.
    #[must_use]
    pub fn leader(&self) -> Option<Leader> {
        if let Some(id) = self.visible_foreign() {
            return Some(Leader::Foreign { id: Arc::clone(id) });
        }
        self.leader_entry().map(|(member, epoch)| Leader::Node {
            id: Arc::clone(&member.key.id),
            address: Arc::clone(&member.address),
            epoch,
        })
    }

    pub(super) fn visible_foreign(&self) -> Option<&Arc<str>> {
        self.election.foreign_head().filter(|_| self.term().is_none())
    }

    /// The coordinator of the newest term. Until the registry is read again, that can only be this node in its own
    /// term.
    pub(super) fn leader_entry(&self) -> Option<(&Member, Epoch)> {
        let registry = &self.registry.coordinators;
        let entries = registry.members().iter().filter_map(|member| member.epoch.map(|epoch| (member, epoch)));
        entries.filter(|entry| registry.is_current() || self.is_own_term(entry)).max_by_key(|(_, epoch)| *epoch)
    }

    fn is_own_term(&self, (member, epoch): &(&Member, Epoch)) -> bool {
        let holds = self.term().is_some_and(|(fence, _)| fence.epoch == *epoch);
        let is_own = self.standing.is_some_and(|standing| standing.session == member.key.session);
        holds && is_own && member.key.id == self.config.id
    }

    /// The workers, as last read. Only a leader, an observer, and a node that [follows them](Config::follows_workers)
    /// keep them current.
    #[must_use]
    pub fn workers(&self) -> &[Member] {
        self.registry.workers.members()
    }

    /// The coordinators, as last read. Every node keeps them current.
    #[must_use]
    pub fn coordinators(&self) -> &[Member] {
        self.registry.coordinators.members()
    }

    /// Numbers of names in the queue that do not count, and of unreadable entries in the directories.
    #[must_use]
    pub fn skipped(&self) -> (u32, u32) {
        let members = self.registry.both().map(Registry::skipped);
        (self.election.skipped(), members[0].saturating_add(members[1]))
    }

    /// State of this node's service.
    #[must_use]
    pub fn health(&self) -> Health {
        if self.stop != Stop::No {
            return Health::Ending;
        }
        if self.services.failures() > 0 {
            return Health::Failing(self.services.failures());
        }
        if self.role() != Role::None {
            let registered = !self.config.registers || self.membership.both().into_iter().any(Membership::is_present);
            return if registered { Health::Serving } else { Health::Unregistered };
        }
        if !self.services.is_idle() {
            return Health::Changing;
        }
        match self.standing {
            Some(standing) if standing.connected && self.config.observes => Health::Observing,
            Some(standing) if standing.connected && !self.settings.are_agreed(&self.config) => Health::Unsettled,
            Some(standing) if standing.connected && !self.identity.is_free() => Health::IdentityHeld,
            Some(standing) if standing.connected && self.floor.is_malformed() => Health::TermUnreadable,
            Some(standing) if standing.connected => Health::Undecided,
            Some(_) | None => Health::NoStore,
        }
    }

    /// Time of the next wake, and its reason; `None` if only an event can change anything.
    #[must_use]
    pub fn next_deadline(&self) -> Option<(Time, Timer)> {
        let mut soonest = Soonest::default();
        match self.stop {
            Stop::Over => return None,
            Stop::Asked { limit } => soonest.consider(limit, Timer::Shutdown),
            Stop::No => {}
        }
        let connected = self.standing.is_some_and(|standing| standing.connected);
        self.election.deadlines(connected, &mut soonest);
        self.floor.deadlines(connected, &mut soonest);
        self.settings.deadlines(connected, &mut soonest);
        self.wishes.deadlines(connected, &mut soonest);
        self.services.deadlines(&self.config, &mut soonest);
        if let Some(at) = self.hold_off.deadline() {
            soonest.consider(at, Timer::HoldOff);
        }
        if let Some(at) = self.fresh_start.deadline().filter(|_| self.check().is_err()) {
            soonest.consider(at, Timer::FreshStart);
        }
        if let Some(at) = self.identity.deadline() {
            soonest.consider(at, Timer::Identity);
        }
        self.membership.workers.deadlines(connected, &mut soonest);
        self.membership.coordinators.deadlines(connected, &mut soonest);
        self.registry.workers.deadlines(connected, &mut soonest);
        self.registry.coordinators.deadlines(connected, &mut soonest);
        soonest.deadline
    }

    /// True if the node waits for the answer to this operation at `now`.
    pub(crate) fn awaits(&self, now: Time, id: OpId) -> bool {
        self.election.awaits(now, id)
            || self.floor.awaits(now, id)
            || self.settings.awaits(now, id)
            || self.wishes.awaits(now, id)
            || self.membership.both().into_iter().any(|membership| membership.awaits(now, id))
            || self.registry.both().into_iter().any(|registry| registry.awaits(now, id))
    }

    /// True if a machine waits for the watch that this request set.
    pub(crate) fn relies_on(&self, id: OpId) -> bool {
        self.election.relies_on(id)
            || self.wishes.relies_on(id)
            || self.membership.both().into_iter().any(|membership| membership.relies_on(id))
            || self.registry.both().into_iter().any(|registry| registry.relies_on(id))
    }

    /// True if this node resigns, or has resigned and does not stand again yet.
    pub(crate) fn is_resigning(&self) -> bool {
        !self.hold_off.is_over()
    }

    /// True if this node ends, so that its term does.
    pub(crate) fn is_ending(&self) -> bool {
        self.stop != Stop::No
    }

    /// True if this node leads and has tried for long enough to serve.
    pub(crate) fn fails_to_lead(&self, now: Time) -> bool {
        self.services.has_failed_to_lead(now, &self.config)
    }

    /// True if this node gives up its place in the election.
    pub(crate) fn withdraws(&self) -> bool {
        self.will() == Will::Withdraw
    }

    /// True if this node is connected and has nothing left to delete from the queue, as far as it knows.
    pub(crate) fn has_swept(&self) -> bool {
        self.standing.is_some_and(|standing| standing.connected) && self.election.may_sweep()
    }
}
