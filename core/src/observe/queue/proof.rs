//! What a node has proved about its session, and for how long that lets it lead.

use alloc::collections::BTreeMap;
use core::time::Duration;

use crate::store::{Answer, QueueReply, QueueRequest, Reply};
use crate::{Config, OpId, Time};

/// The writes that prove a session: those of its term, once they are known to be committed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Proof {
    timeout: Duration,
    sent: BTreeMap<OpId, Time>,
    /// When the last of them was sent that is known to be committed.
    since: Option<Time>,
}

impl Proof {
    /// The timeout of the session is agreed upon, or once more.
    pub(super) fn negotiated(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    pub(super) fn asked(&mut self, now: Time, id: OpId, request: &QueueRequest) {
        if matches!(request, QueueRequest::Claim { .. } | QueueRequest::Beat { .. }) {
            self.sent.retain(|_, sent| now < *sent + self.timeout);
            self.sent.insert(id, now);
        }
    }

    pub(super) fn answered(&mut self, id: OpId, answer: &Answer) {
        let Some(sent) = self.sent.remove(&id) else { return };
        if matches!(answer, Answer::Done(Reply::Queue(QueueReply::Claimed(_) | QueueReply::Beaten))) {
            self.since = self.since.max(Some(sent));
        }
    }

    /// Whether a gate may be open until then: counted from before the call, never from its answer.
    pub(super) fn covers(&self, until: Time, config: &Config) -> bool {
        let covered = self.since.zip(config.validity(self.timeout)).map(|(since, validity)| since + validity);
        covered.is_some_and(|covered| until <= covered)
    }
}
