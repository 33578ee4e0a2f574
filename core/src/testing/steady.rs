//! Nodes at rest, and the events that they live on: to measure what an event costs.

use core::time::Duration;

use super::Cluster;
use crate::store::{Answer, LeaseReply, QueueReply, Reply};
use crate::{Action, Event, Family, Node, OpId, Sink, Time};

/// Names of a leader and as many workers as it may have.
const NAMES: [&str; 21] = [
    "leader", "w01", "w02", "w03", "w04", "w05", "w06", "w07", "w08", "w09", "w10", "w11", "w12", "w13", "w14", "w15",
    "w16", "w17", "w18", "w19", "w20",
];

/// A node at rest, with its clock and its actions.
#[derive(Clone, Debug)]
pub struct Steady {
    /// The node.
    pub node: Node,
    /// The time on its clock.
    pub now: Time,
    /// Its actions since it came to rest.
    pub out: Counter,
}

/// The number of actions and the id of the newest request: as much as a driver with a buffer of its own would keep.
#[derive(Clone, Debug, Default)]
pub struct Counter {
    /// Id of the newest request.
    pub newest: Option<OpId>,
    /// Number of actions.
    pub count: usize,
}

impl Sink for Counter {
    fn push(&mut self, action: Action) {
        self.count += 1;
        if let Action::Store { id, .. } = action {
            self.newest = Some(id);
        }
    }
}

impl Steady {
    /// A leader with this many workers.
    ///
    /// # Panics
    /// If there are more than 20 workers.
    #[must_use]
    pub fn leader(workers: usize) -> Self {
        Self::of(Cluster::new(), &NAMES[..=workers], NAMES[0])
    }

    /// A worker that waits behind another node's candidate.
    #[must_use]
    pub fn waiter() -> Self {
        Self::of(Cluster::new(), &NAMES[..2], NAMES[1])
    }

    /// A leader by a lease, with this many workers.
    ///
    /// # Panics
    /// If there are more than 20 workers.
    #[must_use]
    pub fn lease_holder(workers: usize) -> Self {
        Self::of(Cluster::with_lease(), &NAMES[..=workers], NAMES[0])
    }

    /// A worker that waits for the end of another node's lease.
    #[must_use]
    pub fn lease_waiter() -> Self {
        Self::of(Cluster::with_lease(), &NAMES[..2], NAMES[1])
    }

    /// One node of a cluster that has come to rest.
    fn of(mut cluster: Cluster, names: &[&'static str], name: &str) -> Self {
        cluster.is_traced = false;
        cluster.start_in_order(names);
        cluster.settle();
        Self { node: cluster.node(name).clone(), now: cluster.now, out: Counter::default() }
    }

    /// Handles an event, a moment later.
    pub fn event(&mut self, event: Event) {
        self.now = self.now + Duration::from_micros(10);
        self.node.handle(self.now, event, &mut self.out);
    }

    /// Handles an event, at the time of the last one.
    pub fn event_now(&mut self, event: Event) {
        self.node.handle(self.now, event, &mut self.out);
    }

    /// Wakes the node at its own deadline.
    pub fn wake(&mut self) {
        let deadline = self.node.next_deadline().map_or(self.now, |(at, _)| at);
        self.now = self.now.max(deadline);
        self.node.handle(self.now, Event::Wake, &mut self.out);
    }

    /// Sends a heartbeat and answers it: two events.
    pub fn beat(&mut self) {
        self.wake();
        if let Some(id) = self.out.newest.take() {
            let reply = match self.node.config().election.family() {
                Family::Queue => Reply::Queue(QueueReply::Beaten),
                Family::Lease => Reply::Lease(LeaseReply::Renewed),
            };
            self.event(Event::Answered { id, answer: Answer::Done(reply) });
        }
    }
}
