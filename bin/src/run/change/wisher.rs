//! Puts a wish into the store and follows it to its end.

use core::time::Duration;
use std::sync::Arc;

use rolecall::store::{Aim, Answer, Refusal, Reply, Request, Store, Verdict, Wish, WishReply, WishRequest};
use rolecall::{Entropy as _, Fence, Leader, OsEntropy};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::run::reader::{ReadError, Reader};

/// Pause between two looks.
const PAUSE: Duration = Duration::from_millis(50);
/// Time for which a wish that nobody has answered is taken back.
const WITHDRAWAL_LIMIT: Duration = Duration::from_secs(2);

/// End of a wish.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// Another leader, or another term.
    Led {
        /// Leader that was asked.
        before: Leader,
        /// Leader now.
        after: Leader,
    },
    /// Nobody leads.
    Nobody,
    /// Another kind of client leads.
    Foreign(Arc<str>),
    /// Another leads than the one that was to be asked.
    Elsewhere(Leader),
    /// Something that is not a wish is in its place.
    Malformed,
    /// The store denies it.
    Denied,
    /// The leader refused, for this reason.
    Refused(Arc<str>),
    /// The wish of this author has no answer yet.
    Other(Arc<str>),
    /// The time is up.
    Late {
        /// Leader that was seen last.
        leader: Option<Leader>,
        /// True if it has answered that it ends its term.
        obeyed: bool,
        /// True if the wish is certain never to act.
        withdrawn: bool,
    },
}

/// One wish on its way.
pub(super) struct Wisher<'a> {
    reader: Reader<'a>,
    aim: Aim,
    author: Arc<str>,
    id: u64,
    /// The only node that is asked. `None`: whoever leads.
    only: Option<Arc<str>>,
    /// The leader that is asked, and its term.
    asked: Option<(Leader, Fence)>,
    placed: bool,
    obeyed: bool,
    /// End to tell if the time is up before the wish could be put into the store.
    hindrance: Option<End>,
}

impl<'a> Wisher<'a> {
    pub(super) fn new(store: &'a mut dyn Store, aim: Aim, author: String) -> Self {
        let (reader, id) = (Reader::new(store), OsEntropy.bits());
        let (author, only) = (author.into(), None);
        Self { reader, aim, author, id, only, asked: None, placed: false, obeyed: false, hindrance: None }
    }

    /// Asks this node, and no other that leads.
    pub(super) fn only(mut self, id: Option<Arc<str>>) -> Self {
        self.only = id;
        self
    }

    /// Follows the wish to its end, or until the time is up.
    pub(super) async fn run(mut self, limit: Duration) -> End {
        let deadline = Instant::now() + limit;
        let end = match timeout_at(deadline, self.follow()).await {
            Ok(end) => end,
            Err(_) => self.give_up().await,
        };
        self.reader.close().await;
        end
    }

    async fn follow(&mut self) -> End {
        self.reader.connected().await;
        loop {
            match self.step().await {
                Ok(Some(end)) => return end,
                Ok(None) | Err(ReadError::Again) => sleep(PAUSE).await,
                Err(ReadError::Denied) => return End::Denied,
                Err(ReadError::Disconnected) => self.reader.connected().await,
            }
        }
    }

    /// Looks at the cluster and at the wish, and does what is to be done. Nothing is assumed about earlier steps but
    /// what the store says.
    async fn step(&mut self) -> Result<Option<End>, ReadError> {
        let look = self.reader.look().await?;
        let Some((before, term)) = self.asked.clone() else {
            match (look.leader, look.term) {
                (None, _) => self.hindrance = Some(End::Nobody),
                (Some(leader), _) if !self.may_ask(&leader) => {
                    return Ok(Some(End::Elsewhere(leader)));
                }
                (Some(Leader::Foreign { id }), _) => return Ok(Some(End::Foreign(id))),
                (Some(leader @ Leader::Node { epoch, .. }), Some(record)) if record.fence.epoch == epoch => {
                    self.asked = Some((leader, record.fence));
                    self.hindrance = None;
                }
                // It changes at this moment.
                (Some(Leader::Node { .. }), _) => {}
            }
            return Ok(None);
        };
        let leads_on = look.term.as_ref().is_some_and(|record| record.fence == term);
        let leads = match &look.leader {
            Some(Leader::Node { epoch, .. }) => {
                !leads_on && look.term.is_some_and(|record| record.fence.epoch == *epoch)
            }
            Some(Leader::Foreign { .. }) => true,
            None => false,
        };
        if let Some(after) = look.leader.filter(|_| leads) {
            return Ok(Some(End::Led { before, after }));
        }
        self.see_to_wish(term).await
    }

