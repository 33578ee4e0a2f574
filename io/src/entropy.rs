//! The seam to randomness.

use core::fmt;

use rustix::rand::{GetRandomFlags, getrandom};

/// Random bits, for identifiers and jitter.
pub trait Entropy: fmt::Debug + Send {
    /// The next 64 bits.
    fn bits(&mut self) -> u64;
}

/// The operating system's.
#[derive(Clone, Copy, Debug, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn bits(&mut self) -> u64 {
        let mut bytes = [0; 8];
        let count = getrandom(&mut bytes, GetRandomFlags::empty()).expect("the kernel has random bytes");
        assert_eq!(count, bytes.len(), "the kernel gives so few in one piece");
        u64::from_ne_bytes(bytes)
    }
}

/// The same bits for the same seed: for simulations.
#[derive(Clone, Debug)]
pub struct SeededEntropy(u64);

impl SeededEntropy {
    /// Bits that follow from `seed`.
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
    fn a_seed_tells_what_comes_and_the_system_does_not() {
        let mut first = SeededEntropy::new(7);
        let mut second = SeededEntropy::new(7);
        assert_eq!([first.bits(), first.bits()], [second.bits(), second.bits()]);
        assert_ne!(first.bits(), SeededEntropy::new(8).bits());
        assert_ne!(OsEntropy.bits(), OsEntropy.bits());
    }
}
