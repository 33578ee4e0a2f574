//! Sets of documents, as bits.

/// Set of document numbers of one shard.
#[derive(Clone, Debug)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub(super) fn new(documents: usize) -> Self {
        Self(vec![0; documents.div_ceil(64)])
    }

    pub(super) fn insert(&mut self, document: u32) {
        self.0[document as usize / 64] |= 1 << (document % 64);
    }

    pub(super) fn union(&mut self, other: &Self) {
        self.combine(other, |own, other| own | other);
    }

    pub(super) fn intersect(&mut self, other: &Self) {
        self.combine(other, |own, other| own & other);
    }

    pub(super) fn subtract(&mut self, other: &Self) {
        self.combine(other, |own, other| own & !other);
    }

    pub(super) fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Members in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0_u32..).step_by(64).zip(&self.0).flat_map(|(base, &word)| {
            core::iter::successors(Some(word), |left| Some(left & left.wrapping_sub(1)))
                .take_while(|&left| left != 0)
                .map(move |left| base + left.trailing_zeros())
        })
    }

    fn combine(&mut self, other: &Self, combine: impl Fn(u64, u64) -> u64) {
        for (own, &other) in self.0.iter_mut().zip(&other.0) {
            *own = combine(*own, other);
        }
    }
}
