//! From text to the words that are indexed and looked up.

use tantivy::tokenizer::{Language, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer, TextAnalyzer};

use super::settings::Ranking;

/// Longer runs of letters, in bytes, are not words but encoded data.
const LONGEST_WORD: usize = 128;

/// Under which name an index finds its analyzer.
pub(crate) const ANALYZER: &str = "rolecall";

/// The analyzer of a ranking: lower-case runs of letters and digits, for BM25 reduced to their English stems.
#[must_use]
pub fn analyzer(ranking: Ranking) -> TextAnalyzer {
    let words = TextAnalyzer::builder(SimpleTokenizer::default())
        .filter(RemoveLongFilter::limit(LONGEST_WORD))
        .filter(LowerCaser);
    match ranking {
        Ranking::Bm25 => words.filter(Stemmer::new(Language::English)).build(),
        Ranking::Tfidf => words.build(),
    }
}

/// The terms of `text`, in order.
pub(crate) fn terms(analyzer: &mut TextAnalyzer, text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    analyzer.token_stream(text).process(&mut |token| terms.push(token.text.clone()));
    terms
}

/// How many terms `text` has.
pub(crate) fn count(analyzer: &mut TextAnalyzer, text: &str) -> u64 {
    let mut count = 0;
    analyzer.token_stream(text).process(&mut |_| count += 1);
    count
}
