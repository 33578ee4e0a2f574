//! Finds the runs of letters and digits in a text.

use icu_properties::CodePointMapData;
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup};

/// Finds the first run from byte `start` on and returns its range, in bytes.
///
/// A run begins with a letter or digit and goes on with letters, digits, their marks and invisible joiners.
pub(super) fn next_run(text: &str, start: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut from = start;
    loop {
        match bytes.get(from)? {
            byte if byte.is_ascii() => {
                if byte.is_ascii_alphanumeric() {
                    break;
                }
                from += 1;
            }
            _ => {
                let first = text[from..].chars().next()?;
                if first.is_alphanumeric() && !is_mark(first) {
                    break;
                }
                from += first.len_utf8();
            }
        }
    }
    let mut to = from + 1;
    while bytes.get(to).is_some_and(u8::is_ascii_alphanumeric) {
        to += 1;
    }
    if bytes.get(to).is_none_or(u8::is_ascii) && bytes[from].is_ascii() {
        return Some((from, to));
    }
    let rest = text[from..].char_indices().find(|&(_, character)| !continues(character));
    Some((from, rest.map_or(text.len(), |(length, _)| from + length)))
}

fn continues(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric();
    }
    character.is_alphanumeric() || is_joiner(character) || is_mark(character)
}

/// True for marks, which belong to the letter before them.
pub(super) fn is_mark(character: char) -> bool {
    // The last two count as letters, so that old programs can count columns.
    GeneralCategoryGroup::Mark.contains(CodePointMapData::<GeneralCategory>::new().get(character))
        || matches!(character, '\u{ff9e}' | '\u{ff9f}')
}

/// True for characters that readers do not see and that may stand anywhere in a word: soft hyphens, joiners, variants.
pub(super) fn is_joiner(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{180b}'..='\u{180f}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{e0100}'..='\u{e01ef}'
    )
}
