//! Term that a caller holds.

use core::future::Future;
use core::pin::pin;
use core::time::Duration;
use std::sync::Arc;

use rolecall_core::{Fence, Time};

use super::candidacy::Candidacy;
use super::tenure::{Tenure, Work};
use crate::{LeaderTerm, TermOver};

/// Term of a member that leads. It is given back when [`run`](Self::run) returns or when the value is dropped. Then another
/// member may lead.
///
/// Work runs *under* a term in one of two ways. A future in [`run`](Self::run) is dropped when the term ends, and no other member
/// begins in good order before that. Work anywhere else must call [`check`](Self::check) right before each act that only a
/// leader may perform.
#[derive(Debug)]
#[must_use = "a term that is dropped is given back"]
pub struct Term {
    candidacy: Arc<Candidacy>,
    tenure: Arc<Tenure>,
}

impl Term {
    pub(super) fn new(candidacy: Arc<Candidacy>, tenure: Arc<Tenure>) -> Self {
        Self { candidacy, tenure }
    }

    /// Runs `work` for as long as the term lasts, and gives the term back when the work is done. `None` if the term ended
    /// first: `work` was then dropped at the point at which it waited.
    ///
    /// A term ends after its validity when the store cannot be reached, and at once when the session is lost. If it ends in
    /// good order (by [`resign`](super::Election::resign), [`leave`](super::Election::leave) or dropping the election), `work`
    /// may go on for at most the drain time, and [`stopping`](Self::stopping) tells it to stop. If several futures run at the
    /// same time, the first to finish gives the term back.
    ///
    /// # Panics
    /// Outside a tokio runtime with time and I/O (`enable_all`), as [`ended`](Self::ended) and [`stopping`](Self::stopping) do.
    pub async fn run<W: Future>(&self, work: W) -> Option<W::Output> {
        let counted = self.begin()?;
        let output = {
            // The work is dropped at the end of this block, while it still counts.
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

    /// Checks that this term is valid at this instant. Call it immediately before each act that only a leader may perform, and
    /// send the fence along, so that receivers can refuse a request that arrives too late.
    ///
    /// # Errors
    /// If the term is over or was given back.
    pub fn check(&self) -> Result<Fence, TermOver> {
        self.tenure.check()
    }

    /// Fence of this term, whether or not the term is still valid. Requests that are *sent* must carry the fence that
    /// [`check`](Self::check) returns.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.tenure.fence()
    }

    /// Time for which this term stays valid unless it is renewed; zero if it is over. Use it to limit work that begins now.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        if self.check().is_ok() { self.leader_term().time_left() } else { Duration::ZERO }
    }

    /// End of this term unless it is renewed, on the axis of [`SystemClock`](crate::SystemClock): nanoseconds of
    /// `CLOCK_BOOTTIME`, which every process of this machine can read. [`Time::ZERO`] once the term is over. A watchdog outside of
    /// this process, which must work even if this process is stopped, is armed with it.
    #[must_use]
    pub fn valid_until(&self) -> Time {
        if self.check().is_ok() { self.leader_term().valid_until() } else { Time::ZERO }
    }

    /// Waits until this term ends at another time than `known`, because it was renewed, and returns that time. `None` once the
    /// term is over.
    pub async fn renewed(&self, known: Time) -> Option<Time> {
        tokio::select! {
            biased;
            () = self.tenure.ended() => None,
            until = self.leader_term().moved_from(known) => until,
        }
    }

    /// Holds this term for work that no future of this program does, such as another process: until the hold is dropped, no
    /// other member begins in good order. `None` if the term is over.
    ///
    /// The work must still stop in time: before [`valid_until`](Self::valid_until), and within the drain time once
    /// [`stopping`](Self::stopping) returns. If it outlasts its end by the stop grace, the node halts.
    #[must_use = "a hold that is dropped holds nothing"]
    pub fn hold(&self) -> Option<Hold> {
        self.begin().map(|work| Hold { _work: work })
    }

    /// Waits until nothing may begin under this term any more.
    pub async fn ended(&self) {
        self.tenure.ended().await;
    }

    /// Waits until this term must end in good order, or has ended. Work in progress may go on for the drain time.
    pub async fn stopping(&self) {
        tokio::select! {
            biased;
            () = self.leader_term().stopping() => {}
            () = self.ended() => {}
        }
    }

    /// Begins a piece of work under this term, unless the term is over.
    pub(crate) fn begin(&self) -> Option<Work> {
        self.tenure.begin()
    }

    fn leader_term(&self) -> &LeaderTerm {
        self.tenure.term()
    }

    pub(crate) fn give_back(&self) {
        self.tenure.end();
        self.candidacy.give_back(self.fence());
    }
}

impl Drop for Term {
    fn drop(&mut self) {
        self.give_back();
    }
}

/// Hold on a term: see [`Term::hold`].
#[derive(Debug)]
pub struct Hold {
    _work: Work,
}
