//! Parses a person's input into a [`Query`].
//!
//! ```text
//! any     := all (["OR"] all | "NOT" one ("AND" ["NOT"] one)*)*
//!            words side by side are joined by OR; NOT excludes from the whole row, and AND after it narrows the whole row
//! all     := one ("AND" ["NOT"] one)*
//! one     := word | "\"" words "\"" | "(" any ")"
//! ```

use tantivy::tokenizer::TextAnalyzer;

use super::lexer::{Token, tokens};
use super::{Leaf, Node, Query, Word};
use crate::search::analysis;

/// Longest accepted query, in bytes.
pub const MAX_QUERY_BYTES: usize = 4096;
/// Largest number of words in a query.
pub const MAX_WORDS: usize = 128;
/// Largest number of parts of the loose forms of all words: a query without spaces has one for each letter.
pub const MAX_PARTS: usize = MAX_WORDS + MAX_QUERY_BYTES;
/// Deepest accepted nesting of parentheses.
pub const MAX_DEPTH: usize = 8;

/// Query that cannot be parsed. Columns count characters, from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadQuery {
    /// The query contains no word.
    #[error("the query contains nothing to search for: give at least one word")]
    Empty,
    /// The query is too long.
    #[error("the query is {bytes} bytes long; at most {MAX_QUERY_BYTES} are accepted")]
    TooLong {
        /// Length of the query.
        bytes: usize,
    },
    /// The query has too many words.
    #[error("the query has more than {MAX_WORDS} words")]
    TooManyWords,
    /// Parentheses are nested too deeply.
    #[error("at character {column}: parentheses are nested more than {MAX_DEPTH} deep")]
    TooDeep {
        /// Position of the parenthesis that is one level too deep.
        column: usize,
    },
    /// A quote is never closed.
    #[error("at character {column}: the quote is never closed")]
    OpenQuote {
        /// Position of the quote.
        column: usize,
    },
    /// A parenthesis is never closed.
    #[error("at character {column}: the parenthesis is never closed")]
    OpenParenthesis {
        /// Position of the parenthesis.
        column: usize,
    },
    /// A closing parenthesis has no opening one.
    #[error("at character {column}: the parenthesis was never opened")]
    StrayParenthesis {
        /// Position of the closing parenthesis.
        column: usize,
    },
    /// A phrase or a pair of parentheses contains no word.
    #[error("at character {column}: there is no word inside")]
    NothingInside {
        /// Position of the opening quote or parenthesis.
        column: usize,
    },
    /// `AND`, `OR` or `NOT` has no operand on one side.
    #[error(
        "at character {column}: {operator} needs a word, a phrase or parentheses {side} it; to search for the word itself, write it in lower case"
    )]
    Dangling {
        /// The operator.
        operator: &'static str,
        /// Position of the operator.
        column: usize,
        /// Side on which the operand is missing: `before` or `after`.
        side: &'static str,
    },
    /// `NOT` stands directly after `OR`.
    #[error("at character {column}: NOT cannot be an alternative of OR; write `a NOT b` or `a AND NOT b`")]
    AlternativeNot {
        /// Position of the `NOT`.
        column: usize,
    },
}

/// Parses `text`; its words go through the same analyzer as those of the documents.
///
/// A word that the analyzer splits, such as `std::vec`, becomes a phrase. A word without letters or digits is ignored.
///
/// # Errors
/// If the query is empty, malformed or too large; the error names the position.
pub fn parse(text: &str, analyzer: &mut TextAnalyzer) -> Result<Query, BadQuery> {
    if text.len() > MAX_QUERY_BYTES {
        return Err(BadQuery::TooLong { bytes: text.len() });
    }
    let mut items = Vec::new();
    let mut words = 0;
    for (token, column) in tokens(text)? {
        let item = match token {
            Token::Word(word) => match leaf(analysis::words(analyzer, word)) {
                Some(leaf) => Item::Leaf(leaf),
                None => continue,
            },
            Token::Phrase(phrase) => {
                Item::Leaf(leaf(analysis::words(analyzer, phrase)).ok_or(BadQuery::NothingInside { column })?)
            }
            Token::And => Item::And,
            Token::Or => Item::Or,
            Token::Not => Item::Not,
            Token::Open => Item::Open,
            Token::Close => Item::Close,
        };
        if let Item::Leaf(leaf) = &item {
            words += leaf.words.len();
        }
        items.push((item, column));
    }
    if words > MAX_WORDS {
        return Err(BadQuery::TooManyWords);
    }
    if items.is_empty() {
        return Err(BadQuery::Empty);
    }
    let leaves: std::collections::BTreeSet<_> = items.iter().filter_map(|(item, _)| item.leaf().cloned()).collect();
    let leaves: Vec<_> = leaves.into_iter().collect();
    let mut parser = Parser { items: &items, leaves: &leaves, next: 0 };
    let root = parser.any(0)?;
    if let Some((_, column)) = parser.peek() {
        return Err(BadQuery::StrayParenthesis { column });
    }
    Ok(Query { leaves, root })
}

fn leaf(words: Vec<Word>) -> Option<Leaf> {
    (!words.is_empty()).then_some(Leaf { words })
}

