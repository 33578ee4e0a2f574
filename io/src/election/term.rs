//! A term that a caller has.

use core::future::Future;
use core::pin::pin;
use core::time::Duration;
use std::sync::Arc;

use rolecall_core::Fence;

use super::seat::Seat;
use super::tenure::{Tenure, Work};
use crate::{LeaderTerm, TermOver};

/// The term of a member that leads. It is given back when [`run`](Self::run) returns, or when this is dropped; then another
/// member may lead.
///
/// Work runs *under* a term in one of two ways. As a future in [`run`](Self::run) it is dropped when the term ends, and no
/// other member begins in good order before that. Or anywhere else, if it calls [`check`](Self::check) right before each
/// thing that only a leader may do.
#[derive(Debug)]
#[must_use = "a term that is dropped is given back"]
pub struct Term {
    seat: Arc<Seat>,
    tenure: Arc<Tenure>,
}

impl Term {
    pub(super) fn new(seat: Arc<Seat>, tenure: Arc<Tenure>) -> Self {
        Self { seat, tenure }
    }

    /// Runs `work` for as long as the term lasts, and gives the term back when it is done. `None` if the term ended first:
    /// `work` was dropped then, at the point at which it waited.
    ///
    /// A term ends by its time when the store can't be reached, and at once when the session is lost. Where it is to end in
    /// good order (after [`resign`](super::Election::resign), [`leave`](super::Election::leave), or a drop of the election)
    /// `work` goes on for the drain time at most; [`stopping`](Self::stopping) tells it. Of several works that run at the same
    /// time the first to be done gives the term back.
    pub async fn run<W: Future>(&self, work: W) -> Option<W::Output> {
        let counted = self.begin()?;
        let output = {
            // Dropped at the end of this block, while it is still counted.
            let work = pin!(work);
            tokio::select! {
                biased;
                () = self.tenure.ended() => None,
                output = work => Some(output),
            }
        };
        drop(counted);
        self.give_back();
        output
    }

    /// Checks that this term holds at this instant. Call it immediately before each thing that only a leader may do, and send
    /// the token along, so that receivers can refuse what arrives late.
    ///
    /// # Errors
    /// The term is over, or was given back.
    pub fn check(&self) -> Result<Fence, TermOver> {
        self.tenure.check()
    }

    /// The token of this term, whether or not it still holds. What is *sent* carries the token that [`check`](Self::check)
    /// returns.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.tenure.fence()
    }

    /// Time for which this term holds if it is not renewed; zero where it is over. A limit for what is begun now.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        if self.check().is_ok() { self.leader_term().time_left() } else { Duration::ZERO }
    }

    /// Ends when nothing may be begun under this term any more.
    pub async fn ended(&self) {
        self.tenure.ended().await;
    }

    /// Ends when this term is to end in good order, or has ended: what was begun may go on for the drain time.
    pub async fn stopping(&self) {
        tokio::select! {
            biased;
            () = self.leader_term().stopping() => {}
            () = self.ended() => {}
        }
    }

    /// Counts something that runs under this term, unless it is over.
    pub(crate) fn begin(&self) -> Option<Work> {
        self.tenure.begin()
    }

    fn leader_term(&self) -> &LeaderTerm {
        self.tenure.term()
    }

    pub(crate) fn give_back(&self) {
        self.tenure.end();
        self.seat.give_back(self.fence());
    }
}

impl Drop for Term {
    fn drop(&mut self) {
        self.give_back();
    }
}
