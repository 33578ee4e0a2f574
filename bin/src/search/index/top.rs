//! The best of many documents.

use core::cmp::Ordering;

use super::snapshot::Document;
use crate::search::shard::ShardId;

/// A document and its score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate<'a> {
    pub(crate) score: f32,
    pub(crate) document: &'a Document,
    pub(crate) shard: ShardId,
}

impl Candidate<'_> {
    /// Best first: by score descending, then by path ascending. A total order, so the best are the same in whatever order
    /// they come.
    fn order(&self, other: &Self) -> Ordering {
        other.score.total_cmp(&self.score).then_with(|| self.document.path.cmp(&other.document.path))
    }
}

/// The best `limit` of the documents that it is offered.
#[derive(Debug)]
pub(crate) struct Top<'a> {
    limit: usize,
    /// Up to twice as many as wanted: cutting them back now and then costs less than keeping them in order.
    kept: Vec<Candidate<'a>>,
    /// The lowest score of the best when they were last cut back: what is below has no chance.
    floor: f32,
}

impl<'a> Top<'a> {
    pub(crate) const fn new(limit: usize) -> Self {
        Self { limit, kept: Vec::new(), floor: f32::NEG_INFINITY }
    }

    /// Whether a document with this score may be among the best.
    pub(crate) fn may_enter(&self, score: f32) -> bool {
        self.limit > 0 && !matches!(score.total_cmp(&self.floor), Ordering::Less)
    }

    pub(crate) fn offer(&mut self, candidate: Candidate<'a>) {
        self.kept.push(candidate);
        if self.kept.len() >= 2 * self.limit.max(8) {
            self.cut();
        }
    }

    /// The best, best first.
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
