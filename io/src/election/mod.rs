//! Election that members join, wait in and leave: the face of the library for programs.

mod builder;
mod candidacy;
mod error;
mod tenure;
mod term;

use core::fmt;
use std::sync::Arc;

use rolecall_core::{Leader, Member};
use tokio::sync::watch;

pub use self::builder::ElectionBuilder;
use self::builder::Place;
use self::candidacy::Candidacy;
pub use self::error::{JoinError, LeadError};
pub use self::term::{Hold, Term};
use crate::driver::Outcome;
use crate::{Observer, RunningNode, StoreUrl};

/// Membership in an election. It shows the leader and the members, and gives this member its turns to lead.
///
/// ```
/// # async fn nightly_job(_term: &rolecall::Term) {}
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let election = rolecall::Election::join("memory:", "billing").await?;
/// let term = election.lead().await?; // waits for its turn
/// term.run(nightly_job(&term)).await; // dropped when the term ends; if it returns, the term is given back
/// election.leave().await;
/// # Ok(())
/// # }
/// ```
///
/// A member is a candidate only while a caller waits in [`lead`](Self::lead) or holds a [`Term`]; otherwise it is only listed.
/// A separate thread keeps the membership, so a program that blocks its runtime keeps its term.
///
/// # Drop
/// Dropping an election leaves it in good order in the background. Work under a term gets at most the drain time to stop, and
/// then the next member leads at once, not after the session timeout. If the process ends meanwhile, it cuts this short, so at
/// the end of `main` call [`leave`](Self::leave) and wait for it.
#[must_use = "an election that is dropped is left"]
pub struct Election {
    id: Arc<str>,
    observes: bool,
    candidacy: Arc<Candidacy>,
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
    /// [`builder`](Self::builder) for all other settings.
    ///
    /// # Errors
    /// See [`ElectionBuilder::join`].
    ///
    /// # Panics
    /// Outside a tokio runtime with time and I/O (`enable_all`).
    pub async fn join(url: impl Into<String>, name: impl Into<String>) -> Result<Self, JoinError> {
        Self::builder(url, name).join().await
    }

    /// Makes a builder to join the election `name` on the store at `url`.
    pub fn builder(url: impl Into<String>, name: impl Into<String>) -> ElectionBuilder {
        ElectionBuilder::new(Place::Text(url.into()), name.into())
    }

    /// Makes a builder to join the election `name` on `store`, whose URL was parsed before.
    pub fn at(store: StoreUrl, name: impl Into<String>) -> ElectionBuilder {
        ElectionBuilder::new(Place::Url(store), name.into())
    }

    /// Waits until this member leads, however long that takes. Meanwhile, the member is a candidate. Dropping the future
    /// withdraws it. If there are several callers, one of them gets each term.
    ///
    /// # Errors
    /// If the member is an observer, or the membership has ended.
    pub async fn lead(&self) -> Result<Term, LeadError> {
        if self.observes {
            return Err(LeadError::Observer);
        }
        let waiting = self.candidacy.wait();
        let mut offers = self.candidacy.offers();
        loop {
            let offer = offers.borrow_and_update().clone();
            if let Some(tenure) = offer.filter(|tenure| self.candidacy.take(tenure)) {
                drop(waiting);
                return Ok(Term::new(Arc::clone(&self.candidacy), tenure));
            }
            tokio::select! {
                biased;
                // This never fails, because the candidacy keeps the sender.
                _ = offers.changed() => {}
                outcome = self.node.observer().ended() => return Err(LeadError::ended(outcome)),
            }
        }
    }

    /// True if this member leads at this instant: it has a valid term that was not given back, whether or not a caller has
    /// taken it yet.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.candidacy.offers().borrow().as_ref().is_some_and(|tenure| tenure.check().is_ok())
    }

    /// Leader, with updates; `None` while nobody leads or the store cannot be reached.
    #[must_use]
    pub fn leader(&self) -> watch::Receiver<Option<Leader>> {
        self.leader.clone()
    }

    /// Listed members, including this one, ordered by id, with updates. The leader is the one with an epoch. A member that
    /// takes or gives up the lead is not listed for a moment. While the store cannot be reached, the list does not change.
    #[must_use]
    pub fn members(&self) -> watch::Receiver<Arc<[Member]>> {
        self.members.clone()
    }

    /// Id of this member.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Gives up the term of this member, if it has one. Work under it may go on for at most the drain time; then the next
    /// member leads. Callers of [`lead`](Self::lead) go on waiting, behind the other members.
    pub fn resign(&self) {
        self.candidacy.resign();
    }

    /// Observer of the node under this membership: its status, health and metrics.
    #[must_use]
    pub fn observer(&self) -> &Observer {
        self.node.observer()
    }

    /// Leaves in good order: gives up the term, once its work has ended or the drain time is over, and ends the session. The
    /// next member leads at once. If the future is dropped, leaving goes on in the background.
    pub async fn leave(mut self) -> Outcome {
        self.node.shut_down().await;
        self.node.wait().await
    }
}

impl Drop for Election {
    fn drop(&mut self) {
        self.candidacy.leave();
        self.node.detach();
    }
}
