//! Notes on how a query was understood, where that may surprise the person who typed it.

use core::fmt;

use crate::search::analysis::{LONGEST_WORD, Word, is_part_of_word};

/// Difference between a query as it was typed and as it is looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A word or phrase has no letters or digits and is left out.
    LeftOut {
        /// The word as it was typed.
        typed: String,
    },
    /// The signs of a word are not looked for.
    WithoutSigns {
        /// The word as it was typed.
        typed: String,
        /// The word that is looked for.
        searched: String,
    },
    /// A word is divided by signs, and its parts are looked for next to each other.
    Divided {
        /// The word as it was typed.
        typed: String,
        /// What is looked for.
        searched: String,
    },
    /// A word is so long that only its beginning is looked for.
    Shortened {
        /// The word as it was typed.
        typed: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftOut { typed } => write!(formatter, "`{typed}` has no letters or digits and is left out"),
            Self::WithoutSigns { typed, searched } => {
                write!(formatter, "`{typed}` is looked for as `{searched}`: signs are not searched")
            }
            Self::Divided { typed, searched } => {
                write!(formatter, "`{typed}` is looked for as the phrase \"{searched}\"")
            }
            Self::Shortened { typed } => {
                write!(
                    formatter,
                    "`{typed}` is longer than {LONGEST_WORD} letters: whatever has the same first {LONGEST_WORD} is found"
                )
            }
        }
    }
}

/// Longest quotation in a note, in characters.
const LONGEST_QUOTED: usize = 40;

/// Punctuation that ends words of a sentence, and that nobody expects to find.
const ENDS: &[char] = &['.', ',', ';', ':', '!', '?', '…', '\'', '’', '”', '»', '。', '、', '，', '？', '！'];
/// Punctuation that begins words of a sentence.
const BEGINS: &[char] = &['\'', '‘', '“', '„', '«', '¿', '¡'];

/// Note on a word that was typed as `typed` and is looked for as `words`.
pub(super) fn on_word(typed: &str, words: &[Word]) -> Option<Note> {
    if words.is_empty() {
        return Some(left_out(typed));
    }
    if typed.chars().count() > LONGEST_WORD && words.iter().any(|word| word.exact.chars().count() == LONGEST_WORD) {
        return Some(Note::Shortened { typed: quoted(typed) });
    }
    let bare = typed.trim_start_matches(BEGINS).trim_end_matches(ENDS);
    if bare.chars().all(is_part_of_word) {
        return None;
    }
    let parts: Vec<_> = typed.split(|character| !is_part_of_word(character)).filter(|part| !part.is_empty()).collect();
    let (typed, searched) = (quoted(typed), quoted(&parts.join(" ")));
    Some(if parts.len() == 1 { Note::WithoutSigns { typed, searched } } else { Note::Divided { typed, searched } })
}

pub(super) fn left_out(typed: &str) -> Note {
    Note::LeftOut { typed: quoted(typed) }
}

fn quoted(text: &str) -> String {
    match text.char_indices().nth(LONGEST_QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
