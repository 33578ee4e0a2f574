//! The steps of all nodes, recorded as they happen.

use std::sync::{Arc, Mutex, PoisonError};

use rolecall_core::observe::NodeJudge;
use rolecall_core::{Action, Event, Node, Time, Violation};

use super::clock::TrueTime;
use rolecall::Tap;
use rolecall::journal::Record;

/// One step of one node.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// In true time.
    pub(super) at: Time,
    pub(super) node: usize,
    pub(super) event: Event,
    pub(super) actions: Vec<Action>,
    pub(super) judged: Result<(), Violation>,
}

/// Steps since the last reading, and journals for a replay. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Notebook(Arc<Mutex<Pages>>);

#[derive(Debug, Default)]
struct Pages {
    steps: Vec<Step>,
    /// Complete journal of each life of each node, if journals are kept.
    journals: Option<Vec<Vec<Record>>>,
}

impl Notebook {
    pub(super) fn new(keeps_journals: bool) -> Self {
        Self(Arc::new(Mutex::new(Pages { steps: Vec::new(), journals: keeps_journals.then(Vec::new) })))
    }

    /// A tap for a node that starts.
    pub(super) fn tap(&self, node: usize, truth: TrueTime) -> impl Tap + use<> {
        Watcher { notebook: self.clone(), node, truth, judge: NodeJudge::new(), journal: None }
    }

    /// The steps since the last call, in the order of their true times.
    pub(super) fn take(&self) -> Vec<Step> {
        let mut steps = core::mem::take(&mut self.lock().steps);
        steps.sort_by_key(|step| step.at);
        steps
    }

    pub(super) fn journals(&self) -> Vec<Vec<Record>> {
        self.lock().journals.take().unwrap_or_default()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Watcher {
    notebook: Notebook,
    node: usize,
    truth: TrueTime,
    judge: NodeJudge,
    /// Place of this life's journal.
    journal: Option<usize>,
}

impl Tap for Watcher {
    fn step(&mut self, before: &Node, now: Time, event: &Event, actions: &[Action], after: &Node) {
        let judged = after.check().and_then(|()| self.judge.step(before, now, event, actions, after));
        let at = self.truth.now();
        let mut pages = self.notebook.lock();
        if let Some(journals) = &mut pages.journals {
            let place = *self.journal.get_or_insert_with(|| {
                let start = Record::Start { at: now, wall_ms: 0, config: before.config().into() };
                journals.push(vec![start]);
                journals.len() - 1
            });
            journals[place].push(Record::Step { at: now, event: event.clone(), actions: actions.to_vec() });
        }
        let step = Step { at, node: self.node, event: event.clone(), actions: actions.to_vec(), judged };
        pages.steps.push(step);
    }
}
