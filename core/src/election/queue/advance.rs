//! The next step of the queue, derived from what is wanted and what is known: nothing is planned ahead.

use super::{Ask, Doubt, Head, Queue, View};
use crate::election::Will;
use crate::floor::Floor;
use crate::mutant::Mutant;
use crate::pass::{Pass, Standing};
use crate::store::{QueueRequest, Request};
use crate::{Candidate, Config, Sink, Slot};

impl Queue {
    /// Sends the requests that are due. The caller has already applied time and will ([`Self::expire`],
    /// [`Self::step_down`]).
    pub(crate) fn advance<S: Sink>(&mut self, pass: &mut Pass<'_, S>, will: Will, floor: &Floor) {
        let Some(standing) = pass.connected() else { return };
        self.send_beat(pass, &standing);
        self.send_sweep(pass, &standing, will);
        if self.pending.is_some() || self.backoff.holds(pass.now) {
            return;
        }
        let Some((ask, request)) = self.next(&standing, will, floor) else { return };
        if matches!(ask, Ask::Claim { .. }) {
            self.contacts.ripen(pass.now);
        }
        self.pending = Some(pass.send(&standing, Slot::Election, ask, request));
    }

    fn send_beat<S: Sink>(&mut self, pass: &mut Pass<'_, S>, standing: &Standing) {
        if self.term.as_ref().is_none_or(|term| pass.now < term.beat_at) || !self.may_beat() {
            return;
        }
        let Some(candidate) = self.lowest() else { return };
        self.contacts.ripen(pass.now);
        self.beat = Some(pass.send(standing, Slot::Beat, candidate, Request::Queue(QueueRequest::Beat { candidate })));
        if let Some(term) = &mut self.term {
            term.beat_at = pass.now + Config::heartbeat(standing.timeout);
        }
    }

    fn send_sweep<S: Sink>(&mut self, pass: &mut Pass<'_, S>, standing: &Standing, will: Will) {
        if self.sweep.is_some() || self.doubt != Doubt::Sure || self.sweep_backoff.holds(pass.now) {
            return;
        }
        let Some(candidate) = self.unwanted(will) else { return };
        self.sweep =
            Some(pass.send(standing, Slot::Sweep, candidate, Request::Queue(QueueRequest::Delete { candidate })));
    }

    /// A candidate of this node to delete: one of an earlier session, one more than is needed, or any if this node
    /// withdraws.
    fn unwanted(&self, will: Will) -> Option<Candidate> {
        let stray = self.view.as_ref().and_then(|view| view.strays.first()).copied();
        let kept = match will {
            Will::Stand | Will::Keep => 1,
            Will::Withdraw => 0,
        };
        let spare = || {
            let spare = self.own.get(kept..)?;
            let one = if Mutant::HighestOwnKept.lives() {
                self.own.first().filter(|_| !spare.is_empty())
            } else {
                spare.last()
            };
            one.map(|sequence| self.candidate(*sequence))
        };
        stray.or_else(spare)
    }

    fn next(&self, standing: &Standing, will: Will, floor: &Floor) -> Option<(Ask, Request)> {
        match self.doubt {
            Doubt::Unsure if !Mutant::DoubtListedWithoutSync.lives() => return Some((Ask::Sync, Request::Sync)),
            Doubt::Unsure | Doubt::Synced => {
                return Some((Ask::List { settles: true }, Request::Queue(QueueRequest::List)));
            }
            Doubt::Sure => {}
        }
        if self.look {
            return Some((Ask::List { settles: false }, Request::Queue(QueueRequest::List)));
        }
        let Some(own) = self.lowest() else { return self.enter(will) };
        match will {
            Will::Withdraw => return None,
            Will::Keep | Will::Stand => {}
        }
        if self.strays_below(own) {
            return None;
        }
        let view = self.view.as_ref()?;
        match view.predecessor {
            Some(predecessor) => self.wait(view, predecessor),
            None => self.stand_first(standing, will, own, floor),
        }
    }

    fn enter(&self, will: Will) -> Option<(Ask, Request)> {
        let guid = self.guid?;
        match will {
            Will::Stand if self.absence.deadline().is_some() => None,
            Will::Stand => Some((Ask::Enter, Request::Queue(QueueRequest::Enter { guid }))),
            Will::Keep | Will::Withdraw => None,
        }
    }

    fn wait(&self, view: &View, predecessor: Candidate) -> Option<(Ask, Request)> {
        let predecessor = view.head.filter(|_| Mutant::HeadWatched.lives()).unwrap_or(predecessor);
        if !self.watches(&predecessor) && !Mutant::WaitsUnwatched.lives() {
            return Some(inspect(predecessor, true));
        }
        match (&self.head, view.head) {
            (Head::Unread, Some(head)) => Some(inspect(head, false)),
            (Head::Unread | Head::Known { .. } | Head::Unknown, _) => None,
        }
    }

    fn stand_first(&self, standing: &Standing, will: Will, own: Candidate, floor: &Floor) -> Option<(Ask, Request)> {
        if !self.watches_own() {
            return Some(inspect(own, true));
        }
        if will != Will::Stand || self.term.is_some() {
            return None;
        }
        let record = floor.record(standing)?;
        let request = Request::Queue(QueueRequest::Claim {
            candidate: own,
            incarnation: record.incarnation,
            create: record.create,
        });
        Some((Ask::Claim { candidate: own, incarnation: record.incarnation }, request))
    }
}

fn inspect(candidate: Candidate, watch: bool) -> (Ask, Request) {
    (Ask::Inspect { candidate, watch }, Request::Queue(QueueRequest::Inspect { candidate, watch }))
}
