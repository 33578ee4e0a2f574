//! What a line of a journal says.

use rolecall_core::{Action, Event, Node, Time};
use serde::{Deserialize, Serialize};

/// A line, as read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// The whole machine.
    State {
        /// When, on the node's own axis.
        at: Time,
        /// When, in milliseconds since 1970 by the time of day.
        wall_ms: u64,
        /// Why it was written.
        cause: Cause,
        /// The machine.
        node: Box<Node>,
    },
    /// What happened, and what was ordered.
    Step {
        /// When.
        at: Time,
        /// What happened.
        event: Event,
        /// What was ordered.
        actions: Vec<Action>,
    },
}

/// Why a state line was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The node starts.
    Start,
    /// The file before is full.
    Rotation,
    /// Lines are missing before this one.
    Gap {
        /// How many, since the node started.
        dropped: u64,
    },
}

/// A line, as written.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line<'a> {
    State { at: Time, wall_ms: u64, cause: Cause, node: &'a Node },
    Step { at: Time, event: &'a Event, actions: &'a [Action] },
}
