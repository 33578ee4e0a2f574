//! The second part of a run: nothing goes wrong any more, and the cluster has to come to rest and serve.

use core::time::Duration;

use rolecall_core::{Directory, Health, Role};

use super::fault::FaultKind;
use super::run::Broken;
use super::world::World;

/// What comes on top of the session timeouts: a connection that is found dead, a link that backs off, a drain, a second more.
const GRACE: Duration = Duration::from_secs(6);
/// The longest time for which a leader that resigned stays away, with its rounding.
const HOLD_OFF: Duration = Duration::from_secs(65);
/// The longest grace of a service that stops, and the pause of the supervisor after a node that ended for it.
const STOPPING: Duration = Duration::from_secs(10);

/// How long reading everything again takes at most.
const READING: Duration = Duration::from_secs(1);

impl World<'_> {
    pub(super) fn come_to_rest(&mut self) {
        self.mend_all();
        let begun = self.now();
        let limit = begun + self.rest_limit();
        let served_before = self.visitor.served_at();
        while self.judge.run.finding.is_none() {
            let lacking = self.lacks().or_else(|| {
                let waits = self.settings.visit.is_some() && self.visitor.served_at() == served_before;
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

    /// Once at rest, it stays so.
    fn stay_at_rest(&mut self) {
        let until = self.now() + self.settings.session_timeout * 2;
        while self.now() < until && self.judge.run.finding.is_none() {
            self.step();
        }
        // Where everything is being read again for once, the answers are waited for.
        while self.now() < until + READING && self.judge.run.finding.is_none() && self.lacks().is_some() {
            self.step();
        }
        if let (Some(lack), None) = (self.lacks(), &self.judge.run.finding) {
            self.judge.find(self.truth.now(), "cluster", Broken::Unrest(format!("it does not stay at rest: {lack}")));
        }
    }

    /// Two timeouts: what the store still believes of those who are gone, and a restart of the store just before.
    fn rest_limit(&self) -> Duration {
        let mut limit = (self.settings.session_timeout + self.settings.store_tick) * 3 + GRACE;
        let happened = |kind| self.judge.run.faults.contains_key(&kind);
        if happened(FaultKind::Resign) || happened(FaultKind::FailStarts) {
            limit += HOLD_OFF;
        }
        if happened(FaultKind::SlowStop) || happened(FaultKind::Pause) {
            limit += STOPPING;
        }
        limit
    }

    /// What is still missing for the cluster to be at rest: one leads, all others work, and store and registries say just that
    /// (P5, P6, P9).
    fn lacks(&self) -> Option<String> {
        let now = self.now();
        let Some(leader) = self.judge.leader(now) else { return Some("nobody leads".into()) };
        for host in &self.hosts {
            let Some(status) = host.observer().map(|observer| observer.status()) else {
                return Some(format!("{} does not run", host.name));
            };
            let role = if host.number == leader { Role::Leader } else { Role::Worker };
            if status.role != role || status.health != Health::Serving {
                return Some(format!("{} is {:?}, {:?}", host.name, status.role, status.health));
            }
            let known = status.workers.members.len();
            if host.number == leader && known != self.hosts.len() - 1 {
                return Some(format!("the leader knows of {known} workers"));
            }
        }
        let mut candidates: Vec<_> = self.hub.queue().into_iter().map(|(_, _, id)| id).collect();
        candidates.sort_unstable();
        let mut nodes: Vec<_> = self.hosts.iter().map(|host| host.name.clone()).collect();
        nodes.sort_unstable();
        if candidates != nodes {
            return Some(format!("in the queue are {candidates:?}"));
        }
        let listed =
            |directory| self.hub.members(directory).into_iter().map(|member| member.key.id).collect::<Vec<_>>();
        let leader = self.hosts[leader].name.clone();
        nodes.retain(|name| *name != leader);
        if listed(Directory::Workers) != nodes || listed(Directory::Coordinators) != [leader] {
            let (workers, coordinators) = (listed(Directory::Workers), listed(Directory::Coordinators));
            return Some(format!("registered are the workers {workers:?} and the coordinators {coordinators:?}"));
        }
        None
    }
}
