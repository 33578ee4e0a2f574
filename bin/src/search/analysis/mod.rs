//! Splits text into the words that are indexed and looked up, in the scripts of the world.
//!
//! ```text
//! text ──runs──► Übergrößenträger    東京都に住む2024年
//!                     │                   │ segments: a dictionary, where words stand without spaces
//! normal form         ▼                   ▼
//! exact:         übergrössenträger   東京都   に  住む   2024  年      one word each, with its position
//! loose:         ubergrossentrager   東 京 都  に  住 む   2024  年      one letter each, or a word without accents
//! ```
//! A document contains a word *exactly* if it has the same word, and *loosely* if it has the same word but for accents, or the same
//! letters in a script without spaces, wherever words begin and end there. A loose match counts for less. Each word takes as many
//! positions as its loose form has parts, so that a phrase can be looked up in either form.

mod fold;
mod runs;
mod tokens;
mod unspaced;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use tantivy::tokenizer::TextAnalyzer;

use super::settings::Ranking;
use runs::{is_joiner, is_mark};
use tokens::Words;

/// Longest word, in characters of its normal form. Of a longer one, this many from its beginning are indexed and looked up.
pub(crate) const LONGEST_WORD: usize = 255;

/// Name under which an index looks up its analyzer.
pub(crate) const ANALYZER: &str = "rolecall";

/// First character of a term that stands for a part of a loose form. No word contains it.
const LOOSE: char = '\u{1}';

/// Analyzer for a ranking: yields words in normal form, for BM25 reduced to their English stems.
#[must_use]
pub fn analyzer(ranking: Ranking) -> TextAnalyzer {
    TextAnalyzer::from(Words::new(ranking))
}

/// Word of a query.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Word {
    /// The word in normal form.
    pub exact: String,
    /// Parts of its loose form, at successive positions; none if the loose form is the word itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loose: Vec<String>,
}

impl Word {
    /// Word whose loose form is the word itself.
    #[must_use]
    pub const fn plain(exact: String) -> Self {
        Self { exact, loose: Vec::new() }
    }

    /// Parts of the loose form, at least one.
    #[must_use]
    pub fn parts(&self) -> &[String] {
        if self.loose.is_empty() { core::slice::from_ref(&self.exact) } else { &self.loose }
    }
}

/// Term under which a part of a loose form is indexed, where it differs from the word itself.
pub(crate) fn loose_term(part: &str) -> String {
    let mut term = String::with_capacity(1 + part.len());
    term.push(LOOSE);
    term.push_str(part);
    term
}

/// True for characters of which words are made.
pub(crate) fn is_part_of_word(character: char) -> bool {
    character.is_alphanumeric() || is_mark(character) || is_joiner(character)
}

/// Words of `text`, in order.
pub(crate) fn words(analyzer: &mut TextAnalyzer, text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    analyzer.token_stream(text).process(&mut |token| match token.text.strip_prefix(LOOSE) {
        None => words.push(Word::plain(token.text.clone())),
        Some(part) => {
            let word = words.last_mut().expect("the parts of a word follow the word");
            word.loose.push(part.to_owned());
        }
    });
    words
}

/// Number of words in `text`.
pub(crate) fn count(analyzer: &mut TextAnalyzer, text: &str) -> u64 {
    let mut count = 0;
    analyzer.token_stream(text).process(&mut |token| count += u64::from(!token.text.starts_with(LOOSE)));
    count
}

/// Part of a loose form, with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) text: String,
    /// Range of the text, in bytes.
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// Parts of the loose forms of all words of `text`, one for each position.
pub(crate) fn parts(analyzer: &mut TextAnalyzer, text: &str, take: &mut impl FnMut(Part)) {
    let mut exact: Option<Part> = None;
    analyzer.token_stream(text).process(&mut |token| {
        let (from, to) = (token.offset_from, token.offset_to);
        match token.text.strip_prefix(LOOSE) {
            Some(part) => {
                exact = None;
                take(Part { text: part.to_owned(), from, to });
            }
            None => {
                let word = Part { text: token.text.clone(), from, to };
                if let Some(word) = exact.replace(word) {
                    take(word);
                }
            }
        }
    });
    if let Some(word) = exact {
        take(word);
    }
}
