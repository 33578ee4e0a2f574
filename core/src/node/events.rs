//! The effects of each event on each machine.

use core::time::Duration;

use super::{Node, Stop};
use crate::election::{Context, Discovery};
use crate::mutant::Mutant;
use crate::pass::{Standing, remember};
use crate::settings::News;
use crate::store::{Answer, Notice};
use crate::{Action, Announcement, Event, Objection, OnSuspend, OpId, Role, Session, Sink, Slot, Time};

impl Node {
    pub(super) fn apply<S: Sink>(&mut self, now: Time, event: Event, out: &mut S) {
        match event {
            Event::SessionUp { session, timeout, entropy } => self.session_up(now, session, timeout, entropy, out),
            Event::Suspended => self.suspended(),
            Event::SessionLost => self.session_lost(now),
            Event::Answered { id, answer } => self.answered(now, id, &answer, out),
            Event::Noticed { id, notice } => self.noticed(id, notice),
            Event::ServiceStarted { run } => self.services.started(run),
            Event::ServiceFailed { run } => self.services.failed(now, run),
            Event::ServiceStopped { run } => self.services.stopped(run),
            Event::FenceSeen { fence } => self.floor.shown(fence),
            Event::Resign => self.resign(),
            Event::Stand { willing } => self.candidacy.stand(willing),
            Event::Shutdown => self.shut_down(now),
            Event::Wake => {}
        }
    }

    /// Begins or resumes a session. The loss of the one before may never have been announced, so sessions are compared.
    fn session_up<S: Sink>(&mut self, now: Time, session: Session, timeout: Duration, entropy: u64, out: &mut S) {
        let same =
            self.standing.is_some_and(|standing| standing.session == session || Mutant::SessionChangeUnnoticed.lives());
        if same {
            self.suspend_machines();
        } else {
            self.session_lost(now);
        }
        let standing = Standing { session, timeout, entropy, connected: true };
        self.standing = Some(standing);
        if self.config.validity(timeout).is_none() {
            let objection =
                Objection::NoValidity { timeout_ms: millis(timeout), margin_ms: millis(self.config.margin(timeout)) };
            return self.refuse(objection, out);
        }
        if same {
            self.election.resume(now, &standing, &self.config);
        } else {
            self.election.begin(now, &standing, &self.config);
            self.floor.begin();
        }
    }

    fn suspended(&mut self) {
        self.suspend_machines();
        if let Some(standing) = &mut self.standing {
            standing.connected = false;
        }
        match self.config.on_suspend {
            OnSuspend::Hold => {}
            OnSuspend::StepDown => self.election.step_down(),
        }
    }

    fn suspend_machines(&mut self) {
        self.issuer.relink();
        self.election.suspend();
        self.floor.suspend();
        self.settings.suspend();
        self.wishes.suspend();
        self.membership.each().into_iter().for_each(crate::membership::Membership::suspend);
        self.registry.each().into_iter().for_each(crate::registry::Registry::suspend);
    }

    pub(super) fn session_lost(&mut self, now: Time) {
        self.suspend_machines();
        let Some(standing) = self.standing.take() else { return };
        self.election.lose(now, standing.timeout);
        self.membership.each().into_iter().for_each(|membership| membership.lose(standing.session));
        remember(&mut self.former, standing.session);
    }

    fn answered<S: Sink>(&mut self, now: Time, id: OpId, answer: &Answer, out: &mut S) {
        let Some(standing) = self.standing else { return };
        let context = Context { now, standing: &standing, config: &self.config };
        let discovery = match id.slot {
            Slot::Election | Slot::Sweep | Slot::Beat => self.election.answered(&context, id, answer),
            Slot::Term => {
                self.floor.answered(now, id, answer);
                Discovery::default()
            }
            Slot::Membership(directory) => {
                let wrong = self.membership.of(directory).answered(now, &standing, id, answer);
                Discovery { session_is_wrong: wrong, ..Discovery::default() }
            }
            Slot::Settings => {
                self.settings_answered(now, id, answer, out);
                Discovery::default()
            }
            Slot::Wish => {
                self.wishes.answered(now, id, answer);
                Discovery::default()
            }
            Slot::Mirror(directory) => {
                self.mirrored(now, directory, id, answer, out);
                Discovery::default()
            }
        };
        if let Some(candidate) = discovery.ownerless {
            out.push(Action::Announce(Announcement::Ownerless(candidate)));
        }
        if discovery.record_is_wrong {
            self.floor.reread();
        }
        if discovery.session_is_wrong {
            self.session_lost(now);
            out.push(Action::RenewSession);
        }
    }

    fn settings_answered<S: Sink>(&mut self, now: Time, id: OpId, answer: &Answer, out: &mut S) {
        match self.settings.answered(now, id, answer, &self.config) {
            None => {}
            Some(News::Objection(objection)) => self.refuse(objection, out),
            Some(News::Changed(theirs)) => out.push(Action::Announce(Announcement::SettingsChanged(theirs))),
        }
    }

    fn mirrored<S: Sink>(&mut self, now: Time, directory: crate::Directory, id: OpId, answer: &Answer, out: &mut S) {
        let changed = self.registry.of(directory).answered(now, id, answer, out);
        if !changed {
            return;
        }
        match directory {
            crate::Directory::Coordinators => {
                self.election.coordinators_changed();
                let newest = self.leader_entry().map(|(_, epoch)| epoch);
                self.floor.coordinators_changed(newest);
            }
            crate::Directory::Workers => self.election.ranked(self.rank()),
        }
    }

    /// Number of workers, as far as this node knows them, whose names come before its own.
    fn rank(&self) -> u32 {
        let before = self.registry.workers.members().partition_point(|member| member.key.id < self.config.id);
        u32::try_from(before).unwrap_or(u32::MAX)
    }

    fn noticed(&mut self, id: OpId, notice: Notice) {
        match id.slot {
            Slot::Election => self.election.noticed(id, notice),
            Slot::Membership(directory) => self.membership.of(directory).noticed(id),
            Slot::Mirror(directory) => self.registry.of(directory).noticed(id),
            Slot::Wish => self.wishes.noticed(id),
            Slot::Sweep | Slot::Beat | Slot::Term | Slot::Settings => {}
        }
    }

    fn resign(&mut self) {
        if self.duty.role() == Role::Leader && self.hold_off.is_over() {
            self.hold_off.begin();
        }
    }

    fn shut_down(&mut self, now: Time) {
        if self.stop == Stop::No {
            self.stop = Stop::Asked { limit: now + self.config.shutdown_limit };
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
