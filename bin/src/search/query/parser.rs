//! Parses a person's input into a [`Query`].
//!
//! ```text
//! any     := (all | "+" one | "-" one) (["OR"] all | "+" one | ("NOT" | "-") one ("AND" ["NOT"] one)*)*
//!            words side by side are joined by OR; NOT and - exclude from the whole row, and AND after it narrows the whole row;
//!            of a row with + the others need not occur, but count for the score
//! all     := one ("AND" ["NOT"] one)*
//! one     := word | "\"" words "\"" | "(" any ")"
//! ```
//! An operand in which nothing can be looked for, such as `++`, is left out, together with the operator before it.

use tantivy::tokenizer::TextAnalyzer;

use super::lexer::{Token, tokens};
use super::{Leaf, Node, Note, Query, Word, note};
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
    /// None of the words has letters or digits.
    #[error("{}: there is nothing to search for; give at least one word with letters or digits", listed(notes))]
    NothingLeft {
        /// The words that are left out.
        notes: Vec<Note>,
    },
    /// Every word is excluded.
    #[error("the query only excludes: give at least one word that documents should have")]
    OnlyExcludes,
    /// A phrase or a pair of parentheses is empty.
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

fn listed(notes: &[Note]) -> String {
    notes.iter().map(Note::to_string).collect::<Vec<_>>().join("; ")
}

/// Does the same as [`parse_with_notes`] without the notes.
///
/// # Errors
/// If the query is empty, malformed or too large; the error names the position.
pub fn parse(text: &str, analyzer: &mut TextAnalyzer) -> Result<Query, BadQuery> {
    parse_with_notes(text, analyzer).map(|(query, _)| query)
}

