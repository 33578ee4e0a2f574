//! Occurrences of a leaf in the documents of a shard, exact and loose.

use std::io;

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED};

use super::snapshot::Segment;
use crate::search::analysis::loose_term;
use crate::search::query::{Leaf, Word};

/// Number of occurrences of a leaf in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    /// All occurrences, at least one.
    pub(super) all: u32,
    /// Occurrences of exactly these words.
    pub(super) exact: u32,
}

/// Calls `found` for each document that contains `leaf`, in the order of their numbers.
pub(super) fn each_with(segment: &Segment, leaf: &Leaf, found: &mut impl FnMut(u32, Count)) -> io::Result<()> {
    match leaf.words.as_slice() {
        [word] if word.parts().len() == 1 => each_with_word(segment, word, found),
        words => each_with_phrase(segment, words, found),
    }
}

/// Number of documents that contain `term` as a word or as a part of a loose form.
pub(super) fn documents_with(segment: &Segment, term: &str) -> io::Result<u64> {
    let terms = [segment.term(term), segment.term(&loose_term(term))];
    let frequencies = [segment.terms.doc_freq(&terms[0])?, segment.terms.doc_freq(&terms[1])?];
    if frequencies.contains(&0) {
        return Ok(u64::from(frequencies[0].max(frequencies[1])));
    }
    let mut documents = 0;
    each_document_with(segment, term, |_| documents += 1)?;
    Ok(documents)
}

/// Calls `found` for each document that contains `term` as a word or as a part of a loose form, in the order of their numbers.
pub(super) fn each_document_with(segment: &Segment, term: &str, mut found: impl FnMut(u32)) -> io::Result<()> {
    let mut slot = Slot::of_part(segment, term, 0, IndexRecordOption::Basic)?;
    if let [list] = slot.lists.as_mut_slice() {
        while list.doc() != TERMINATED {
            found(list.doc());
            list.advance();
        }
        return Ok(());
    }
    while slot.document() != TERMINATED {
        found(slot.document());
        slot.seek(slot.document() + 1);
    }
    Ok(())
}

fn each_with_word(segment: &Segment, word: &Word, found: &mut impl FnMut(u32, Count)) -> io::Result<()> {
    let [part] = word.parts() else { unreachable!("the caller checked that the word has one part") };
    let has_others = !word.loose.is_empty() || segment.terms.doc_freq(&segment.term(&loose_term(part)))? > 0;
    if !has_others {
        return each_with_term(segment, part, found);
    }
    let mut all = Slot::of_part(segment, part, 0, IndexRecordOption::WithFreqs)?;
    let mut exact = Slot::of_word(segment, &word.exact, 0, IndexRecordOption::WithFreqs)?;
    while all.document() != TERMINATED {
        let document = all.document();
        exact.seek(document);
        found(document, Count { all: all.frequency(document), exact: exact.frequency(document) });
        all.seek(document + 1);
    }
    Ok(())
}

/// Does the same for a word of which there is only one form in the shard, quickly.
fn each_with_term(segment: &Segment, term: &str, found: &mut impl FnMut(u32, Count)) -> io::Result<()> {
    let postings = segment.terms.read_block_postings(&segment.term(term), IndexRecordOption::WithFreqs)?;
    let Some(mut block) = postings else { return Ok(()) };
    while block.block_len() > 0 {
        for (&document, &count) in block.docs().iter().zip(block.freqs()) {
            found(document, Count { all: count, exact: count });
        }
        block.advance();
    }
    Ok(())
}

fn each_with_phrase(segment: &Segment, words: &[Word], found: &mut impl FnMut(u32, Count)) -> io::Result<()> {
    let option = IndexRecordOption::WithFreqsAndPositions;
    let (mut all, mut exact) = (Vec::new(), Vec::with_capacity(words.len()));
    for word in words {
        exact.push(Slot::of_word(segment, &word.exact, all.len(), option)?);
        for part in word.parts() {
            let slot = Slot::of_part(segment, part, all.len(), option)?;
            if slot.document() == TERMINATED {
                return Ok(());
            }
            all.push(slot);
        }
    }
    let has_others = words.iter().any(|word| !word.loose.is_empty()) || all.iter().any(|slot| slot.has_loose);
    let mut positions = Positions::default();
    let mut candidate = 0;
    while let Some(document) = next_with_all(&mut all, candidate) {
        let count = positions.count(&mut all);
        if count > 0 {
            let has_exact = has_others && exact.iter_mut().all(|slot| slot.seek(document) == document);
            let exact = match (has_others, has_exact) {
                (false, _) => count,
                (true, false) => 0,
                (true, true) => positions.count(&mut exact),
            };
            found(document, Count { all: count, exact });
        }
        candidate = document + 1;
    }
    Ok(())
}

