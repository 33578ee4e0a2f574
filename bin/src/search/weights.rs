//! What a word is worth, from the statistics of all documents.
//!
//! Weights are computed in one place, where the statistics are added up, and travel with the query. A worker only adds,
//! multiplies and divides, which IEEE 754 defines to the last bit; logarithms, which differ between machines, it never takes.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::exact::Exact;
use super::query::{Leaf, Query};
use super::settings::Ranking;

/// BM25's constants, as Lucene and tantivy have them.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Statistics of documents: of a shard, or added up, of all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statistics {
    /// How many documents there are.
    pub documents: u64,
    /// How many words they have together.
    pub words: u64,
    /// How many documents have each of the terms asked for, in the order asked.
    pub frequencies: Vec<u64>,
}

impl Statistics {
    /// Adds those of other documents. They come from other nodes, whatever those are: a sum ends at the highest number.
    pub fn add(&mut self, other: &Self) {
        self.documents = self.documents.saturating_add(other.documents);
        self.words = self.words.saturating_add(other.words);
        self.frequencies.resize(self.frequencies.len().max(other.frequencies.len()), 0);
        for (sum, more) in self.frequencies.iter_mut().zip(&other.frequencies) {
            *sum = sum.saturating_add(*more);
        }
    }
}

/// What each leaf of a query is worth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weights {
    /// By which ranking.
    pub ranking: Ranking,
    /// The mean number of words in a document.
    pub average_words: Exact,
    /// The weight of each leaf of the query, in its order.
    pub leaves: Vec<Exact>,
}

impl Weights {
    /// The weights for `query`, where `statistics` are those of all documents for its [terms](Query::terms).
    #[must_use]
    pub fn new(ranking: Ranking, query: &Query, statistics: &Statistics) -> Self {
        let terms = query.terms();
        let frequencies: BTreeMap<_, _> = terms.iter().zip(statistics.frequencies.iter().copied()).collect();
        let weight = |leaf: &Leaf| {
            let rarities = leaf.terms().iter().map(|term| {
                let frequency = frequencies.get(term).copied().unwrap_or_default();
                rarity(ranking, statistics.documents, frequency)
            });
            // A phrase is worth as much as its words together.
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

    /// What BM25 adds to a count, for a document of `words` words.
    pub(crate) fn norm(&self, words: u32) -> f32 {
        K1 * (1.0 - B + B * words as f32 / self.average_words.0)
    }
}

/// The inverse document frequency of a word that `frequency` of `documents` documents have.
fn rarity(ranking: Ranking, documents: u64, frequency: u64) -> f32 {
    match ranking {
        Ranking::Bm25 => {
            let others = documents.saturating_sub(frequency) as f32;
            (1.0 + (others + 0.5) / (frequency as f32 + 0.5)).ln()
        }
        // No document has the word, so none gets its weight.
        Ranking::Tfidf if frequency == 0 => 0.0,
        Ranking::Tfidf => (documents as f64 / frequency as f64).log10() as f32,
    }
}
