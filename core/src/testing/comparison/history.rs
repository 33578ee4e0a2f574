//! Everything that happened in a run, for a report.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::Time;
use crate::election::textbook::Peer;

/// One line of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// True time.
    pub at: Time,
    /// The node; `None` for the network.
    pub node: Option<Peer>,
    /// Kind of moment.
    pub kind: MomentKind,
    /// Description.
    pub text: String,
}

/// Kinds of [`Moment`]s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentKind {
    /// A process began to run, paused or died.
    State(State),
    /// A node began to believe that it leads.
    Leads,
    /// A node no longer believes that it leads.
    LeadsNoMore,
    /// A node got a message that is no routine.
    Message,
    /// A fault began.
    Fault,
    /// A fault ended.
    Mend,
}

/// State of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It runs.
    Up,
    /// It stands still.
    Paused,
    /// It does not run.
    Down,
}

/// A history that is kept, or not.
#[derive(Debug, Default)]
pub(super) struct History {
    moments: Option<Vec<Moment>>,
}

/// Number of moments after which no more are kept.
const LIMIT: usize = 50_000;

impl History {
    pub(super) fn new(is_kept: bool) -> Self {
        Self { moments: is_kept.then(Vec::new) }
    }

    pub(super) fn note(&mut self, at: Time, node: Option<Peer>, kind: MomentKind, text: fmt::Arguments<'_>) {
        if let Some(moments) = self.moments.as_mut().filter(|moments| moments.len() < LIMIT) {
            moments.push(Moment { at, node, kind, text: alloc::fmt::format(text) });
        }
    }

    pub(super) fn into_moments(self) -> Vec<Moment> {
        self.moments.unwrap_or_default()
    }
}
