//! Cuts out the part of a document that is shown with a hit.

use core::ops::Range;
use std::collections::BTreeMap;

use tantivy::tokenizer::TextAnalyzer;

use super::snapshot::Snapshot;
use crate::search::analysis::{analyzer, parts};
use crate::search::query::Query;
use crate::search::settings::Ranking;
use crate::search::weights::Weights;

/// Longest snippet, in characters, without its marks.
const LONGEST: usize = 200;

/// Longest text that is shown before the first mark, in characters.
const LEAD: usize = 60;

/// Length of the beginning of a document in which a snippet is looked for, in bytes.
const LOOKED_AT: usize = 1 << 20;

/// Cuts snippets for one query.
pub(crate) struct Highlighter {
    analyzer: TextAnalyzer,
    /// Numbers of the parts of all leaves.
    numbers: BTreeMap<String, usize>,
    sought: Vec<Sought>,
}

/// Leaf that is marked where it occurs.
struct Sought {
    /// Numbers of its parts, at successive positions.
    parts: Vec<usize>,
    /// A leaf that every document contains is still worth more than none.
    worth: f32,
}

/// Word of a text, or its part that takes a position of its own.
struct Cell {
    part: Option<usize>,
    bytes: Range<usize>,
    /// Range of the text, in characters.
    characters: Range<usize>,
}

/// Occurrence of a leaf: its number, and the first and last of its cells.
struct Mark {
    leaf: usize,
    first: usize,
    last: usize,
}

impl Highlighter {
    /// Prepares snippets for `query`. They favour the leaves with the highest weights.
    pub(crate) fn new(ranking: Ranking, query: &Query, weights: &Weights) -> Self {
        let mut numbers = BTreeMap::new();
        let mut sought = Vec::new();
        for ((leaf, weight), scores) in query.leaves.iter().zip(&weights.leaves).zip(query.scoring()) {
            if scores {
                let mut number = |part: &String| {
                    let next = numbers.len();
                    *numbers.entry(part.clone()).or_insert(next)
                };
                let parts = leaf.parts().map(&mut number).collect();
                sought.push(Sought { parts, worth: weight.0.max(f32::MIN_POSITIVE) });
            }
        }
        Self { analyzer: analyzer(ranking), numbers, sought }
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
        let cells = self.cells(text);
        let marks = self.marks(&cells);
        let Some(best) = self.best(&cells, &marks) else {
            let end = text.char_indices().nth(LONGEST).map_or(text.len(), |(end, _)| end);
            return escape(&text[..end]);
        };
        let shown = around(text, &cells, &marks[best]);
        let mut html = String::new();
        let mut at = shown.start;
        for mark in &marks {
            let from = cells[mark.first].bytes.start.max(at);
            let to = cells[mark.last].bytes.end.min(shown.end);
            if from < to {
                html.push_str(&escape(&text[at..from]));
                html.push_str("<mark>");
                html.push_str(&escape(&text[from..to]));
                html.push_str("</mark>");
                at = to;
            }
        }
        html + &escape(&text[at..shown.end])
    }

    fn cells(&self, text: &str) -> Vec<Cell> {
        let mut cells = Vec::new();
        let (mut byte, mut character) = (0, 0);
        parts(&mut self.analyzer.clone(), text, &mut |part| {
            character += text[byte..part.from].chars().count();
            byte = part.from;
            let end = character + text[part.from..part.to].chars().count();
            let number = self.numbers.get(&part.text).copied();
            cells.push(Cell { part: number, bytes: part.from..part.to, characters: character..end });
        });
        cells
    }

    /// All occurrences, in the order in which they begin.
    fn marks(&self, cells: &[Cell]) -> Vec<Mark> {
        let mut marks = Vec::new();
        for first in 0..cells.len() {
            let Some(part) = cells[first].part else { continue };
            for (leaf, sought) in self.sought.iter().enumerate() {
                let is_here = sought.parts.first() == Some(&part)
                    && cells.len() - first >= sought.parts.len()
                    && cells[first..].iter().zip(&sought.parts).all(|(cell, part)| cell.part == Some(*part));
                if is_here {
                    marks.push(Mark { leaf, first, last: first + sought.parts.len() - 1 });
                }
            }
        }
        marks
    }

    /// Range of the marks that are shown: of those that fit a snippet, the first of the most worth.
    fn best(&self, cells: &[Cell], marks: &[Mark]) -> Option<Range<usize>> {
        let mut best: Option<(f32, Range<usize>)> = None;
        let mut counts = vec![0_u32; self.sought.len()];
        let mut end = 0;
        for begin in 0..marks.len() {
            let limit = cells[marks[begin].first].characters.start + LONGEST;
            while end < marks.len() && (end <= begin || cells[marks[end].last].characters.end <= limit) {
                counts[marks[end].leaf] += 1;
                end += 1;
            }
            let found = counts.iter().zip(&self.sought).filter(|(count, _)| **count > 0);
            let worth: f32 = found.map(|(_, sought)| sought.worth).sum();
            if best.as_ref().is_none_or(|(known, _)| worth > *known) {
                best = Some((worth, begin..end));
            }
            counts[marks[begin].leaf] -= 1;
        }
        best.map(|(_, marks)| marks)
    }
}

/// Range of the text, in bytes, that is shown with the marks, from a word's beginning to a word's end.
fn around(text: &str, cells: &[Cell], marks: &[Mark]) -> Range<usize> {
    let (Some(first), Some(last)) = (marks.first(), marks.iter().map(|mark| mark.last).max()) else { return 0..0 };
    let span = cells[last].characters.end - cells[first.first].characters.start;
    let lead = LEAD.min(LONGEST.saturating_sub(span));
    let begins = cells[first.first].characters.start.saturating_sub(lead);
    let start = match cells.partition_point(|cell| cell.characters.start < begins) {
        _ if begins == 0 => 0,
        cell => cells[cell.min(first.first)].bytes.start,
    };
    let end = text[start..].char_indices().nth(LONGEST).map_or(text.len(), |(length, _)| start + length);
    if end == text.len() {
        return start..end;
    }
    let fitting = cells.partition_point(|cell| cell.bytes.end <= end);
    // A single word may be longer than a snippet.
    let whole =
        cells[..fitting].last().map(|cell| cell.bytes.end).filter(|&whole| whole > cells[first.first].bytes.start);
    start..whole.unwrap_or(end)
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
