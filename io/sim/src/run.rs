//! The result of a run.

use core::fmt;
use core::time::Duration;
use std::collections::BTreeMap;

use rolecall_core::{Time, Violation};

use super::fault::FaultKind;

/// Result of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Seed of the run.
    pub seed: u64,
    /// Simulated time.
    pub simulated: Duration,
    /// Number of events that nodes handled.
    pub steps: u64,
    /// Faults that happened, counted by kind. A fault that made no sense when it was due is not counted.
    pub faults: BTreeMap<FaultKind, u32>,
    /// Number of terms that began.
    pub terms: u32,
    /// Longest time without a leader.
    pub leaderless: Duration,
    /// Time from the end of the faults until a node led.
    pub led_after: Duration,
    /// Time from the end of the faults until the cluster was at rest.
    pub rest_after: Duration,
    /// Counts that visitors kept.
    pub tally: BTreeMap<String, u64>,
    /// Hash of every step of every node: two runs with the same fingerprint went the same way.
    pub fingerprint: u64,
    /// The first broken promise.
    pub finding: Option<Finding>,
    /// The run as text, if [`Simulation::traced_from`](super::Simulation::traced_from) asked for it.
    pub trace: String,
    /// The run as data, if [`Simulation::with_history`](super::Simulation::with_history) asked for it.
    pub history: Vec<Moment>,
}

/// A broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Time of the finding, in true time.
    pub at: Time,
    /// Place of the finding: a node, or `cluster`, `store`, `visitor`.
    pub place: String,
    /// The broken promise.
    pub what: Broken,
}

/// Kinds of broken promises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A promise of the core.
    Promise(Violation),
    /// The cluster does not come to rest. The text says what it lacks.
    Unrest(String),
    /// A visitor got a wrong answer.
    Answer(String),
    /// The application's own verdict on the evidence that its visitors gathered.
    Evidence(String),
    /// An invariant of the store.
    Store(String),
    /// A replay of the recorded events led to other actions.
    Replay(String),
    /// Something panicked.
    Panic(String),
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, place, what } = self;
        write!(formatter, "{place}, after {:.3} s: ", at.since(Time::ZERO).as_secs_f64())?;
        match what {
            Broken::Promise(violation) => write!(formatter, "{violation} ({violation:?})"),
            Broken::Unrest(lack) => write!(formatter, "the cluster does not come to rest: {lack}"),
            Broken::Answer(text) => write!(formatter, "a wrong answer: {text}"),
            Broken::Evidence(text) => formatter.write_str(text),
            Broken::Store(text) => write!(formatter, "{text}"),
            Broken::Replay(text) => write!(formatter, "a replay differs: {text}"),
            Broken::Panic(text) => write!(formatter, "a panic: {text}"),
        }
    }
}

/// One line of a run's history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Time, in true time.
    pub at: Time,
    /// Place: a node, `store`, `operator`, `network` or `visitor`.
    pub place: String,
    /// Kind of moment.
    pub kind: MomentKind,
    /// Description.
    pub text: String,
}

/// Kinds of [`Moment`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentKind {
    /// A node handled an event. The text names its actions.
    Step,
    /// A node sent the store a request at [`Moment::at`], and got the answer later.
    Exchange {
        /// Time at which the answer arrived.
        until: Time,
    },
    /// A watch of a node fired.
    Notice,
    /// A host started, paused or stopped.
    Host(HostState),
    /// A node took another role.
    Role(rolecall_core::Role),
    /// A node's gate was opened for a new term.
    Term(rolecall_core::Fence),
    /// A node's gate was closed.
    TermOver,
    /// A fault began.
    Fault,
    /// A fault ended.
    Mend,
    /// A visitor saw something.
    Visit,
}

/// State of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostState {
    /// It runs.
    Up,
    /// It stands still, while its clock goes on.
    Paused,
    /// It does not run.
    Down,
}
