//! Blocking twin of [`Election`](crate::Election), for programs without async.
//!
//! ```
//! # fn nightly_job(_term: &rolecall::blocking::Term) {}
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let election = rolecall::blocking::Election::join("memory:", "invoices")?;
//! let term = election.lead()?; // waits for its turn
//! term.run(|| nightly_job(&term)); // given back when it returns
//! election.leave();
//! # Ok(())
//! # }
//! ```

use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use rolecall_core::{Fence, Leader, Member};
use tokio::runtime::{Builder, Runtime};

pub use crate::election::ElectionBuilder;
use crate::{JoinError, LeadError, Outcome, TermOver, election};

/// Membership in an election: see [`Election`](crate::Election). The methods block their caller, and panic within async code.
///
/// Dropping it leaves the election in good order in the background.
#[derive(Debug)]
#[must_use = "an election that is dropped is left"]
pub struct Election {
    election: election::Election,
    waits: Arc<Runtime>,
}

impl Election {
    /// Joins the election `name` on the store at `url` under a generated id.
    ///
    /// # Errors
    /// See [`ElectionBuilder::join`].
    ///
    /// # Panics
    /// Within async code.
    pub fn join(url: impl Into<String>, name: impl Into<String>) -> Result<Self, JoinError> {
        Self::builder(url, name).join_blocking()
    }

    /// Makes a builder to join the election `name` on the store at `url`; [`ElectionBuilder::join_blocking`] joins it.
    pub fn builder(url: impl Into<String>, name: impl Into<String>) -> ElectionBuilder {
        election::Election::builder(url, name)
    }

    /// Waits until this member leads, however long that takes.
    ///
    /// # Errors
    /// If the member is an observer, or the membership has ended.
    ///
    /// # Panics
    /// Within async code.
    pub fn lead(&self) -> Result<Term, LeadError> {
        let term = self.waits.block_on(self.election.lead())?;
        Ok(Term { term, waits: Arc::clone(&self.waits) })
    }

    /// Waits until this member leads, but not longer than `limit`: then returns `None`.
    ///
    /// # Errors
    /// If the member is an observer, or the membership has ended.
    ///
    /// # Panics
    /// Within async code.
    pub fn lead_within(&self, limit: Duration) -> Result<Option<Term>, LeadError> {
        let led = self.waits.block_on(async { tokio::time::timeout(limit, self.election.lead()).await });
        led.map_or(Ok(None), |led| Ok(Some(Term { term: led?, waits: Arc::clone(&self.waits) })))
    }

    /// True if this member leads at this instant.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.election.is_leader()
    }

    /// Leader as seen by this member.
    #[must_use]
    pub fn leader(&self) -> Option<Leader> {
        self.election.leader().borrow().clone()
    }

    /// Listed members, ordered by id. The leader is the one with an epoch.
    #[must_use]
    pub fn members(&self) -> Arc<[Member]> {
        Arc::clone(&self.election.members().borrow())
    }

    /// Id of this member.
    #[must_use]
    pub fn id(&self) -> &str {
        self.election.id()
    }

    /// Gives up the term of this member, if it has one.
    pub fn resign(&self) {
        self.election.resign();
    }

    /// Leaves in good order and returns when that is done.
    ///
    /// # Panics
    /// Within async code.
    pub fn leave(self) -> Outcome {
        self.waits.block_on(self.election.leave())
    }
}

impl ElectionBuilder {
    /// Joins as [`join`](Self::join) does, but blocks the caller.
    ///
    /// # Errors
    /// See [`join`](Self::join), and [`JoinError::Thread`].
    ///
    /// # Panics
    /// Within async code.
    pub fn join_blocking(self) -> Result<Election, JoinError> {
        // This runtime only waits. Everything that must go on meanwhile does so on the member's own thread.
        let waits = Builder::new_current_thread().enable_all().build().map_err(JoinError::Thread)?;
        let election = waits.block_on(self.join())?;
        Ok(Election { election, waits: Arc::new(waits) })
    }
}

/// Term of a member that leads. It is given back when [`run`](Self::run) returns or when the value is dropped.
#[derive(Debug)]
#[must_use = "a term that is dropped is given back"]
pub struct Term {
    term: election::Term,
    waits: Arc<Runtime>,
}

impl Term {
    /// Runs `work`, and gives the term back when it returns. `None` if the term was already over.
    ///
    /// Nothing can stop a function from outside, so `work` must call [`check`](Self::check) before each act that only a leader
    /// may perform, and return soon once that fails. When the term ends in good order, the next member waits for `work`, but
    /// not longer than the drain time and the stop grace of the configuration. After that, the membership halts, and the others
    /// wait for its session to end.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let running = self.term.begin()?;
        let output = work();
        drop(running);
        self.term.give_back();
        Some(output)
    }

    /// Checks that this term is valid at this instant: see [`Term::check`](crate::Term::check).
    ///
    /// # Errors
    /// If the term is over or was given back.
    pub fn check(&self) -> Result<Fence, TermOver> {
        self.term.check()
    }

    /// Fence of this term, whether or not the term is still valid.
    #[must_use]
    pub fn fence(&self) -> Fence {
        self.term.fence()
    }

    /// Time for which this term stays valid unless it is renewed; zero if it is over.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.term.time_left()
    }

    /// Waits until the term is over or must end, but not longer than `limit`. True if it is over or must end. For work that
    /// pauses between its steps.
    ///
    /// # Panics
    /// Within async code.
    #[must_use]
    pub fn ends_within(&self, limit: Duration) -> bool {
        self.block_on(async { tokio::time::timeout(limit, self.term.stopping()).await.is_ok() })
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.waits.block_on(future)
    }
}
