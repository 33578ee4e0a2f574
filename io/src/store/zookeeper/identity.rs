//! Identity of this node, checked before it is written into ZooKeeper.

use crate::store::participant::split;
use crate::store::{Participant, ParticipantError, Registration};

/// Participant whose names have been checked.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) id: String,
    pub(super) address: Option<String>,
    /// Host without brackets, and port.
    pub(super) host: Option<(String, u16)>,
    pub(super) registration: Registration,
}

impl Identity {
    pub(super) fn new(participant: &Participant) -> Result<Self, ParticipantError> {
        participant.check()?;
        let Participant { cluster: _, id, address, session_timeout: _, registration } = participant.clone();
        let host = address.as_deref().and_then(split).map(|(host, port)| (host.to_owned(), port));
        Ok(Self { id, address, host, registration })
    }
}
