//! Normal form of words, and words without their accents.

use icu_casemap::{CaseMapper, CaseMapperBorrowed};
use icu_normalizer::{
    ComposingNormalizer, ComposingNormalizerBorrowed, DecomposingNormalizer, DecomposingNormalizerBorrowed,
};

use super::runs::is_joiner;

const COMPATIBLE: ComposingNormalizerBorrowed<'static> = ComposingNormalizer::new_nfkc();
const COMPOSING: ComposingNormalizerBorrowed<'static> = ComposingNormalizer::new_nfc();
const DECOMPOSING: DecomposingNormalizerBorrowed<'static> = DecomposingNormalizer::new_nfd();
const CASES: CaseMapperBorrowed<'static> = CaseMapper::new();

/// Normal form of `word`: NFKC of its folded case, without characters that readers do not see. Words that differ only in case, in
/// composed or decomposed accents, in width or in ligatures have one form.
pub(super) fn normal(word: &str) -> String {
    let word: String = word.chars().filter(|character| !is_joiner(*character)).collect();
    // Folding before the second normalisation may decompose, and the first may yield letters to fold.
    COMPATIBLE.normalize(&CASES.fold_string(&COMPATIBLE.normalize(&word))).into_owned()
}

/// `word`, which is in normal form, without accents, and with plain letters for those that are often typed in their place.
pub(super) fn without_accents(word: &str) -> String {
    let mut plain = String::with_capacity(word.len());
    for character in DECOMPOSING.normalize(word).chars() {
        match character {
            accent if is_accent(accent) => {}
            // Stretches a word on the line.
            '\u{640}' => {}
            'đ' | 'ð' => plain.push('d'),
            'ħ' => plain.push('h'),
            'ı' => plain.push('i'),
            'ł' => plain.push('l'),
            'ø' => plain.push('o'),
            'ŧ' => plain.push('t'),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            'þ' => plain.push_str("th"),
            other => plain.push(other),
        }
    }
    COMPOSING.normalize(&plain).into_owned()
}

/// True for marks that people leave out: accents of Latin, Greek and Cyrillic letters, and vowels of Arabic and Hebrew. Marks of other
/// scripts make other letters.
fn is_accent(character: char) -> bool {
    matches!(
        character,
        '\u{300}'..='\u{36f}'
            | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
            | '\u{64b}'..='\u{65f}' | '\u{670}'
            | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}'
    )
}