/// Token after analysis.
enum Item {
    Leaf(Leaf),
    And,
    Or,
    Not,
    Open,
    Close,
}

impl Item {
    fn leaf(&self) -> Option<&Leaf> {
        match self {
            Self::Leaf(leaf) => Some(leaf),
            Self::And | Self::Or | Self::Not | Self::Open | Self::Close => None,
        }
    }
}

struct Parser<'a> {
    items: &'a [(Item, usize)],
    leaves: &'a [Leaf],
    next: usize,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<(&'a Item, usize)> {
        self.items.get(self.next).map(|(item, column)| (item, *column))
    }

    fn any(&mut self, depth: usize) -> Result<Node, BadQuery> {
        let mut wanted = vec![self.all(depth)?];
        let mut required = Vec::new();
        let mut unwanted = Vec::new();
        while let Some((item, column)) = self.peek() {
            match item {
                Item::Close => break,
                Item::Or => {
                    self.next += 1;
                    match self.peek() {
                        Some((Item::Not, column)) => return Err(BadQuery::AlternativeNot { column }),
                        Some((Item::Leaf(_) | Item::Open, _)) => wanted.push(self.all(depth)?),
                        Some((Item::And | Item::Or | Item::Close, _)) | None => {
                            return Err(BadQuery::Dangling { operator: "OR", column, side: "after" });
                        }
                    }
                }
                Item::Not => {
                    self.next += 1;
                    unwanted.push(self.one(depth, "NOT", column)?);
                }
                Item::Leaf(_) | Item::Open => wanted.push(self.all(depth)?),
                // `all` consumes every AND after an ordinary operand, so this one follows the operand of a `NOT`.
                Item::And => {
                    self.next += 1;
                    self.and(depth, column, &mut required, &mut unwanted)?;
                }
            }
        }
        required.insert(0, join(wanted, Node::Any));
        Ok(except(join(required, Node::All), unwanted))
    }

    fn all(&mut self, depth: usize) -> Result<Node, BadQuery> {
        let mut wanted = vec![self.one(depth, "", 0)?];
        let mut unwanted = Vec::new();
        while let Some((Item::And, column)) = self.peek() {
            self.next += 1;
            self.and(depth, column, &mut wanted, &mut unwanted)?;
        }
        Ok(except(join(wanted, Node::All), unwanted))
    }

    /// Parses the operand of the `AND` at `column`.
    fn and(
        &mut self,
        depth: usize,
        column: usize,
        wanted: &mut Vec<Node>,
        unwanted: &mut Vec<Node>,
    ) -> Result<(), BadQuery> {
        if let Some((Item::Not, column)) = self.peek() {
            self.next += 1;
            unwanted.push(self.one(depth, "NOT", column)?);
        } else {
            wanted.push(self.one(depth, "AND", column)?);
        }
        Ok(())
    }

    /// Parses one operand: that of `operator` at `at`, or the first of a row if `operator` is empty.
    fn one(&mut self, depth: usize, operator: &'static str, at: usize) -> Result<Node, BadQuery> {
        let missing = || BadQuery::Dangling { operator, column: at, side: "after" };
        let first = operator.is_empty();
        let (item, column) = self.peek().ok_or_else(|| if first { BadQuery::Empty } else { missing() })?;
        self.next += 1;
        match item {
            Item::Leaf(leaf) => {
                let number = self.leaves.binary_search(leaf).expect("`parse` collected every leaf beforehand");
                Ok(Node::Leaf(number))
            }
            Item::Open => self.inside(depth + 1, column),
            Item::Close if first => Err(BadQuery::StrayParenthesis { column }),
            Item::And if first => Err(BadQuery::Dangling { operator: "AND", column, side: "before" }),
            Item::Or if first => Err(BadQuery::Dangling { operator: "OR", column, side: "before" }),
            Item::Not if first => Err(BadQuery::Dangling { operator: "NOT", column, side: "before" }),
            Item::Close | Item::And | Item::Or | Item::Not => Err(missing()),
        }
    }

    fn inside(&mut self, depth: usize, opened: usize) -> Result<Node, BadQuery> {
        if depth > MAX_DEPTH {
            return Err(BadQuery::TooDeep { column: opened });
        }
        match self.peek() {
            Some((Item::Close, _)) => return Err(BadQuery::NothingInside { column: opened }),
            None => return Err(BadQuery::OpenParenthesis { column: opened }),
            Some(_) => {}
        }
        let node = self.any(depth)?;
        match self.peek() {
            Some((Item::Close, _)) => {
                self.next += 1;
                Ok(node)
            }
            Some(_) | None => Err(BadQuery::OpenParenthesis { column: opened }),
        }
    }
}

/// Combines several nodes into one; a single node stays as it is.
fn join(mut nodes: Vec<Node>, of: fn(Vec<Node>) -> Node) -> Node {
    match nodes.pop() {
        Some(only) if nodes.is_empty() => only,
        Some(last) => {
            nodes.push(last);
            of(nodes)
        }
        None => of(nodes),
    }
}

fn except(wanted: Node, unwanted: Vec<Node>) -> Node {
    if unwanted.is_empty() {
        return wanted;
    }
    Node::Except(Box::new(wanted), Box::new(join(unwanted, Node::Any)))
}
