//! What came of a run.

use core::fmt;
use core::time::Duration;
use std::collections::BTreeMap;

use rolecall_core::{Time, Violation};

use super::fault::FaultKind;

/// What came of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// Its seed.
    pub seed: u64,
    /// How much time passed in it.
    pub simulated: Duration,
    /// Steps of nodes: events that they took.
    pub steps: u64,
    /// Faults that came to pass. One that made no sense as things stood is not counted.
    pub faults: BTreeMap<FaultKind, u32>,
    /// Terms that were begun.
    pub terms: u32,
    /// The longest time during which nobody led.
    pub leaderless: Duration,
    /// How long it took until somebody led once nothing went wrong any more.
    pub led_after: Duration,
    /// How long it took until all was at rest once nothing went wrong any more.
    pub rest_after: Duration,
    /// What the visitor counted.
    pub tally: BTreeMap<String, u64>,
    /// A number that follows from every step of every node: two runs with the same number went the same way.
    pub fingerprint: u64,
    /// The first thing that was not as promised.
    pub finding: Option<Finding>,
    /// Everything that matters, as text, if it was asked for.
    pub trace: String,
    /// The same for machines, if it was asked for.
    pub history: Vec<Moment>,
}

/// Something that is not as promised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// When.
    pub at: Time,
    /// Where: a node, or `cluster`, `store`, `visitor`.
    pub place: String,
    /// What.
    pub what: Broken,
}

/// What is not as promised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A promise of the core.
    Promise(Violation),
    /// The cluster does not come to rest; what it lacks.
    Unrest(String),
    /// The visitor was told something wrong.
    Answer(String),
    /// The application's own verdict on what its visitors gathered.
    Evidence(String),
    /// The store's own invariants.
    Store(String),
    /// The recorded steps come out otherwise on a machine of their own.
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
    /// When, in true time.
    pub at: Time,
    /// Where: a node, `store`, `operator`, `network` or `visitor`.
    pub place: String,
    /// Of which kind.
    pub kind: MomentKind,
    /// In words.
    pub text: String,
}

/// Of which kind a [`Moment`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentKind {
    /// A node took an event, and ordered what the text says.
    Step,
    /// A node asked the store for something at [`Moment::at`], and heard the answer then.
    Exchange {
        /// When it heard it.
        until: Time,
    },
    /// A watch of a node fired.
    Notice,
    /// A host runs, or does not.
    Host(HostState),
    /// A node took another role.
    Role(rolecall_core::Role),
    /// A node's gate was opened for a new term.
    Term(rolecall_core::Fence),
    /// A node's gate was closed.
    TermOver,
    /// Something went wrong.
    Fault,
    /// It was mended.
    Mend,
    /// What the visitor saw.
    Visit,
}

/// How a host stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostState {
    /// It runs.
    Up,
    /// It is stopped, while its clock goes on.
    Paused,
    /// Nothing of it runs.
    Down,
}
