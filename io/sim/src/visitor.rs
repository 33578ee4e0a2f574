//! A visitor, which asks the cluster throughout a run.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rolecall_core::Time;

use super::clock::{SimClock, TrueTime};
use super::evidence::{Evidence, Gathered};
use super::freezer::Freezer;
use super::net::SimNet;
use rolecall::http::{Client, ClientLimits};
use rolecall::{Clock, Entropy, SeededEntropy};

/// The machine of a visitor, which asks the cluster and judges its answers. It is never paused and its clock is exact.
#[derive(Debug)]
pub struct Visitor {
    number: u32,
    addresses: Vec<String>,
    net: Arc<SimNet>,
    clock: Arc<SimClock>,
    entropy: SeededEntropy,
    gathered: Gathered,
    log: VisitorLog,
}

/// Records of visitors. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct VisitorLog(Arc<Mutex<Log>>);

#[derive(Debug, Default)]
struct Log {
    tally: BTreeMap<String, u64>,
    served_at: Option<Time>,
    /// When a fault last began or ended.
    disturbed_at: Time,
    /// True while a fault is under way.
    is_disturbed: bool,
    /// Sights since they were last taken.
    said: Vec<(Time, String)>,
    last: String,
}

impl Visitor {
    pub(super) fn new(
        number: u32,
        addresses: Vec<String>,
        truth: TrueTime,
        seed: u64,
        gathered: Gathered,
        log: VisitorLog,
    ) -> Self {
        let clock = Arc::new(SimClock::new(truth.clone(), Freezer::default(), Time::ZERO));
        let net = Arc::new(SimNet::steady(truth));
        let entropy = SeededEntropy::new(seed ^ 0x7669_7369_746f_7200 ^ u64::from(number) << 32);
        Self { number, addresses, net, clock, entropy, gathered, log }
    }

    /// Number of the visitor, counted from 0.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Addresses of the nodes, `host:port`.
    #[must_use]
    pub fn addresses(&self) -> &[String] {
        &self.addresses
    }

    /// An HTTP client.
    #[must_use]
    pub fn client(&self) -> Client {
        Client::new(Arc::clone(&self.net) as _, Arc::clone(&self.clock) as _, ClientLimits::default())
    }

    /// The evidence that all visitors of this run gather.
    ///
    /// # Panics
    /// If the simulation gathers no evidence of this type ([`Simulation::evidence`](super::Simulation::evidence)).
    #[must_use]
    pub fn evidence<E: Evidence>(&self) -> E {
        let gathered = self.gathered.as_ref().and_then(|gathered| gathered.as_any().downcast_ref::<E>());
        gathered.expect("the simulation gathers evidence of this type").clone()
    }

    /// The visitor's clock, which shows the true time.
    #[must_use]
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.clock) as _
    }

    /// Random bits.
    pub fn bits(&mut self) -> u64 {
        self.entropy.bits()
    }

    /// Counts something for the summary of the run.
    pub fn count(&self, what: &str) {
        *self.log.lock().tally.entry(what.to_owned()).or_default() += 1;
    }

    /// Notes what the visitor sees, unless it saw the same last.
    pub fn sees(&self, what: &str) {
        let mut log = self.log.lock();
        if log.last != what {
            what.clone_into(&mut log.last);
            log.said.push((self.clock.now(), what.to_owned()));
        }
    }

    /// Time since a fault last began or ended, or since the last node started for the first time; `None` while a fault is
    /// under way. A machine that is down is no fault under way: the others have to get over it.
    #[must_use]
    pub fn quiet_for(&self) -> Option<Duration> {
        let log = self.log.lock();
        (!log.is_disturbed).then(|| self.clock.now().since(log.disturbed_at))
    }

    /// Notes that the cluster has just done everything that is asked of it. A run ends well only if that happens after
    /// the last fault.
    pub fn is_served(&self) {
        self.log.lock().served_at = Some(self.clock.now());
    }
}

impl VisitorLog {
    fn lock(&self) -> std::sync::MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn disturbed(&self, now: Time, is_under_way: bool) {
        let mut log = self.lock();
        (log.disturbed_at, log.is_disturbed) = (now, is_under_way);
    }

    pub(super) fn tally(&self) -> BTreeMap<String, u64> {
        self.lock().tally.clone()
    }

    pub(super) fn take(&self) -> Vec<(Time, String)> {
        let mut said = core::mem::take(&mut self.lock().said);
        said.sort_by_key(|(at, _)| *at);
        said
    }

    pub(super) fn served_at(&self) -> Option<Time> {
        self.lock().served_at
    }
}
