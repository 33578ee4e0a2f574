//! Requests about the record of the latest term.

use alloc::sync::Arc;

use super::Effect;
#[cfg(doc)]
use super::Refusal;
use crate::Fence;

/// A request about the record of the latest term. A claim writes the record.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum TermRequest {
    /// Reads the record, after a sync. Answered by the [`TermRecord`], [`Refusal::Missing`], or
    /// [`Refusal::Malformed`].
    Read,
}

impl TermRequest {
    pub(super) const fn effect(&self) -> Effect {
        match self {
            Self::Read => Effect::FreshRead,
        }
    }

    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Read => "read_term",
        }
    }
}

/// The record of the latest term. It outlives its leader.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct TermRecord {
    /// Fence of the term.
    pub fence: Fence,
    /// Id of the node that claimed it.
    pub leader: Arc<str>,
    /// Address of that node.
    pub address: Arc<str>,
}
