//! The result of an exploration.

use std::fmt;
use std::time::Duration;

use rolecall_core::Trace;

use super::Options;
use super::explore::Explored;
use super::fair::state_of;

/// Progress of an exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Number of steps taken.
    pub states: u64,
    /// Number of states that differ in more than names.
    pub unique: u64,
    /// Depth of the states that are being explored: the number of states on a shortest path to them.
    pub depth: u64,
    /// Depth to which every state was explored.
    pub complete: u64,
    /// Bytes of memory that the process takes up; `None` where the system does not tell.
    pub memory: Option<u64>,
    /// Time taken so far.
    pub took: Duration,
}

/// Reason why an exploration ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every state was explored, or every state within [`Options::depth`].
    Exhausted,
    /// A promise is broken.
    Broken,
    /// The time was up before every state was explored.
    TimeUp,
    /// The memory was full before every state was explored.
    MemoryFull,
}

/// Result of an exploration.
#[derive(Clone, Debug)]
pub struct Report {
    /// Size of the explored part.
    pub found: Progress,
    /// Reason why it ended.
    pub ending: Ending,
    /// The promise that was broken, with a shortest path to it.
    pub violated: Option<Violated>,
}

/// A broken promise, and the path that leads to it.
#[derive(Clone, Debug)]
pub struct Violated {
    /// Description of the violation.
    pub what: String,
    /// Number of states on the path to it.
    pub depth: usize,
    /// Trace of the path: one line for each event that a node handled.
    pub trace: String,
}

impl Violated {
    /// Replays the path with real names instead of canonical ones.
    pub(crate) fn retold<W: Explored>(options: &Options, property: &str, path: &[(W, Option<W::Step>)]) -> Self {
        let begun = W::beginnings(options).into_iter().find(|begun| {
            let mut canonical = begun.clone();
            canonical.rename();
            path.first().is_some_and(|(state, _)| *state == canonical)
        });
        let begun = begun.expect("a path begins where the exploration did");
        let mut tale = Tale { told: begun.clone(), begun, trace: Trace::new() };
        tale.note(None);
        for step in path.iter().filter_map(|(_, step)| *step) {
            tale.tell(step);
        }
        let depth = path.len();
        let broken = tale.told.world().breach;
        if broken.is_none() {
            tale.trace.note(tale.told.world().now, "--", "from here on nothing goes wrong any more");
            tale.tell_the_end();
        }
        let what = match (broken, tale.told.world().breach) {
            (Some(breach), _) => breach.to_string(),
            (None, Some(breach)) => format!("{breach}, in a run that goes on without faults"),
            (None, None) => format!("{property}{}", tale.left()),
        };
        Self { what, depth, trace: tale.trace.text().to_owned() }
    }
}

/// A replayed path and its trace.
struct Tale<W> {
    begun: W,
    told: W,
    trace: Trace,
}

impl<W: Explored> Tale<W> {
    fn note(&mut self, step: Option<W::Step>) {
        if let Some((who, note)) = self.told.note(step) {
            self.trace.note(self.told.world().now, &who, &note);
        }
    }

    fn tell(&mut self, step: W::Step) {
        self.note(Some(step));
        let mut seen = Vec::new();
        self.told.take(step, &mut seen);
        let now = self.told.world().now;
        for happened in seen {
            let name = super::world::name(happened.place);
            self.trace.record(now, &name, &happened.event, &happened.actions);
            if let Some(remark) = self.told.remark(&happened, &self.begun) {
                self.trace.note(now, &name, &remark);
            }
        }
    }

    /// The state in which each node is left.
    fn left(&self) -> String {
        let hosts = self.told.world().hosts.iter().enumerate();
        let states = hosts.filter_map(|(place, host)| Some((super::world::name(place), state_of(host.node()?))));
        states.map(|(name, state)| format!("; {name} is left {state}")).collect()
    }

    fn tell_the_end(&mut self) {
        for _ in 0..super::fair::LIMIT {
            let ended = self.told.world().breach.is_some() || self.told.is_at_rest();
            let Some(step) = self.told.fair_step().filter(|_| !ended) else { break };
            self.tell(step);
        }
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { states, unique, depth, complete, took, .. } = self;
        write!(formatter, "{unique} states, {states} steps, depth {depth}")?;
        if complete < depth {
            write!(formatter, " (complete to {complete})")?;
        }
        write!(formatter, ", {:.1} s", took.as_secs_f64())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", self.found)?;
        if let Some(violated) = &self.violated {
            writeln!(formatter, "\nbroken at depth {}: {}\n{}", violated.depth, violated.what, violated.trace)?;
        }
        let so_far = format_args!(
            "every promise holds in all states to depth {}, and in what was seen beyond",
            self.found.complete
        );
        match self.ending {
            Ending::Exhausted => formatter.write_str("every state was explored, every promise holds"),
            Ending::Broken => formatter.write_str("a promise is broken"),
            Ending::TimeUp => write!(formatter, "out of time: {so_far}"),
            Ending::MemoryFull => write!(formatter, "out of memory: {so_far}"),
        }
    }
}
