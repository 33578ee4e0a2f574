//! Weights of words, from the statistics of all documents.
//!
//! The leader adds up the statistics, computes the weights once and sends them with the query. A worker only adds,
//! multiplies and divides, which IEEE 754 defines to the last bit. It never takes a logarithm, because logarithms differ
//! between machines.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::query::{Leaf, Query, Word};
use super::settings::Ranking;

/// Constants of BM25, with the values that Lucene and tantivy use.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Part of its score that a document keeps if it has a word of the query only but for accents, or for where the word ends in a text without
/// spaces. One exact occurrence is worth more than any number of loose ones in a document of the same length.
pub(crate) const LOOSE: f32 = 0.4;

/// Statistics of documents: those of one shard, or the sum over several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// Number of documents.
    pub documents: u64,
    /// Number of words in all documents together.
    pub words: u64,
    /// For each term asked for, in the order asked, the number of documents that contain it as a word or as a part of a loose form.
    pub frequencies: Vec<u64>,
}

impl Statistics {
    /// Adds the statistics of other documents. They come from other nodes and may be nonsense, so sums saturate.
    pub fn add(&mut self, other: &Self) {
        self.documents = self.documents.saturating_add(other.documents);
        self.words = self.words.saturating_add(other.words);
        self.frequencies.resize(self.frequencies.len().max(other.frequencies.len()), 0);
        for (sum, more) in self.frequencies.iter_mut().zip(&other.frequencies) {
            *sum = sum.saturating_add(*more);
        }
    }
}

/// Weights of the leaves of a query.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weights {
    /// Ranking by which the weights were computed.
    pub ranking: Ranking,
    /// Mean number of words in a document.
    pub average_words: Exact,
    /// Weight of each leaf, in the order of the query's leaves.
    pub leaves: Vec<Exact>,
}

impl Weights {
    /// Computes the weights for `query`. `statistics` are those of all documents for its [terms](Query::terms).
    #[must_use]
    pub fn new(ranking: Ranking, query: &Query, statistics: &Statistics) -> Self {
        let terms = query.terms();
        let frequencies: BTreeMap<_, _> = terms.iter().zip(statistics.frequencies.iter().copied()).collect();
        let frequency = |term: &String| frequencies.get(term).copied().unwrap_or_default();
        let weight = |leaf: &Leaf| {
            let rarities =
                leaf.words.iter().map(|word| rarity(ranking, statistics.documents, frequency_of(word, frequency)));
            // The weight of a phrase is the sum of the weights of its words.
            let sum: f32 = rarities.sum();
            Exact(match ranking {
                Ranking::Bm25 => sum * (1.0 + K1),
                Ranking::Tfidf => sum,
            })
        };
        Self {
            ranking,
            average_words: Exact(statistics.words as f32 / statistics.documents.max(1) as f32),
            leaves: query.leaves.iter().map(weight).collect(),
        }
    }

    /// Term that BM25 adds to a count in its denominator, for a document of `words` words.
    pub(crate) fn norm(&self, words: u32) -> f32 {
        K1 * (1.0 - B + B * words as f32 / self.average_words.0)
    }
}

/// Number of documents by which the rarity of `word` is told: those that contain it, whatever its accents. A word of several letters
/// without spaces that the dictionaries have cut out of no document counts as its rarest letter.
fn frequency_of(word: &Word, frequency: impl Fn(&String) -> u64) -> u64 {
    match (word.parts(), frequency(&word.exact)) {
        ([part], _) => frequency(part),
        (parts, 0) => parts.iter().map(frequency).min().unwrap_or_default(),
        (_, exact) => exact,
    }
}

/// Inverse document frequency of a word that occurs in `frequency` of `documents` documents.
fn rarity(ranking: Ranking, documents: u64, frequency: u64) -> f32 {
    match ranking {
        Ranking::Bm25 => {
            let others = documents.saturating_sub(frequency) as f32;
            (1.0 + (others + 0.5) / (frequency as f32 + 0.5)).ln()
        }
        // No document contains the word, so the weight is never used.
        Ranking::Tfidf if frequency == 0 => 0.0,
        Ranking::Tfidf => (documents as f64 / frequency as f64).log10() as f32,
    }
}
