//! Liveness: from every state, a run without faults and without endless delays comes to rest.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

use rolecall_core::{Health, Node, Role};

use super::explore::Explored;
use super::world::{Host, Process, Step, World};

/// Number of steps within which a world comes to rest, from any state.
pub(crate) const LIMIT: u32 = 600;

/// Steps left until rest, by known state. The next step of a fair run depends on the state alone, so runs that meet go
/// on as one.
#[derive(Debug, Default)]
pub(crate) struct Fair {
    known: Mutex<HashMap<u64, u32>>,
}

impl Fair {
    /// True if the world, whose fingerprint is `print`, comes to rest within the limit.
    pub(crate) fn comes_to_rest<W: Explored>(&self, world: &W, mut print: u64) -> bool {
        let mut world = world.clone();
        let mut passed = Vec::new();
        let rest = loop {
            if let Some(left) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&print) {
                break *left;
            }
            passed.push(print);
            if world.is_at_rest() {
                break 0;
            }
            // A fair run that sees a state again goes round for ever, and so passes the limit.
            match world.fair_step().filter(|_| passed.len() <= LIMIT as usize && world.world().breach.is_none()) {
                Some(step) => world.take(step, &mut Vec::new()),
                None => return false,
            }
            world.rename();
            print = fingerprint(&world);
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = rest;
        for print in passed.into_iter().rev() {
            known.insert(print, left);
            left += 1;
        }
        left <= LIMIT
    }
}

/// A number that tells states apart, the same in every run.
pub(crate) fn fingerprint(world: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    world.hash(&mut hasher);
    hasher.finish()
}

impl World {
    /// True if every remaining node serves, one of them as the leader, and every node that was asked to stop is gone.
    /// Observers look on.
    pub(crate) fn is_at_rest(&self) -> bool {
        let remaining = || self.hosts.iter().filter_map(Host::node);
        let running = || remaining().filter(|node| !node.config().observes);
        let observers = || remaining().filter(|node| node.config().observes);
        let leaders = running().filter(|node| node.role() == Role::Leader && node.term().is_some()).count();
        self.hosts.iter().all(|host| !host.stopping)
            && running().all(|node| node.health() == Health::Serving)
            && observers().all(|node| node.health() == Health::Observing)
            && running().all(|node| node.term().is_some() == (node.role() == Role::Leader))
            && (leaders == 1 || running().next().is_none())
    }

    /// The next step of the fair run: messages arrive, clients reconnect, unused sessions end; only then does time
    /// pass, for all nodes alike.
    pub(crate) fn fair_step(&self) -> Option<Step> {
        let mut steps = Vec::new();
        for place in 0..self.hosts.len() {
            self.deliveries(place, &mut steps);
        }
        if steps.is_empty() && !self.orphans().is_empty() {
            steps.push(Step::EndOrphan(0));
        }
        if steps.is_empty() && self.lease_is_idle() {
            steps.push(Step::EndLease);
        }
        if steps.is_empty() {
            let places = (0..self.hosts.len()).filter(|place| self.hosts[*place].process != Process::Crashed);
            let due = places.filter_map(|place| Some((self.time_left(place)?, place))).min();
            steps.extend(due.map(|(left, place)| if left.is_zero() { Step::Wake(place) } else { Step::Pass }));
        }
        steps.first().copied()
    }
}

/// A node's own account of its state, for a reader who wonders why a run does not come to rest.
pub(crate) fn state_of(node: &Node) -> String {
    format!("{:?}, {:?}", node.role(), node.health())
}
