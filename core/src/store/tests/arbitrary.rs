//! Arbitrary events for the store.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;

use proptest::prelude::*;

use super::*;
use crate::store::{Aim, DirectoryRequest, QueueRequest, SettingsRequest, TermRequest, Wish, WishRequest};
use crate::{Directory, Epoch, Fence, Incarnation, MemberKey};

const NAMES: [&str; 3] = ["a", "b", "c"];

fn session() -> impl Strategy<Value = Session> {
    (0..8_u64).prop_map(Session)
}

fn server() -> impl Strategy<Value = Server> {
    (0..4_u8).prop_map(Server)
}

fn directory() -> impl Strategy<Value = Directory> {
    prop_oneof![Just(Directory::Workers), Just(Directory::Coordinators)]
}

fn guid() -> impl Strategy<Value = Guid> {
    (0..3_u128).prop_map(Guid::ours)
}

fn candidate() -> impl Strategy<Value = Candidate> {
    (0..6_i64, proptest::option::of(guid())).prop_map(|(sequence, guid)| Candidate { sequence, guid })
}

fn name() -> impl Strategy<Value = Arc<str>> {
    proptest::sample::select(&NAMES[..]).prop_map(Arc::from)
}

fn key() -> impl Strategy<Value = MemberKey> {
    (name(), session()).prop_map(|(id, session)| MemberKey { id, session })
}

fn epoch() -> impl Strategy<Value = Option<Epoch>> {
    proptest::option::of((0..9_u64).prop_map(Epoch))
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        Just(Request::Sync),
        guid().prop_map(|guid| Request::Queue(QueueRequest::Enter { guid })),
        Just(Request::Queue(QueueRequest::List)),
        (candidate(), any::<bool>())
            .prop_map(|(candidate, watch)| Request::Queue(QueueRequest::Inspect { candidate, watch })),
        candidate().prop_map(|candidate| Request::Queue(QueueRequest::Delete { candidate })),
        (candidate(), any::<bool>()).prop_map(|(candidate, create)| Request::Queue(QueueRequest::Claim {
            candidate,
            incarnation: Incarnation(1),
            create
        })),
        candidate().prop_map(|candidate| Request::Queue(QueueRequest::Beat { candidate })),
        Just(Request::Term(TermRequest::Read)),
        (directory(), session(), epoch()).prop_map(|(directory, session, epoch)| Request::Directory(
            DirectoryRequest::Join { directory, session, epoch }
        )),
        (directory(), session())
            .prop_map(|(directory, session)| Request::Directory(DirectoryRequest::Leave { directory, session })),
        (directory(), session())
            .prop_map(|(directory, session)| Request::Directory(DirectoryRequest::Verify { directory, session })),
        (directory(), any::<bool>())
            .prop_map(|(directory, watch)| Request::Directory(DirectoryRequest::Members { directory, watch })),
        Just(Request::Settings(SettingsRequest::Settle { settings: "64".into() })),
        any::<bool>().prop_map(|watch| Request::Wish(WishRequest::Read { watch })),
        (wish(), proptest::option::of(0..3u64))
            .prop_map(|(wish, over)| Request::Wish(WishRequest::Write { wish: Box::new(wish), over })),
    ]
}

fn wish() -> impl Strategy<Value = Wish> {
    (0..3u64, 0..5u64).prop_map(|(id, epoch)| {
        let term = Fence { incarnation: Incarnation(1), epoch: Epoch(epoch) };
        Wish { id, aim: Aim::Resign, term, author: "x".into(), verdict: None }
    })
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        (proptest::option::of(guid()), name(), session()).prop_map(|(guid, participant, owner)| Act::AddCandidate {
            guid,
            participant,
            owner
        }),
        candidate().prop_map(Act::RewriteCandidate),
        candidate().prop_map(Act::DeleteCandidate),
        Just(Act::LitterQueue),
        (directory(), key(), name(), epoch(), session()).prop_map(|(directory, key, address, epoch, owner)| {
            Act::AddMember { directory, key, address, epoch, owner }
        }),
        (directory(), key()).prop_map(|(directory, key)| Act::RewriteMember { directory, key }),
        (directory(), key()).prop_map(|(directory, key)| Act::DeleteMember { directory, key }),
        directory().prop_map(Act::LitterDirectory),
        Just(Act::DeleteTerm),
        Just(Act::SpoilTerm),
        Just(Act::DeleteSettings),
        wish().prop_map(|wish| Act::Wish(Box::new(wish))),
        Just(Act::SpoilWish),
        Just(Act::DeleteWish),
    ]
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        4 => server().prop_map(Fault::Lag),
        2 => server().prop_map(Fault::CatchUp),
        4 => server().prop_map(Fault::Cut),
        3 => (server(), any::<bool>()).prop_map(|(server, deliver)| Fault::Heal { server, deliver }),
        1 => any::<bool>().prop_map(|keep_data| Fault::Restart { keep_data }),
        2 => session().prop_map(Fault::Expire),
    ]
}

/// An event, and the time since the one before. Requests get their ids when they are sent.
pub(super) fn event() -> impl Strategy<Value = (Duration, Event)> {
    let id = OpId { link: Link(0), slot: Slot::Election, sequence: 0 };
    let event = prop_oneof![
        4 => (server(), name(), proptest::option::of(session()), 0..50_u64).prop_map(
            |(server, name, previous, seconds)| Event::Connect {
                server,
                client: client(&name),
                previous,
                timeout: Duration::from_secs(seconds)
            }
        ),
        2 => session().prop_map(|session| Event::Disconnect { session }),
        20 => (session(), request()).prop_map(move |(session, request)| Event::Request { session, id, request }),
        3 => session().prop_map(|session| Event::Ping { session }),
        1 => session().prop_map(|session| Event::Close { session }),
        1 => Just(Event::Wake),
        4 => act().prop_map(Event::Operator),
        4 => fault().prop_map(Event::Fault),
    ];
    (prop_oneof![3 => Just(0), 1 => 0..5_000_u64].prop_map(Duration::from_millis), event)
}
