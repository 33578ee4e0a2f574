//! What a node runs.

/// The role that a node serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Role {
    /// Nothing yet, or nothing any more.
    #[default]
    None,
    /// Answers tasks.
    Worker,
    /// Coordinates.
    Leader,
}
