//! Messages between a node's client and the store.

use alloc::sync::Arc;
use core::time::Duration;

use super::super::count::{Purpose, Purposeful};
use crate::store::{Answer, Effect, Notice, Request};
use crate::{OpId, Session};

/// A message, with the number of the connection that it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) connection: u32,
    pub(super) what: What,
}

/// Content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// A client connects.
    Connect { client: Arc<str>, previous: Option<Session> },
    /// It is connected.
    Connected { session: Session, timeout: Duration },
    /// Its session is over.
    Expired,
    /// A client shows that it lives.
    Ping,
    /// The store does.
    Pong,
    /// A client asks for something. `is_routine`: true if it only reads again what it reads from time to time.
    Ask { id: OpId, request: Request, is_routine: bool },
    /// The answer.
    Answered { id: OpId, answer: Answer },
    /// A watch fired.
    Noticed { id: OpId, notice: Notice },
}

impl Purposeful for Message {
    fn purpose(&self) -> Purpose {
        match &self.what {
            What::Ask { is_routine: true, .. } => Purpose::Upkeep,
            What::Ask { request, .. } => match request.effect() {
                Effect::Beat => Purpose::Upkeep,
                Effect::Read | Effect::FreshRead | Effect::Create | Effect::Change => Purpose::Election,
            },
            What::Connect { .. } => Purpose::Election,
            What::Ping => Purpose::Upkeep,
            What::Pong | What::Connected { .. } | What::Expired | What::Answered { .. } | What::Noticed { .. } => {
                Purpose::Answer
            }
        }
    }
}
