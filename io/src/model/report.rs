//! What an exploration came to.

use std::fmt;
use std::time::Duration;

use rolecall_core::Trace;
use rolecall_core::names::ORIGIN;

use super::Options;
use super::fair::state_of;
use super::world::{Step, World};

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
    /// What happened, one line for each thing that a node took note of.
    pub trace: String,
}

impl Violated {
    /// Takes the steps once more, this time with the names that things really have.
    pub(crate) fn retold(options: &Options, property: &str, steps: &[Step]) -> Self {
        let mut world = World::new(options);
        let mut trace = Trace::new();
        for step in steps {
            retell(&mut world, *step, &mut trace);
        }
        let mut what = match world.breach {
            Some(breach) => format!("{breach}"),
            None => property.to_owned(),
        };
        if world.breach.is_none() {
            trace.note(ORIGIN, "--", "from here on nothing goes wrong any more");
            for _ in 0..super::fair::LIMIT {
                let Some(step) = world.fair_step().filter(|_| world.breach.is_none() && !world.is_at_rest()) else {
                    break;
                };
                retell(&mut world, step, &mut trace);
            }
            for (place, node) in world.hosts.iter().enumerate().filter_map(|(place, host)| Some((place, host.node()?)))
            {
                what.push_str(&format!("; {} is left {}", super::world::name(place), state_of(node)));
            }
        }
        Self { what, trace: trace.text().to_owned() }
    }
}

fn retell(world: &mut World, step: Step, trace: &mut Trace) {
    if let Some(note) = step.note() {
        trace.note(ORIGIN, &step.place().map_or_else(|| "--".into(), super::world::name), &note);
    }
    let mut seen = Vec::new();
    world.take(step, &mut seen);
    for happened in seen {
        trace.record(ORIGIN, &super::world::name(happened.place), &happened.event, &happened.actions);
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
            writeln!(formatter, "\nbroken: {}\n{}", violated.what, violated.trace)?;
        }
        formatter.write_str(match (self.violated.is_empty(), self.exhausted) {
            (false, _) => "a promise is broken",
            (true, true) => "every state was explored, every promise holds",
            (true, false) => "the time is up; every promise holds so far",
        })
    }
}
