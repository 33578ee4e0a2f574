//! Clients that connect and disconnect.

use core::time::Duration;

use super::exchange::Need;
use super::session::{Life, Standing};
use super::watch::Watches;
use super::{Client, Machine, Output, Rejection, Server, Sink};
use crate::{Session, Time};

impl Machine {
    pub(super) fn connect(
        &mut self,
        now: Time,
        server: Server,
        client: Client,
        previous: Option<Session>,
        timeout: Duration,
        out: &mut impl Sink,
    ) {
        if !self.has(server) || self.replica(server).is_cut() {
            return out.push(Output::Rejected { server, why: Rejection::Unreachable });
        }
        let timeout = self.timing.negotiate(timeout);
        match previous {
            None => self.open(now, server, client, timeout, out),
            Some(session) => self.resume(now, server, &client, session, timeout, out),
        }
    }

    /// Drops a client's link: its pending requests stay unknown, and a session that was over is forgotten.
    pub(super) fn drop_link(&mut self, session: Session, out: &mut impl Sink) {
        let Some(life) = self.sessions.get_mut(&session) else { return };
        match life.standing {
            Standing::Adrift => return,
            Standing::Connected => life.standing = Standing::Adrift,
            Standing::Ghost => {
                self.abandon_held(session, out);
                return self.remove(session);
            }
        }
        self.abandon_held(session, out);
        for replica in &mut self.servers {
            replica.held.retain(|held| held.session != session || held.what.need() == Need::Commit);
        }
    }

    pub(super) fn ping(&mut self, now: Time, session: Session) {
        let Some(life) = self.sessions.get_mut(&session) else { return };
        let replica = &self.servers[usize::from(life.server.0)];
        match life.standing {
            Standing::Adrift => return,
            Standing::Connected if !replica.is_cut() => life.hear(now, self.timing.half_tick()),
            Standing::Connected | Standing::Ghost => {}
        }
        life.seen = life.seen.max(replica.shows(&self.tree).revision);
    }

    /// Opens a session. That is a commit, so the server has to be up to date.
    fn open(&mut self, now: Time, server: Server, client: Client, timeout: Duration, out: &mut impl Sink) {
        self.catch_up(server, out);
        self.newest += 1;
        let session = Session(self.newest);
        let life = Life {
            client,
            timeout,
            standing: Standing::Connected,
            server,
            heard: now,
            told: now,
            seen: self.tree.revision,
            watches: Watches::default(),
        };
        self.sessions.insert(session, life);
        out.push(Output::Connected { session, timeout });
    }

    fn resume(
        &mut self,
        now: Time,
        server: Server,
        client: &Client,
        session: Session,
        timeout: Duration,
        out: &mut impl Sink,
    ) {
        let shown = self.replica(server).shows(&self.tree).revision;
        let known = self.sessions.get(&session).filter(|life| life.client == *client);
        match known.map(|life| (life.standing, life.seen > shown)) {
            None => return out.push(Output::Expired { session }),
            Some((Standing::Ghost, _)) => {
                self.drop_link(session, out);
                return out.push(Output::Expired { session });
            }
            Some((Standing::Connected | Standing::Adrift, true)) => {
                return out.push(Output::Rejected { server, why: Rejection::Behind });
            }
            Some((Standing::Connected | Standing::Adrift, false)) => {}
        }
        // The session has moved to this server: requests that another server holds for it never happen.
        self.abandon_held(session, out);
        self.drop_held(session);
        out.push(Output::Connected { session, timeout });
        let Some(life) = self.sessions.get_mut(&session) else { return };
        (life.standing, life.server, life.timeout) = (Standing::Connected, server, timeout);
        life.meet(now);
        let since = life.seen;
        let tree = self.servers[usize::from(server.0)].shows(&self.tree);
        life.seen = tree.revision;
        life.notify(session, since, tree, out);
    }
}
