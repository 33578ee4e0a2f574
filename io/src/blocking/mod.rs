//! Blocking twin of [`Election`](crate::Election), for programs without async.
//!
//! ```
//! # fn send(_invoice: u32, _fence: rolecall::Fence) {}
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use rolecall::blocking::{Election, Term};
//!
//! fn nightly_job(term: &Term) -> Result<(), rolecall::TermOver> {
//!     for invoice in 1..=3 {
//!         send(invoice, term.check()?); // the last moment at which a lost term stops the job
//!     }
//!     Ok(())
//! }
//!
//! let election = Election::join("memory:", "invoices")?;
//! let term = election.lead()?; // waits for its turn
//! match term.run(|| nightly_job(&term)) {
//!     Some(_) => println!("done, and the term is given back"),
//!     None => println!("the term was lost; the next leader does the rest"),
//! }
//! election.leave();
//! # Ok(())
//! # }
//! ```

mod changes;

use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use rolecall_core::{Fence, Leader, Member};
use tokio::runtime::{Builder, Runtime};

pub use self::changes::Changes;
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

    /// Waits until this member knows who leads, but not longer than `limit`. `None` if nobody was known to lead in time, or the
    /// membership has ended.
    ///
    /// # Panics
    /// Within async code.
    #[must_use]
    pub fn wait_for_leader(&self, limit: Duration) -> Option<Leader> {
        let mut leader = self.election.leader();
        let known = leader.wait_for(Option::is_some);
        self.waits.block_on(async { tokio::time::timeout(limit, known).await.ok()?.ok()?.clone() })
    }

    /// Leader as seen by this member, now and at each change; `None` while nobody leads or the store cannot be reached.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let election = rolecall::blocking::Election::join("memory:", "leaders")?;
    /// let leaders = election.leader_changes();
    /// let watcher = std::thread::spawn(move || {
    ///     for leader in leaders {
    ///         println!("the leader is {leader:?}");
    ///     }
    /// });
    /// election.leave();
    /// watcher.join().expect("it ends with the membership");
    /// # Ok(())
    /// # }
    /// ```
    pub fn leader_changes(&self) -> Changes<Option<Leader>> {
        Changes::new(self.election.leader(), &self.waits)
    }

    /// Listed members, ordered by id. The leader is the one with an epoch.
    #[must_use]
    pub fn members(&self) -> Arc<[Member]> {
        Arc::clone(&self.election.members().borrow())
    }

    /// Listed members, ordered by id, now and at each change: see [`members`](crate::Election::members).
    pub fn member_changes(&self) -> Changes<Arc<[Member]>> {
        Changes::new(self.election.members(), &self.waits)
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
    /// Runs `work`, and gives the term back when it returns. `None` if the term ended first: before `work` began, so that it was
    /// not called, or before it returned.
    ///
    /// Nothing can stop a function from outside, so `work` must call [`check`](Self::check) before each act that only a leader
    /// may perform, and return soon once that fails. When the term ends in good order, the next member waits for `work`, but
    /// not longer than the drain time and the stop grace of the configuration. After that, the membership halts, and the others
    /// wait for its session to end.
    pub fn run<T>(&self, work: impl FnOnce() -> T) -> Option<T> {
        let running = self.term.begin()?;
        let output = work();
        let held = self.check().is_ok();
        drop(running);
        self.term.give_back();
        held.then_some(output)
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