    fn may_ask(&self, leader: &Leader) -> bool {
        match (&self.only, leader) {
            (None, _) => true,
            (Some(only), Leader::Node { id, .. }) => only == id,
            (Some(_), Leader::Foreign { .. }) => false,
        }
    }

    /// Reads the record of the wish, and writes it unless it is there.
    async fn see_to_wish(&mut self, term: Fence) -> Result<Option<End>, ReadError> {
        let over = match self.read().await? {
            WishReply::Malformed { .. } => return Ok(Some(End::Malformed)),
            WishReply::Found { wish, .. } if wish.id == self.id => {
                self.placed = true;
                self.obeyed = wish.verdict == Some(Verdict::Obeyed);
                return Ok(match wish.verdict {
                    Some(Verdict::Refused { reason }) => Some(End::Refused(reason)),
                    Some(_) | None => None,
                });
            }
            // Somebody has deleted it, or written over it because its term was over.
            _ if self.placed => return Ok(None),
            WishReply::Found { wish, .. } if wish.verdict.is_none() && wish.term == term => {
                self.hindrance = Some(End::Other(wish.author));
                return Ok(None);
            }
            WishReply::Found { version, .. } => Some(version),
            WishReply::Nobodys | WishReply::Written { .. } => None,
        };
        self.hindrance = None;
        self.write(term, None, over).await?;
        Ok(None)
    }

    async fn read(&mut self) -> Result<WishReply, ReadError> {
        match self.reader.ask(Request::Wish(WishRequest::Read { watch: false })).await? {
            Some(Reply::Wish(reply)) => Ok(reply),
            Some(_) | None => Err(ReadError::Again),
        }
    }

    /// Writes the record. Whether that was done, the next reading tells.
    async fn write(&mut self, term: Fence, verdict: Option<Verdict>, over: Option<u64>) -> Result<(), ReadError> {
        let wish = Wish { id: self.id, aim: self.aim.clone(), term, author: Arc::clone(&self.author), verdict };
        match self.reader.answer(Request::Wish(WishRequest::Write { wish: Box::new(wish), over })).await? {
            Answer::Refused(Refusal::Denied) => Err(ReadError::Denied),
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => Ok(()),
        }
    }

    /// Withdraws the wish, so that nothing comes of it after this command has ended.
    async fn give_up(&mut self) -> End {
        let Some((leader, term)) = self.asked.clone() else {
            let late = End::Late { leader: None, obeyed: false, withdrawn: true };
            return self.hindrance.take().unwrap_or(late);
        };
        if let Some(hindrance) = self.hindrance.take() {
            return hindrance;
        }
        let withdrawn = timeout(WITHDRAWAL_LIMIT, self.withdraw(term)).await.unwrap_or(false);
        End::Late { leader: Some(leader), obeyed: self.obeyed, withdrawn }
    }

    /// Returns true once the record says that this wish does not act.
    async fn withdraw(&mut self, term: Fence) -> bool {
        loop {
            match self.read().await {
                Ok(WishReply::Found { wish, version }) if wish.id == self.id => match wish.verdict {
                    None => drop(self.write(term, Some(Verdict::Withdrawn), Some(version)).await),
                    Some(Verdict::Obeyed) => {
                        self.obeyed = true;
                        return false;
                    }
                    Some(_) => return true,
                },
                Ok(_) => return true,
                Err(ReadError::Denied) => return false,
                Err(ReadError::Again) => sleep(PAUSE).await,
                Err(ReadError::Disconnected) => self.reader.connected().await,
            }
        }
    }
}
