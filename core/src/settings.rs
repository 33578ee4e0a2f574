//! Settings that the whole cluster shares. Nodes agree upon them before they take any part, and the leader keeps them
//! in the store.

use alloc::sync::Arc;
use core::time::Duration;

use crate::mutant::Mutant;
use crate::pass::{Backoff, Pass, Pending, Soonest};
use crate::rename::{Rename, Renamer, TimeKind};
use crate::store::{Answer, Refusal, Reply, Request, SettingsRequest};
use crate::{Config, Objection, OpId, Sink, Slot, Time, Timer};

/// Agreement on the settings. The first node of a cluster writes its own; every other node must have the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Settings {
    /// True once the settings in the store were this node's.
    agreed: bool,
    /// True if the store was read since the settings last changed, or may have.
    fresh: bool,
    pending: Option<Pending<()>>,
    backoff: Backoff,
    /// Time at which this node gives up on a store that denies them.
    give_up_at: Option<Time>,
}

/// News of the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// The store had other settings than this node's before the node took any part.
    Objection(Objection),
    /// The settings in the store changed under a running cluster.
    Changed(Arc<str>),
}

impl Settings {
    /// Longest time that a starting node keeps asking for settings that the store denies.
    const PATIENCE: Duration = Duration::from_secs(10);

    /// True if nothing keeps the node from taking part.
    pub(crate) fn are_agreed(&self, config: &Config) -> bool {
        self.agreed || config.settings.is_none() || Mutant::SettingsNotAwaited.lives()
    }

    pub(crate) fn suspend(&mut self) {
        self.pending = None;
        self.backoff.clear();
        self.fresh = false;
        self.give_up_at = None;
    }

    /// Rereads them although nothing happened.
    pub(crate) fn reread(&mut self) {
        self.fresh = Mutant::SettingsNotKept.lives() && self.agreed;
        if let Some(pending) = &mut self.pending {
            pending.dirty = true;
        }
    }

    pub(crate) fn answered(&mut self, now: Time, id: OpId, answer: &Answer, config: &Config) -> Option<News> {
        let pending = self.pending.take_if(|pending| pending.id == id)?;
        match answer {
            Answer::Done(Reply::Settings(theirs)) => {
                self.backoff.clear();
                self.give_up_at = None;
                self.fresh = !pending.dirty;
                return self.compare(config, theirs);
            }
            Answer::Refused(Refusal::Denied) => {
                self.backoff.fail(now);
                if !self.agreed {
                    self.give_up_at.get_or_insert(now + Self::PATIENCE);
                }
            }
            Answer::Done(_) | Answer::Refused(_) | Answer::Unknown => self.backoff.fail(now),
        }
        None
    }

    fn compare(&mut self, config: &Config, theirs: &Arc<str>) -> Option<News> {
        let ours = config.settings.as_ref()?;
        if ours == theirs {
            self.agreed = true;
            return None;
        }
        let (ours, theirs) = (Arc::clone(ours), Arc::clone(theirs));
        // The same mistake on every node at once must not take a running cluster down.
        let differ = || News::Objection(Objection::SettingsDiffer { ours, theirs: Arc::clone(&theirs) });
        Some(if self.agreed { News::Changed(theirs) } else { differ() })
    }

    /// Applies the passing of time. Returns an objection once the store has denied them for too long.
    pub(crate) fn expire(&mut self, now: Time) -> Option<Objection> {
        self.pending.take_if(|pending| pending.deadline <= now);
        self.backoff.holds(now);
        let denied = self.give_up_at.take_if(|at| *at <= now).is_some();
        let limit_ms = u64::try_from(Self::PATIENCE.as_millis()).unwrap_or(u64::MAX);
        denied.then_some(Objection::SettingsDenied { limit_ms })
    }

    pub(crate) fn advance<S: Sink>(&mut self, pass: &mut Pass<'_, S>, config: &Config, leads: bool) {
        let Some(settings) = self.wanted(config, leads) else { return };
        if self.pending.is_some() || self.backoff.holds(pass.now) {
            return;
        }
        let Some(standing) = pass.connected() else { return };
        // Writing the same settings twice does no harm, so a write of unknown outcome is simply sent again.
        let request = Request::Settings(SettingsRequest::Settle { settings: Arc::clone(settings) });
        self.pending = Some(pass.send(&standing, Slot::Settings, (), request));
    }

    /// Settings to write unless there are some. A node that has not agreed yet writes them, and so does a leader that
    /// has to check that they still exist.
    fn wanted<'a>(&self, config: &'a Config, leads: bool) -> Option<&'a Arc<str>> {
        config.settings.as_ref().filter(|_| !config.observes && (!self.agreed || leads && !self.fresh))
    }

    pub(crate) fn deadlines(&self, connected: bool, soonest: &mut Soonest) {
        soonest.answer(self.pending.as_ref());
        if connected {
            soonest.retry(&self.backoff);
        }
        if let Some(at) = self.give_up_at {
            soonest.consider(at, Timer::Settings);
        }
    }

    pub(crate) fn awaits(&self, now: Time, id: OpId) -> bool {
        self.pending.as_ref().is_some_and(|pending| pending.awaits(now, id))
    }

    /// True if it waits for nothing although it should.
    pub(crate) fn is_stuck(&self, config: &Config, leads: bool) -> bool {
        let quiet = self.pending.is_none() && self.backoff.deadline().is_none();
        quiet && self.wanted(config, leads).is_some()
    }
}

impl Rename for Settings {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        self.pending.rename(renamer);
        self.backoff.rename(renamer);
        if let Some(at) = &mut self.give_up_at {
            renamer.time(TimeKind::Deadline(Timer::Settings), at);
        }
    }
}
