//! Identity of this node, checked before it is written into ZooKeeper.

use crate::store::participant::split;
use crate::store::{Participant, ParticipantError};

/// Participant whose names have been checked.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) id: String,
    pub(super) address: String,
    pub(super) host: String,
    pub(super) port: u16,
}

impl Identity {
    pub(super) fn new(participant: &Participant) -> Result<Self, ParticipantError> {
        participant.check()?;
        let Participant { cluster: _, id, address, session_timeout: _ } = participant;
        let (host, port) = split(address).ok_or_else(|| ParticipantError::Address { address: address.clone() })?;
        Ok(Self { id: id.clone(), address: address.clone(), host: host.into(), port })
    }
}
