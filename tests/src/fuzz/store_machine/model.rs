//! Clients, sessions and watches on the tree of znodes.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use rolecall_core::store::{
    Answer, Client, DirectoryRequest, Event, Fault, Notice, Output, QueueRequest, Refusal, Rejection, Request, Server,
    SettingsRequest, TermRequest, Timing,
};
use rolecall_core::{Directory, MemberKey, OpId, Session, Time};

use super::events::TIMING;
use super::names::{ELECTION, candidate_path, entry_path, folder};
use super::znodes::{Happened, Znodes};

/// ZooKeeper as seen from outside.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) tree: Znodes,
    pub(super) clients: BTreeMap<Session, Life>,
    newest: u64,
}

/// A session and its client.
#[derive(Debug)]
pub(super) struct Life {
    client: Client,
    timeout: Duration,
    heard: Time,
    is_connected: bool,
    /// Newest transaction that the client has seen.
    seen: u64,
    watches: Vec<Watch>,
}

#[derive(Debug)]
struct Watch {
    path: String,
    is_on_children: bool,
    id: OpId,
}

impl Default for Model {
    fn default() -> Self {
        Self { tree: tree(), clients: BTreeMap::new(), newest: 0 }
    }
}

fn tree() -> Znodes {
    Znodes::new(&[ELECTION, folder(Directory::Workers), folder(Directory::Coordinators)])
}

impl Model {
    pub(super) fn handle(&mut self, now: Time, event: &Event) -> Vec<Output> {
        let mut out = Vec::new();
        while let Some((_, session)) = self.ends().min().filter(|(at, _)| *at <= now) {
            self.expire(session, &mut out);
        }
        match event {
            Event::Connect { server: Server(0), client, previous, timeout } => {
                self.connect(now, client, *previous, *timeout, &mut out);
            }
            Event::Connect { server, .. } => {
                out.push(Output::Rejected { server: *server, why: Rejection::Unreachable });
            }
            Event::Disconnect { session } => {
                if let Some(life) = self.clients.get_mut(session) {
                    life.is_connected = false;
                }
            }
            Event::Request { session, id, request } => self.request(now, *session, *id, request, &mut out),
            Event::Ping { session } => {
                if let Some(life) = self.clients.get_mut(session).filter(|life| life.is_connected) {
                    (life.heard, life.seen) = (now, self.tree.zxid);
                }
            }
            Event::Close { session } => self.close(*session, &mut out),
            Event::Wake => {}
            Event::Operator(act) => self.operate(act, &mut out),
            Event::Fault(Fault::Expire(session)) => self.expire(*session, &mut out),
            Event::Fault(Fault::Restart { keep_data }) => self.restart(now, *keep_data, &mut out),
            Event::Fault(
                Fault::Lag(_)
                | Fault::CatchUp(_)
                | Fault::Cut(_)
                | Fault::Heal { .. }
                | Fault::Step { .. }
                | Fault::Lapse,
            ) => {
                unreachable!("no such event is made from bytes")
            }
        }
        out
    }

    pub(super) fn next_deadline(&self) -> Option<Time> {
        self.ends().map(|(at, _)| at).min()
    }

    pub(super) fn sessions(&self) -> impl Iterator<Item = Session> {
        self.clients.keys().copied()
    }

    /// End of each session: the first whole tick after its timeout.
    fn ends(&self) -> impl Iterator<Item = (Time, Session)> {
        self.clients.iter().map(|(session, life)| {
            let Timing { tick, .. } = TIMING;
            let ticks = (life.heard + life.timeout).as_nanos() / nanos(tick) + 1;
            (Time::from_nanos(ticks * nanos(tick)), *session)
        })
    }

    fn expire(&mut self, session: Session, out: &mut Vec<Output>) {
        let Some(life) = self.clients.remove(&session) else { return };
        let happened = self.tree.close(session.0);
        self.tell(&happened, out);
        if life.is_connected {
            out.push(Output::Expired { session });
        }
    }

    fn close(&mut self, session: Session, out: &mut Vec<Output>) {
        match self.clients.get(&session) {
            None => out.push(Output::Expired { session }),
            Some(life) if !life.is_connected => {}
            Some(_) => {
                self.clients.remove(&session);
                let happened = self.tree.close(session.0);
                self.tell(&happened, out);
                out.push(Output::Closed { session });
            }
        }
    }

