//! Requests about the settings of the whole cluster.

use alloc::sync::Arc;

use super::Effect;

/// A request about the settings of the whole cluster.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum SettingsRequest {
    /// Writes the settings, unless there are some. Answered by the settings then in force.
    Settle {
        /// This node's settings, as text.
        settings: Arc<str>,
    },
}

impl SettingsRequest {
    pub(super) const fn effect(&self) -> Effect {
        match self {
            Self::Settle { .. } => Effect::Change,
        }
    }

    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::Settle { .. } => "settle",
        }
    }
}
