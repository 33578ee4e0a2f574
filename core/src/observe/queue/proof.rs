//! Proof that a node's session lives, and the time that it may lead by that proof.

use alloc::collections::BTreeMap;
use core::time::Duration;

use crate::store::{Answer, QueueReply, QueueRequest, Reply};
use crate::{Config, OpId, Time};

/// Committed writes of a term, which prove its session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Proof {
    timeout: Duration,
    sent: BTreeMap<OpId, Time>,
    /// Time at which the last write known to be committed was sent.
    since: Option<Time>,
}

impl Proof {
    /// Notes the timeout of the session, each time it is negotiated.
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

    /// True if a gate may be open until then, counted from before the call of a write and never from its answer.
    pub(super) fn covers(&self, until: Time, config: &Config) -> bool {
        let covered = self.since.zip(config.validity(self.timeout)).map(|(since, validity)| since + validity);
        covered.is_some_and(|covered| until <= covered)
    }
}
