//! Statistics that are known already, so that they need not be asked for again.

use core::mem;
use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use rolecall::Time;

use super::rounds::Counted;
use crate::search::shard::ShardId;
use crate::search::weights::Statistics;

/// Time for which statistics count after the last answer that showed them to be those of the shard's current state. So a change to the
/// documents is found this much later at most.
const FRESH: Duration = Duration::from_secs(1);
/// Number of frequencies after which a new generation begins. Two generations are kept, of 8 bytes for each.
const GENERATION: usize = 1 << 20;

/// Statistics of the shards in their current states, by word.
#[derive(Debug)]
pub(super) struct Counts {
    shards: Vec<Option<Shard>>,
    young: BTreeMap<String, Vec<Frequency>>,
    old: BTreeMap<String, Vec<Frequency>>,
}

#[derive(Debug)]
struct Shard {
    /// The state, and the statistics without frequencies.
    counted: Counted,
    /// Time of the last answer that showed the state to be the current one; `None` once it is known to be another.
    confirmed: Option<Time>,
    /// Number of changes of the state so far.
    changes: u32,
}

/// Number of documents of a shard that have a word.
#[derive(Clone, Copy, Debug, Default)]
struct Frequency {
    documents: u32,
    /// Number of changes after which the shard had this state; 0 if the frequency is not known.
    changes: u32,
}

impl Shard {
    fn is_fresh(&self, now: Time) -> bool {
        self.confirmed.is_some_and(|confirmed| now.since(confirmed) <= FRESH)
    }
}

impl Counts {
    pub(super) fn new(shards: u16) -> Self {
        let shards = (0..shards).map(|_| None).collect();
        Self { shards, young: BTreeMap::new(), old: BTreeMap::new() }
    }

    /// Statistics of each shard for which those of all `terms` are known.
    pub(super) fn known(&mut self, terms: &[String], now: Time) -> BTreeMap<ShardId, Counted> {
        if !self.shards.iter().flatten().any(|shard| shard.is_fresh(now)) {
            return BTreeMap::new();
        }
        for term in terms {
            if let Some(frequencies) = self.old.remove(term) {
                self.young.insert(term.clone(), frequencies);
            }
        }
        let Some(rows) = terms.iter().map(|term| self.young.get(term)).collect::<Option<Vec<_>>>() else {
            return BTreeMap::new();
        };
        let shards = self.shards.iter().enumerate().filter_map(|(number, shard)| {
            let shard = shard.as_ref().filter(|shard| shard.is_fresh(now))?;
            let frequency = |row: &&Vec<Frequency>| {
                let frequency = row[number];
                (frequency.changes == shard.changes).then_some(u64::from(frequency.documents))
            };
            let frequencies = rows.iter().map(frequency).collect::<Option<_>>()?;
            let Counted { source, statistics: Statistics { documents, words, .. } } = shard.counted;
            Some((source.shard, Counted { source, statistics: Statistics { documents, words, frequencies } }))
        });
        shards.collect()
    }

    /// Notes the statistics of a shard in its current state for `terms`.
    pub(super) fn note(&mut self, terms: &[String], counted: &Counted, now: Time) {
        let number = usize::from(counted.source.shard.0);
        let Some(slot) = self.shards.get_mut(number) else { return };
        let changes = match slot {
            Some(shard) if shard.counted.source == counted.source => shard.changes,
            Some(shard) => shard.changes.wrapping_add(1).max(1),
            None => 1,
        };
        let Statistics { documents, words, .. } = counted.statistics;
        let statistics = Statistics { documents, words, frequencies: Vec::new() };
        *slot = Some(Shard { counted: Counted { source: counted.source, statistics }, confirmed: Some(now), changes });
        for (term, &documents) in terms.iter().zip(&counted.statistics.frequencies) {
            // No index holds as many documents: the worker is wrong.
            let Ok(documents) = u32::try_from(documents) else { continue };
            self.row(term)[number] = Frequency { documents, changes };
        }
    }

    /// Notes that shards are, or are not, in the state that is known.
    pub(super) fn confirm(&mut self, current: &BTreeSet<ShardId>, outdated: &BTreeSet<ShardId>, now: Time) {
        for shard in self.shards.iter_mut().flatten() {
            let id = shard.counted.source.shard;
            if outdated.contains(&id) {
                // The state may come back, and the frequencies with it.
                shard.confirmed = None;
            } else if current.contains(&id) && shard.is_fresh(now) {
                shard.confirmed = Some(now);
            }
        }
    }

