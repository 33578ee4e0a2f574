//! What an exploration came to.

use std::fmt;
use std::time::Duration;

use rolecall_core::Trace;

use super::Options;
use super::explore::Explored;
use super::fair::state_of;

/// How far an exploration is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Steps that were taken.
    pub states: u64,
    /// States that differ in more than names.
    pub unique: u64,
    /// The most steps from the beginning.
    pub depth: u64,
    /// How long it took.
    pub took: Duration,
}

/// How an exploration ended.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was explored.
    pub found: Progress,
    /// Whether every state was, rather than what the time allowed or until something was found.
    pub exhausted: bool,
    /// What does not hold.
    pub violated: Vec<Violated>,
}

/// A promise that does not hold, and how it comes to that.
#[derive(Clone, Debug)]
pub struct Violated {
    /// What does not hold.
    pub what: String,
    /// How many states the shortest way to it has that was found.
    pub depth: usize,
    /// What happened, one line for each thing that a node took note of.
    pub trace: String,
}

impl Violated {
    /// Takes the steps once more, this time with the names that things really have.
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

/// A run that is taken once more, and what there is to say of it.
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

    /// As what every node is left.
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
        let Self { states, unique, depth, took } = self;
        write!(formatter, "{unique} states, {states} steps, depth {depth}, {:.1} s", took.as_secs_f64())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{}", self.found)?;
        for violated in &self.violated {
            writeln!(formatter, "\nbroken at depth {}: {}\n{}", violated.depth, violated.what, violated.trace)?;
        }
        formatter.write_str(match (self.violated.is_empty(), self.exhausted) {
            (false, _) => "a promise is broken",
            (true, true) => "every state was explored, every promise holds",
            (true, false) => "the time is up; every promise holds so far",
        })
    }
}
