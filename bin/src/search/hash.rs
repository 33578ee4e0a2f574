//! Hash that is the same on every machine and in every version.
//!
//! Nodes agree on shards, placement and the ids of snapshots without asking each other. None of these may depend on the
//! hash that a compiler or a library happens to choose.

/// 64-bit FNV-1a (Fowler, Noll and Vo), finished with the mixer of `SplitMix64` (Steele, Lea and Flood 2014), because FNV
/// alone distributes the high bits of short keys unevenly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StableHash(u64);

impl StableHash {
    pub(crate) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a part together with its length, so that `"ab", "c"` and `"a", "bc"` differ.
    #[must_use]
    pub(crate) fn part(self, bytes: &[u8]) -> Self {
        self.bytes(&(bytes.len() as u64).to_le_bytes()).bytes(bytes)
    }

    /// Adds a number.
    #[must_use]
    pub(crate) fn number(self, number: u64) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    /// Hash of everything added so far.
    pub(crate) const fn finish(self) -> u64 {
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn bytes(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)))
    }
}

#[cfg(test)]
mod tests {
    use super::StableHash;

    #[test]
    fn the_hash_never_changes() {
        assert_eq!(StableHash::new().part(b"book/index.html").finish(), 15_509_365_116_432_933_039);
        assert_eq!(StableHash::new().part(b"").number(7).finish(), 6_794_944_668_105_687_973);
    }

    #[test]
    fn parts_do_not_run_together() {
        let one = StableHash::new().part(b"ab").part(b"c").finish();
        let other = StableHash::new().part(b"a").part(b"bc").finish();
        assert_ne!(one, other);
    }
}
