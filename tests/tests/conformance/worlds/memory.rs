//! The pure machine, through the embedded store's adapter.

use core::time::Duration;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::SystemTime;

use rolecall::store::{MemoryConnection, MemoryStore, StoreEvent};
use rolecall::{BoxFuture, Clock};
use rolecall_core::store::{Act, Answer};
use rolecall_core::{Session, Time};
use tokio::sync::watch;

use super::{Node, Outcome, World, participant};

pub(crate) struct Memory {
    store: MemoryStore,
    clock: Arc<HandClock>,
    timeout: Duration,
    /// Time that has passed in the present step.
    passed: Duration,
    deaf: BTreeSet<Node>,
}

impl Memory {
    pub(crate) fn new(timeout: Duration) -> Self {
        let clock = Arc::new(HandClock(watch::Sender::new(Time::ZERO)));
        let store = MemoryStore::new(Arc::clone(&clock) as Arc<dyn Clock>);
        Self { store, clock, timeout, passed: Duration::ZERO, deaf: BTreeSet::new() }
    }
}

/// A clock on which time passes only when a step says so.
#[derive(Debug)]
struct HandClock(watch::Sender<Time>);

impl Clock for HandClock {
    fn now(&self) -> Time {
        *self.0.borrow()
    }

    fn sleep_until(&self, time: Time) -> BoxFuture<'static, ()> {
        let mut now = self.0.subscribe();
        Box::pin(async move {
            // The clock outlives its sleepers; if not, nobody waits for them.
            let _ = now.wait_for(|now| *now >= time).await;
        })
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

impl World for Memory {
    type Store = MemoryConnection;

    async fn open(&mut self, node: Node) -> Outcome<MemoryConnection> {
        Ok(self.store.connect(participant("", node, self.timeout)))
    }

    fn cut(&mut self, node: Node) {
        self.store.suspend(node.id());
    }

    fn silence(&mut self, node: Node) {
        self.cut(node);
    }

    fn deafen(&mut self, node: Node) {
        self.deaf.insert(node);
    }

    fn asked(&mut self, node: Node) {
        if self.deaf.contains(&node) {
            self.cut(node);
        }
    }

    fn hears(&self, node: Node, event: StoreEvent) -> StoreEvent {
        match event {
            StoreEvent::Answered { id, answer } => {
                let answer = if self.deaf.contains(&node) { Answer::Unknown } else { answer };
                StoreEvent::Answered { id, answer }
            }
            news @ (StoreEvent::Up { .. }
            | StoreEvent::Suspended
            | StoreEvent::Lost
            | StoreEvent::Noticed { .. }
            | StoreEvent::Denied(_)
            | StoreEvent::Closed) => news,
        }
    }

    async fn outlasts(&mut self, _: &[Session]) -> Outcome<bool> {
        self.clock.0.send_modify(|now| *now = *now + MemoryStore::TICK);
        self.passed += MemoryStore::TICK;
        let is_over = self.passed >= self.timeout + MemoryStore::TICK * 2;
        if is_over {
            self.passed = Duration::ZERO;
        }
        Ok(is_over)
    }

    fn mend(&mut self, node: Node) {
        self.deaf.remove(&node);
        self.store.resume(node.id());
    }

    fn flap(&mut self, node: Node) {
        self.store.suspend(node.id());
        self.store.resume(node.id());
    }

    fn crash(&mut self, _: Node, store: MemoryConnection) {
        drop(store);
    }

    async fn expire(&mut self, node: Node, _: &[Session], _: bool) -> Outcome {
        self.store.expire(node.id());
        Ok(())
    }

    async fn operate(&mut self, act: Act) -> Outcome {
        self.store.operate(act);
        Ok(())
    }

    async fn restart(&mut self, keep_data: bool) -> Outcome {
        self.store.restart(keep_data);
        Ok(())
    }
}
