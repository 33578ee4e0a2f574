//! The promise about wishes: one is obeyed or reported (P15).

use crate::store::{Answer, Reply, Request, Verdict, WishReply, WishRequest};
use crate::{Event, Fence, Node, OpId, Time, Violation};

/// Judge of one node's dealings with wishes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct WishJudge {
    /// Id and version of the last wish that was read and had no answer.
    unanswered: Option<(u64, u64)>,
    /// Term of the answer `obeyed` that is under way.
    answering: Option<(OpId, Fence)>,
    /// Term whose record says that it ends.
    obeyed: Option<Fence>,
}

impl WishJudge {
    /// Judges a request that is sent.
    ///
    /// # Errors
    /// A write that is no answer of this term to the wish that was read last.
    pub(super) fn asked(&mut self, id: OpId, request: &Request, after: &Node) -> Result<(), Violation> {
        let Request::Wish(WishRequest::Write { wish, over }) = request else { return Ok(()) };
        let is_own = after.term().is_some_and(|(fence, _)| fence == wish.term);
        let is_read = over.is_some_and(|version| self.unanswered == Some((wish.id, version)));
        self.answering = (wish.verdict == Some(Verdict::Obeyed)).then_some((id, wish.term));
        let answers = match wish.verdict {
            Some(Verdict::Obeyed | Verdict::Refused { .. }) => true,
            Some(Verdict::Withdrawn) | None => false,
        };
        if is_own && is_read && answers { Ok(()) } else { Err(Violation::WishMishandled) }
    }

    /// Notes an answer for which the node waited.
    pub(super) fn answered(&mut self, id: OpId, answer: &Answer) {
        match answer {
            Answer::Done(Reply::Wish(WishReply::Found { wish, version })) => {
                self.unanswered = wish.verdict.is_none().then_some((wish.id, *version));
                if wish.verdict == Some(Verdict::Obeyed) {
                    self.obeyed = Some(wish.term);
                }
            }
            Answer::Done(Reply::Wish(WishReply::Written { .. })) => {
                let answered = self.answering.take_if(|(answering, _)| *answering == id);
                self.obeyed = answered.map(|(_, term)| term).or(self.obeyed);
            }
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => {}
        }
    }

    /// Judges a step: a term whose record says that it ends is being ended, and no other is without another cause.
    ///
    /// # Errors
    /// P15.
    pub(super) fn judge(&self, before: &Node, now: Time, event: &Event, after: &Node) -> Result<(), Violation> {
        let is_obeyed = |node: &Node| node.term().is_some_and(|(fence, _)| self.obeyed == Some(fence));
        if is_obeyed(after) && !after.is_resigning() && !after.is_ending() {
            return Err(Violation::WishMishandled);
        }
        let begins = after.is_resigning() && !before.is_resigning();
        let has_cause = before.fails_to_lead(now) || matches!(event, Event::Resign | Event::ServiceFailed { .. });
        if begins && !has_cause && !is_obeyed(before) { Err(Violation::WishMishandled) } else { Ok(()) }
    }
}
