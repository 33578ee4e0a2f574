//! Entropy: the seam to randomness.

use core::fmt;

use rustix::rand::{GetRandomFlags, getrandom};

/// Source of random bits, for identifiers and jitter.
pub trait Entropy: fmt::Debug + Send {
    /// Returns the next 64 bits.
    fn bits(&mut self) -> u64;
}

/// Entropy of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn bits(&mut self) -> u64 {
        let mut bytes = [0; 8];
        let count = getrandom(&mut bytes, GetRandomFlags::empty()).expect("the kernel provides random bytes");
        assert_eq!(count, bytes.len(), "the kernel returns so few bytes in one piece");
        u64::from_ne_bytes(bytes)
    }
}

/// Entropy that is the same for the same seed, for simulations.
#[derive(Clone, Debug)]
pub struct SeededEntropy(u64);

impl SeededEntropy {
    /// Makes a source whose bits follow from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
impl Entropy for SeededEntropy {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_determines_the_bits_and_the_system_is_random() {
        let mut first = SeededEntropy::new(7);
        let mut second = SeededEntropy::new(7);
        assert_eq!([first.bits(), first.bits()], [second.bits(), second.bits()]);
        assert_ne!(first.bits(), SeededEntropy::new(8).bits());
        assert_ne!(OsEntropy.bits(), OsEntropy.bits());
    }
}
