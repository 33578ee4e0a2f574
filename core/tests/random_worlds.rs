//! Random faults for five nodes and three servers of the store, followed by a quiet time in which everything must come
//! to rest. A seed repeats its world; the promises are judged on every step.

mod common;

use std::time::Duration;

use common::{FAULTS, NODES, come_to_rest, forge, play, start, wish};
use rolecall_core::store::{Act, DirectoryRequest, Fault, QueueRequest, Request, Server};
use rolecall_core::testing::{Cluster, Dice, Outcome, TIMEOUT};
use rolecall_core::{Directory, Event, Guid, MemberKey, Session};

const SERVERS: [Server; 3] = [Server(0), Server(1), Server(2)];
/// Names of candidates that were left behind, ours and another kind of client's.
const LEFTOVERS: [Option<Guid>; 2] = [Some(Guid::ours(3)), Some(Guid(3))];

#[test]
fn after_any_faults_the_cluster_comes_to_rest_seeds_0_to_119() {
    (0..120).for_each(|seed| play(seed, cluster));
}

#[test]
fn after_any_faults_the_cluster_comes_to_rest_seeds_120_to_239() {
    (120..240).for_each(|seed| play(seed, cluster));
}

fn cluster(seed: u64, is_traced: bool) {
    let mut dice = Dice::new(seed);
    let mut cluster = Cluster::with_servers(3);
    cluster.is_traced = is_traced;
    cluster.jitter = Some(Dice::new(!seed));
    for (place, name) in NODES.into_iter().enumerate() {
        start(&mut cluster, name, &mut dice);
        let host = cluster.host(name);
        host.server = SERVERS[place % SERVERS.len()];
        host.clock_ppm = dice.pick(&[-9_000, 0, 0, 9_000]);
        let pause = dice.millis(0, 500);
        cluster.run(pause);
    }
    for _ in 0..FAULTS {
        inject(&mut cluster, &mut dice);
        let pause = dice.pick(&[3, 20, 300, 2_500]);
        let pause = dice.millis(0, pause);
        cluster.run(pause);
    }
    mend(&mut cluster, &mut dice);
    come_to_rest(&mut cluster, seed);
}

fn inject(cluster: &mut Cluster, dice: &mut Dice) {
    let name = dice.pick(&NODES);
    let server = dice.pick(&SERVERS);
    match dice.below(30) {
        0 | 1 if cluster.host(name).outcome == Outcome::Runs => cluster.crash(name),
        0..=2 if cluster.host(name).outcome != Outcome::Runs => start(cluster, name, dice),
        3 | 4 => cluster.cut(name),
        5 | 6 => cluster.heal(name),
        7 => cluster.pause(name),
        8 => cluster.resume(name),
        9 => cluster.expire(name),
        10 => cluster.replace_session(name),
        11 => cluster.give_session_up(name),
        12 => cluster.fault(Fault::Lag(server)),
        13 => cluster.fault(Fault::CatchUp(server)),
        14 => cluster.fault(Fault::Cut(server)),
        15 => heal_servers(cluster, dice),
        16 if dice.one_in(3) => cluster.fault(Fault::Restart { keep_data: !dice.one_in(3) }),
        17 => lose_answers(cluster, name, dice),
        18 => meddle(cluster, dice),
        19 => cluster.deliver(name, Event::Resign),
        20 => cluster.host(name).failing_starts = u32::try_from(dice.below(4)).expect("a small number"),
        21 => cluster.host(name).stop_takes = dice.millis(0, 4_000),
        22 => again(cluster, name),
        23 => forge(cluster, name, dice),
        // Some answers come after they are overdue, or after the connection on which they were sent.
        24 => cluster.host(name).answers_take = dice.millis(0, 1_500),
        25 => cluster.deliver(name, Event::Shutdown),
        26 => cluster.stand(name, dice.one_in(3)),
        27..=29 => wish(cluster, dice),
        _ => {}
    }
}

