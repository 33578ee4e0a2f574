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
mod note;
mod parser;

pub use super::analysis::Word;
pub use note::Note;
pub use parser::{BadQuery, MAX_DEPTH, MAX_PARTS, MAX_QUERY_BYTES, MAX_WORDS, parse, parse_with_notes};

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// Query whose words are already those of the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Query {
    /// Words and phrases of the query, sorted, without duplicates.
    pub leaves: Vec<Leaf>,
    /// Condition that a document must meet to match.
    pub root: Node,
}

/// Word or phrase: a document contains it or not, and its occurrences add to the score.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Leaf {
    /// Words that follow each other directly, at least one.
    pub words: Vec<Word>,
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
    /// Leaf of one plain word.
    #[must_use]
    pub fn plain(word: String) -> Self {
        Self { words: vec![Word::plain(word)] }
    }

    /// Parts of the loose forms of the words, at successive positions. Wherever the leaf occurs, these parts do.
    pub fn parts(&self) -> impl Iterator<Item = &String> {
        self.words.iter().flat_map(Word::parts)
    }
}

impl Query {
    /// All terms whose statistics the weights need, sorted, without duplicates: the words, and the parts of their loose forms.
    #[must_use]
    pub fn terms(&self) -> Vec<String> {
        let words = self.leaves.iter().flat_map(|leaf| &leaf.words);
        let terms: BTreeSet<_> = words.flat_map(|word| word.parts().iter().chain([&word.exact])).collect();
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
        let words: usize = self.leaves.iter().map(|leaf| leaf.words.len()).sum();
        let parts: usize = self.leaves.iter().map(|leaf| leaf.parts().count()).sum();
        let none_is_empty = self.leaves.iter().all(|leaf| !leaf.words.is_empty());
        // The size limit of a request's body bounds the leaves, so checking their order is cheap.
        let sorted = self.leaves.is_sorted_by(|one, next| one < next);
        (1..=MAX_WORDS).contains(&words)
            && parts <= MAX_PARTS
            && none_is_empty
            && sorted
            && self.root.is_sound(self.leaves.len(), 0)
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
                    (1..=MAX_WORDS).contains(&nodes.len()) && nodes.iter().all(|node| node.is_sound(leaves, depth + 1))
                }
                Self::Except(node, except) => node.is_sound(leaves, depth + 1) && except.is_sound(leaves, depth + 1),
            }
    }
}

#[cfg(test)]
mod tests;
