//! Search queries.
//!
//! ```text
//! "boundary layer" heat NOT turbulent ──parse──► root: (leaf 0 or leaf 1) except leaf 2
//!                                                leaves: "boundari layer", heat, turbul
//! ```
//! The root decides which documents match. A document's score is a sum over the leaves that occur in it, in the order of
//! the leaves; leaves below a `NOT` do not count. The last bits of such a sum depend on its order. The leaves are
//! therefore sorted and unique, so that every machine computes the same score.

mod lexer;
mod parser;

pub use parser::{BadQuery, MAX_DEPTH, MAX_QUERY_BYTES, MAX_TERMS, parse};

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Query whose words are already terms of the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// Terms and phrases of the query, sorted, without duplicates.
    pub leaves: Vec<Leaf>,
    /// Condition that a document must meet to match.
    pub root: Node,
}

/// Term or phrase: a document contains it or not, and its occurrences add to the score.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leaf {
    /// Single term.
    Term(String),
    /// Two or more terms that follow each other directly.
    Phrase(Vec<String>),
}

/// Condition on a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Node {
    /// The document contains the leaf at this index.
    Leaf(usize),
    /// At least one of these holds.
    Any(Vec<Self>),
    /// All of these hold.
    All(Vec<Self>),
    /// The first holds and the second does not.
    Except(Box<Self>, Box<Self>),
}

impl Leaf {
    /// Terms of the leaf, in order.
    #[must_use]
    pub fn terms(&self) -> &[String] {
        match self {
            Self::Term(term) => core::slice::from_ref(term),
            Self::Phrase(terms) => terms,
        }
    }
}

impl Query {
    /// All terms of the query, sorted, without duplicates. Scoring needs the statistics of each.
    #[must_use]
    pub fn terms(&self) -> Vec<String> {
        let terms: BTreeSet<_> = self.leaves.iter().flat_map(Leaf::terms).collect();
        terms.into_iter().cloned().collect()
    }

    /// One flag for each leaf: true if the leaf counts for the score, that is, occurs at least once outside a `NOT`.
    #[must_use]
    pub fn scoring(&self) -> Vec<bool> {
        let mut scoring = vec![false; self.leaves.len()];
        self.root.mark(&mut scoring);
        scoring
    }

    /// True if [`parse`] could have made this query. A query that came over the network must pass this check first.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        let terms: usize = self.leaves.iter().map(|leaf| leaf.terms().len()).sum();
        let phrases_are_long = self.leaves.iter().all(|leaf| match leaf {
            Leaf::Term(_) => true,
            Leaf::Phrase(terms) => terms.len() > 1,
        });
        // The size limit of a request's body bounds the leaves, so checking their order is cheap.
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
        // A pair of parentheses makes at most five levels: Except, All, Any, Except, All.
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
