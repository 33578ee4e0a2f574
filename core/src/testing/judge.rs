//! Questions about a cluster: who leads, what the store holds, and whether everything is at rest as promised.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::{Candidate, Directory, Family, Fence, Health, Member, Node, Role, Session, Violation};

use super::{Cluster, Host, Outcome};

impl Cluster {
    pub(super) fn judge_gates(&mut self) {
        for (name, host) in &self.hosts {
            // A paused process begins nothing; its gate is judged when it goes on.
            let open = host.open_gate(self.now).filter(|_| host.is_up());
            let judged = self.judge.gate(self.now, &Arc::from(*name), open);
            let excused = self.now < self.excused_until
                && matches!(judged, Err(Violation::TwoLeaders | Violation::EpochNotRising));
            if let (Err(violation), false) = (judged, excused) {
                panic!("{name}: {violation:?}\n{}", self.trace.text());
            }
        }
    }

    /// A node.
    ///
    /// # Panics
    /// If no node of that name was ever started.
    pub fn node(&self, name: &str) -> &Node {
        &self.hosts[name].node
    }

    /// The role that a node serves.
    ///
    /// # Panics
    /// If no node of that name was ever started.
    pub fn role(&self, name: &str) -> Role {
        self.hosts[name].node.role()
    }

    /// The nodes that could begin a leader-only act now.
    pub fn leaders(&self) -> Vec<&'static str> {
        self.hosts
            .iter()
            .filter(|(_, host)| host.outcome == Outcome::Runs && host.open_gate(self.now).is_some())
            .map(|(name, _)| *name)
            .collect()
    }

    /// The queue in the store, with the owner of each candidate.
    pub fn queue(&self) -> Vec<(Candidate, Session)> {
        self.store.contenders().iter().map(|contender| (contender.candidate, contender.owner)).collect()
    }

    /// True for a session of another kind of client.
    pub fn is_strangers(&self, session: Session) -> bool {
        self.strangers.contains(&session)
    }

    /// A directory in the store.
    pub fn members(&self, directory: Directory) -> Vec<Member> {
        self.store.members(directory).cloned().collect()
    }

    /// The ids in a directory in the store.
    pub fn listed(&self, directory: Directory) -> Vec<String> {
        self.members(directory).iter().map(|member| member.key.id.to_string()).collect()
    }

    /// The lowest candidate of a node's current session.
    pub fn candidate_of(&self, name: &str) -> Candidate {
        let session = self.hosts[name].session.expect("it has a session");
        let own = self.queue().into_iter().find(|(_, owner)| *owner == session);
        own.unwrap_or_else(|| panic!("{name} has no candidate\n{}", self.trace.text())).0
    }

    /// Checks that the running nodes have come to rest as they should: one leads, all others work, and the store and
    /// the registries say just that (P5, P7, P9; a node's own check shows its part of them).
    ///
    /// # Errors
    /// The first condition that does not hold.
    pub fn at_rest(&self) -> Result<(), String> {
        let running: BTreeMap<_, _> = self
            .hosts
            .iter()
            .filter(|(_, host)| host.outcome == Outcome::Runs)
            .map(|(name, host)| (*name, host))
            .collect();
        if let Some((name, _)) = self.hosts.iter().find(|(_, host)| matches!(host.outcome, Outcome::Halted(_))) {
            return Err(format!("{name} has halted"));
        }
        let (observers, running): (BTreeMap<_, _>, BTreeMap<_, _>) =
            running.into_iter().partition(|(_, host)| host.node.config().observes);
        let leaders = self.leaders();
        if leaders.len() != 1 {
            return Err(format!("these lead: {leaders:?}"));
        }
        for (name, host) in &running {
            let role = if leaders.contains(name) { Role::Leader } else { Role::Worker };
            if host.node.role() != role || host.node.health() != Health::Serving {
                return Err(format!("{name} is {:?}, {:?}", host.node.role(), host.node.health()));
            }
        }
        let (term, _) = running[leaders[0]].node.term().ok_or("its term ends")?;
        let refuses = |floor: Fence| floor != term && !term.is_newer_than(floor);
        if let Some((name, host)) = running.iter().find(|(_, host)| host.node.floor().is_none_or(refuses)) {
            return Err(format!("{name} refuses requests of {term:?}, since its floor is {:?}", host.node.floor()));
        }
        let want_settings = running.values().any(|host| host.node.config().settings.is_some());
        if want_settings && self.store.settings().is_none() {
            return Err("the settings are missing".into());
        }
        self.candidates_at_rest(leaders[0], &running)?;
        let workers: Vec<_> = running.keys().copied().filter(|name| !leaders.contains(name)).collect();
        let (listed_workers, listed_leaders) = (self.listed(Directory::Workers), self.listed(Directory::Coordinators));
        if listed_workers != workers || listed_leaders != leaders {
            return Err(format!("the registries hold {listed_workers:?} and {listed_leaders:?}"));
        }
        if let Some((name, host)) = observers.iter().find(|(_, host)| host.node.health() != Health::Observing) {
            return Err(format!("{name} is {:?}", host.node.health()));
        }
        let follows = |(name, host): &(&&str, &&Host)| leaders.contains(name) || host.node.config().follows_workers;
        for (name, host) in running.iter().filter(follows).chain(&observers) {
            let mirrored: Vec<_> = host.node.workers().iter().map(|member| &*member.key.id).collect();
            if mirrored != workers {
                return Err(format!("{name} knows of {mirrored:?}"));
            }
        }
        Ok(())
    }

    /// Checks that every willing node stands once in the queue, or that the lease is the leader's.
    fn candidates_at_rest(&self, leader: &str, running: &BTreeMap<&str, &Host>) -> Result<(), String> {
        match self.store.family() {
            Family::Queue => {
                let queue = self.queue();
                let owned = queue.iter().filter(|(_, owner)| *owner != Session::NOBODY);
                let mut owners: Vec<_> = owned.map(|(_, owner)| Some(*owner)).collect();
                let willing = running.values().filter(|host| host.willing);
                let mut sessions: Vec<_> = willing.map(|host| host.session).collect();
                owners.sort_unstable();
                sessions.sort_unstable();
                if owners == sessions {
                    Ok(())
                } else {
                    Err(format!("the candidates belong to {owners:?}, but the sessions are {sessions:?}"))
                }
            }
            Family::Lease => {
                let holder = self.store.lease().map(|holding| holding.id);
                if holder.as_deref() == Some(leader) { Ok(()) } else { Err(format!("{holder:?} holds the lease")) }
            }
        }
    }

    /// Crashes a node and lets time pass until the others are at rest.
    pub fn settle_without(&mut self, name: &'static str) {
        self.crash(name);
        self.settle();
    }

    /// Lets time pass until everything is at rest.
    pub fn settle(&mut self) {
        self.until("came to rest", |cluster| cluster.at_rest().is_ok());
    }
}
