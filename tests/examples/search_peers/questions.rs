//! The questions: the same for every engine, in the same order.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of questions, more than any engine answers.
const COUNT: usize = 200_000;
/// Length of the shortest word that is asked for, in letters.
const SHORTEST: usize = 4;

/// Questions, each of one to three words joined by spaces.
#[derive(Clone, Debug)]
pub(crate) struct Questions(Arc<[String]>);

/// Questions that have not been asked so far.
#[derive(Debug)]
pub(crate) struct Unasked {
    questions: Questions,
    next: AtomicUsize,
}

impl Questions {
    /// Questions after words that stand in `texts`, the more often the more frequent they are there.
    pub(crate) fn over(texts: &[String]) -> Self {
        let mut numbers = Numbers(1);
        let mut known = BTreeSet::new();
        let mut questions = Vec::with_capacity(COUNT);
        while questions.len() < COUNT {
            let length = 1 + numbers.below(3);
            let words: BTreeSet<_> = (0..length).filter_map(|_| word(texts, &mut numbers)).collect();
            let question = words.into_iter().collect::<Vec<_>>().join(" ");
            // Few questions of one word are new after a while, and a new one is asked all the same.
            if !question.is_empty() && (known.insert(question.clone()) || length > 1) {
                questions.push(question);
            }
        }
        Self(questions.into())
    }

    pub(crate) fn all(&self) -> &[String] {
        &self.0
    }

    pub(crate) fn unasked(&self) -> Unasked {
        Unasked { questions: self.clone(), next: AtomicUsize::new(0) }
    }
}

impl Unasked {
    pub(crate) fn next(&self) -> &str {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        &self.questions.0[number % COUNT]
    }
}

fn word(texts: &[String], numbers: &mut Numbers) -> Option<String> {
    let text = &texts[numbers.below(texts.len())];
    let words = text.split(|letter: char| !letter.is_ascii_alphabetic()).filter(|word| word.len() >= SHORTEST);
    let words: Vec<_> = words.collect();
    let word = words.get(numbers.below(words.len().max(1)))?.to_lowercase();
    (!["and", "not", "near"].contains(&word.as_str())).then_some(word)
}

/// Sequence of pseudorandom numbers (the high bits of Knuth's MMIX generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}
