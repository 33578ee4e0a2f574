//! Bin lib.