/// Parses `text`; its words go through the same analyzer as those of the documents.
///
/// A word that the analyzer splits, such as `std::vec`, becomes a phrase. A word without letters or digits is left out. The notes
/// say where that happened.
///
/// # Errors
/// If the query is empty, malformed or too large; the error names the position.
pub fn parse_with_notes(text: &str, analyzer: &mut TextAnalyzer) -> Result<(Query, Vec<Note>), BadQuery> {
    if text.len() > MAX_QUERY_BYTES {
        return Err(BadQuery::TooLong { bytes: text.len() });
    }
    let mut items = Vec::new();
    let mut notes = Vec::new();
    let mut words = 0;
    for (token, column) in tokens(text)? {
        let item = match token {
            Token::Word(typed) => {
                let words = analysis::words(analyzer, typed);
                notes.extend(note::on_word(typed, &words));
                operand(words)
            }
            Token::Phrase(phrase) if phrase.trim().is_empty() => return Err(BadQuery::NothingInside { column }),
            Token::Phrase(phrase) => {
                let words = analysis::words(analyzer, phrase);
                notes.extend(words.is_empty().then(|| note::left_out(phrase)));
                operand(words)
            }
            Token::Plus => Item::Plus,
            Token::Minus => Item::Minus,
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
    notes.dedup();
    match root {
        Some(root) => Ok((Query { leaves, root }, notes)),
        None if leaves.is_empty() => Err(BadQuery::NothingLeft { notes }),
        None => Err(BadQuery::OnlyExcludes),
    }
}

fn operand(words: Vec<Word>) -> Item {
    if words.is_empty() { Item::LeftOut } else { Item::Leaf(Leaf { words }) }
}

/// Token after analysis.
enum Item {
    Leaf(Leaf),
    /// Operand in which nothing can be looked for.
    LeftOut,
    Plus,
    Minus,
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
            Self::LeftOut | Self::Plus | Self::Minus | Self::And | Self::Or | Self::Not | Self::Open | Self::Close => {
                None
            }
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

    fn any(&mut self, depth: usize) -> Result<Option<Node>, BadQuery> {
        let mut row = Row::default();
        match self.peek() {
            Some((Item::Plus | Item::Minus, _)) => {}
            Some((Item::Leaf(_) | Item::LeftOut | Item::And | Item::Or | Item::Not | Item::Open | Item::Close, _))
            | None => row.wanted.push(self.all(depth)?),
        }
        while let Some((item, column)) = self.peek() {
            match item {
                Item::Close => break,
                Item::Or => {
                    self.next += 1;
                    match self.peek() {
                        Some((Item::Not | Item::Minus, column)) => return Err(BadQuery::AlternativeNot { column }),
                        Some((Item::Leaf(_) | Item::LeftOut | Item::Plus | Item::Open, _)) => {
                            row.wanted.push(self.all(depth)?);
                        }
                        Some((Item::And | Item::Or | Item::Close, _)) | None => {
                            return Err(BadQuery::Dangling { operator: "OR", column, side: "after" });
                        }
                    }
                }
                Item::Plus => {
                    self.next += 1;
                    row.required.push(self.one(depth, "+", column)?);
                }
                Item::Not | Item::Minus => {
                    self.next += 1;
                    row.unwanted.push(self.one(depth, "NOT", column)?);
                }
                Item::Leaf(_) | Item::LeftOut | Item::Open => row.wanted.push(self.all(depth)?),
                // `all` consumes every AND after an ordinary operand, so this one follows another.
                Item::And => {
                    self.next += 1;
                    self.and(depth, column, &mut row.narrowing, &mut row.unwanted)?;
                }
            }
        }
        Ok(row.node())
    }

    fn all(&mut self, depth: usize) -> Result<Option<Node>, BadQuery> {
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
        wanted: &mut Vec<Option<Node>>,
        unwanted: &mut Vec<Option<Node>>,
    ) -> Result<(), BadQuery> {
        if let Some((Item::Not | Item::Minus, column)) = self.peek() {
            self.next += 1;
            unwanted.push(self.one(depth, "NOT", column)?);
        } else {
            wanted.push(self.one(depth, "AND", column)?);
        }
        Ok(())
    }

    /// Parses one operand: that of `operator` at `at`, or the first of a row if `operator` is empty. `None` stands for one that is
    /// left out.
    fn one(&mut self, depth: usize, operator: &'static str, at: usize) -> Result<Option<Node>, BadQuery> {
        let missing = || BadQuery::Dangling { operator, column: at, side: "after" };
        let first = operator.is_empty();
        let (item, column) = self.peek().ok_or_else(|| if first { BadQuery::Empty } else { missing() })?;
        self.next += 1;
        match item {
            Item::Leaf(leaf) => {
                let number = self.leaves.binary_search(leaf).expect("`parse` collected every leaf beforehand");
                Ok(Some(Node::Leaf(number)))
            }
            Item::LeftOut => Ok(None),
            Item::Open => self.inside(depth + 1, column),
            // The operand of an operator is required anyway, or one of several.
            Item::Plus => self.one(depth, operator, at),
            Item::Close if first => Err(BadQuery::StrayParenthesis { column }),
            Item::And if first => Err(BadQuery::Dangling { operator: "AND", column, side: "before" }),
            Item::Or if first => Err(BadQuery::Dangling { operator: "OR", column, side: "before" }),
            Item::Not if first => Err(BadQuery::Dangling { operator: "NOT", column, side: "before" }),
            Item::Close | Item::And | Item::Or | Item::Not | Item::Minus => Err(missing()),
        }
    }

    fn inside(&mut self, depth: usize, opened: usize) -> Result<Option<Node>, BadQuery> {
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

/// Operands that stand side by side, by what they mean for the row.
#[derive(Default)]
struct Row {
    /// At least one of these must occur, if there are no required ones.
    wanted: Vec<Option<Node>>,
    required: Vec<Option<Node>>,
    /// Operands of an `AND` after a `NOT` or `+`: they must occur as well.
    narrowing: Vec<Option<Node>>,
    unwanted: Vec<Option<Node>>,
}

impl Row {
    fn node(self) -> Option<Node> {
        let Self { mut wanted, required, narrowing, unwanted } = self;
        let mut all = required.clone();
        if required.iter().all(Option::is_none) {
            all.push(join(wanted, Node::Any));
        } else if wanted.iter().any(Option::is_some) {
            // This holds whenever a required one occurs. It only lets the others count for the score.
            wanted.extend(required);
            all.push(join(wanted, Node::Any));
        }
        all.extend(narrowing);
        except(join(all, Node::All), unwanted)
    }
}

/// Combines several nodes into one; a single node stays as it is. `None` if all are left out.
fn join(nodes: Vec<Option<Node>>, of: fn(Vec<Node>) -> Node) -> Option<Node> {
    let mut nodes: Vec<_> = nodes.into_iter().flatten().collect();
    if nodes.len() > 1 { Some(of(nodes)) } else { nodes.pop() }
}

fn except(wanted: Option<Node>, unwanted: Vec<Option<Node>>) -> Option<Node> {
    let wanted = wanted?;
    Some(match join(unwanted, Node::Any) {
        Some(unwanted) => Node::Except(Box::new(wanted), Box::new(unwanted)),
        None => wanted,
    })
}
