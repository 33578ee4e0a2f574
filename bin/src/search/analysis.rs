//! Splits text into the terms that are indexed and looked up.

use tantivy::tokenizer::{Language, LowerCaser, RemoveLongFilter, SimpleTokenizer, Stemmer, TextAnalyzer};

use super::settings::Ranking;

/// Longest word, in bytes. A longer run of letters is encoded data and is not indexed.
const LONGEST_WORD: usize = 128;

/// Name under which an index looks up its analyzer.
pub(crate) const ANALYZER: &str = "rolecall";

/// Analyzer for a ranking: yields runs of letters and digits in lower case, for BM25 reduced to their English stems.
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

/// Terms of `text`, in order.
pub(crate) fn terms(analyzer: &mut TextAnalyzer, text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    analyzer.token_stream(text).process(&mut |token| terms.push(token.text.clone()));
    terms
}

/// Number of terms in `text`.
pub(crate) fn count(analyzer: &mut TextAnalyzer, text: &str) -> u64 {
    let mut count = 0;
    analyzer.token_stream(text).process(&mut |_| count += 1);
    count
}
