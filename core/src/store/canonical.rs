//! The form of a state in which a model checker knows it again.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use core::time::Duration;

use super::directory::Entries;
use super::exchange::Ask;
use super::replica::{Replica, View};
use super::session::{Life, Standing};
use super::tree::Tree;
use super::watch::Target;
use super::{Machine, Request};
use crate::{Candidate, Epoch, OpId, Session, Time};

/// Other names for numbers that only ever rise, so that no state would ever be seen twice.
///
/// Ranks do, as long as they are taken over the whole world: the store, its clients and what is under way between them.
/// One pass of [`Machine::canonical`] that only collects gives the store's part. Every method must keep the order, and
/// must leave a number that follows directly on the greatest one to follow on it still; session 0 is nobody's and keeps
/// its number.
pub trait Renaming {
    /// For the name of a request of `session` (as it was called before).
    fn operation(&mut self, session: Session, id: OpId) -> OpId;
    /// For a revision, or the epoch that is one.
    fn revision(&mut self, revision: u64) -> u64;
    /// For a candidate's sequence number, or the next one to be given.
    fn sequence(&mut self, sequence: i32) -> i32;
    /// For a session.
    fn session(&mut self, session: Session) -> Session;
}

impl Machine {
    /// The same state under other names, with times counted from an origin not far before `now`; and `now` on that
    /// axis, on which the future is the same.
    #[must_use]
    pub fn canonical(&self, now: Time, names: &mut impl Renaming) -> (Self, Time) {
        let axis = Axis::of(self, now);
        let tree = Arc::new(renamed_tree(&self.tree, names));
        let servers = self.servers.iter().map(|replica| renamed_replica(replica, names)).collect();
        let mut sessions = BTreeMap::new();
        for (session, life) in &self.sessions {
            let life = self.renamed_life(*session, life, &axis, names);
            sessions.insert(names.session(*session), life);
        }
        let newest = names.session(Session(self.newest)).0;
        (Self { timing: self.timing, tree, servers, sessions, newest }, axis.place(now, Duration::ZERO))
    }

    fn renamed_life(&self, session: Session, life: &Life, axis: &Axis, names: &mut impl Renaming) -> Life {
        let mut life = life.clone();
        life.seen = names.revision(life.seen);
        (life.heard, life.told) = match life.standing {
            Standing::Ghost => (Time::ZERO, Time::ZERO),
            Standing::Connected | Standing::Adrift => {
                // What the others were told matters only as long as a cut could undo the last contact.
                let undoable = self.servers.len() > 1 && life.heard > axis.now - self.timing.half_tick();
                let told = if undoable { life.told } else { life.heard };
                (axis.place(life.heard, life.timeout), axis.place(told, life.timeout))
            }
        };
        for watch in &mut life.watches.0 {
            watch.id = names.operation(session, watch.id);
            match &mut watch.target {
                Target::Candidate(candidate) => *candidate = renamed_candidate(candidate, names),
                Target::Entry(_, key) => key.session = names.session(key.session),
                Target::Directory(_) => {}
            }
        }
        life
    }
}

/// Times counted from an origin that lies a whole number of ticks back, beyond the last contact of every session.
#[derive(Debug)]
struct Axis {
    now: Time,
    tick: u64,
    /// The beginning of this tick, and where it is put.
    this_tick: u64,
    at: u64,
}

impl Axis {
    fn of(machine: &Machine, now: Time) -> Self {
        let tick = nanos(machine.timing.tick).max(1);
        let longest = machine.sessions.values().map(|life| reach(life.timeout, tick)).max().unwrap_or(0);
        Self { now, tick, this_tick: now.as_nanos() / tick * tick, at: longest }
    }

    /// Where a contact is put, of a session with this timeout. Those that prove nothing any more are all one.
    fn place(&self, time: Time, timeout: Duration) -> Time {
        let back = self.this_tick.saturating_sub(time.as_nanos()).min(reach(timeout, self.tick));
        let on = time.as_nanos().saturating_sub(self.this_tick);
        Time::from_nanos(self.at.saturating_add(on).saturating_sub(back))
    }
}

/// So far before the beginning of this tick a contact proves nothing any more.
fn reach(timeout: Duration, tick: u64) -> u64 {
    (nanos(timeout) / tick).saturating_add(2).saturating_mul(tick)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn renamed_tree(tree: &Tree, names: &mut impl Renaming) -> Tree {
    let mut tree = tree.clone();
    tree.revision = names.revision(tree.revision);
    tree.queue.created = names.sequence(tree.queue.created);
    for contender in &mut tree.queue.contenders {
        contender.candidate = renamed_candidate(&contender.candidate, names);
        contender.owner = names.session(contender.owner);
        contender.written = names.revision(contender.written);
    }
    if let Some(term) = &mut tree.term {
        term.fence.epoch = Epoch(names.revision(term.fence.epoch.0));
    }
    rename_entries(&mut tree.workers, names);
    rename_entries(&mut tree.coordinators, names);
    tree
}

fn rename_entries(directory: &mut Entries, names: &mut impl Renaming) {
    directory.changed = names.revision(directory.changed);
    for entry in &mut directory.entries {
        entry.owner = names.session(entry.owner);
        entry.written = names.revision(entry.written);
        entry.member.created = names.revision(entry.member.created);
        entry.member.key.session = names.session(entry.member.key.session);
        entry.member.epoch = entry.member.epoch.map(|epoch| Epoch(names.revision(epoch.0)));
    }
}

fn renamed_replica(replica: &Replica, names: &mut impl Renaming) -> Replica {
    let mut replica = replica.clone();
    match &mut replica.view {
        View::Current => {}
        View::Lagging(tree) | View::Cut(tree) => *tree = Arc::new(renamed_tree(tree, names)),
    }
    for held in &mut replica.held {
        if let Ask::Request(id, request) = &mut held.what {
            *id = names.operation(held.session, *id);
            rename_request(request, names);
        }
        held.session = names.session(held.session);
    }
    replica
}

pub(super) fn rename_request(request: &mut Request, names: &mut impl Renaming) {
    match request {
        Request::Inspect { candidate, .. }
        | Request::Delete { candidate }
        | Request::Claim { candidate, .. }
        | Request::Beat { candidate } => *candidate = renamed_candidate(candidate, names),
        Request::Join { session, epoch, .. } => {
            *session = names.session(*session);
            *epoch = epoch.map(|epoch| Epoch(names.revision(epoch.0)));
        }
        Request::Leave { session, .. } | Request::Verify { session, .. } => *session = names.session(*session),
        Request::Sync
        | Request::Enter { .. }
        | Request::List
        | Request::ReadTerm
        | Request::Members { .. }
        | Request::Settle { .. } => {}
    }
}

fn renamed_candidate(candidate: &Candidate, names: &mut impl Renaming) -> Candidate {
    Candidate { sequence: names.sequence(candidate.sequence), guid: candidate.guid }
}
