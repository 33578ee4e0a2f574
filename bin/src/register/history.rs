//! What clients asked of a register, and what they were told.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolecall_core::{Incarnation, Time};

/// The operations of all clients, on one clock that all of them share. Clones are the same history.
#[derive(Clone, Debug, Default)]
pub struct History(Arc<Mutex<Vec<Operation>>>);

/// One operation of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// Whose.
    pub client: u32,
    /// What was asked.
    pub asked: Asked,
    /// Before it was sent.
    pub begun: Time,
    /// What the client was told.
    pub heard: Heard,
}

/// What can be asked of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asked {
    /// To take a value, which is written only once in a history.
    Write(u64),
    /// To tell its value.
    Read,
}

/// What came of an operation, as far as its client knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Heard {
    /// It may have been done, and it may still be done at any time.
    Nothing,
    /// It was not done and never will be.
    Refused,
    /// It was done.
    Done {
        /// When the client was told.
        at: Time,
        /// In which life of the coordination store: each has a register of its own.
        incarnation: Incarnation,
        /// The version that was read or written: how many writes there were.
        version: u64,
        /// The value that was read or written.
        value: Option<u64>,
    },
}

/// An operation that was begun.
#[derive(Debug)]
pub struct Ticket(usize);

impl History {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// `client` is about to write, and gets a value that nobody else writes.
    pub fn write(&self, client: u32, begun: Time) -> (Ticket, u64) {
        let mut operations = self.lock();
        let value = u64::try_from(operations.len()).unwrap_or(u64::MAX);
        (begin(&mut operations, client, Asked::Write(value), begun), value)
    }

    /// `client` is about to read.
    pub fn read(&self, client: u32, begun: Time) -> Ticket {
        begin(&mut self.lock(), client, Asked::Read, begun)
    }

    /// What came of it. Without this nothing is known of it.
    pub fn heard(&self, ticket: Ticket, heard: Heard) {
        if let Some(operation) = self.lock().get_mut(ticket.0) {
            operation.heard = heard;
        }
    }

    /// All of them, in the order in which they were written down.
    #[must_use]
    pub fn operations(&self) -> Vec<Operation> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Operation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn begin(operations: &mut Vec<Operation>, client: u32, asked: Asked, begun: Time) -> Ticket {
    operations.push(Operation { client, asked, begun, heard: Heard::Nothing });
    Ticket(operations.len() - 1)
}

impl Operation {
    /// The same, as it was known at `time`; `None` where it had not begun.
    pub(super) fn known_at(mut self, time: Time) -> Option<Self> {
        match self.heard {
            Heard::Done { at, .. } if at > time => self.heard = Heard::Nothing,
            Heard::Done { .. } | Heard::Refused | Heard::Nothing => {}
        }
        (self.begun <= time).then_some(self)
    }
}

impl core::fmt::Display for Operation {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let seconds = |time: Time| time.since(Time::ZERO).as_secs_f64();
        write!(formatter, "client {} ", self.client)?;
        match self.asked {
            Asked::Write(value) => write!(formatter, "writes {value}")?,
            Asked::Read => write!(formatter, "reads")?,
        }
        match (self.asked, self.heard) {
            (Asked::Read, Heard::Done { value: Some(value), .. }) => write!(formatter, " {value}")?,
            (Asked::Read, Heard::Done { value: None, .. }) => write!(formatter, " nothing")?,
            (Asked::Read | Asked::Write(_), _) => {}
        }
        if let Heard::Done { version, .. } = self.heard {
            write!(formatter, " as version {version}")?;
        }
        match self.heard {
            Heard::Nothing => write!(formatter, " ({:.3} s to ?)", seconds(self.begun)),
            Heard::Refused => write!(formatter, " ({:.3} s, refused)", seconds(self.begun)),
            Heard::Done { at, .. } => write!(formatter, " ({:.3} to {:.3} s)", seconds(self.begun), seconds(at)),
        }
    }
}
