//! The second part of a run: all faults have ended, and the cluster has to come to rest and serve.

use core::time::Duration;
use std::sync::Arc;

use rolecall_core::{Directory, Family, Health, Role, Time, Violation};

use super::fault::FaultKind;
use super::host::DRAIN;
use super::run::Broken;
use super::world::World;

/// Time allowed beside session timeouts: to find a connection dead, to back off, to drain, and a second more.
const GRACE: Duration = Duration::from_secs(6);
/// Longest time that a leader which resigned stays away, with its rounding.
const HOLD_OFF: Duration = Duration::from_secs(65);
/// Longest grace of a service that stops, and the supervisor's pause after a node that ended because of it.
const STOPPING: Duration = Duration::from_secs(10);

/// Longest time between two listings of an idle node: half a minute, with a jitter of an eighth.
const RELIST: Duration = Duration::from_secs(34);
/// Time that a leader needs after all others: to hear of its turn, and to claim its term.
const CLAIM: Duration = Duration::from_secs(1);

/// Longest time that rereading everything takes.
const READING: Duration = Duration::from_secs(1);

impl World<'_> {
    pub(super) fn come_to_rest(&mut self) {
        self.mend_all();
        let begun = self.now();
        let limit = begun + self.rest_limit();
        let served_before = self.visitor.served_at();
        let mut led = false;
        while self.judge.run.finding.is_none() {
            led = led || self.is_led(begun);
            let lacking = self.lacks().or_else(|| {
                let waits = !self.settings.visits.is_empty() && self.visitor.served_at() == served_before;
                waits.then(|| "the visitor is not served".into())
            });
            let Some(lacking) = lacking else { break };
            if self.now() >= limit {
                self.judge.find(self.truth.now(), "cluster", Broken::Unrest(lacking));
                return;
            }
            self.step();
        }
        self.judge.run.rest_after = self.now().since(begun);
        self.stay_at_rest();
    }

    /// True if a node leads. Reports a broken promise once that takes too long (P6).
    fn is_led(&mut self, begun: Time) -> bool {
        let now = self.now();
        self.judge.run.led_after = now.since(begun);
        let is_led = self.judge.leader(now).is_some();
        if !is_led && self.judge.run.led_after > self.lead_limit() {
            self.judge.find(now, "cluster", Broken::Promise(Violation::NoLeader));
        }
        is_led
    }

    /// Limit of P6: the session or the lease of a lost leader with what makes its end late, a drain, and a second; one
    /// more after a restart of the store, which renews all sessions and grants no lease while an earlier one may live.
    /// Nodes that resigned or failed to start stay away for longer of their own accord.
    fn lead_limit(&self) -> Duration {
        let session = self.settings.session_timeout;
        let mut limit = session + self.rounding() * 2 + DRAIN + CLAIM + self.staying_away();
        if self.happened(&[FaultKind::StoreRestart, FaultKind::DataLoss]) {
            limit += session;
        }
        limit
    }

    /// Longest delay with which the store ends a session or a lease: a tick; or a quarter of the lease, since the store's
    /// clock goes on only when somebody calls. The next node may be as late again: to a tick, or to let others go first.
    fn rounding(&self) -> Duration {
        match self.settings.election {
            Family::Queue => self.settings.store_tick,
            Family::Lease => self.settings.session_timeout / 4,
        }
    }

    /// Time for which nodes keep themselves from leading: after failures, or while an application may still be
    /// stopping.
    fn staying_away(&self) -> Duration {
        let mut away = Duration::ZERO;
        if self.happened(&[FaultKind::Resign, FaultKind::FailStarts]) {
            away += HOLD_OFF;
        }
        if self.happened(&[FaultKind::SlowStop, FaultKind::Pause]) {
            away += STOPPING;
        }
        away
    }

    fn happened(&self, kinds: &[FaultKind]) -> bool {
        kinds.iter().any(|kind| self.judge.run.faults.contains_key(kind))
    }

    /// Checks that the cluster stays at rest.
    fn stay_at_rest(&mut self) {
        let until = self.now() + self.settings.session_timeout * 2;
        while self.now() < until && self.judge.run.finding.is_none() {
            self.step();
        }
        // A node that happens to reread everything gets time for the answers.
        while self.now() < until + READING && self.judge.run.finding.is_none() && self.lacks().is_some() {
            self.step();
        }
        if let (Some(lack), None) = (self.lacks(), &self.judge.run.finding) {
            self.judge.find(self.truth.now(), "cluster", Broken::Unrest(format!("it does not stay at rest: {lack}")));
        }
    }

    /// Limit for coming to rest: several timeouts, since the store may remember lost clients and may have just
    /// restarted. A waiter whose candidate an operator deleted finds out at its next listing: it watches its
    /// predecessor alone (P7).
    fn rest_limit(&self) -> Duration {
        let mut limit = (self.settings.session_timeout + self.rounding()) * 3 + GRACE + self.staying_away();
        if self.happened(&[FaultKind::DeleteCandidate]) {
            limit += RELIST;
        }
        limit
    }

    /// The first thing that the cluster lacks to be at rest. At rest one node leads, all others work or look on, and the
    /// store and the registries say just that (P5, P6, P9).
    fn lacks(&self) -> Option<String> {
        let now = self.now();
        let Some(leader) = self.judge.leader(now) else { return Some("nobody leads".into()) };
        let standing = self.remaining().filter(|host| !host.observes()).count();
        for host in self.remaining() {
            let Some(status) = host.observer().map(|observer| observer.status()) else {
                return Some(format!("{} does not run", host.name));
            };
            let (role, health) = match host.observes() {
                true => (Role::None, Health::Observing),
                false if host.number == leader => (Role::Leader, Health::Serving),
                false => (Role::Worker, Health::Serving),
            };
            if status.role != role || status.health != health {
                return Some(format!("{} is {:?}, {:?}", host.name, status.role, status.health));
            }
            let known = status.workers.members.len();
            if (host.number == leader || host.observes()) && known + 1 != standing {
                return Some(format!("{} knows of {known} workers", host.name));
            }
        }
        let mut nodes: Vec<_> =
            self.remaining().filter(|host| !host.observes()).map(|host| host.name.clone()).collect();
        nodes.sort_unstable();
        if let Some(lack) = self.store_lacks(leader, &nodes) {
            return Some(lack);
        }
        let listed =
            |directory| self.hub.members(directory).into_iter().map(|member| member.key.id).collect::<Vec<_>>();
        let leader = self.hosts[leader].name.clone();
        nodes.retain(|name| *name != leader);
        if listed(Directory::Workers) != nodes || listed(Directory::Coordinators) != [leader] {
            let (workers, coordinators) = (listed(Directory::Workers), listed(Directory::Coordinators));
            return Some(format!("the registries hold the workers {workers:?} and the coordinators {coordinators:?}"));
        }
        None
    }

    /// What the store's election lacks to be at rest: the queue has a candidate of each of the nodes, which are in order;
    /// the lease has the leader as its holder.
    fn store_lacks(&self, leader: usize, nodes: &[Arc<str>]) -> Option<String> {
        match self.settings.election {
            Family::Queue => {
                let mut candidates: Vec<_> =
                    self.hub.contenders().into_iter().map(|contender| contender.participant).collect();
                candidates.sort_unstable();
                (candidates != nodes).then(|| format!("the queue holds {candidates:?}"))
            }
            Family::Lease => {
                let holder = self.hub.lease_holder();
                let is_leaders = holder.as_ref() == Some(&self.hosts[leader].name);
                (!is_leaders).then(|| format!("the holder of the lease is {holder:?}"))
            }
        }
    }
}
