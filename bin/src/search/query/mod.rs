//! What is looked for.
//!
//! ```text
//! "boundary layer" heat NOT turbulent ──parse──► root: (leaf 0 or leaf 1) except leaf 2
//!                                                leaves: "boundari layer", heat, turbul
//! ```
//! The root decides which documents match. The score of one is the sum over the leaves that it has, those below a `NOT`
//! left out, in the order of the leaves. The leaves are sorted and each stands once, so that the sum, which depends on
//! the order of its terms in the last bits, is the same whoever computes it.

mod lexer;
mod parser;

pub use parser::{BadQuery, MAX_DEPTH, MAX_QUERY_BYTES, MAX_TERMS, parse};

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// A query whose words are already terms of the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// What may occur, sorted, each once.
    pub leaves: Vec<Leaf>,
    /// Which documents match.
    pub root: Node,
}

/// What a document has or has not, and what counts for its score.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leaf {
    /// One term.
    Term(String),
    /// Terms that follow each other, two or more.
    Phrase(Vec<String>),
}

/// Which documents match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    /// Those that have the leaf of this number.
    Leaf(usize),
    /// Those that match one of these.
    Any(Vec<Self>),
    /// Those that match all of these.
    All(Vec<Self>),
    /// Those that match the first and not the second.
    Except(Box<Self>, Box<Self>),
}

impl Leaf {
    /// Its terms, in order.
    #[must_use]
    pub fn terms(&self) -> &[String] {
        match self {
            Self::Term(term) => core::slice::from_ref(term),
            Self::Phrase(terms) => terms,
        }
    }
}

impl Query {
    /// Every term, sorted, each once: those of which statistics are needed.
    #[must_use]
    pub fn terms(&self) -> Vec<String> {
        let terms: BTreeSet<_> = self.leaves.iter().flat_map(Leaf::terms).collect();
        terms.into_iter().cloned().collect()
    }

    /// For each leaf whether it counts for the score: it stands somewhere that is not below a `NOT`.
    #[must_use]
    pub fn scoring(&self) -> Vec<bool> {
        let mut scoring = vec![false; self.leaves.len()];
        self.root.mark(&mut scoring);
        scoring
    }

    /// Whether it is one that [`parse`] could have made; one from the network need not be.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let terms: usize = self.leaves.iter().map(|leaf| leaf.terms().len()).sum();
        let phrases_are_long = self.leaves.iter().all(|leaf| match leaf {
            Leaf::Term(_) => true,
            Leaf::Phrase(terms) => terms.len() > 1,
        });
        // Each leaf and its terms are bounded, so their order is cheap to check.
        let sorted = self.leaves.is_sorted_by(|one, next| one < next);
        (1..=MAX_TERMS).contains(&terms) && phrases_are_long && sorted && self.root.is_sound(self.leaves.len(), 0)
    }
}

impl Node {
    fn mark(&self, scoring: &mut [bool]) {
        match self {
            Self::Leaf(leaf) => scoring[*leaf] = true,
            Self::Any(nodes) | Self::All(nodes) => nodes.iter().for_each(|node| node.mark(scoring)),
            Self::Except(node, _) => node.mark(scoring),
        }
    }

    fn is_sound(&self, leaves: usize, depth: usize) -> bool {
        // A pair of parentheses makes at most five levels: a row, narrowed, less something, of conjunctions less something.
        depth <= 5 * (MAX_DEPTH + 1)
            && match self {
                Self::Leaf(leaf) => *leaf < leaves,
                Self::Any(nodes) | Self::All(nodes) => {
                    (1..=MAX_TERMS).contains(&nodes.len()) && nodes.iter().all(|node| node.is_sound(leaves, depth + 1))
                }
                Self::Except(node, except) => node.is_sound(leaves, depth + 1) && except.is_sound(leaves, depth + 1),
            }
    }
}

#[cfg(test)]
mod tests;
