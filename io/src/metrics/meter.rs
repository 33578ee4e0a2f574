//! The driver's end of the metrics.

use core::sync::atomic::Ordering;
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use rolecall_core::store::{Answer, Refusal};
use rolecall_core::{Action, Event, OpId, Slot, Time};

use super::Metrics;
use super::cause::Cause;

/// Meter of one node: it remembers what a measurement needs from one event to the next.
#[derive(Debug)]
pub(crate) struct Meter {
    metrics: Arc<Metrics>,
    /// Requests without an answer: kind, and the time at which they were given to the store.
    pending: BTreeMap<Slot, (OpId, &'static str, Time)>,
    /// True while the gate is open for a term.
    leads: bool,
    /// Cause for which the term will end, if this node was asked to end it.
    planned: Option<Cause>,
    /// Cause for which the term ends if it does so at the present event.
    cause: Cause,
    leader: Leader,
}

/// The node's knowledge of a leader.
#[derive(Clone, Copy, Debug)]
enum Leader {
    NeverKnown,
    Known,
    UnknownSince(Time),
}

impl Meter {
    pub(crate) fn new(metrics: Arc<Metrics>) -> Self {
        Self {
            metrics,
            pending: BTreeMap::new(),
            leads: false,
            planned: None,
            cause: Cause::Lapsed,
            leader: Leader::NeverKnown,
        }
    }

    /// Takes note of the time by which the loop wakes again at the latest.
    pub(crate) fn waits_until(&self, due: Option<Time>) {
        self.metrics.due.store(due.unwrap_or(Time::MAX).as_nanos(), Ordering::Relaxed);
    }

    /// Counts an event before the node handles it.
    pub(crate) fn event(&mut self, event: &Event, now: Time) {
        self.metrics.last_event.store(now.as_nanos(), Ordering::Relaxed);
        self.metrics.due.store(now.as_nanos(), Ordering::Relaxed);
        self.metrics.events.of(event.kind()).inc();
        if event.is_session_news() {
            self.pending.clear();
        }
        if let Event::Answered { id, answer } = event {
            self.answered(*id, answer, now);
        }
        if self.leads {
            self.planned = self.planned.or_else(|| Cause::asked(event));
        }
        self.cause = Cause::of(event, self.planned);
    }

    fn answered(&mut self, id: OpId, answer: &Answer, now: Time) {
        let Some((_, kind, sent)) = self.pending.remove(&id.slot).filter(|(pending, ..)| *pending == id) else {
            return;
        };
        if is_from_store(answer) {
            self.metrics.round_trips.of(kind).observe(now.since(sent));
        }
    }

    /// Counts an action right before it is carried out.
    pub(crate) fn action(&mut self, action: &Action, now: Time) {
        self.metrics.actions.of(action.kind()).inc();
        if let Action::Store { id, request } = action {
            self.metrics.requests.of(request.kind()).inc();
            self.pending.insert(id.slot, (*id, request.kind(), now));
        }
    }

    /// Takes note that the gate is opened: for a new term, or for one that still had the validity `left`.
    pub(crate) fn gate_opens(&mut self, left: Option<Duration>) {
        match left {
            Some(left) => self.metrics.validity_left.observe(left),
            None => {
                self.term_ends(self.cause);
                self.metrics.terms.inc();
            }
        }
        self.leads = true;
    }

    /// Takes note that the gate is closed together with `actions`. `is_valid` says whether the term was valid until then.
    pub(crate) fn gate_closes(&mut self, actions: &[Action], is_valid: bool) {
        let cause = if actions.iter().any(Cause::is_violation) {
            Cause::Violation
        } else if is_valid {
            self.cause
        } else {
            Cause::Lapsed
        };
        self.term_ends(cause);
    }

    fn term_ends(&mut self, cause: Cause) {
        if core::mem::take(&mut self.leads) {
            self.metrics.terms_ended.of(cause.name()).inc();
        }
        self.planned = None;
    }

    /// Takes note whether the node knows a leader after the event at `now`.
    pub(crate) fn leader(&mut self, is_known: bool, now: Time) {
        self.leader = match (self.leader, is_known) {
            (Leader::UnknownSince(since), true) => {
                self.metrics.leaderless.observe(now.since(since));
                Leader::Known
            }
            (Leader::NeverKnown | Leader::Known, true) => Leader::Known,
            (Leader::Known, false) => Leader::UnknownSince(now),
            (Leader::NeverKnown | Leader::UnknownSince(_), false) => self.leader,
        };
    }

    pub(crate) fn started_afresh(&self) {
        self.metrics.fresh_starts.inc();
    }

    pub(crate) fn journal(&self, dropped: u64, failures: u64) {
        self.metrics.journal_dropped.store(dropped, Ordering::Relaxed);
        self.metrics.journal_failures.store(failures, Ordering::Relaxed);
    }
}

/// True if the store itself, not its adapter, has given this answer.
fn is_from_store(answer: &Answer) -> bool {
    match answer {
        Answer::Done(_) => true,
        Answer::Refused(refusal) => *refusal != Refusal::Disconnected,
        Answer::Unknown => false,
    }
}
