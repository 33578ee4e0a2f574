//! Sequences that people thought of.

use core::time::Duration;

use super::step::Ask::{Acquire, Peek, Release, Renew, Watch};
use super::step::Step::{
    Ask, Attach, Break, Clock, Close, FlushData, FlushScripts, ForbidWrites, Promote, Restart, StandStill, Wipe,
};
use super::step::{Age, LATEST, Node, Standstill, Step};

const A: Node = Node(0);
const B: Node = Node(1);
const C: Node = Node(2);

/// Time to live of most leases: half of a session's timeout, so that calls move the clock by 150 s at most.
const TTL: Duration = Duration::from_secs(600);
const LONGER: Duration = Duration::from_secs(1_000);
/// The token of the attempt before the latest.
const EARLIER: Age = Age(1);
const NEVER_MADE: Age = Age(1_000);

/// Name and steps of each sequence. Each begins on a new server, so nobody leads before the first lease asked for would
/// have ended.
pub(crate) fn sequences() -> Vec<(&'static str, Vec<Step>)> {
    [terms(), time(), lives(), connections()].concat()
}

/// Steps that let the first lease of a new life be taken by `node`: four calls that move the clock by 150 s or more.
fn opened(node: Node) -> Vec<Step> {
    let quarters = [Clock(4_000), Clock(4_000), Clock(4_000), Clock(4_000)];
    [vec![Ask(node, Acquire(TTL))], quarters.to_vec(), vec![Ask(node, Acquire(TTL))]].concat()
}

fn terms() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        (
            "a new server lets nobody lead before the first lease asked for would have ended",
            vec![
                Ask(A, Peek),
                Ask(A, Renew(LATEST, TTL)),
                Ask(A, Release(LATEST)),
                Ask(A, Acquire(TTL)),
                Ask(B, Acquire(LONGER)),
                Clock(140),
                Ask(C, Peek),
            ],
        ),
        (
            "the lease is taken when it is free, prolonged and given up by its token, and by no other",
            [
                opened(A),
                vec![
                    Ask(B, Acquire(TTL)),
                    Ask(B, Release(LATEST)),
                    Ask(A, Renew(LATEST, TTL)),
                    Ask(A, Renew(EARLIER, LONGER)),
                    Ask(A, Renew(NEVER_MADE, TTL)),
                    Ask(C, Watch),
                    Ask(C, Release(EARLIER)),
                    Ask(C, Acquire(LONGER)),
                    Ask(A, Renew(EARLIER, TTL)),
                    Ask(B, Peek),
                ],
            ]
            .concat(),
        ),
        (
            "a time to live of zero is refused and changes nothing",
            [
                opened(A),
                vec![
                    Ask(A, Renew(LATEST, Duration::ZERO)),
                    Ask(B, Peek),
                    Ask(A, Release(LATEST)),
                    Ask(B, Acquire(Duration::ZERO)),
                    Ask(A, Peek),
                ],
            ]
            .concat(),
        ),
        (
            "a holder that closes its session leaves the lease to those who wait, and a waiter that closes leaves it alone",
            [
                opened(A),
                vec![
                    Ask(B, Watch),
                    Ask(C, Watch),
                    Close(C),
                    Ask(B, Peek),
                    Close(A),
                    Ask(A, Renew(LATEST, TTL)),
                    Ask(B, Acquire(TTL)),
                    Ask(A, Acquire(TTL)),
                ],
            ]
            .concat(),
        ),
    ]
}

