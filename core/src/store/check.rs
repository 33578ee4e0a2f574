//! The invariants of the store.

use core::fmt;

use super::replica::View;
use super::session::{Life, Standing};
use super::tree::Tree;
use super::watch::Target;
use super::{Machine, Server};
use crate::Session;

/// A broken invariant of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    /// An entry belongs to a session that is over.
    OrphanLeft(Session),
    /// An entry was written after the newest revision.
    RevisionFromTheFuture,
    /// A directory or the queue is out of order, or contains a name twice.
    OutOfOrder,
    /// A server holds a request although it could pass it on.
    HeldForNothing(Server),
    /// A client and its server do not know that the client's session is over, although the server is up to date.
    Unaware(Session),
    /// Every server is cut off.
    NoMajority,
    /// A session's number was used before its time, or its server does not exist.
    NoSuchSession(Session),
    /// A client sees an older state than before.
    WentBack(Session),
    /// A watched entry is gone, but the watch did not fire.
    WatchLost(Session),
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OrphanLeft(session) => write!(formatter, "an entry outlived session {}", session.0),
            Self::RevisionFromTheFuture => formatter.write_str("an entry has a revision that is not committed yet"),
            Self::OutOfOrder => formatter.write_str("names are out of order or duplicate"),
            Self::HeldForNothing(server) => {
                write!(formatter, "server {} holds requests although it is not cut off", server.0)
            }
            Self::Unaware(session) => write!(formatter, "nobody told the client of session {} of its end", session.0),
            Self::NoMajority => formatter.write_str("every server is cut off"),
            Self::NoSuchSession(session) => write!(formatter, "session {} cannot exist", session.0),
            Self::WentBack(session) => write!(formatter, "session {} sees an older state than before", session.0),
            Self::WatchLost(session) => write!(formatter, "a watch of session {} did not fire", session.0),
        }
    }
}

impl core::error::Error for Broken {}

pub(super) fn check(machine: &Machine) -> Result<(), Broken> {
    check_tree(machine)?;
    for (index, replica) in machine.servers.iter().enumerate() {
        if !replica.is_cut() && !replica.held.is_empty() {
            return Err(Broken::HeldForNothing(Server(u8::try_from(index).unwrap_or(u8::MAX))));
        }
    }
    if machine.servers.iter().all(super::replica::Replica::is_cut) {
        return Err(Broken::NoMajority);
    }
    machine.sessions.iter().try_for_each(|(session, life)| check_session(machine, *session, life))
}

fn check_tree(machine: &Machine) -> Result<(), Broken> {
    let tree = &machine.tree;
    let lives = |owner: Session| {
        owner == Session::default() || machine.sessions.get(&owner).is_some_and(|life| life.standing != Standing::Ghost)
    };
    let queue = tree.queue.contenders.iter();
    let members = tree.workers.entries.iter().chain(&tree.coordinators.entries);
    let mut owners = queue.clone().map(|c| c.owner).chain(members.clone().map(|entry| entry.owner));
    if let Some(owner) = owners.find(|owner| !lives(*owner)) {
        return Err(Broken::OrphanLeft(owner));
    }
    let newest = queue
        .map(|contender| contender.written)
        .chain(members.map(|entry| entry.written.max(entry.member.created)))
        .chain([tree.workers.changed, tree.coordinators.changed, tree.given_up])
        .chain(tree.term.as_ref().map(|term| term.fence.epoch.0))
        .chain(machine.servers.iter().map(|replica| replica.shows(tree).revision))
        .max();
    if newest.is_some_and(|revision| revision > tree.revision) {
        return Err(Broken::RevisionFromTheFuture);
    }
    let ordered = tree.queue.contenders.is_sorted_by(|a, b| a.candidate < b.candidate)
        && [&tree.workers, &tree.coordinators]
            .iter()
            .all(|directory| directory.entries.is_sorted_by(|a, b| a.member.key < b.member.key));
    if ordered { Ok(()) } else { Err(Broken::OutOfOrder) }
}

fn check_session(machine: &Machine, session: Session, life: &Life) -> Result<(), Broken> {
    if session.0 == 0 || session.0 > machine.newest || !machine.has(life.server) {
        return Err(Broken::NoSuchSession(session));
    }
    let replica = machine.replica(life.server);
    let view = replica.shows(&machine.tree);
    match life.standing {
        Standing::Adrift => return Ok(()),
        Standing::Ghost if matches!(replica.view, View::Current) => return Err(Broken::Unaware(session)),
        Standing::Connected | Standing::Ghost => {}
    }
    if life.seen > view.revision {
        return Err(Broken::WentBack(session));
    }
    if life.watches.0.iter().all(|watch| is_there(&watch.target, view)) {
        Ok(())
    } else {
        Err(Broken::WatchLost(session))
    }
}

fn is_there(target: &Target, view: &Tree) -> bool {
    match target {
        Target::Candidate(candidate) => view.queue.find(candidate).is_some(),
        Target::Entry(directory, key) => view.directory(*directory).find(key).is_some(),
        Target::Directory(_) | Target::Lease | Target::Wish => true,
    }
}
