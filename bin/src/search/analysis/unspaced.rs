//! Words of scripts that are written without spaces.

use icu_normalizer::{ComposingNormalizer, ComposingNormalizerBorrowed};
use icu_segmenter::options::WordBreakInvariantOptions;
use icu_segmenter::{WordSegmenter, WordSegmenterBorrowed};

use super::runs::{is_joiner, is_mark};

/// Longest text that is segmented at once, in letters. Nobody writes more without punctuation.
const LONGEST: usize = 4096;

/// True if `character` is of a script that has no spaces between words.
pub(super) fn is_unspaced(character: char) -> bool {
    matches!(
        character,
        // Thai and Lao, without their digits.
        '\u{e00}'..='\u{e4f}' | '\u{e5a}'..='\u{ecf}' | '\u{eda}'..='\u{eff}'
            // Burmese, Khmer, Tai, Javanese, Balinese.
            | '\u{1000}'..='\u{103f}' | '\u{104a}'..='\u{109f}' | '\u{aa60}'..='\u{aadf}'
            | '\u{1780}'..='\u{17df}' | '\u{1950}'..='\u{19df}' | '\u{1a20}'..='\u{1aaf}' | '\u{1b00}'..='\u{1b4f}'
            | '\u{a980}'..='\u{a9cf}'
            // Chinese and Japanese.
            | '\u{2e80}'..='\u{2fdf}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{303b}' | '\u{3040}'..='\u{312f}'
            | '\u{31a0}'..='\u{31bf}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ff9f}' | '\u{1b000}'..='\u{1b16f}' | '\u{20000}'..='\u{3ffff}'
    )
}

/// Word that was cut out of a text.
#[derive(Debug)]
pub(super) struct Cut {
    pub(super) letters: Vec<Letter>,
}

/// Letter with its marks.
#[derive(Clone, Debug)]
pub(super) struct Letter {
    pub(super) text: String,
    /// Range of the run, in bytes.
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Cuts text without spaces into words, by dictionaries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cutter(WordSegmenterBorrowed<'static>);

impl Cutter {
    pub(super) fn new() -> Self {
        // Dictionaries, not neural networks, which are smaller but sum floating-point numbers: every machine must cut the same.
        Self(WordSegmenter::new_dictionary(WordBreakInvariantOptions::default()))
    }

    /// Words of `run`, which has no other scripts in it.
    pub(super) fn cut(&self, run: &str, take: &mut impl FnMut(Cut)) {
        let letters = letters(run);
        for letters in letters.chunks(LONGEST) {
            let text: String = letters.iter().map(|letter| letter.text.as_str()).collect();
            let mut letters = letters.iter();
            let mut end = 0;
            for boundary in self.0.segment_str(&text) {
                let mut word = Vec::new();
                // The dictionaries may part a letter from its marks, which makes no sense to readers.
                while end < boundary {
                    let Some(letter) = letters.next() else { break };
                    end += letter.text.len();
                    word.push(letter.clone());
                }
                if !word.is_empty() {
                    take(Cut { letters: word });
                }
            }
        }
    }
}

/// Letters of `run` with their marks, in normal form.
fn letters(run: &str) -> Vec<Letter> {
    const COMPATIBLE: ComposingNormalizerBorrowed<'static> = ComposingNormalizer::new_nfkc();
    let mut letters: Vec<Letter> = Vec::new();
    for (from, character) in run.char_indices() {
        let to = from + character.len_utf8();
        match letters.last_mut() {
            Some(letter) if is_joiner(character) => letter.to = to,
            Some(letter) if is_mark(character) => {
                letter.text.push(character);
                letter.to = to;
            }
            Some(_) | None => letters.push(Letter { text: character.to_string(), from, to }),
        }
    }
    for letter in &mut letters {
        // The compatibility form takes the Thai and Lao vowel `am` apart, which the dictionaries write as one.
        if !COMPATIBLE.is_normalized(&letter.text) {
            letter.text = COMPATIBLE
                .normalize(&letter.text)
                .replace("\u{e4d}\u{e32}", "\u{e33}")
                .replace("\u{ecd}\u{eb2}", "\u{eb3}");
        }
    }
    letters
}
