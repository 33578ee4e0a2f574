//! Bin lib.
pub mod search;