    fn row(&mut self, term: &str) -> &mut Vec<Frequency> {
        let shards = self.shards.len();
        if !self.young.contains_key(term) {
            if (self.young.len() + 1) * shards > GENERATION {
                self.old = mem::take(&mut self.young);
            }
            let row = self.old.remove(term).unwrap_or_else(|| vec![Frequency::default(); shards]);
            self.young.insert(term.to_owned(), row);
        }
        self.young.get_mut(term).expect("it was just inserted")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::index::SnapshotId;
    use crate::search::wire::SnapshotRef;

    const NOW: Time = Time::ZERO;

    fn terms(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn counted(shard: u16, snapshot: u64, frequencies: &[u64]) -> Counted {
        let source = SnapshotRef { shard: ShardId(shard), snapshot: SnapshotId(snapshot) };
        Counted { source, statistics: Statistics { documents: 9, words: 99, frequencies: frequencies.to_vec() } }
    }

    /// State and frequencies of each shard that is known.
    fn known(counts: &mut Counts, text: &str, now: Time) -> Vec<(u16, u64, Vec<u64>)> {
        let known = counts.known(&terms(text), now).into_iter();
        known
            .map(|(shard, Counted { source, statistics })| (shard.0, source.snapshot.0, statistics.frequencies))
            .collect()
    }

    #[test]
    fn words_of_several_queries_are_known_together() {
        let mut counts = Counts::new(2);
        counts.note(&terms("a b"), &counted(0, 5, &[1, 2]), NOW);
        counts.note(&terms("c"), &counted(0, 5, &[3]), NOW);
        counts.note(&terms("c"), &counted(1, 6, &[4]), NOW);
        assert_eq!(known(&mut counts, "b c", NOW), [(0, 5, vec![2, 3])]);
        assert_eq!(known(&mut counts, "c", NOW), [(0, 5, vec![3]), (1, 6, vec![4])]);
        assert_eq!(known(&mut counts, "a d", NOW), []);
    }

    #[test]
    fn what_was_counted_in_another_state_is_not_known() {
        let mut counts = Counts::new(1);
        counts.note(&terms("a b"), &counted(0, 5, &[1, 2]), NOW);
        counts.note(&terms("a"), &counted(0, 6, &[7]), NOW);
        assert_eq!(known(&mut counts, "a", NOW), [(0, 6, vec![7])]);
        assert_eq!(known(&mut counts, "b", NOW), []);
        counts.note(&terms("c"), &counted(0, 5, &[1]), NOW);
        assert_eq!(known(&mut counts, "b", NOW), [], "even if the state seems to come back");
    }

    #[test]
    fn a_state_counts_for_a_while_after_it_was_confirmed() {
        let mut counts = Counts::new(1);
        let (none, all) = (BTreeSet::new(), BTreeSet::from([ShardId(0)]));
        counts.note(&terms("a"), &counted(0, 5, &[1]), NOW);
        let later = NOW + FRESH;
        counts.confirm(&all, &none, later);
        assert_eq!(known(&mut counts, "a", later + FRESH), [(0, 5, vec![1])]);
        let late = later + FRESH * 2;
        assert_eq!(known(&mut counts, "a", late), []);
        counts.confirm(&all, &none, late);
        assert_eq!(known(&mut counts, "a", late), [], "an answer that was on its way shows nothing of now");
        counts.note(&terms("a"), &counted(0, 5, &[1]), late);
        counts.confirm(&none, &all, late);
        assert_eq!(known(&mut counts, "a", late), []);
    }

    #[test]
    fn a_count_beyond_all_measure_is_not_kept_and_a_shard_that_there_is_not_neither() {
        let mut counts = Counts::new(1);
        counts.note(&terms("a b"), &counted(0, 5, &[u64::MAX, 2]), NOW);
        counts.note(&terms("a"), &counted(1, 5, &[1]), NOW);
        assert_eq!(known(&mut counts, "a", NOW), []);
        assert_eq!(known(&mut counts, "b", NOW), [(0, 5, vec![2])]);
    }

    #[test]
    fn memory_is_bounded_and_words_that_are_asked_for_stay() {
        const SHARDS: u16 = 4096;
        let mut counts = Counts::new(SHARDS);
        counts.note(&terms("asked"), &counted(0, 5, &[1]), NOW);
        for number in 0..2000 {
            counts.note(&[number.to_string()], &counted(0, 5, &[1]), NOW);
            assert_eq!(known(&mut counts, "asked", NOW).len(), 1);
        }
        let rows = counts.young.len() + counts.old.len();
        assert!(rows * usize::from(SHARDS) <= 3 * GENERATION, "{rows} words are kept");
        assert_eq!(known(&mut counts, "0", NOW), []);
    }
}