/// Place in a phrase, with the postings of every term that may stand there.
struct Slot {
    /// Distance from the beginning of the phrase.
    offset: u32,
    lists: Vec<SegmentPostings>,
    /// True if some of the postings are those of loose forms alone.
    has_loose: bool,
    positions: Vec<u32>,
}

impl Slot {
    /// Slot of a word itself.
    fn of_word(segment: &Segment, word: &str, offset: usize, option: IndexRecordOption) -> io::Result<Self> {
        let lists = segment.terms.read_postings(&segment.term(word), option)?.into_iter().collect();
        Ok(Self::new(offset, lists, false))
    }

    /// Slot of a part of a loose form, which is indexed apart only where it is not the word itself.
    fn of_part(segment: &Segment, part: &str, offset: usize, option: IndexRecordOption) -> io::Result<Self> {
        let plain = segment.terms.read_postings(&segment.term(part), option)?;
        let loose = segment.terms.read_postings(&segment.term(&loose_term(part)), option)?;
        let has_loose = loose.is_some();
        Ok(Self::new(offset, plain.into_iter().chain(loose).collect(), has_loose))
    }

    fn new(offset: usize, lists: Vec<SegmentPostings>, has_loose: bool) -> Self {
        let offset = u32::try_from(offset).expect("a query has few words");
        Self { offset, lists, has_loose, positions: Vec::new() }
    }

    /// Present document, or `TERMINATED`.
    fn document(&self) -> u32 {
        self.lists.iter().map(DocSet::doc).min().unwrap_or(TERMINATED)
    }

    /// Goes on to the first document from `candidate` on and returns it.
    fn seek(&mut self, candidate: u32) -> u32 {
        for list in &mut self.lists {
            if list.doc() < candidate {
                list.seek(candidate);
            }
        }
        self.document()
    }

    /// Number of occurrences in `document`, if that is the present one.
    fn frequency(&self, document: u32) -> u32 {
        self.lists.iter().filter(|list| list.doc() == document).map(Postings::term_freq).sum()
    }

    /// Positions in the present document, in ascending order.
    fn positions(&mut self) -> &[u32] {
        let document = self.document();
        self.positions.clear();
        for list in self.lists.iter_mut().filter(|list| list.doc() == document) {
            list.append_positions_with_offset(0, &mut self.positions);
        }
        if self.lists.len() > 1 {
            self.positions.sort_unstable();
        }
        &self.positions
    }
}

/// First document, from `candidate` on, that occurs in all of `slots`. Leaves all of them positioned on it.
fn next_with_all(slots: &mut [Slot], mut candidate: u32) -> Option<u32> {
    'candidates: loop {
        for slot in slots.iter_mut() {
            let document = slot.seek(candidate);
            if document != candidate {
                candidate = document;
                if candidate == TERMINATED {
                    return None;
                }
                continue 'candidates;
            }
        }
        return Some(candidate);
    }
}

/// Positions within one document at which a phrase may begin. The buffer is reused for the next document.
#[derive(Default)]
struct Positions(Vec<u32>);

impl Positions {
    /// Number of times that the terms follow each other in the document on which all of `slots` are positioned.
    fn count(&mut self, slots: &mut [Slot]) -> u32 {
        let starts = &mut self.0;
        starts.clear();
        for slot in slots {
            let offset = slot.offset;
            let mut next = slot.positions().iter().peekable();
            if offset == 0 {
                starts.extend(next);
                continue;
            }
            starts.retain(|start| {
                while next.next_if(|&&position| position < start + offset).is_some() {}
                next.peek() == Some(&&(start + offset))
            });
        }
        u32::try_from(starts.len()).unwrap_or(u32::MAX)
    }
}
