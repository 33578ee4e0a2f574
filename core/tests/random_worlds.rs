//! Random faults for five nodes and three servers of the store, followed by a quiet time in which everything must come
//! to rest. A seed repeats its world; the promises are judged on every step.

#[allow(dead_code, reason = "shared with other test binaries, which use other parts of it")]
#[path = "common/world/mod.rs"]
mod world;

use std::time::Duration;

use rolecall_core::store::{Act, DirectoryRequest, Fault, QueueRequest, Request, Server};
use rolecall_core::{Directory, Epoch, Event, Fence, Guid, Incarnation, MemberKey, OnSuspend, Session};
use world::{Dice, Outcome, TIMEOUT, World};

const NODES: [&str; 5] = ["a", "b", "c", "d", "e"];
const SERVERS: [Server; 3] = [Server(0), Server(1), Server(2)];
/// Names of candidates that were left behind, ours and another kind of client's.
const LEFTOVERS: [Option<Guid>; 2] = [Some(Guid::ours(3)), Some(Guid(3))];
/// Number of faults in a world.
const FAULTS: u64 = 30;
/// Longest time until rest, in seconds: two session timeouts for what the store still believes, and the longest
/// hold-off.
const QUIET_S: u64 = 75;

#[test]
fn after_any_faults_the_cluster_comes_to_rest_seeds_0_to_119() {
    (0..120).for_each(play);
}

#[test]
fn after_any_faults_the_cluster_comes_to_rest_seeds_120_to_239() {
    (120..240).for_each(play);
}

/// Plays one world, and again with its trace if that fails.
fn play(seed: u64) {
    if std::panic::catch_unwind(|| world(seed, false)).is_err() {
        eprintln!("the world of seed {seed} again, with its trace:");
        world(seed, true);
    }
}

fn world(seed: u64, is_traced: bool) {
    let mut dice = Dice::new(seed);
    let mut world = World::with_servers(3);
    world.is_traced = is_traced;
    world.jitter = Some(Dice::new(!seed));
    for (place, name) in NODES.into_iter().enumerate() {
        start(&mut world, name, &mut dice);
        let host = world.host(name);
        host.server = SERVERS[place % SERVERS.len()];
        host.clock_ppm = dice.pick(&[-9_000, 0, 0, 9_000]);
        let pause = dice.millis(0, 500);
        world.run(pause);
    }
    for _ in 0..FAULTS {
        inject(&mut world, &mut dice);
        let pause = dice.pick(&[3, 20, 300, 2_500]);
        let pause = dice.millis(0, pause);
        world.run(pause);
    }
    mend(&mut world, &mut dice);
    let mut seconds = 0;
    while world.at_rest().is_err() && seconds < QUIET_S {
        world.run(Duration::from_secs(1));
        seconds += 1;
    }
    world.run(2 * TIMEOUT);
    if let Err(what) = world.at_rest() {
        panic!("seed {seed}: {what}\n{}", world.trace.text());
    }
}

fn start(world: &mut World, name: &'static str, dice: &mut Dice) {
    let on_suspend = dice.pick(&[OnSuspend::Hold, OnSuspend::Hold, OnSuspend::StepDown]);
    world.start_with(name, |config| {
        config.on_suspend = on_suspend;
        config.settings = Some("64 shards".into());
    });
}

fn inject(world: &mut World, dice: &mut Dice) {
    let name = dice.pick(&NODES);
    let server = dice.pick(&SERVERS);
    match dice.below(27) {
        0 | 1 if world.host(name).outcome == Outcome::Runs => world.crash(name),
        0..=2 if world.host(name).outcome != Outcome::Runs => start(world, name, dice),
        3 | 4 => world.cut(name),
        5 | 6 => world.heal(name),
        7 => world.pause(name),
        8 => world.resume(name),
        9 => world.expire(name),
        10 => world.replace_session(name),
        11 => world.give_session_up(name),
        12 => world.fault(Fault::Lag(server)),
        13 => world.fault(Fault::CatchUp(server)),
        14 => world.fault(Fault::Cut(server)),
        15 => heal_servers(world, dice),
        16 if dice.one_in(3) => world.fault(Fault::Restart { keep_data: !dice.one_in(3) }),
        17 => lose_answers(world, name, dice),
        18 => meddle(world, dice),
        19 => world.deliver(name, Event::Resign),
        20 => world.host(name).failing_starts = u32::try_from(dice.below(4)).expect("a small number"),
        21 => world.host(name).stop_takes = dice.millis(0, 4_000),
        22 => again(world, name),
        23 => forge(world, name, dice),
        // Some answers come after they are overdue, or after the connection on which they were sent.
        24 => world.host(name).answers_take = dice.millis(0, 1_500),
        25 => world.deliver(name, Event::Shutdown),
        26 => world.wish(name, dice.one_in(3)),
        _ => {}
    }
}

