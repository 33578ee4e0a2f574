//! Task that keeps one session after another until it is told to close.

use std::sync::Arc;

use rolecall_core::Session as SessionNumber;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};

use super::Command;
use super::session::{End, Session, Use};
use super::target::Target;
use crate::Entropy;
use crate::store::denials::Denials;
use crate::store::{Participant, StoreEvent};

/// Everything needed to keep sessions.
#[derive(Debug)]
pub(super) struct Driver {
    pub(super) target: Target,
    pub(super) participant: Arc<Participant>,
    pub(super) denials: Denials<Use>,
    /// Source of the sessions' numbers.
    pub(super) entropy: Box<dyn Entropy>,
    pub(super) commands: UnboundedReceiver<Command>,
    pub(super) events: UnboundedSender<StoreEvent>,
}

impl Driver {
    /// Keeps a session open until it is told to close.
    pub(super) async fn run(mut self) {
        let end = loop {
            // Random, so no two nodes make up the same one. 0 is nobody's.
            let number = SessionNumber(self.entropy.bits().max(1));
            let (participant, denials) = (&self.participant, &self.denials);
            let (commands, events) = (&mut self.commands, &self.events);
            let session = Session::new(number, participant, denials, &mut self.target, commands, events);
            match { session }.serve().await {
                (End::Lost, true) => _ = self.events.send(StoreEvent::Lost),
                (End::Lost, false) => {}
                (end @ (End::Closed | End::Abandoned), _) => break end,
            }
        };
        if end == End::Closed {
            let _ = self.events.send(StoreEvent::Closed);
        }
    }
}
