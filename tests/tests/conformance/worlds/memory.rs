//! The pure machine, through the embedded store's adapter.

use core::time::Duration;
use std::sync::Arc;

use rolecall_core::Session;
use rolecall_core::store::Act;
use rolecall_io::SystemClock;
use rolecall_io::store::{MemoryConnection, MemoryStore};

use super::{Node, Outcome, World, participant};

pub(crate) struct Memory {
    store: MemoryStore,
    timeout: Duration,
}

impl Memory {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { store: MemoryStore::new(Arc::new(SystemClock::new())), timeout }
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

    fn mend(&mut self, node: Node) {
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
