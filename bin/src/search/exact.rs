//! Floating-point numbers that cross the network unchanged.

use serde::{Deserialize, Serialize};

/// Number written to JSON as its 32 bits, an integer: nothing is rounded, and every writer writes the same.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(from = "u32", into = "u32")]
pub struct Exact(pub f32);

impl From<u32> for Exact {
    fn from(bits: u32) -> Self {
        Self(f32::from_bits(bits))
    }
}

impl From<f32> for Exact {
    fn from(number: f32) -> Self {
        Self(number)
    }
}

impl From<Exact> for u32 {
    fn from(exact: Exact) -> Self {
        exact.0.to_bits()
    }
}

/// Compares the bits, so equal scores are indistinguishable.
impl PartialEq for Exact {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Exact {}
