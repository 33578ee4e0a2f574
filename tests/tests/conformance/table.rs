//! Sequences that people thought of.

use rolecall_core::Directory::{Coordinators, Workers};

use super::step::Step::{
    Ask as Asks, Break, Burst, Close, Crash, Deafen, Expire, Flap, Mend, Open, Operator, Outlast, Renew, Restart,
    Silence, Wipe,
};
use super::step::Whose::{Former, Own};
use super::step::{Ask, Deed, Node, Step, Which};

const A: Node = Node(0);
const B: Node = Node(1);
const C: Node = Node(2);
const FIRST: Which = Which(0);
const SECOND: Which = Which(1);
const THIRD: Which = Which(2);

/// Name, number of nodes, and steps of each sequence.
pub(crate) type Sequence = (&'static str, usize, Vec<Step>);

/// Sequences that one server can play side by side.
pub(crate) fn sequences() -> Vec<Sequence> {
    [queue(), terms(), registries(), watches(), disconnections(), endings(), strangers()].concat()
}

fn queue() -> Vec<Sequence> {
    vec![
        (
            "an empty store has nothing",
            2,
            vec![
                Asks(A, Ask::List),
                Asks(A, Ask::Members(Workers)),
                Asks(A, Ask::ReadTerm),
                Asks(A, Ask::Watch(FIRST)),
                Asks(A, Ask::Delete(FIRST)),
                Asks(A, Ask::FirstClaim(FIRST, 1)),
                Asks(A, Ask::Beat(FIRST)),
                Asks(A, Ask::Leave(Workers, Own)),
                Asks(A, Ask::Verify(Workers, Own)),
                Asks(B, Ask::Sync),
            ],
        ),
        (
            "sequence numbers count creations and not deletions",
            2,
            vec![
                Asks(A, Ask::Enter),
                Asks(B, Ask::Enter),
                Asks(A, Ask::Delete(SECOND)),
                Asks(A, Ask::Enter),
                Operator(Deed::LitterQueue),
                Asks(B, Ask::Enter),
                Operator(Deed::DeleteCandidate(FIRST)),
                Asks(A, Ask::Enter),
                Asks(B, Ask::List),
                Asks(B, Ask::Inspect(THIRD)),
            ],
        ),
        (
            "what is sent at once is done in its order",
            2,
            vec![
                Asks(A, Ask::Enter),
                Burst(
                    A,
                    vec![Ask::Enter, Ask::Enter, Ask::Watch(FIRST), Ask::Delete(FIRST), Ask::List, Ask::Inspect(FIRST)],
                ),
                Asks(A, Ask::Join(Workers, Own)),
                Burst(
                    A,
                    vec![
                        Ask::Leave(Workers, Own),
                        Ask::Join(Workers, Own),
                        Ask::Verify(Workers, Own),
                        Ask::Join(Workers, Own),
                    ],
                ),
                Burst(
                    A,
                    vec![Ask::FirstClaim(SECOND, 1), Ask::ReadTerm, Ask::Claim(SECOND, 1), Ask::ReadTerm, Ask::Sync],
                ),
                Asks(B, Ask::List),
            ],
        ),
    ]
}

fn terms() -> Vec<Sequence> {
    vec![
        (
            "a term is claimed with a candidate, whosever it is",
            2,
            vec![
                Asks(A, Ask::Enter),
                Asks(A, Ask::Claim(FIRST, 1)),
                Asks(A, Ask::FirstClaim(FIRST, 1)),
                Asks(A, Ask::FirstClaim(FIRST, 2)),
                Asks(B, Ask::ReadTerm),
                Asks(B, Ask::Claim(FIRST, 1)),
                Asks(A, Ask::JoinAsLeader(Coordinators)),
                Asks(B, Ask::Members(Coordinators)),
                Asks(A, Ask::ReadTerm),
                Operator(Deed::DeleteTerm),
                Asks(A, Ask::ReadTerm),
                Asks(A, Ask::Claim(FIRST, 1)),
                Asks(A, Ask::FirstClaim(FIRST, 3)),
                Asks(A, Ask::Delete(FIRST)),
                Asks(A, Ask::Claim(FIRST, 3)),
                Asks(A, Ask::FirstClaim(FIRST, 3)),
                Asks(B, Ask::ReadTerm),
            ],
        ),
        (
            "something that is not the record of a term is claimed over",
            1,
            vec![
                Asks(A, Ask::Enter),
                Asks(A, Ask::FirstClaim(FIRST, 1)),
                Operator(Deed::SpoilTerm),
                Asks(A, Ask::ReadTerm),
                Asks(A, Ask::FirstClaim(FIRST, 2)),
                Asks(A, Ask::Claim(FIRST, 2)),
                Asks(A, Ask::ReadTerm),
            ],
        ),
        (
            "settings that are deleted are written again",
            2,
            vec![
                Asks(A, Ask::Settle("64 shards")),
                Operator(Deed::DeleteSettings),
                Asks(B, Ask::Settle("8 shards")),
                Asks(A, Ask::Settle("64 shards")),
            ],
        ),
        (
            "a wish is written over the version that was read, and watched before there is one",
            2,
            vec![
                Asks(A, Ask::WatchWish),
                Asks(B, Ask::WishOver(0, 1)),
                Asks(B, Ask::Wish(1)),
                Asks(B, Ask::Wish(2)),
                Asks(A, Ask::WatchWish),
                Asks(B, Ask::WishOver(1, 3)),
                Asks(B, Ask::WishOver(0, 4)),
                Asks(A, Ask::ReadWish),
                Asks(A, Ask::WishOver(1, 5)),
                Asks(B, Ask::WatchWish),
                Operator(Deed::SpoilWish),
                Asks(A, Ask::WatchWish),
                Asks(B, Ask::WishOver(3, 6)),
                Asks(A, Ask::WatchWish),
                Operator(Deed::DeleteWish),
                Asks(A, Ask::ReadWish),
                Asks(A, Ask::Wish(7)),
                Asks(B, Ask::ReadWish),
            ],
        ),
        (
            "a heartbeat needs its candidate",
            2,
            vec![
                Asks(A, Ask::Enter),
                Asks(A, Ask::Beat(FIRST)),
                Asks(A, Ask::Beat(FIRST)),
                Asks(B, Ask::Beat(FIRST)),
                Operator(Deed::DeleteCandidate(FIRST)),
                Asks(A, Ask::Beat(FIRST)),
            ],
        ),
        (
            "the settings of the first hold",
            2,
            vec![
                Asks(A, Ask::Settle("64 shards")),
                Asks(B, Ask::Settle("8 shards")),
                Asks(A, Ask::Settle("8 shards")),
                Close(A),
                Asks(B, Ask::Settle("1 shard")),
            ],
        ),
    ]
}

fn registries() -> Vec<Sequence> {
    vec![
        (
            "an entry is joined once, found and left",
            3,
            vec![
                Asks(A, Ask::Join(Workers, Own)),
                Asks(A, Ask::Join(Workers, Own)),
                Asks(A, Ask::Verify(Workers, Own)),
                Asks(A, Ask::Verify(Coordinators, Own)),
                Asks(B, Ask::Join(Workers, Own)),
                Asks(C, Ask::Members(Workers)),
                Asks(A, Ask::Leave(Workers, Own)),
                Asks(A, Ask::Leave(Workers, Own)),
                Asks(A, Ask::Leave(Workers, Former)),
                Asks(A, Ask::Join(Workers, Own)),
                Asks(C, Ask::Members(Workers)),
            ],
        ),
        (
            "an entry left by an earlier session is that session's",
            2,
            vec![
                Asks(A, Ask::Join(Workers, Own)),
                Crash(A),
                Open(A),
                Asks(A, Ask::Verify(Workers, Former)),
                Asks(A, Ask::Join(Workers, Former)),
                Asks(A, Ask::Join(Workers, Own)),
                Asks(B, Ask::Members(Workers)),
                Asks(A, Ask::Leave(Workers, Former)),
                Asks(B, Ask::Members(Workers)),
            ],
        ),
    ]
}

fn watches() -> Vec<Sequence> {
    vec![
        (
            "a candidate's watch fires once, when it changes or goes",
            3,
            vec![
                Asks(A, Ask::Enter),
                Asks(B, Ask::Watch(FIRST)),
                Asks(C, Ask::Inspect(FIRST)),
                Operator(Deed::RewriteCandidate(FIRST)),
                Operator(Deed::RewriteCandidate(FIRST)),
                Asks(B, Ask::Watch(FIRST)),
                Asks(C, Ask::Watch(FIRST)),
                Asks(A, Ask::Watch(FIRST)),
                Asks(A, Ask::Enter),
                Asks(A, Ask::FirstClaim(FIRST, 1)),
                Asks(A, Ask::Beat(FIRST)),
                Asks(C, Ask::Delete(FIRST)),
                Asks(B, Ask::Watch(FIRST)),
            ],
        ),
        (
            "a newer watch replaces an equal one",
            2,
            vec![
                Asks(A, Ask::Enter),
                Asks(B, Ask::Watch(FIRST)),
                Asks(B, Ask::Watch(FIRST)),
                Burst(B, vec![Ask::Watch(FIRST), Ask::Watch(FIRST)]),
                Asks(A, Ask::Delete(FIRST)),
                Asks(B, Ask::WatchMembers(Workers)),
                Asks(B, Ask::WatchMembers(Workers)),
                Asks(A, Ask::Join(Workers, Own)),
            ],
        ),
        (
            "a directory's watch tells who comes and goes, not what changes",
            3,
            vec![
                Asks(A, Ask::WatchMembers(Workers)),
                Asks(A, Ask::WatchMembers(Coordinators)),
                Asks(B, Ask::Join(Workers, Own)),
                Asks(A, Ask::WatchMembers(Workers)),
                Operator(Deed::RewriteMember(Workers, B, Own)),
                Asks(C, Ask::Join(Workers, Own)),
                Asks(A, Ask::WatchMembers(Workers)),
                Asks(B, Ask::Leave(Workers, Own)),
                Asks(A, Ask::WatchMembers(Workers)),
                Expire(C),
                Asks(A, Ask::WatchMembers(Workers)),
                Operator(Deed::LitterDirectory(Workers)),
                Asks(A, Ask::Members(Workers)),
            ],
        ),
        (
            "an entry's watch tells its change and its end",
            2,
            vec![
                Asks(A, Ask::Join(Workers, Own)),
                Asks(A, Ask::Verify(Workers, Own)),
                Operator(Deed::RewriteMember(Workers, A, Own)),
                Asks(A, Ask::Verify(Workers, Own)),
                Operator(Deed::DeleteMember(Workers, A, Own)),
                Asks(A, Ask::Verify(Workers, Own)),
                Asks(A, Ask::Join(Workers, Own)),
                Asks(A, Ask::Verify(Workers, Own)),
                Asks(A, Ask::Leave(Workers, Own)),
            ],
        ),
    ]
}

fn disconnections() -> Vec<Sequence> {
    vec![
        (
            "a session outlives its connection, and nothing is done without one",
            2,
            vec![
                Asks(A, Ask::Enter),
                Flap(A),
                Break(A),
                Burst(A, vec![Ask::List, Ask::Enter, Ask::Sync]),
                Asks(B, Ask::Inspect(FIRST)),
                Mend(A),
                Asks(A, Ask::List),
            ],
        ),
        (
            "watches outlive the connection and tell what was missed",
            3,
            vec![
                Asks(B, Ask::Enter),
                Asks(B, Ask::Enter),
                Asks(B, Ask::Enter),
                Asks(B, Ask::Join(Workers, Own)),
                Asks(A, Ask::Join(Coordinators, Own)),
                Asks(A, Ask::Watch(FIRST)),
                Asks(A, Ask::Watch(SECOND)),
                Asks(A, Ask::Watch(THIRD)),
                Asks(A, Ask::WatchMembers(Workers)),
                Asks(A, Ask::WatchMembers(Coordinators)),
                Asks(A, Ask::Verify(Coordinators, Own)),
                Break(A),
                Asks(B, Ask::Delete(FIRST)),
                Operator(Deed::RewriteCandidate(SECOND)),
                Asks(B, Ask::Leave(Workers, Own)),
                Asks(B, Ask::Join(Workers, Own)),
                Operator(Deed::RewriteMember(Coordinators, A, Own)),
                Mend(A),
                Flap(A),
                Asks(B, Ask::Delete(THIRD)),
                Asks(C, Ask::Join(Coordinators, Own)),
            ],
        ),
        (
            "an entry that was deleted and made again meanwhile has changed",
            2,
            vec![
                Asks(A, Ask::Join(Workers, Own)),
                Asks(A, Ask::Verify(Workers, Own)),
                Break(A),
                Operator(Deed::DeleteMember(Workers, A, Own)),
                Operator(Deed::AddMember(Workers, A, Own)),
                Mend(A),
                Asks(A, Ask::Verify(Workers, Own)),
                Asks(A, Ask::Join(Workers, Own)),
                Asks(B, Ask::Members(Workers)),
            ],
        ),
    ]
}

fn endings() -> Vec<Sequence> {
    let owned = vec![
        Asks(A, Ask::Enter),
        Asks(A, Ask::Enter),
        Asks(A, Ask::FirstClaim(FIRST, 1)),
        Asks(A, Ask::JoinAsLeader(Coordinators)),
        Asks(B, Ask::Enter),
        Asks(B, Ask::Watch(FIRST)),
        Asks(B, Ask::Watch(SECOND)),
        Asks(B, Ask::WatchMembers(Coordinators)),
        Asks(A, Ask::Watch(THIRD)),
    ];
    let look = vec![
        Asks(B, Ask::List),
        Asks(B, Ask::Members(Coordinators)),
        Asks(B, Ask::ReadTerm),
        Asks(B, Ask::Delete(THIRD)),
        Asks(A, Ask::Enter),
        Asks(A, Ask::Join(Coordinators, Own)),
        Asks(B, Ask::List),
    ];
    [
        ("a session that expires takes what it owned, and its watches", vec![Expire(A)]),
        ("a session that expires while its node is cut off", vec![Break(A), Expire(A), Mend(A)]),
        ("a session that is dropped for another", vec![Renew(A)]),
        ("a session that is closed", vec![Close(A), Asks(B, Ask::List), Open(A)]),
        ("a node that dies and expires", vec![Crash(A), Asks(B, Ask::List), Expire(A), Open(A)]),
        (
            "a new session while the old one lives",
            vec![Crash(A), Open(A), Asks(A, Ask::List), Asks(A, Ask::Delete(FIRST))],
        ),
    ]
    .into_iter()
    .map(|(name, end)| (name, 2, [owned.clone(), end, look.clone()].concat()))
    .collect()
}

fn strangers() -> Vec<Sequence> {
    vec![
        (
            "candidates of another kind of client stand in the queue",
            2,
            vec![
                Asks(A, Ask::Enter),
                Operator(Deed::AddCandidate),
                Operator(Deed::AddNamelessCandidate),
                Operator(Deed::LitterQueue),
                Asks(A, Ask::List),
                Asks(A, Ask::Watch(SECOND)),
                Asks(A, Ask::Watch(THIRD)),
                Operator(Deed::RewriteCandidate(SECOND)),
                Asks(A, Ask::Delete(THIRD)),
                Asks(B, Ask::Delete(SECOND)),
                Asks(B, Ask::List),
            ],
        ),
        (
            "entries of another kind of client stand in the directories",
            2,
            vec![
                Operator(Deed::AddMember(Workers, A, Own)),
                Asks(A, Ask::Join(Workers, Own)),
                Asks(A, Ask::Verify(Workers, Own)),
                Operator(Deed::AddMember(Workers, B, Former)),
                Operator(Deed::LitterDirectory(Workers)),
                Asks(B, Ask::WatchMembers(Workers)),
                Asks(A, Ask::Leave(Workers, Own)),
                Asks(B, Ask::WatchMembers(Workers)),
                Asks(B, Ask::Leave(Workers, Former)),
                Asks(A, Ask::Join(Workers, Own)),
                Asks(B, Ask::Members(Workers)),
            ],
        ),
    ]
}

/// Sequences that depend on time: silent links, and sessions that nobody ends and that own something.
pub(crate) fn silences() -> Vec<Sequence> {
    let owned = vec![
        Asks(A, Ask::Enter),
        Asks(A, Ask::Join(Workers, Own)),
        Asks(B, Ask::Enter),
        Asks(B, Ask::Watch(FIRST)),
        Asks(B, Ask::WatchMembers(Workers)),
        Asks(A, Ask::Watch(SECOND)),
    ];
    let look = vec![
        Asks(A, Ask::List),
        Asks(A, Ask::Inspect(FIRST)),
        Asks(A, Ask::Members(Workers)),
        Asks(B, Ask::List),
        Asks(B, Ask::Delete(SECOND)),
        Asks(A, Ask::Enter),
        Asks(A, Ask::Join(Workers, Own)),
        Asks(B, Ask::List),
        Asks(B, Ask::Members(Workers)),
    ];
    let lost = |ask| vec![Deafen(A), Asks(A, ask), Mend(A), Asks(A, Ask::Sync)];
    [
        ("a link that falls silent for less than a session", vec![Silence(A), Mend(A)]),
        ("a link that falls silent for longer than a session", vec![Silence(A), Outlast(A), Mend(A)]),
        ("a link that breaks for longer than a session", vec![Break(A), Outlast(A), Mend(A)]),
        ("a node that dies, and its session by itself", vec![Crash(A), Outlast(A), Open(A)]),
        ("an entry into the queue whose answer is lost", lost(Ask::Enter)),
        ("a claim whose answer is lost", lost(Ask::FirstClaim(FIRST, 1))),
        ("a deletion whose answer is lost", lost(Ask::Delete(FIRST))),
        ("a leave whose answer is lost", lost(Ask::Leave(Workers, Own))),
        ("a join whose answer is lost", lost(Ask::Join(Coordinators, Own))),
        ("a reading whose answer is lost", lost(Ask::List)),
    ]
    .into_iter()
    .map(|(name, middle)| (name, 2, [owned.clone(), middle, look.clone()].concat()))
    .collect()
}

/// Sequences that stop the store.
pub(crate) fn restarts() -> Vec<Sequence> {
    let before = vec![
        Asks(A, Ask::Enter),
        Asks(B, Ask::Enter),
        Asks(B, Ask::Watch(FIRST)),
        Asks(A, Ask::FirstClaim(FIRST, 1)),
        Asks(A, Ask::JoinAsLeader(Coordinators)),
        Asks(B, Ask::WatchMembers(Coordinators)),
    ];
    let after = vec![
        Asks(B, Ask::List),
        Asks(B, Ask::ReadTerm),
        Asks(B, Ask::Members(Coordinators)),
        Asks(A, Ask::Delete(FIRST)),
        Asks(A, Ask::Leave(Coordinators, Own)),
        Asks(A, Ask::Enter),
        Asks(A, Ask::Join(Coordinators, Own)),
        Asks(B, Ask::List),
        Asks(B, Ask::Members(Coordinators)),
    ];
    vec![
        (
            "a store that restarts keeps sessions, data and watches",
            2,
            [before.clone(), vec![Restart], after.clone()].concat(),
        ),
        ("a store that lost its data knows no session", 2, [before, vec![Wipe], after].concat()),
    ]
}