    fn connect(
        &mut self,
        now: Time,
        client: &Client,
        previous: Option<Session>,
        wanted: Duration,
        out: &mut Vec<Output>,
    ) {
        let timeout = wanted.clamp(TIMING.tick * 2, TIMING.tick * 20);
        let seen = self.tree.zxid;
        let Some(session) = previous else {
            self.newest += 1;
            let session = Session(self.newest);
            let client = client.clone();
            let life = Life { client, timeout, heard: now, is_connected: true, seen, watches: Vec::new() };
            self.clients.insert(session, life);
            return out.push(Output::Connected { session, timeout });
        };
        let Some(life) = self.clients.get_mut(&session).filter(|life| life.client == *client) else {
            return out.push(Output::Expired { session });
        };
        let since = core::mem::replace(&mut life.seen, seen);
        (life.timeout, life.heard, life.is_connected) = (timeout, now, true);
        out.push(Output::Connected { session, timeout });
        let tree = &self.tree;
        life.watches.retain(|watch| {
            let notice = match tree.find(&watch.path) {
                None => Some(Notice::Deleted),
                Some(node) => {
                    let changed = if watch.is_on_children { node.pzxid } else { node.mzxid };
                    (changed > since).then_some(Notice::Changed)
                }
            };
            out.extend(notice.map(|notice| Output::Noticed { session, id: watch.id, notice }));
            notice.is_none()
        });
    }

    fn restart(&mut self, now: Time, keep_data: bool, out: &mut Vec<Output>) {
        for (session, life) in &mut self.clients {
            life.heard = now;
            if core::mem::replace(&mut life.is_connected, false) {
                out.push(Output::Disconnected { session: *session });
            }
        }
        if !keep_data {
            self.clients.clear();
            self.tree = tree();
        }
    }

    /// Fires the watches of connected clients.
    pub(super) fn tell(&mut self, happened: &[Happened], out: &mut Vec<Output>) {
        for happened in happened {
            for (session, life) in self.clients.iter_mut().filter(|(_, life)| life.is_connected) {
                life.watches.retain(|watch| {
                    let notice = match happened {
                        Happened::Deleted(path) if *path == watch.path => Notice::Deleted,
                        Happened::DataChanged(path) if *path == watch.path && !watch.is_on_children => Notice::Changed,
                        Happened::ChildrenChanged(path) if *path == watch.path && watch.is_on_children => {
                            Notice::Changed
                        }
                        Happened::Deleted(_) | Happened::DataChanged(_) | Happened::ChildrenChanged(_) => return true,
                    };
                    out.push(Output::Noticed { session: *session, id: watch.id, notice });
                    false
                });
            }
        }
    }

    fn request(&mut self, now: Time, session: Session, id: OpId, request: &Request, out: &mut Vec<Output>) {
        let refused = |refusal| Output::Answered { session, id, answer: Answer::Refused(refusal) };
        let Some(life) = self.clients.get_mut(&session) else {
            out.push(refused(Refusal::SessionOver));
            return out.push(Output::Expired { session });
        };
        if !life.is_connected {
            return out.push(refused(Refusal::Disconnected));
        }
        life.heard = now;
        let (client, timeout) = (life.client.clone(), life.timeout);
        let answer = self.answer(session, &client, timeout, request, out);
        self.leave_watch(session, &client, id, request, &answer);
        out.push(Output::Answered { session, id, answer });
    }

    fn leave_watch(&mut self, session: Session, client: &Client, id: OpId, request: &Request, answer: &Answer) {
        let Some(life) = self.clients.get_mut(&session) else { return };
        life.seen = self.tree.zxid;
        let (path, is_on_children) = match request {
            Request::Queue(QueueRequest::Inspect { candidate, watch: true }) => (candidate_path(candidate), false),
            Request::Directory(DirectoryRequest::Verify { directory, session }) => {
                (entry_path(*directory, &key(client, *session)), false)
            }
            Request::Directory(DirectoryRequest::Members { directory, watch: true }) => {
                (folder(*directory).to_owned(), true)
            }
            Request::Queue(QueueRequest::Inspect { watch: false, .. })
            | Request::Directory(DirectoryRequest::Members { watch: false, .. })
            | Request::Sync
            | Request::Queue(QueueRequest::Enter { .. })
            | Request::Queue(QueueRequest::List)
            | Request::Queue(QueueRequest::Delete { .. })
            | Request::Queue(QueueRequest::Claim { .. })
            | Request::Queue(QueueRequest::Beat { .. })
            | Request::Lease(_)
            | Request::Term(TermRequest::Read)
            | Request::Directory(DirectoryRequest::Join { .. })
            | Request::Directory(DirectoryRequest::Leave { .. })
            | Request::Settings(SettingsRequest::Settle { .. })
            | Request::Wish(_) => return,
        };
        if matches!(answer, Answer::Done(_)) {
            // The machine keeps the newest watch that a slot of a node has set on a path.
            life.watches.retain(|watch| watch.path != path || watch.id.slot != id.slot);
            life.watches.push(Watch { path, is_on_children, id });
        }
    }
}

pub(super) fn key(client: &Client, session: Session) -> MemberKey {
    MemberKey { id: Arc::clone(&client.id), session }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
