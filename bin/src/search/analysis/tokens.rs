//! Stream of the words of a text, as tantivy indexes them.

use std::borrow::Cow;
use std::collections::VecDeque;

use frostem::{Algorithm, Stemmer};
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::fold::{normal, without_accents};
use super::runs::{is_joiner, is_mark, next_run};
use super::unspaced::{Cut, Cutter, is_unspaced};
use super::{LONGEST_WORD, loose_term};
use crate::search::settings::Ranking;

/// Longest part of a run that is brought into normal form, in bytes: enough for the longest word with many marks.
const LONGEST_RUN: usize = LONGEST_WORD * 16;

/// Tokenizer for a ranking.
#[derive(Clone)]
pub(super) struct Words {
    ranking: Ranking,
    cutter: Cutter,
}

impl Words {
    pub(super) fn new(ranking: Ranking) -> Self {
        Self { ranking, cutter: Cutter::new() }
    }
}

impl Tokenizer for Words {
    type TokenStream<'a> = Stream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream<'a> {
        let stemmer = match self.ranking {
            Ranking::Bm25 => Some(Stemmer::new(Algorithm::English)),
            Ranking::Tfidf => None,
        };
        Stream { text, at: 0, token: Token::default(), cutter: self.cutter, found: Found::new(stemmer) }
    }
}

/// Tokens of one text: each word, followed by the parts of its loose form if that differs.
pub(super) struct Stream<'a> {
    text: &'a str,
    /// Byte from which on the text has not been read.
    at: usize,
    token: Token,
    cutter: Cutter,
    found: Found,
}

impl TokenStream for Stream<'_> {
    fn advance(&mut self) -> bool {
        loop {
            if let Some(token) = self.found.tokens.pop_front() {
                self.token = token;
                return true;
            }
            let Some((from, to)) = next_run(self.text, self.at) else { return false };
            self.at = to;
            let run = &self.text[from..to];
            if run.is_ascii() {
                self.found.ascii(run, from, &mut self.token);
                return true;
            }
            self.found.run(run, from, self.cutter);
        }
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

/// Tokens that were found and not yet passed on.
struct Found {
    tokens: VecDeque<Token>,
    /// Position of the next word.
    position: usize,
    stemmer: Option<Stemmer>,
}

impl Found {
    fn new(stemmer: Option<Stemmer>) -> Self {
        Self { tokens: VecDeque::new(), position: 0, stemmer }
    }

    /// Writes a word of ASCII letters, which is most words, straight into `token`.
    fn ascii(&mut self, run: &str, from: usize, token: &mut Token) {
        token.text.clear();
        token.text.push_str(&run[..run.len().min(LONGEST_WORD)]);
        token.text.make_ascii_lowercase();
        if let (Some(stemmer), true) = (&self.stemmer, run.len() <= LONGEST_WORD) {
            match stemmer.stem(&token.text) {
                Cow::Owned(stem) => token.text = stem,
                // Such a stem is nearly always a beginning of the word.
                Cow::Borrowed(stem) if token.text.starts_with(stem) => {
                    let length = stem.len();
                    token.text.truncate(length);
                }
                Cow::Borrowed(stem) => token.text = stem.to_owned(),
            }
        }
        (token.offset_from, token.offset_to) = (from, from + run.len());
        (token.position, token.position_length) = (self.position, 1);
        self.position += 1;
    }

    /// Takes a run of any scripts that begins at byte `from`.
    fn run(&mut self, run: &str, from: usize, cutter: Cutter) {
        let mut begin = 0;
        while begin < run.len() {
            let rest = &run[begin..];
            let unspaced = rest.starts_with(is_unspaced);
            let other = |character| is_unspaced(character) != unspaced && !is_mark(character) && !is_joiner(character);
            let end = begin + rest.find(other).unwrap_or(rest.len());
            if unspaced {
                cutter.cut(&run[begin..end], &mut |cut| self.cut(&cut, from + begin));
            } else {
                self.spaced(&run[begin..end], from + begin);
            }
            begin = end;
        }
    }

    /// Takes a word of a script with spaces.
    fn spaced(&mut self, word: &str, from: usize) {
        let normal = normal(&word[..word.floor_char_boundary(LONGEST_RUN)]);
        // The normal form of a single character may be several words, such as that of a fraction.
        for piece in normal.split(|character: char| !character.is_alphanumeric() && !is_mark(character)) {
            if piece.is_empty() {
                continue;
            }
            let plain = without_accents(piece);
            let exact = self.shorten(piece);
            let loose = if plain.is_empty() || plain == piece { exact.clone() } else { self.shorten(&plain) };
            let (from, to) = (from, from + word.len());
            let differs = (loose != exact).then(|| loose_term(&loose));
            self.push(exact, from, to, 0, 1);
            if let Some(loose) = differs {
                self.push(loose, from, to, 0, 1);
            }
            self.position += 1;
        }
    }

    /// Takes a word that was cut out of a run without spaces.
    fn cut(&mut self, cut: &Cut, run: usize) {
        for letters in cut.letters.chunks(LONGEST_WORD) {
            let (Some(first), Some(last)) = (letters.first(), letters.last()) else { continue };
            let exact = letters.iter().map(|letter| letter.text.as_str()).collect();
            self.push(exact, run + first.from, run + last.to, 0, letters.len());
            if letters.len() > 1 {
                for (offset, letter) in letters.iter().enumerate() {
                    self.push(loose_term(&letter.text), run + letter.from, run + letter.to, offset, 1);
                }
            }
            self.position += letters.len();
        }
    }

    /// Stem of `word`, or its beginning if it is too long.
    fn shorten(&self, word: &str) -> String {
        match (word.char_indices().nth(LONGEST_WORD), &self.stemmer) {
            (Some((end, _)), _) => word[..end].to_owned(),
            (None, Some(stemmer)) => stemmer.stem(word).into_owned(),
            (None, None) => word.to_owned(),
        }
    }

    fn push(&mut self, text: String, from: usize, to: usize, offset: usize, width: usize) {
        self.tokens.push_back(Token {
            text,
            offset_from: from,
            offset_to: to,
            position: self.position + offset,
            position_length: width,
        });
    }
}
