//! Finds and scores the documents of a shard.
//!
//! Each leaf, in the query's order, adds its part to the scores of the documents that contain it. So each score is one sum
//! in one order, whatever else is in the shard. Which documents match is decided separately, on sets.

use std::borrow::Cow;
use std::io;

use tantivy::postings::{Postings, SegmentPostings};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, TERMINATED};

use super::bits::Bits;
use super::snapshot::{Segment, Snapshot};
use super::top::{Candidate, Top};
use crate::search::query::{Leaf, Node, Query};
use crate::search::settings::Ranking;
use crate::search::weights::{Statistics, Weights};

/// Query with everything needed to score documents, usable for any number of shards.
#[derive(Debug)]
pub(crate) struct Scorer<'q> {
    query: &'q Query,
    ranking: Ranking,
    /// Weight of each leaf; `None` for a leaf that does not count for the score.
    weights: Vec<Option<f32>>,
    /// Term that BM25 adds to a count in its denominator, for each of the 256 lengths that an index distinguishes.
    norms: [f32; 256],
}

impl<'q> Scorer<'q> {
    pub(crate) fn new(query: &'q Query, weights: &Weights) -> Self {
        let scoring = query.scoring();
        let leaves = weights.leaves.iter().zip(scoring).map(|(weight, scores)| scores.then_some(weight.0)).collect();
        let length = |id: usize| tantivy::fieldnorm::FieldNormReader::id_to_fieldnorm(id as u8);
        let norms = core::array::from_fn(|id| weights.norm(length(id)));
        Self { query, ranking: weights.ranking, weights: leaves, norms }
    }
}

impl Snapshot {
    /// Statistics of this shard for `terms`.
    pub(crate) fn statistics(&self, terms: &[String]) -> io::Result<Statistics> {
        let frequency = |term: &String| match &self.segment {
            Some(segment) => segment.terms.doc_freq(&segment.term(term)).map(u64::from),
            None => Ok(0),
        };
        Ok(Statistics {
            documents: self.documents.len() as u64,
            words: self.words,
            frequencies: terms.iter().map(frequency).collect::<Result<_, _>>()?,
        })
    }

    /// Offers every matching document to `top` and returns the number of matches.
    pub(crate) fn search<'s>(&'s self, scorer: &Scorer<'_>, top: &mut Top<'s>) -> io::Result<u64> {
        let Some(segment) = &self.segment else { return Ok(0) };
        let mut scores = vec![0.0_f32; self.documents.len()];
        let mut sets = Vec::with_capacity(scorer.query.leaves.len());
        for (leaf, &weight) in scorer.query.leaves.iter().zip(&scorer.weights) {
            let mut set = Bits::new(self.documents.len());
            let mut found = |document: u32, count: u32| {
                set.insert(document);
                if let Some(weight) = weight {
                    scores[document as usize] += weight * self.part(segment, scorer, document, count);
                }
            };
            match leaf {
                Leaf::Term(term) => each_with_term(segment, term, &mut found)?,
                Leaf::Phrase(terms) => each_with_phrase(segment, terms, &mut found)?,
            }
            sets.push(set);
        }
        let matching = matching(&scorer.query.root, &sets);
        for document in matching.iter() {
            let score = scores[document as usize];
            if top.may_enter(score) {
                top.offer(Candidate { score, document: &self.documents[document as usize], shard: self.shard });
            }
        }
        Ok(matching.count())
    }

    /// Share of a leaf's weight that goes to a document in which the leaf occurs `count` times.
    #[inline]
    fn part(&self, segment: &Segment, scorer: &Scorer<'_>, document: u32, count: u32) -> f32 {
        let count = count as f32;
        match scorer.ranking {
            Ranking::Bm25 => count / (count + scorer.norms[usize::from(segment.lengths.fieldnorm_id(document))]),
            Ranking::Tfidf => count / self.documents[document as usize].words as f32,
        }
    }
}

fn matching<'a>(node: &Node, sets: &'a [Bits]) -> Cow<'a, Bits> {
    let fold = |nodes: &[Node], combine: fn(&mut Bits, &Bits)| {
        let (first, rest) = nodes.split_first().expect("a sound query has no empty node");
        let mut set = matching(first, sets);
        for node in rest {
            combine(set.to_mut(), &matching(node, sets));
        }
        set
    };
    match node {
        Node::Leaf(leaf) => Cow::Borrowed(&sets[*leaf]),
        Node::Any(nodes) => fold(nodes, Bits::union),
        Node::All(nodes) => fold(nodes, Bits::intersect),
        Node::Except(node, except) => {
            let mut set = matching(node, sets);
            set.to_mut().subtract(&matching(except, sets));
            set
        }
    }
}

fn each_with_term(segment: &Segment, term: &str, found: &mut impl FnMut(u32, u32)) -> io::Result<()> {
    let postings = segment.terms.read_block_postings(&segment.term(term), IndexRecordOption::WithFreqs)?;
    let Some(mut block) = postings else { return Ok(()) };
    while block.block_len() > 0 {
        for (&document, &count) in block.docs().iter().zip(block.freqs()) {
            found(document, count);
        }
        block.advance();
    }
    Ok(())
}

fn each_with_phrase(segment: &Segment, terms: &[String], found: &mut impl FnMut(u32, u32)) -> io::Result<()> {
    let mut postings = Vec::with_capacity(terms.len());
    for term in terms {
        let option = IndexRecordOption::WithFreqsAndPositions;
        match segment.terms.read_postings(&segment.term(term), option)? {
            Some(posting) => postings.push(posting),
            None => return Ok(()),
        }
    }
    let mut positions = Positions::default();
    let mut candidate = 0;
    while let Some(document) = next_with_all(&mut postings, candidate) {
        let count = positions.count(&mut postings);
        if count > 0 {
            found(document, count);
        }
        candidate = document + 1;
    }
    Ok(())
}

/// First document, from `candidate` on, that occurs in all of `postings`. Leaves all of them positioned on it.
fn next_with_all(postings: &mut [SegmentPostings], mut candidate: u32) -> Option<u32> {
    'candidates: loop {
        for posting in postings.iter_mut() {
            if posting.doc() < candidate {
                posting.seek(candidate);
            }
            if posting.doc() != candidate {
                candidate = posting.doc();
                if candidate == TERMINATED {
                    return None;
                }
                continue 'candidates;
            }
        }
        return Some(candidate);
    }
}

/// Positions within one document at which a phrase may begin. The buffers are reused for the next document.
#[derive(Default)]
struct Positions {
    starts: Vec<u32>,
    next: Vec<u32>,
}

impl Positions {
    /// Number of times that the terms follow each other in the document on which all of `postings` are positioned.
    fn count(&mut self, postings: &mut [SegmentPostings]) -> u32 {
        self.starts.clear();
        for (offset, posting) in (0_u32..).zip(postings) {
            if offset == 0 {
                posting.positions(&mut self.starts);
                continue;
            }
            posting.positions(&mut self.next);
            let mut next = self.next.iter().peekable();
            self.starts.retain(|start| {
                while next.next_if(|&&position| position < start + offset).is_some() {}
                next.peek() == Some(&&(start + offset))
            });
        }
        u32::try_from(self.starts.len()).unwrap_or(u32::MAX)
    }
}
