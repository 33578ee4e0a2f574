//! Cuts out the part of a document that is shown with a hit.

use std::collections::BTreeMap;

use tantivy::snippet::SnippetGenerator;

use super::snapshot::{Snapshot, schema};
use crate::search::analysis::analyzer;
use crate::search::query::Query;
use crate::search::settings::Ranking;
use crate::search::weights::Weights;

/// Longest snippet, in characters, without its marks.
const LONGEST: usize = 200;

/// Length of the beginning of a document in which a snippet is looked for, in bytes.
const LOOKED_AT: usize = 1 << 20;

/// Cuts snippets for one query.
pub(crate) struct Highlighter {
    generator: SnippetGenerator,
}

impl Highlighter {
    /// Prepares snippets for `query`. They favour the words with the highest weights.
    pub(crate) fn new(ranking: Ranking, query: &Query, weights: &Weights) -> Self {
        let scoring = query.scoring();
        let mut worth: BTreeMap<String, f32> = BTreeMap::new();
        for ((leaf, weight), scores) in query.leaves.iter().zip(&weights.leaves).zip(scoring) {
            for term in leaf.terms().iter().filter(|_| scores) {
                let known = worth.entry(term.clone()).or_default();
                // A word that occurs in every document is still worth more than no word.
                *known = known.max(weight.0).max(f32::MIN_POSITIVE);
            }
        }
        let (_, fields) = schema();
        Self { generator: SnippetGenerator::new(worth, analyzer(ranking), fields.body, LONGEST) }
    }

    /// Title and snippet of the document at `path`. The snippet is escaped HTML, with the words of the query in `<mark>`;
    /// if none of them occurs, it is the beginning of the document.
    pub(crate) fn show(&self, snapshot: &Snapshot, path: &str) -> tantivy::Result<Option<(String, String)>> {
        let (Some(segment), Some(number)) = (&snapshot.segment, snapshot.number(path)) else { return Ok(None) };
        let title = snapshot.documents[number as usize].title.clone();
        Ok(Some((title, self.cut(&segment.body(number)?))))
    }

    fn cut(&self, body: &str) -> String {
        let text = beginning(body, LOOKED_AT);
        let mut snippet = self.generator.snippet(text);
        if snippet.is_empty() {
            let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(end, _)| end);
            return escape(&text[..end]);
        }
        snippet.set_snippet_prefix_postfix("<mark>", "</mark>");
        snippet.to_html()
    }
}

/// The first `bytes` bytes of `text` or fewer, cut between two characters.
fn beginning(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn escape(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#x27;"),
            other => html.push(other),
        }
    }
    html
}
