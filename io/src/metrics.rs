//! Metrics of a node, for operators.

use core::fmt::Write;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolecall_core::{Action, Event, Role, Time};

use crate::Clock;
use crate::status::{Status, StoreState};

/// Delay from which the node's loop counts as stuck.
const LATE: Duration = Duration::from_secs(10);

/// Metrics of one node.
#[derive(Debug)]
pub(crate) struct Metrics {
    clock: Arc<dyn Clock>,
    /// Gauges of the layers above the driver.
    gauges: Mutex<Vec<Gauge>>,
    /// Counters by family and kind.
    counts: Mutex<BTreeMap<(&'static str, &'static str), u64>>,
    last_event: AtomicU64,
    /// Time by which the loop wakes again at the latest. While it handles an event, the time at which that began.
    due: AtomicU64,
    terms: AtomicU64,
    fresh_starts: AtomicU64,
    journal_dropped: AtomicU64,
    journal_failures: AtomicU64,
}

/// Number that a layer above the driver can provide at any time.
pub(crate) struct Gauge {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) value: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl core::fmt::Debug for Gauge {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.debug_struct("Gauge").field("name", &self.name).finish_non_exhaustive()
    }
}

const EVENTS: &str = "rolecall_events_total";
const ACTIONS: &str = "rolecall_actions_total";
const REQUESTS: &str = "rolecall_store_requests_total";

impl Metrics {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Self {
        let now = clock.now().as_nanos();
        Self {
            clock,
            gauges: Mutex::default(),
            counts: Mutex::default(),
            last_event: AtomicU64::new(now),
            due: AtomicU64::new(now),
            terms: AtomicU64::new(0),
            fresh_starts: AtomicU64::new(0),
            journal_dropped: AtomicU64::new(0),
            journal_failures: AtomicU64::new(0),
        }
    }

    /// Adds a number of a storey above.
    #[cfg(feature = "http")]
    pub(crate) fn add(&self, gauge: Gauge) {
        self.gauges().push(gauge);
    }

    fn gauges(&self) -> MutexGuard<'_, Vec<Gauge>> {
        self.gauges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn waits_until(&self, due: Option<Time>) {
        self.due.store(due.unwrap_or(Time::MAX).as_nanos(), Ordering::Relaxed);
    }

    pub(crate) fn event(&self, event: &Event, now: Time) {
        self.last_event.store(now.as_nanos(), Ordering::Relaxed);
        self.due.store(now.as_nanos(), Ordering::Relaxed);
        self.count(EVENTS, event.kind());
    }

    pub(crate) fn action(&self, action: &Action) {
        self.count(ACTIONS, action.kind());
        if let Action::Store { request, .. } = action {
            self.count(REQUESTS, request.kind());
        }
    }

    pub(crate) fn term_won(&self) {
        self.terms.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn started_afresh(&self) {
        self.fresh_starts.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn journal(&self, dropped: u64, failures: u64) {
        self.journal_dropped.store(dropped, Ordering::Relaxed);
        self.journal_failures.store(failures, Ordering::Relaxed);
    }

    pub(crate) fn is_on_time(&self) -> bool {
        self.clock.now() < Time::from_nanos(self.due.load(Ordering::Relaxed)) + LATE
    }

    fn count(&self, family: &'static str, kind: &'static str) {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner).entry((family, kind)).or_default() += 1;
    }

    pub(crate) fn render(&self, status: &Status, leads: bool) -> String {
        let mut text = String::new();
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (family, help) in [
            (EVENTS, "Events passed to the node's state machine."),
            (ACTIONS, "Actions ordered by the node's state machine."),
            (REQUESTS, "Requests to the coordination store."),
        ] {
            head(&mut text, family, "counter", help);
            for ((_, kind), count) in counts.range((family, "")..).take_while(|((of, _), _)| *of == family) {
                line(&mut text, &format!("{family}{{kind=\"{kind}\"}}"), *count);
            }
        }
        let now = self.clock.now();
        let age = now.since(Time::from_nanos(self.last_event.load(Ordering::Relaxed))).as_secs_f64();
        let mut one = |name: &str, kind: &str, help: &str, value: f64| {
            head(&mut text, name, kind, help);
            line(&mut text, name, value);
        };
        let terms = self.terms.load(Ordering::Relaxed);
        let dropped = self.journal_dropped.load(Ordering::Relaxed);
        let failures = self.journal_failures.load(Ordering::Relaxed);
        one("rolecall_terms_total", "counter", "Terms of leadership that this node began.", whole(terms));
        let fresh_starts = self.fresh_starts.load(Ordering::Relaxed);
        let help =
            "Sessions that this node ended because it found a violated promise in itself: each is a bug to report.";
        one("rolecall_fresh_starts_total", "counter", help, whole(fresh_starts));
        one("rolecall_journal_dropped_total", "counter", "Steps missing from the journal.", whole(dropped));
        one("rolecall_journal_failures_total", "counter", "Failures to write the journal.", whole(failures));
        one("rolecall_last_event_age_seconds", "gauge", "Time since the last event.", age);
        one("rolecall_leader", "gauge", "1 while this node's term is valid.", flag(leads));
        one("rolecall_worker", "gauge", "1 while this node serves as worker.", flag(status.role == Role::Worker));
        one("rolecall_ready", "gauge", "1 while this node serves its role.", flag(status.ready().is_ok()));
        one(
            "rolecall_store_connected",
            "gauge",
            "1 while the node is connected to the store.",
            flag(status.store == StoreState::Connected),
        );
        let epoch = status.floor.map_or(0, |floor| floor.epoch.0);
        one("rolecall_epoch", "gauge", "Newest epoch that this node has read about.", whole(epoch));
        let workers = u64::try_from(status.workers.members.len()).unwrap_or(u64::MAX);
        one("rolecall_workers", "gauge", "Workers that this node knows about.", whole(workers));
        for gauge in &*self.gauges() {
            one(gauge.name, "gauge", gauge.help, whole((gauge.value)()));
        }
        text
    }
}

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}").expect("text takes what is written");
}

fn line(text: &mut String, name: &str, value: impl core::fmt::Display) {
    writeln!(text, "{name} {value}").expect("text takes what is written");
}

/// Prometheus has no other numbers; counts are exact up to 2^53.
#[allow(clippy::cast_precision_loss, reason = "see above")]
fn whole(value: u64) -> f64 {
    value as f64
}

fn flag(value: bool) -> f64 {
    if value { 1.0 } else { 0.0 }
}
