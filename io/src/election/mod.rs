//! The face for programs: an election that members join, wait in, and leave.

mod builder;
mod error;
mod id;
mod seat;
mod tenure;
mod term;

use core::fmt;
use std::sync::Arc;

use rolecall_core::{Leader, Member};
use tokio::sync::watch;

pub use self::builder::ElectionBuilder;
pub use self::error::{JoinError, LeadError};
use self::seat::Seat;
pub use self::term::Term;
use crate::driver::Outcome;
use crate::{Observer, RunningNode};

/// Membership in an election: who leads, who else is a member, and this member's turns to lead.
///
/// ```
/// # async fn nightly_job(_term: &rolecall::Term) {}
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let election = rolecall::Election::join("memory:", "billing").await?;
/// let term = election.lead().await?; // waits for its turn
/// term.run(nightly_job(&term)).await; // dropped when the term ends; the term is given back when it returns
/// election.leave().await;
/// # Ok(())
/// # }
/// ```
///
/// A member stands only while somebody waits in [`lead`](Self::lead) or holds a [`Term`]; otherwise it is listed and looks on.
/// Everything that keeps the membership happens on a thread of its own, so a program that blocks its runtime keeps its term.
///
/// # Dropping it
/// Dropped, it leaves in good order in the background: its work under a term is stopped first, for the drain time at most, and
/// the next member leads at once, not after the session timeout. A process that ends meanwhile cuts that short: at the end of
/// `main` call [`leave`](Self::leave) and wait for it.
#[must_use = "an election that is dropped is left"]
pub struct Election {
    id: Arc<str>,
    observes: bool,
    seat: Arc<Seat>,
    node: RunningNode,
    leader: watch::Receiver<Option<Leader>>,
    members: watch::Receiver<Arc<[Member]>>,
}

impl fmt::Debug for Election {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Election").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Election {
    /// Joins the election `name` on the store at `url` (`memory:`, `zookeeper://host:port,…/chroot`) under a generated id. See
    /// [`builder`](Self::builder) for everything else that may be said.
    ///
    /// # Errors
    /// See [`ElectionBuilder::join`].
    ///
    /// # Panics
    /// Outside a tokio runtime with time.
    pub async fn join(url: impl Into<String>, name: impl Into<String>) -> Result<Self, JoinError> {
        Self::builder(url, name).join().await
    }

    /// Prepares to join the election `name` on the store at `url`.
    pub fn builder(url: impl Into<String>, name: impl Into<String>) -> ElectionBuilder {
        ElectionBuilder::new(url.into(), name.into())
    }

    /// Waits until this member leads, however long that takes. Meanwhile it stands in the election; no more, once this is
    /// dropped. Of several callers one gets each term.
    ///
    /// # Errors
    /// The member is an observer, or the membership has ended: with the reason.
    pub async fn lead(&self) -> Result<Term, LeadError> {
        if self.observes {
            return Err(LeadError::Observer);
        }
        let waiting = self.seat.wait();
        let mut offers = self.seat.offers();
        loop {
            let offer = offers.borrow_and_update().clone();
            if let Some(tenure) = offer.filter(|tenure| self.seat.take(tenure)) {
                drop(waiting);
                return Ok(Term::new(Arc::clone(&self.seat), tenure));
            }
            tokio::select! {
                biased;
                // An error is impossible: the seat has the sender.
                _ = offers.changed() => {}
                outcome = self.node.observer().ended() => return Err(LeadError::ended(outcome)),
            }
        }
    }

    /// True if this member leads at this instant: it holds a term that somebody has or may take.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.node.observer().term().is_some()
    }

    /// Leader, now and as it changes; `None` while nobody leads or the store can't be heard.
    #[must_use]
    pub fn leader(&self) -> watch::Receiver<Option<Leader>> {
        self.leader.clone()
    }

    /// Members that are listed, this one among them, now and as they come and go, ordered by id. The leader is the one with an
    /// epoch. A member that takes or gives up the lead is not listed for a moment. While the store can't be heard the list
    /// stays as it was.
    #[must_use]
    pub fn members(&self) -> watch::Receiver<Arc<[Member]>> {
        self.members.clone()
    }

    /// This member's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Gives the term up that this member holds, if it does: what runs under it may go on for the drain time at most, then the
    /// next member leads. Whoever waits in [`lead`](Self::lead) goes on waiting, behind the other members.
    pub fn resign(&self) {
        self.seat.resign();
    }

    /// Looks at the node under this membership: its status, its health, its metrics.
    #[must_use]
    pub fn observer(&self) -> &Observer {
        self.node.observer()
    }

    /// Leaves in good order: gives up the term, once what runs under it has ended or the drain time is over, and ends the
    /// session. The next member leads at once. Dropped before it returns, this goes on in the background.
    pub async fn leave(mut self) -> Outcome {
        self.node.shut_down().await;
        self.node.wait().await
    }
}

impl Drop for Election {
    fn drop(&mut self) {
        self.seat.leave();
        self.node.detach();
    }
}
