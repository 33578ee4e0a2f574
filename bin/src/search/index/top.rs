//! Selects the best of many documents.

use core::cmp::Ordering;

use super::snapshot::Document;
use crate::search::shard::ShardId;

/// Matching document with its score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) score: f32,
    pub(crate) document: &'a Document,
    pub(crate) shard: ShardId,
}

impl Candidate<'_> {
    /// Best first: by descending score, then by ascending path. This is a total order, so the order in which documents are
    /// offered does not affect the result.
    fn order(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.document.path.cmp(&other.document.path))
    }
}

/// Collector of the best `limit` documents among those offered to it.
#[derive(Debug)]
pub(crate) struct Top<'a> {
    limit: usize,
    /// Up to twice as many candidates as wanted: cutting back now and then costs less than keeping them in order.
    kept: Vec<Candidate<'a>>,
    /// Lowest score among the best at the last cut. A document below it has no chance.
    floor: f32,
}

impl<'a> Top<'a> {
    pub(crate) const fn new(limit: usize) -> Self {
        Self { limit, kept: Vec::new(), floor: f32::NEG_INFINITY }
    }

    /// True if a document with this score may be among the best.
    pub(crate) fn may_enter(&self, score: f32) -> bool {
        self.limit > 0 && !matches!(score.total_cmp(&self.floor), Ordering::Less)
    }

    pub(crate) fn offer(&mut self, candidate: Candidate<'a>) {
        self.kept.push(candidate);
        if self.kept.len() >= 2 * self.limit.max(8) {
            self.cut();
        }
    }

    /// The best documents, best first.
    pub(crate) fn into_sorted(mut self) -> Vec<Candidate<'a>> {
        self.cut();
        self.kept.sort_unstable_by(Candidate::order);
        self.kept
    }

    fn cut(&mut self) {
        if self.kept.len() > self.limit && self.limit > 0 {
            self.kept.select_nth_unstable_by(self.limit - 1, Candidate::order);
            self.floor = self.kept[self.limit - 1].score;
        }
        self.kept.truncate(self.limit);
    }
}
