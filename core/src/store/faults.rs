//! Acts of operators, and faults.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::exchange::refuse;
use super::replica::{Replica, View};
use super::session::Standing;
use super::tree::Tree;
use super::{Act, Fault, Machine, Output, Refusal, Server, Sink};
use crate::{Family, Session, Time};

impl Machine {
    pub(super) fn operate(&mut self, act: Act, out: &mut impl Sink) {
        let owner = match &act {
            Act::AddCandidate { owner, .. } | Act::AddMember { owner, .. } => self.living_or_nobody(*owner),
            Act::RewriteCandidate(_)
            | Act::DeleteCandidate(_)
            | Act::LitterQueue
            | Act::RewriteMember { .. }
            | Act::DeleteMember { .. }
            | Act::LitterDirectory(_)
            | Act::DeleteTerm
            | Act::SpoilTerm
            | Act::DeleteSettings
            | Act::Wish(_)
            | Act::SpoilWish
            | Act::DeleteWish => Session::default(),
        };
        self.commit(out, |tree| tree.operate(act, owner));
    }

    pub(super) fn suffer(&mut self, now: Time, fault: Fault, out: &mut impl Sink) {
        match fault {
            Fault::Lag(_) if self.family() == Family::Lease => self.replica = Some(self.tree.clone()),
            Fault::Lag(server) => self.lag(server),
            Fault::CatchUp(_) if self.family() == Family::Lease => self.replica = None,
            Fault::CatchUp(server) => {
                if self.has(server) && !self.replica(server).is_cut() {
                    self.catch_up(server, out);
                }
            }
            Fault::Cut(server) => self.cut(now, server),
            Fault::Heal { server, deliver } => self.heal(now, server, deliver, out),
            Fault::Restart { keep_data } => self.restart(now, keep_data, out),
            Fault::Expire(session) => self.expire(session, out),
            Fault::Step { millis } => {
                self.host.stepped = self.host.stepped.saturating_add(millis.saturating_mul(1_000_000));
            }
            Fault::Lapse => self.commit(out, Tree::lapse),
        }
    }

    fn lag(&mut self, server: Server) {
        if self.has(server) && matches!(self.replica(server).view, View::Current) {
            self.replica_mut(server).view = View::Lagging(self.tree.clone());
        }
    }

    /// In the worst case, the server has not passed on what it heard of its clients in the last half tick.
    fn cut(&mut self, now: Time, server: Server) {
        let others = self.servers.iter().filter(|replica| !replica.is_cut()).count();
        if !self.has(server) || self.replica(server).is_cut() || others == 1 {
            return;
        }
        let shown = self.replica(server).shows(&self.tree).clone();
        self.replica_mut(server).view = View::Cut(shown);
        for life in self.sessions.values_mut().filter(|life| life.server == server) {
            life.lose_contact(now, self.timing.half_tick());
        }
    }

    fn heal(&mut self, now: Time, server: Server, deliver: bool, out: &mut impl Sink) {
        if !self.has(server) || !self.replica(server).is_cut() {
            return;
        }
        if !deliver {
            self.drop_links(Some(server), out);
            self.replica_mut(server).held.clear();
        }
        self.catch_up(server, out);
        for held in core::mem::take(&mut self.replica_mut(server).held) {
            if let Some(life) = self.sessions.get_mut(&held.session) {
                // Along with the requests it held, the server tells the others which clients it heard.
                life.hear(now, self.timing.half_tick());
                self.perform(now, held.session, &held.what, held.awaited, out);
            } else if held.awaited {
                // A held close has ended the session before.
                refuse(held.session, &held.what, Refusal::SessionOver, out);
            }
        }
    }

    fn restart(&mut self, now: Time, keep_data: bool, out: &mut impl Sink) {
        self.drop_links(None, out);
        for replica in &mut self.servers {
            *replica = Replica::default();
        }
        self.host.life = self.host.life.next();
        if let Some(old) = self.replica.take().filter(|_| keep_data) {
            self.promote(&old);
        } else if keep_data {
            for life in self.sessions.values_mut() {
                life.meet(now);
            }
        } else {
            self.sessions.clear();
            self.tree = Arc::new(Tree::of(self.family()));
        }
    }

    /// Puts a replica in the server's place, which has not heard of the last writes, nor of any session.
    fn promote(&mut self, old: &Arc<Tree>) {
        let mut tree = Tree::clone(old);
        tree.revision = self.tree.revision;
        self.sessions.clear();
        tree.release_all();
        self.tree = Arc::new(tree);
    }

    /// Breaks the links of one server, or of all.
    fn drop_links(&mut self, server: Option<Server>, out: &mut impl Sink) {
        let linked: Vec<Session> = self
            .sessions
            .iter()
            .filter(|(_, life)| life.standing != Standing::Adrift && server.is_none_or(|server| life.server == server))
            .map(|(session, _)| *session)
            .collect();
        for session in linked {
            self.drop_link(session, out);
            out.push(Output::Disconnected { session });
        }
    }

    fn living_or_nobody(&self, owner: Session) -> Session {
        match self.sessions.get(&owner).map(|life| life.standing) {
            Some(Standing::Connected | Standing::Adrift) => owner,
            Some(Standing::Ghost) | None => Session::default(),
        }
    }
}