fn lose_answers(cluster: &mut Cluster, name: &'static str, dice: &mut Dice) {
    cluster.host(name).loses = match dice.below(7) {
        0 => Some(|request| matches!(request, Request::Queue(QueueRequest::Enter { .. }))),
        1 => Some(|request| matches!(request, Request::Directory(DirectoryRequest::Join { .. }))),
        2 => Some(|request| matches!(request, Request::Directory(DirectoryRequest::Leave { .. }))),
        3 => Some(|request| matches!(request, Request::Queue(QueueRequest::Delete { .. }))),
        4 => Some(|_| true),
        5 => Some(|request| matches!(request, Request::Wish(_))),
        _ => None,
    };
}

/// An operator or another kind of client does something that can be undone.
fn meddle(cluster: &mut Cluster, dice: &mut Dice) {
    let queue = cluster.queue();
    let directory = dice.pick(&[Directory::Workers, Directory::Coordinators]);
    match dice.below(10) {
        0 => _ = cluster.foreign_candidate("curator"),
        1 | 2 if !queue.is_empty() => {
            let (candidate, _) = dice.pick(&queue);
            cluster.operator(Act::DeleteCandidate(candidate));
        }
        3 => match dice.below(3) {
            0 => cluster.operator(Act::DeleteTerm),
            1 => cluster.operator(Act::SpoilTerm),
            _ => cluster.operator(Act::DeleteSettings),
        },
        4 => {
            let keys: Vec<MemberKey> = cluster.members(directory).into_iter().map(|member| member.key).collect();
            if let Some(key) = keys.first() {
                cluster.operator(Act::DeleteMember { directory, key: key.clone() });
            }
        }
        5 | 6 if !queue.is_empty() => {
            let (candidate, owner) = dice.pick(&queue);
            let owner = dice.pick(&[owner, Session::default()]);
            cluster.operator(Act::AddCandidate { guid: candidate.guid, participant: "twin".into(), owner });
            if dice.one_in(2) {
                cluster.operator(Act::DeleteCandidate(candidate));
            }
        }
        7 => _ = cluster.ownerless_candidate(dice.pick(&LEFTOVERS).expect("it has a guid")),
        8 if !queue.is_empty() => cluster.operator(Act::RewriteCandidate(dice.pick(&queue).0)),
        _ => {
            cluster.operator(Act::LitterQueue);
            cluster.operator(Act::LitterDirectory(directory));
        }
    }
}

/// The client library reports once more that the session is up.
fn again(cluster: &mut Cluster, name: &'static str) {
    if let Some((session, true)) = cluster.node(name).session()
        && cluster.host(name).is_connected_with(session)
    {
        cluster.deliver(name, Event::SessionUp { session, timeout: TIMEOUT, entropy: session.0 });
    }
}

fn heal_servers(cluster: &mut Cluster, dice: &mut Dice) {
    for server in SERVERS {
        cluster.fault(Fault::Heal { server, deliver: dice.one_in(2) });
        cluster.fault(Fault::CatchUp(server));
    }
}

/// Ends all faults, and removes foreign candidates. Leftovers that no session owns stay.
fn mend(cluster: &mut Cluster, dice: &mut Dice) {
    heal_servers(cluster, dice);
    for name in NODES {
        let host = cluster.host(name);
        (host.loses, host.failing_starts, host.answers_take) = (None, 0, Duration::ZERO);
        if host.outcome == Outcome::Runs {
            cluster.resume(name);
            cluster.heal(name);
        }
        // A pause may have kept a service from stopping in time; its node then ends as soon as it goes on.
        if cluster.host(name).outcome != Outcome::Runs {
            start(cluster, name, dice);
        }
    }
    let (last, others) = NODES.split_last().expect("there are nodes");
    others.iter().for_each(|name| cluster.stand(name, true));
    let willing = dice.one_in(2);
    cluster.stand(last, willing);
    for (candidate, owner) in cluster.queue() {
        let is_copy = owner == Session::NOBODY && !LEFTOVERS.contains(&candidate.guid);
        if is_copy || cluster.is_strangers(owner) {
            cluster.operator(Act::DeleteCandidate(candidate));
        }
    }
}