/// Shows a node a fence that no claim has written.
fn forge(world: &mut World, name: &'static str, dice: &mut Dice) {
    let present = world.node(name).floor().map(|floor| floor.incarnation);
    let incarnation = present.filter(|_| !dice.one_in(4)).unwrap_or(Incarnation(dice.below(9)));
    world.deliver(name, Event::FenceSeen { fence: Fence { incarnation, epoch: Epoch(1_000_000) } });
}

fn lose_answers(world: &mut World, name: &'static str, dice: &mut Dice) {
    world.host(name).loses = match dice.below(6) {
        0 => Some(|request| matches!(request, Request::Queue(QueueRequest::Enter { .. }))),
        1 => Some(|request| matches!(request, Request::Directory(DirectoryRequest::Join { .. }))),
        2 => Some(|request| matches!(request, Request::Directory(DirectoryRequest::Leave { .. }))),
        3 => Some(|request| matches!(request, Request::Queue(QueueRequest::Delete { .. }))),
        4 => Some(|_| true),
        _ => None,
    };
}

/// An operator or another kind of client does something that can be undone.
fn meddle(world: &mut World, dice: &mut Dice) {
    let queue = world.queue();
    let directory = dice.pick(&[Directory::Workers, Directory::Coordinators]);
    match dice.below(10) {
        0 => _ = world.foreign_candidate("curator"),
        1 | 2 if !queue.is_empty() => {
            let (candidate, _) = dice.pick(&queue);
            world.operator(Act::DeleteCandidate(candidate));
        }
        3 => match dice.below(3) {
            0 => world.operator(Act::DeleteTerm),
            1 => world.operator(Act::SpoilTerm),
            _ => world.operator(Act::DeleteSettings),
        },
        4 => {
            let keys: Vec<MemberKey> = world.members(directory).into_iter().map(|member| member.key).collect();
            if let Some(key) = keys.first() {
                world.operator(Act::DeleteMember { directory, key: key.clone() });
            }
        }
        5 | 6 if !queue.is_empty() => {
            let (candidate, owner) = dice.pick(&queue);
            let owner = dice.pick(&[owner, Session::default()]);
            world.operator(Act::AddCandidate { guid: candidate.guid, participant: "twin".into(), owner });
            if dice.one_in(2) {
                world.operator(Act::DeleteCandidate(candidate));
            }
        }
        7 => _ = world.ownerless_candidate(dice.pick(&LEFTOVERS).expect("it has a guid")),
        8 if !queue.is_empty() => world.operator(Act::RewriteCandidate(dice.pick(&queue).0)),
        _ => {
            world.operator(Act::LitterQueue);
            world.operator(Act::LitterDirectory(directory));
        }
    }
}

/// The client library reports once more that the session is up.
fn again(world: &mut World, name: &'static str) {
    if let Some((session, true)) = world.node(name).session()
        && world.host(name).is_connected_with(session)
    {
        world.deliver(name, Event::SessionUp { session, timeout: TIMEOUT, entropy: session.0 });
    }
}

fn heal_servers(world: &mut World, dice: &mut Dice) {
    for server in SERVERS {
        world.fault(Fault::Heal { server, deliver: dice.one_in(2) });
        world.fault(Fault::CatchUp(server));
    }
}

/// Ends all faults, and removes foreign candidates. Leftovers that no session owns stay.
fn mend(world: &mut World, dice: &mut Dice) {
    heal_servers(world, dice);
    for name in NODES {
        let host = world.host(name);
        (host.loses, host.failing_starts, host.answers_take) = (None, 0, Duration::ZERO);
        if host.outcome == Outcome::Runs {
            world.resume(name);
            world.heal(name);
        }
        // A pause may have kept a service from stopping in time; its node then ends as soon as it goes on.
        if world.host(name).outcome != Outcome::Runs {
            start(world, name, dice);
        }
    }
    let (last, others) = NODES.split_last().expect("there are nodes");
    others.iter().for_each(|name| world.wish(name, true));
    let willing = dice.one_in(2);
    world.wish(last, willing);
    for (candidate, owner) in world.queue() {
        let is_copy = owner == Session::NOBODY && !LEFTOVERS.contains(&candidate.guid);
        if is_copy || world.is_strangers(owner) {
            world.operator(Act::DeleteCandidate(candidate));
        }
    }
}
