//! Records of what nodes were told, independent of the store's numbers.

use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

use rolecall::store::StoreEvent;
use rolecall_core::store::{Answer, DirectoryReply, Notice, QueueReply, Reply};
use rolecall_core::{Epoch, OpId, Session};

/// Everything that one node was told in one step. Answers and notices are in the order of their requests, since they
/// may come in any order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) answers: Vec<(OpId, Answer)>,
    pub(crate) notices: Vec<(OpId, Notice)>,
    /// News of the session, in their own order.
    pub(crate) session: Vec<StoreEvent>,
}

impl Received {
    pub(crate) fn push(&mut self, event: StoreEvent) {
        match event {
            StoreEvent::Answered { id, answer } => {
                self.answers.push((id, answer));
                self.answers.sort_by_key(|(id, _)| *id);
            }
            StoreEvent::Noticed { id, notice } => {
                self.notices.push((id, notice));
                self.notices.sort_by_key(|(id, _)| *id);
            }
            // No server of these tests denies anything.
            StoreEvent::Denied(denied) => assert!(denied.is_empty(), "{denied:?}"),
            news @ (StoreEvent::Up { .. } | StoreEvent::Suspended | StoreEvent::Lost | StoreEvent::Closed) => {
                // The first allowed difference.
                if news == StoreEvent::Lost && self.session.last() == Some(&StoreEvent::Suspended) {
                    self.session.pop();
                }
                self.session.push(news);
            }
        }
    }

    /// Number of items.
    pub(crate) fn len(&self) -> usize {
        self.answers.len() + self.notices.len() + self.session.len()
    }
}

/// Everything that all nodes were told in one step, by node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// True if the store has lost its data, so that revisions count anew.
    life: u32,
    pub(crate) told: Vec<Received>,
}

impl Record {
    pub(crate) fn new(life: u32, told: Vec<Received>) -> Self {
        Self { life, told }
    }

    pub(crate) fn lengths(&self) -> Vec<usize> {
        self.told.iter().map(Received::len).collect()
    }
}

impl fmt::Display for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, told) in self.told.iter().enumerate().filter(|(_, told)| told.len() > 0) {
            writeln!(formatter, "  {}: {told:?}", super::step::Node(place).id())?;
        }
        Ok(())
    }
}

/// Replaces sessions by their order of appearance, and revisions by their ranks.
pub(crate) fn normalise(mut records: Vec<Record>) -> Vec<Record> {
    let mut sessions = BTreeMap::from([(Session(0), Session(0))]);
    let mut revisions = BTreeSet::new();
    for record in &mut records {
        visit(record, &mut |life, value| match value {
            Value::Opened(session) => {
                let next = Session(sessions.len() as u64);
                sessions.entry(*session).or_insert(next);
            }
            Value::Revision(revision) => _ = revisions.insert((life, *revision)),
            Value::Session(_) => {}
        });
    }
    for record in &mut records {
        visit(record, &mut |life, value| match value {
            Value::Opened(session) | Value::Session(session) => {
                *session = sessions.get(session).copied().unwrap_or(*session);
            }
            Value::Revision(revision) => *revision = revisions.range(..(life, *revision)).count() as u64,
        });
        let members = record.told.iter_mut().flat_map(|told| &mut told.answers);
        for (_, answer) in members {
            if let Answer::Done(Reply::Directory(DirectoryReply::Members(snapshot))) = answer {
                snapshot.members.sort_by(|one, other| one.key.cmp(&other.key));
            }
        }
    }
    records
}

enum Value<'a> {
    Opened(&'a mut Session),
    Session(&'a mut Session),
    Revision(&'a mut u64),
}

fn visit(record: &mut Record, see: &mut impl FnMut(u32, Value<'_>)) {
    let life = record.life;
    for told in &mut record.told {
        for event in &mut told.session {
            if let StoreEvent::Up { session, .. } = event {
                see(life, Value::Opened(session));
            }
        }
        for (_, answer) in &mut told.answers {
            if let Answer::Done(reply) = answer {
                visit_reply(reply, &mut |value| see(life, value));
            }
        }
    }
}

fn visit_reply(reply: &mut Reply, see: &mut impl FnMut(Value<'_>)) {
    match reply {
        Reply::Queue(QueueReply::Candidate { owner, .. }) => see(Value::Session(owner)),
        Reply::Queue(QueueReply::Claimed(Epoch(revision))) => see(Value::Revision(revision)),
        Reply::Term(record) => see(Value::Revision(&mut record.fence.epoch.0)),
        Reply::Directory(DirectoryReply::Registered { owner, epoch }) => {
            see(Value::Session(owner));
            if let Some(Epoch(revision)) = epoch {
                see(Value::Revision(revision));
            }
        }
        Reply::Directory(DirectoryReply::Members(snapshot)) => {
            for member in &mut snapshot.members {
                see(Value::Session(&mut member.key.session));
                see(Value::Revision(&mut member.created));
                if let Some(Epoch(revision)) = &mut member.epoch {
                    see(Value::Revision(revision));
                }
            }
        }
        Reply::Synced
        | Reply::Queue(
            QueueReply::Entered(_) | QueueReply::Candidates { .. } | QueueReply::Deleted | QueueReply::Beaten,
        )
        | Reply::Lease(_)
        | Reply::Directory(DirectoryReply::Joined | DirectoryReply::Left)
        | Reply::Settings(_)
        | Reply::Wish(_) => {}
    }
}