fn time() -> Vec<(&'static str, Vec<Step>)> {
    vec![
        (
            "a clock that steps on takes a quarter of the lease at most, and one that steps back takes nothing",
            [
                opened(A),
                vec![
                    Clock(4_000),
                    Ask(A, Peek),
                    Clock(-4_000),
                    Ask(B, Peek),
                    Clock(100),
                    Ask(B, Acquire(TTL)),
                    Clock(4_000),
                    Ask(B, Peek),
                    Clock(4_000),
                    Ask(A, Peek),
                    Clock(4_000),
                    Ask(B, Acquire(TTL)),
                    Ask(A, Renew(Age(2), TTL)),
                ],
            ]
            .concat(),
        ),
        (
            "the lease's own time to live limits the clock, and not the one before",
            [
                opened(A),
                vec![
                    Ask(A, Renew(LATEST, LONGER)),
                    Clock(4_000),
                    Ask(B, Peek),
                    Ask(A, Renew(LATEST, TTL)),
                    Clock(4_000),
                    Ask(B, Peek),
                    Ask(A, Release(LATEST)),
                    Clock(4_000),
                    Ask(B, Acquire(TTL)),
                ],
            ]
            .concat(),
        ),
    ]
}

fn lives() -> Vec<(&'static str, Vec<Step>)> {
    let anew = |step: Step| [opened(A), vec![Ask(B, Watch), step, Ask(A, Renew(LATEST, TTL))], opened(B)].concat();
    vec![
        ("a restart with its data begins a new incarnation", anew(Restart)),
        ("a restart without data begins a new incarnation with the first epoch", anew(Wipe)),
        ("data that is flushed is as good as none", anew(FlushData)),
        ("a promoted replica that lacks a release begins a new incarnation", anew(Promote(C, Release(LATEST)))),
        (
            "a promoted replica that lacks a term lets nobody lead before that would have ended",
            [opened(A), vec![Ask(A, Release(LATEST)), Promote(B, Acquire(TTL)), Ask(B, Renew(LATEST, TTL))], opened(C)]
                .concat(),
        ),
        (
            "the longest lease ever asked for is waited for, whoever holds one at the restart",
            [
                opened(A),
                vec![Ask(A, Renew(LATEST, LONGER)), Ask(A, Renew(LATEST, TTL)), Restart, Ask(B, Acquire(TTL))],
                vec![Clock(4_000); 4],
                vec![Ask(B, Acquire(TTL)), Ask(C, Peek)],
            ]
            .concat(),
        ),
        (
            "a primary that may not write for a while has become another's, and begins a new incarnation",
            anew(ForbidWrites(C, Acquire(TTL))),
        ),
        (
            "a replica that comes and goes changes nothing",
            [opened(A), vec![Attach, Ask(A, Renew(LATEST, TTL)), Attach, Ask(B, Acquire(TTL))]].concat(),
        ),
    ]
}

fn connections() -> Vec<(&'static str, Vec<Step>)> {
    let stand_still = |how: Standstill| {
        [
            opened(A),
            vec![
                Ask(C, Watch),
                StandStill(how, [Renew(LATEST, TTL), Acquire(TTL), Peek]),
                StandStill(how, [Release(Age(1)), Acquire(TTL), Acquire(LONGER)]),
                Ask(A, Peek),
            ],
        ]
        .concat()
    };
    vec![
        ("what is asked of a stopped server is answered when it goes on", stand_still(Standstill::Stopped)),
        ("what paused clients ask is answered after the pause", stand_still(Standstill::Paused)),
        (
            "a broken connection leaves the holder its lease, and loses watches",
            [
                opened(A),
                vec![
                    Ask(B, Watch),
                    Break(A, Renew(LATEST, LONGER)),
                    Ask(A, Release(LATEST)),
                    Break(B, Acquire(TTL)),
                    Break(B, Release(LATEST)),
                ],
            ]
            .concat(),
        ),
        (
            "scripts that were flushed are sent again",
            [
                opened(A),
                vec![
                    FlushScripts,
                    Ask(A, Renew(LATEST, TTL)),
                    Ask(B, Watch),
                    FlushScripts,
                    Ask(A, Release(LATEST)),
                    FlushScripts,
                    Ask(B, Acquire(TTL)),
                ],
            ]
            .concat(),
        ),
    ]
}
