//! Random choices that a seed repeats.

use core::time::Duration;

/// Marsaglia's xorshift of 64 bits.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The dice of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        // Small seeds differ in few bits, and zero would stay zero.
        let mut dice = Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    /// A number below `bound`.
    ///
    /// # Panics
    /// If `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// A number of milliseconds in this range, with both ends.
    pub fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.below(to - from + 1))
    }

    /// One of several.
    ///
    /// # Panics
    /// If there is none.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).expect("an index")]
    }

    /// True once in `bound` times.
    pub fn one_in(&mut self, bound: u64) -> bool {
        self.below(bound) == 0
    }
}
