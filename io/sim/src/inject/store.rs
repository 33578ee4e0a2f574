//! Faults of the store, and acts of operators in it.

use core::time::Duration;

use rolecall_core::election::Timing;
use rolecall_core::store::{Act, Fault, Server};
use rolecall_core::{Directory, Family};

use super::super::world::{STORE, World};
use super::Mend;

impl World<'_> {
    pub(super) fn lag(&mut self, server: Server, length: Duration) -> bool {
        let what = match self.settings.election {
            Family::Queue => format!("server {} shows what was", server.0),
            Family::Lease if self.replica_lags() => return false,
            Family::Lease => "its replica falls behind".into(),
        };
        self.hub.inject(Fault::Lag(server));
        self.later(length, Mend::CatchUp(server));
        self.note(STORE, &what)
    }

    pub(super) fn catch_up(&mut self, server: Server) {
        let what = match self.settings.election {
            Family::Queue => format!("server {} has caught up", server.0),
            Family::Lease => "its replica has caught up".into(),
        };
        self.hub.inject(Fault::CatchUp(server));
        self.note_mend(STORE, &what);
    }

    /// True if the store keeps a lease and has a replica that lags behind.
    fn replica_lags(&self) -> bool {
        let catches_up = |mend: &Mend| matches!(mend, Mend::CatchUp(_));
        self.settings.election == Family::Lease && self.mends.values().any(catches_up)
    }

    /// Lets the wall clock of the store's server step, if nodes allow for that.
    pub(super) fn step_clock(&mut self, millis: i64) -> bool {
        let Timing::Lease(timing) = self.settings.timing() else { return false };
        let (now, lease) = (self.now(), self.settings.session_timeout);
        self.steps_forward.retain(|at| *at + lease > now);
        if millis > 0 {
            if self.steps_forward.len() >= usize::from(timing.clock_steps) {
                return false;
            }
            self.steps_forward.push(now);
        }
        self.hub.inject(Fault::Step { millis });
        let way = if millis < 0 { "back" } else { "on" };
        self.note(STORE, &format!("its clock steps {way} by {} ms", millis.unsigned_abs()))
    }

    pub(super) fn cut(&mut self, server: Server, length: Duration, deliver: bool) -> bool {
        self.hub.inject(Fault::Cut(server));
        self.later(length, Mend::Heal(server, deliver));
        self.note(STORE, &format!("server {} loses the others", server.0))
    }

    pub(super) fn heal(&mut self, server: Server, deliver: bool) {
        self.hub.inject(Fault::Heal { server, deliver });
        self.note_mend(STORE, &format!("server {} finds the others", server.0));
    }

    pub(super) fn expire(&mut self, number: usize) -> bool {
        let name = self.name(number);
        let sessions = self.hub.sessions_of(&name);
        if sessions.is_empty() {
            return false;
        }
        self.excuse_two_leaders();
        for session in sessions {
            self.hub.inject(Fault::Expire(session));
        }
        self.note(&name, "has its session ended by the store")
    }

    pub(super) fn restart_store(&mut self, keep_data: bool) -> bool {
        if !keep_data {
            self.excuse_two_leaders();
        }
        let what = match keep_data {
            true if self.replica_lags() => "stops, and its replica takes its place without the last writes",
            true => "stops and starts again",
            false => "stops and starts again, empty",
        };
        if self.settings.election == Family::Lease {
            // No replica lags behind the store that begins now.
            self.mends.retain(|_, mend| !matches!(mend, Mend::CatchUp(_)));
        }
        self.hub.inject(Fault::Restart { keep_data });
        self.note(STORE, what)
    }

    pub(super) fn delete_candidate(&mut self, number: usize) -> bool {
        let name = self.name(number);
        let contenders = self.hub.contenders();
        let Some(contender) = contenders.iter().find(|one| *one.participant == *name) else { return false };
        let candidate = contender.candidate;
        self.excuse_two_leaders();
        self.hub.operate(Act::DeleteCandidate(candidate));
        self.note("operator", &format!("deletes candidate {} of {name}", candidate.sequence))
    }

    pub(super) fn delete_members(&mut self, number: usize) -> bool {
        let name = self.name(number);
        let mut is_listed = false;
        for directory in [Directory::Workers, Directory::Coordinators] {
            let members = self.hub.members(directory);
            for member in members.into_iter().filter(|member| member.key.id == name) {
                is_listed = true;
                self.hub.operate(Act::DeleteMember { directory, key: member.key });
            }
        }
        is_listed && self.note("operator", &format!("deletes the entries of {name}"))
    }

    /// Excuses a second leader: an outsider has taken a leader's candidate or session away. Until that leader notices,
    /// at the end of its validity at the latest, only epochs tell which one is right.
    ///
    /// Nothing of that kind is excused where the store keeps a lease: it outlives its session, and a store that may have
    /// lost one grants none until it would be over.
    fn excuse_two_leaders(&mut self) {
        match self.settings.election {
            Family::Queue => {}
            Family::Lease => return,
        }
        let until = self.now() + self.settings.session_timeout + self.settings.store_tick;
        self.judge.excuse(self.now(), until);
    }
}
