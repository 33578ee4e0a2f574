//! A command's session with the store: it registers nothing and asks one question after the other.

use core::future::poll_fn;
use core::time::Duration;

use rolecall::store::{Answer, Refusal, Reply, Request, Store, StoreEvent};
use rolecall::{Link, OpId, Slot};

/// Time within which the session must close in good order.
const CLOSE_LIMIT: Duration = Duration::from_secs(2);

/// Reason why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadError {
    /// The store denies it.
    Denied,
    /// The answer did not help: ask again.
    Again,
    /// The connection was lost.
    Disconnected,
}

/// A session that asks.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    pub(super) store: &'a mut dyn Store,
    sequence: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(store: &'a mut dyn Store) -> Self {
        Self { store, sequence: 0 }
    }

    /// Sends a request and returns the reply; `None` if the requested entry does not exist.
    pub(super) async fn ask(&mut self, request: Request) -> Result<Option<Reply>, ReadError> {
        match self.answer(request).await? {
            Answer::Done(reply) => Ok(Some(reply)),
            // If it is malformed, the adapter warns about it.
            Answer::Refused(Refusal::Missing | Refusal::Malformed) => Ok(None),
            Answer::Refused(Refusal::Denied) => Err(ReadError::Denied),
            Answer::Refused(_) | Answer::Unknown => Err(ReadError::Again),
        }
    }

    /// Sends a request and returns the answer.
    pub(super) async fn answer(&mut self, request: Request) -> Result<Answer, ReadError> {
        self.sequence += 1;
        let asked = OpId { link: Link(0), slot: Slot::Term, sequence: self.sequence };
        self.store.send(asked, request);
        loop {
            match self.event().await {
                StoreEvent::Answered { id, answer } if id == asked => return Ok(answer),
                StoreEvent::Suspended | StoreEvent::Lost => return Err(ReadError::Disconnected),
                StoreEvent::Up { .. }
                | StoreEvent::Answered { .. }
                | StoreEvent::Noticed { .. }
                // The adapter has logged it.
                | StoreEvent::Denied(_)
                | StoreEvent::Closed => {}
            }
        }
    }

    /// Waits until the session is connected.
    pub(super) async fn connected(&mut self) {
        while !matches!(self.event().await, StoreEvent::Up { .. }) {}
    }

    /// Ends the session in good order.
    pub(super) async fn close(&mut self) {
        self.store.close();
        let closed = async { while self.event().await != StoreEvent::Closed {} };
        // A session that is not closed in time ends by its timeout.
        drop(tokio::time::timeout(CLOSE_LIMIT, closed).await);
    }

    async fn event(&mut self) -> StoreEvent {
        poll_fn(|context| self.store.poll_event(context)).await
    }
}
