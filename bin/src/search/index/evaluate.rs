//! Finds and scores the documents of a shard.
//!
//! Each leaf, in the query's order, adds its part to the scores of the documents that contain it. So each score is one sum
//! in one order, whatever else is in the shard. Which documents match is decided separately, on sets.

use std::borrow::Cow;
use std::io;

use super::bits::Bits;
use super::occurrences::{Count, documents_with, each_with};
use super::snapshot::{Segment, Snapshot};
use super::top::{Candidate, Top};
use crate::search::query::{Node, Query};
use crate::search::settings::Ranking;
use crate::search::weights::{LOOSE, Statistics, Weights};

/// Query with everything needed to score documents, usable for any number of shards.
#[derive(Debug)]
pub(crate) struct Scorer<'q> {
    query: &'q Query,
    ranking: Ranking,
    /// Weight of each leaf; `None` for a leaf that does not count for the score.
    weights: Vec<Option<f32>>,
    /// Term that BM25 adds to a count in its denominator, for each of the 256 lengths that an index distinguishes.
    norms: [f32; 256],
}

impl<'q> Scorer<'q> {
    pub(crate) fn new(query: &'q Query, weights: &Weights) -> Self {
        let scoring = query.scoring();
        let leaves = weights.leaves.iter().zip(scoring).map(|(weight, scores)| scores.then_some(weight.0)).collect();
        let length = |id: usize| tantivy::fieldnorm::FieldNormReader::id_to_fieldnorm(id as u8);
        let norms = core::array::from_fn(|id| weights.norm(length(id)));
        Self { query, ranking: weights.ranking, weights: leaves, norms }
    }

    /// Share of a leaf's weight that goes to a document. Loose occurrences count for less, however many there are. Of the document's
    /// length one form is used: `length` is one of the 256 that an index distinguishes, and `words` is exact.
    #[inline]
    fn part(&self, Count { all, exact }: Count, length: u8, words: impl Fn() -> u64) -> f32 {
        let part = |count| self.part_of(count, length, &words);
        if all == exact { part(all) } else { LOOSE * part(all) + (1.0 - LOOSE) * part(exact) }
    }

    /// Share of a leaf's weight that goes to a document in which the leaf occurs `count` times.
    #[inline]
    fn part_of(&self, count: u32, length: u8, words: impl Fn() -> u64) -> f32 {
        let count = count as f32;
        match self.ranking {
            Ranking::Bm25 => count / (count + self.norms[usize::from(length)]),
            Ranking::Tfidf => count / words() as f32,
        }
    }
}

impl Snapshot {
    /// Statistics of this shard for `terms`.
    pub(crate) fn statistics(&self, terms: &[String]) -> io::Result<Statistics> {
        let frequency = |term: &String| match &self.segment {
            Some(segment) => documents_with(segment, term),
            None => Ok(0),
        };
        Ok(Statistics {
            documents: self.documents.len() as u64,
            words: self.words,
            frequencies: terms.iter().map(frequency).collect::<Result<_, _>>()?,
        })
    }

    /// Offers every matching document to `top` and returns the number of matches.
    pub(crate) fn search<'s>(&'s self, scorer: &Scorer<'_>, top: &mut Top<'s>) -> io::Result<u64> {
        let Some(segment) = &self.segment else { return Ok(0) };
        let words = |document: u32| self.documents[document as usize].words;
        let Matches { scores, matching } = matches(segment, scorer, &self.lengths, words)?;
        for document in matching.iter() {
            self.offer(document, scores[document as usize], top);
        }
        Ok(matching.count())
    }

    /// Offers the document of this number to `top`.
    #[inline]
    pub(super) fn offer<'s>(&'s self, document: u32, score: f32, top: &mut Top<'s>) {
        if top.may_enter(score) {
            top.offer(Candidate { score, document: &self.documents[document as usize], shard: self.shard });
        }
    }
}

/// Documents of a segment that match a query, with the scores of all documents.
pub(super) struct Matches {
    pub(super) scores: Vec<f32>,
    pub(super) matching: Bits,
}

/// Finds the documents of a segment that match. `lengths` has the length of every document, and `words` returns the exact one.
pub(super) fn matches(
    segment: &Segment,
    scorer: &Scorer<'_>,
    lengths: &[u8],
    words: impl Fn(u32) -> u64,
) -> io::Result<Matches> {
    let mut scores = vec![0.0_f32; lengths.len()];
    let mut sets = Vec::with_capacity(scorer.query.leaves.len());
    for (leaf, &weight) in scorer.query.leaves.iter().zip(&scorer.weights) {
        let mut set = Bits::new(lengths.len());
        let mut found = |document: u32, count: Count| {
            set.insert(document);
            if let Some(weight) = weight {
                let length = lengths[document as usize];
                scores[document as usize] += weight * scorer.part(count, length, || words(document));
            }
        };
        each_with(segment, leaf, &mut found)?;
        sets.push(set);
    }
    let matching = matching(&scorer.query.root, &sets).into_owned();
    Ok(Matches { scores, matching })
}

fn matching<'a>(node: &Node, sets: &'a [Bits]) -> Cow<'a, Bits> {
    let fold = |nodes: &[Node], combine: fn(&mut Bits, &Bits)| {
        let (first, rest) = nodes.split_first().expect("a sound query has no empty node");
        let mut set = matching(first, sets);
        for node in rest {
            combine(set.to_mut(), &matching(node, sets));
        }
        set
    };
    match node {
        Node::Leaf(leaf) => Cow::Borrowed(&sets[*leaf]),
        Node::Any(nodes) => fold(nodes, Bits::union),
        Node::All(nodes) => fold(nodes, Bits::intersect),
        Node::Except(node, except) => {
            let mut set = matching(node, sets);
            set.to_mut().subtract(&matching(except, sets));
            set
        }
    }
}
