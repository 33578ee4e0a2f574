//! Clients of the register, and what they were told.

use core::time::Duration;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rolecall::http::{Client, ClientLimits};
use rolecall::{Entropy, Epoch, Incarnation, SeededEntropy, SystemClock, TokioNet};
use rolecall_cli::register::{Answer, Call, Caller, Completion, History, Operation, check};
use tokio::task::JoinHandle;

use super::Outcome;
use crate::wait::until;

/// Clients that ask until they are told to stop.
#[derive(Debug)]
pub struct Clients {
    history: History,
    /// A client that asks when the test wants it to.
    extra: Caller,
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<BTreeSet<Epoch>>>,
}

/// What the clients were told.
#[derive(Debug)]
pub struct ClientsReport {
    /// Epochs of the terms that answered.
    pub terms: BTreeSet<Epoch>,
    operations: Vec<Operation>,
}

impl Clients {
    /// Starts four clients that ask the nodes at these addresses.
    #[must_use]
    pub fn start(addresses: Vec<String>) -> Self {
        let (history, stop) = (History::new(), Arc::new(AtomicBool::new(false)));
        let caller = |number| {
            let clock = Arc::new(SystemClock::new());
            let client = Client::new(Arc::new(TokioNet), clock.clone(), ClientLimits::default());
            Caller::new(number, client, clock, history.clone())
        };
        let asking = (0..4)
            .map(|number| tokio::spawn(ask(caller(number), u64::from(number), addresses.clone(), Arc::clone(&stop))));
        Self { tasks: asking.collect(), extra: caller(4), history, stop }
    }

    /// Writes one more value through the node at `address`.
    pub async fn write(&self, address: &str, patience: Duration) -> Answer {
        self.extra.write(address, patience).await
    }

    /// Waits until 200 more operations are done.
    pub async fn served(&self) {
        let before = self.done();
        until("the clients to be served", async || (self.done() > before + 200).then_some(())).await;
    }

    /// Number of operations done so far.
    fn done(&self) -> usize {
        let is_done = |operation: &&Operation| matches!(operation.completion, Completion::Done { .. });
        self.history.operations().iter().filter(is_done).count()
    }

    /// Stops the clients.
    ///
    /// # Errors
    /// If a client has panicked.
    pub async fn end(self) -> Outcome<ClientsReport> {
        self.stop.store(true, Ordering::Relaxed);
        let mut terms = BTreeSet::new();
        for task in self.tasks {
            terms.append(&mut task.await?);
        }
        Ok(ClientsReport { terms, operations: self.history.operations() })
    }
}

impl ClientsReport {
    /// Incarnations of the store that answered.
    #[must_use]
    pub fn incarnations(&self) -> BTreeSet<Incarnation> {
        let incarnation = |operation: &Operation| match operation.completion {
            Completion::Done { incarnation, .. } => Some(incarnation),
            Completion::Refused | Completion::Unknown => None,
        };
        self.operations.iter().filter_map(incarnation).collect()
    }

    /// Number of operations that were asked for, and of those that were done.
    #[must_use]
    pub fn operations(&self) -> (usize, usize) {
        let is_done = |operation: &&Operation| matches!(operation.completion, Completion::Done { .. });
        (self.operations.len(), self.operations.iter().filter(is_done).count())
    }

    /// Checks that there is enough to judge, and that it has an order.
    ///
    /// # Errors
    /// If the history is not linearizable.
    ///
    /// # Panics
    /// If fewer than 200 values were written.
    pub fn check(&self) -> Outcome {
        let is_written = |operation: &&Operation| {
            matches!((operation.call, operation.completion), (Call::Write(_), Completion::Done { .. }))
        };
        let written = self.operations.iter().filter(is_written).count();
        assert!(written > 200, "{written} of {} operations", self.operations.len());
        check(&self.operations, &[])?;
        Ok(())
    }
}

/// Usually asks the node that answered last, sometimes any node, which may believe that it still leads.
async fn ask(caller: Caller, seed: u64, addresses: Vec<String>, stop: Arc<AtomicBool>) -> BTreeSet<Epoch> {
    let mut entropy = SeededEntropy::new(seed);
    let mut epochs = BTreeSet::new();
    let mut place = 0;
    while !stop.load(Ordering::Relaxed) {
        let mut dice = |bound: usize| usize::try_from(entropy.bits() % 1_024).unwrap_or(0) % bound;
        if dice(4) == 0 {
            place = dice(addresses.len());
        }
        let patience = Duration::from_millis([100, 1_000, 6_000][dice(3)]);
        let address = &addresses[place];
        let answer =
            if dice(2) == 0 { caller.write(address, patience).await } else { caller.read(address, patience).await };
        match answer {
            Answer::Done(epoch) => _ = epochs.insert(epoch),
            Answer::Refused | Answer::Unknown => place = (place + 1) % addresses.len(),
        }
        tokio::time::sleep(Duration::from_millis(entropy.bits() % 20)).await;
    }
    epochs
}
