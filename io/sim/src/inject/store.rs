//! Faults of the store, and acts of operators in it.

use core::time::Duration;

use rolecall_core::Directory;
use rolecall_core::store::{Act, Fault, Server};

use super::super::world::{STORE, World};
use super::Mend;

impl World<'_> {
    pub(super) fn lag(&mut self, server: Server, length: Duration) -> bool {
        self.hub.inject(Fault::Lag(server));
        self.later(length, Mend::CatchUp(server));
        self.note(STORE, &format!("server {} shows what was", server.0))
    }

    pub(super) fn catch_up(&mut self, server: Server) {
        self.hub.inject(Fault::CatchUp(server));
        self.note_mend(STORE, &format!("server {} has caught up", server.0));
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
        self.hub.inject(Fault::Restart { keep_data });
        self.note(STORE, if keep_data { "stops and starts again" } else { "stops and starts again, empty" })
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
    fn excuse_two_leaders(&mut self) {
        let until = self.now() + self.settings.session_timeout + self.settings.store_tick;
        self.judge.excuse(self.now(), until);
    }
}
