//! The canonical names for everything that one node knows.

use alloc::vec::Vec;

use super::{Rename, Renamer, RevisionKind, TimeKind};
use crate::{Link, Node, OpId, Run, Time};

/// Present time of every canonical state. It is far enough from both ends of the axis that every past event keeps its
/// distance.
pub const ORIGIN: Time = Time::from_nanos(1 << 62);

/// Numbers, replaced by their ranks.
#[derive(Clone, Debug, Default)]
pub struct Ranks(Vec<u64>);

impl Ranks {
    /// Adds a number. Zero stands for none and is not added.
    pub fn add(&mut self, number: u64) {
        if number != 0 {
            self.0.push(number);
        }
    }

    /// Sorts the numbers once all are added, before the first rank is asked for.
    pub fn settle(&mut self) {
        self.0.sort_unstable();
        self.0.dedup();
    }

    /// Number of different numbers.
    #[must_use]
    pub fn len(&self) -> u64 {
        u64::try_from(self.0.len()).unwrap_or(u64::MAX)
    }

    /// True if there are no numbers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Rank of a number: how many numbers are not greater. It starts at 1 for numbers that were added.
    #[must_use]
    pub fn rank(&self, number: u64) -> u64 {
        u64::try_from(self.0.partition_point(|other| *other <= number)).unwrap_or(u64::MAX)
    }
}

/// Canonical names for one state of a node:
///
/// - Times are relative to now, which becomes [`ORIGIN`]. A deadline that has passed becomes now, since its age makes
///   no difference. Past events keep their distance. [`Time::MAX`] stays.
/// - Operations that the node waits for, or has watches of, are numbered in the order in which its state shows them;
///   the node compares them for equality only. All others are alike to it and become one.
/// - Runs likewise: at most one lives.
/// - Epochs, and revisions of creations, become ranks, each among its kind.
#[derive(Clone, Debug, Default)]
pub struct Canonical {
    now: Time,
    link: Link,
    live: Vec<OpId>,
    run: Option<Run>,
    epochs: Ranks,
    created: Ranks,
}

impl Canonical {
    /// The canonical names for `node` at `now`, ranked together with the names in `others`.
    #[must_use]
    pub fn new(now: Time, node: &Node, others: &mut [&mut dyn Rename]) -> Self {
        let mut survey = Survey { canonical: Self { now, ..Self::default() }, of_node: true };
        node.clone().rename(&mut survey);
        survey.of_node = false;
        others.iter_mut().for_each(|named| named.rename(&mut survey));
        let mut canonical = survey.canonical;
        canonical.epochs.settle();
        canonical.created.settle();
        canonical
    }

    /// True if the node waits for this operation's answer, or for a notice of its watch.
    #[must_use]
    pub fn knows(&self, id: OpId) -> bool {
        self.live.contains(&id)
    }
}

/// Collects every name.
struct Survey {
    canonical: Canonical,
    of_node: bool,
}

impl Renamer for Survey {
    fn operation(&mut self, id: &mut OpId) {
        if self.of_node && !self.canonical.knows(*id) {
            self.canonical.live.push(*id);
        }
    }

    fn issued(&mut self, link: &mut Link, _count: &mut u32) {
        self.canonical.link = *link;
    }

    fn last_run(&mut self, run: &mut Run, lives: bool) {
        self.canonical.run = Some(*run).filter(|_| lives);
    }

    fn revision(&mut self, kind: RevisionKind, revision: &mut u64) {
        match kind {
            RevisionKind::Epoch => self.canonical.epochs.add(*revision),
            RevisionKind::Created => self.canonical.created.add(*revision),
            RevisionKind::Seen | RevisionKind::Written => {}
        }
    }
}

impl Renamer for Canonical {
    fn operation(&mut self, id: &mut OpId) {
        let place = self.live.iter().position(|live| live == id);
        let sequence = place.map_or(0, |place| u32::try_from(place).unwrap_or(u32::MAX).saturating_add(1));
        let link = Link(u32::from(place.is_some() && id.link == self.link));
        *id = OpId { link, slot: id.slot, sequence };
    }

    fn issued(&mut self, link: &mut Link, count: &mut u32) {
        *link = Link(1);
        *count = u32::try_from(self.live.len()).unwrap_or(u32::MAX);
    }

    fn run(&mut self, run: &mut Run) {
        *run = Run(u32::from(self.run == Some(*run)));
    }

    fn last_run(&mut self, run: &mut Run, lives: bool) {
        *run = Run(u32::from(lives));
    }

    fn revision(&mut self, kind: RevisionKind, revision: &mut u64) {
        match kind {
            RevisionKind::Epoch => *revision = self.epochs.rank(*revision),
            RevisionKind::Created => *revision = self.created.rank(*revision),
            RevisionKind::Seen | RevisionKind::Written => {}
        }
    }

    fn time(&mut self, moment: TimeKind, at: &mut Time) {
        if *at == Time::MAX {
            return;
        }
        *at = match moment {
            TimeKind::Deadline(_) | TimeKind::Limit => ORIGIN + at.since(self.now),
            TimeKind::Past if *at <= self.now => ORIGIN - self.now.since(*at),
            TimeKind::Past => ORIGIN + at.since(self.now),
        };
    }
}
