//! History of the operations that clients called on a register and of the answers that they received.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolecall::{Incarnation, Time};

/// Operations of all clients, timed by one clock that all of them share. Clones are handles to the same history.
#[derive(Clone, Debug, Default)]
pub struct History(Arc<Mutex<Vec<Operation>>>);

/// Operation of one client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// Number of the client.
    pub client: u32,
    /// Operation that was called.
    pub call: Call,
    /// Time just before the request was sent.
    pub begun: Time,
    /// Result, as far as the client knows it.
    pub completion: Completion,
}

/// Operation that a register offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Call {
    /// Write this value, which no other operation of the history writes.
    Write(u64),
    /// Read the value.
    Read,
}

/// Result of an operation, as far as its client knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Completion {
    /// No answer: the operation may have been done, and may still be done at any time.
    Unknown,
    /// The operation was not done and never will be.
    Refused,
    /// The operation was done.
    Done {
        /// Time at which the client received the answer.
        at: Time,
        /// Incarnation of the coordination store. Each has its own register.
        incarnation: Incarnation,
        /// Version that was read or written: the number of writes so far.
        version: u64,
        /// Value that was read or written.
        value: Option<u64>,
    },
}

/// Handle of an operation that has begun, with which its completion is recorded.
#[derive(Debug)]
pub struct Ticket(usize);

impl History {
    /// Makes an empty history.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Records that `client` is about to write, and returns the value to write, which nobody else writes.
    pub fn write(&self, client: u32, begun: Time) -> (Ticket, u64) {
        let mut operations = self.lock();
        let value = u64::try_from(operations.len()).unwrap_or(u64::MAX);
        (begin(&mut operations, client, Call::Write(value), begun), value)
    }

    /// Records that `client` is about to read.
    pub fn read(&self, client: u32, begun: Time) -> Ticket {
        begin(&mut self.lock(), client, Call::Read, begun)
    }

    /// Records how an operation completed. Until then it counts as [`Unknown`](Completion::Unknown).
    pub fn complete(&self, ticket: Ticket, completion: Completion) {
        if let Some(operation) = self.lock().get_mut(ticket.0) {
            operation.completion = completion;
        }
    }

    /// All operations, in the order in which they were recorded.
    #[must_use]
    pub fn operations(&self) -> Vec<Operation> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Operation>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn begin(operations: &mut Vec<Operation>, client: u32, call: Call, begun: Time) -> Ticket {
    operations.push(Operation { client, call, begun, completion: Completion::Unknown });
    Ticket(operations.len() - 1)
}

impl Operation {
    /// The operation as known at `time`; `None` if it had not begun.
    pub(super) fn known_at(mut self, time: Time) -> Option<Self> {
        match self.completion {
            Completion::Done { at, .. } if at > time => self.completion = Completion::Unknown,
            Completion::Done { .. } | Completion::Refused | Completion::Unknown => {}
        }
        (self.begun <= time).then_some(self)
    }
}

impl core::fmt::Display for Operation {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let seconds = |time: Time| time.since(Time::ZERO).as_secs_f64();
        write!(formatter, "client {} ", self.client)?;
        match self.call {
            Call::Write(value) => write!(formatter, "writes {value}")?,
            Call::Read => write!(formatter, "reads")?,
        }
        match (self.call, self.completion) {
            (Call::Read, Completion::Done { value: Some(value), .. }) => write!(formatter, " {value}")?,
            (Call::Read, Completion::Done { value: None, .. }) => write!(formatter, " nothing")?,
            (Call::Read | Call::Write(_), _) => {}
        }
        if let Completion::Done { version, .. } = self.completion {
            write!(formatter, " as version {version}")?;
        }
        match self.completion {
            Completion::Unknown => write!(formatter, " ({:.3} s to ?)", seconds(self.begun)),
            Completion::Refused => write!(formatter, " ({:.3} s, refused)", seconds(self.begun)),
            Completion::Done { at, .. } => write!(formatter, " ({:.3} to {:.3} s)", seconds(self.begun), seconds(at)),
        }
    }
}
