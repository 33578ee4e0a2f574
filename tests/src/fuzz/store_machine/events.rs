//! Events for the store, made from bytes. There are few names, so they coincide often.

use core::time::Duration;

use rolecall_core::store::{
    Act, Client, DirectoryRequest, Event, Fault, QueueRequest, Request, Server, SettingsRequest, TermRequest, Timing,
};
use rolecall_core::{Candidate, Directory, Epoch, Guid, Incarnation, Link, MemberKey, OpId, Session, Slot};

use super::Bytes;

/// Timing of the store.
pub(super) const TIMING: Timing = Timing::bounded(Duration::from_secs(2));

const SLOTS: [Slot; 3] = [Slot::Election, Slot::Membership(Directory::Workers), Slot::Mirror(Directory::Coordinators)];

/// Time between an event and the one before: mostly none, seldom minutes.
pub(super) fn pause(bytes: &mut Bytes<'_>) -> Duration {
    let step = u64::from(bytes.below(64)).saturating_sub(32);
    Duration::from_millis(step * step * step * 5)
}

pub(super) fn event(kind: u8, sequence: u32, bytes: &mut Bytes<'_>) -> Event {
    match kind % 32 {
        0..=3 => Event::Connect {
            server: Server(u8::from(bytes.below(16) == 15)),
            client: client(bytes),
            previous: flag(bytes).then(|| session(bytes)),
            timeout: Duration::from_secs(bytes.below(60).into()),
        },
        4 => Event::Disconnect { session: session(bytes) },
        5 | 6 => Event::Ping { session: session(bytes) },
        7 => Event::Close { session: session(bytes) },
        8 => Event::Wake,
        9..=12 => Event::Operator(act(bytes)),
        13 => Event::Fault(Fault::Expire(session(bytes))),
        14 if bytes.below(8) == 7 => Event::Fault(Fault::Restart { keep_data: flag(bytes) }),
        _ => {
            let id = OpId { link: Link(0), slot: bytes.pick(&SLOTS), sequence };
            Event::Request { session: session(bytes), id, request: request(bytes) }
        }
    }
}

fn request(bytes: &mut Bytes<'_>) -> Request {
    match bytes.below(13) {
        0 => Request::Queue(QueueRequest::Enter { guid: guid(bytes) }),
        1 => Request::Queue(QueueRequest::List),
        2 => Request::Queue(QueueRequest::Inspect { candidate: candidate(bytes), watch: flag(bytes) }),
        3 => Request::Queue(QueueRequest::Delete { candidate: candidate(bytes) }),
        4 => {
            let incarnation = Incarnation(bytes.below(3).into());
            Request::Queue(QueueRequest::Claim { candidate: candidate(bytes), incarnation, create: flag(bytes) })
        }
        5 => Request::Queue(QueueRequest::Beat { candidate: candidate(bytes) }),
        6 => Request::Term(TermRequest::Read),
        7 => Request::Directory(DirectoryRequest::Join {
            directory: directory(bytes),
            session: session(bytes),
            epoch: epoch(bytes),
        }),
        8 => Request::Directory(DirectoryRequest::Leave { directory: directory(bytes), session: session(bytes) }),
        9 => Request::Directory(DirectoryRequest::Verify { directory: directory(bytes), session: session(bytes) }),
        10 => Request::Directory(DirectoryRequest::Members { directory: directory(bytes), watch: flag(bytes) }),
        11 => Request::Settings(SettingsRequest::Settle { settings: bytes.pick(&["64", "128"]).into() }),
        _ => Request::Sync,
    }
}

fn act(bytes: &mut Bytes<'_>) -> Act {
    match bytes.below(9) {
        0 => Act::AddCandidate {
            guid: flag(bytes).then(|| guid(bytes)),
            participant: name(bytes).into(),
            owner: session(bytes),
        },
        1 => Act::RewriteCandidate(candidate(bytes)),
        2 => Act::DeleteCandidate(candidate(bytes)),
        3 => Act::LitterQueue,
        4 => Act::AddMember {
            directory: directory(bytes),
            key: key(bytes),
            address: name(bytes).into(),
            epoch: epoch(bytes),
            owner: session(bytes),
        },
        5 => Act::RewriteMember { directory: directory(bytes), key: key(bytes) },
        6 => Act::DeleteMember { directory: directory(bytes), key: key(bytes) },
        7 => Act::LitterDirectory(directory(bytes)),
        _ => Act::DeleteTerm,
    }
}

fn client(bytes: &mut Bytes<'_>) -> Client {
    let id = name(bytes);
    Client { id: id.into(), address: format!("{id}:80").into(), metadata: Default::default() }
}

fn name(bytes: &mut Bytes<'_>) -> &'static str {
    bytes.pick(&["a", "b", "c"])
}

fn session(bytes: &mut Bytes<'_>) -> Session {
    Session(bytes.below(8).into())
}

fn directory(bytes: &mut Bytes<'_>) -> Directory {
    bytes.pick(&[Directory::Workers, Directory::Coordinators])
}

fn key(bytes: &mut Bytes<'_>) -> MemberKey {
    MemberKey { id: name(bytes).into(), session: session(bytes) }
}

fn epoch(bytes: &mut Bytes<'_>) -> Option<Epoch> {
    bytes.below(4).checked_sub(1).map(|epoch| Epoch(epoch.into()))
}

fn guid(bytes: &mut Bytes<'_>) -> Guid {
    Guid::ours(bytes.below(2).into())
}

fn candidate(bytes: &mut Bytes<'_>) -> Candidate {
    let sequence = bytes.below(8).into();
    Candidate { sequence, guid: (bytes.below(4) != 3).then(|| guid(bytes)) }
}

fn flag(bytes: &mut Bytes<'_>) -> bool {
    bytes.pick(&[false, true])
}
