//! Term that a member waits for, or holds.

use core::future::{Future, pending};
use core::pin::Pin;

use rolecall::{Hold, LeadError, Term, Time};

use super::supervisor::Event;

/// Wait for a term, during which the member is a candidate.
pub(super) type Waiting<'a> = Pin<Box<dyn Future<Output = Result<Term, LeadError>> + 'a>>;

/// Term that this member holds.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) term: Term,
    /// Keeps others from leading until the run under the term is gone.
    _hold: Option<Hold>,
    pub(super) until: Time,
    must_end: bool,
    is_over: bool,
}

impl Held {
    pub(super) fn new(term: Term) -> Self {
        let (until, hold) = (term.valid_until(), term.hold());
        Self { term, _hold: hold, until, must_end: false, is_over: false }
    }
}

/// Waits for a term; for ever if this member is no candidate.
pub(super) async fn led(waiting: &mut Option<Waiting<'_>>) -> Result<Term, LeadError> {
    match waiting {
        Some(waiting) => waiting.await,
        None => pending().await,
    }
}

/// Waits for the next change of the term; for ever if there is none to come.
pub(super) async fn changed(held: &mut Option<Held>) -> Event {
    let Some(held) = held.as_mut().filter(|held| !held.is_over) else { return pending().await };
    tokio::select! {
        biased;
        () = held.term.stopping(), if !held.must_end => {
            held.must_end = true;
            Event::MustEnd
        }
        renewed = held.term.renewed(held.until) => match renewed {
            Some(until) => {
                held.until = until;
                Event::Renewed(until)
            }
            None => {
                held.is_over = true;
                Event::Over
            }
        },
    }
}
