//! Apache Curator's LeaderLatch and nodes of Rolecall in one election, on one path.

mod member;

use core::time::Duration;
use std::collections::BTreeMap;
use std::process::Command;

use rolecall::Leader;
use rolecall_tests::peers::Peers;
use rolecall_tests::tools::tool;
use rolecall_tests::wait::until;
use rolecall_tests::zookeeper::ZooKeeperServer;

use crate::member::{Ending, Kind, Member, Term};

/// Path of the election.
const PATH: &str = "/rolecall/default/election";
/// Short, because a killed leader keeps its place for so long.
const SESSION: Duration = Duration::from_secs(2);
const HANDOVERS: usize = 200;

#[tokio::test(flavor = "multi_thread")]
async fn in_200_handovers_with_kills_leadership_passes_both_ways_and_at_most_one_leads() {
    let server = ZooKeeperServer::start().await.unwrap_or_else(|error| panic!("{error}"));
    let peers = Peers::find(&tool("python3")).unwrap_or_else(|error| panic!("{error}"));
    let mut members = Vec::new();
    for (name, kind) in [("r1", Kind::Rolecall), ("c1", Kind::Curator), ("r2", Kind::Rolecall), ("c2", Kind::Curator)] {
        members.push(Member::start(&server, &peers, name, kind).await);
        until("the first to lead", async || members[0].leads().then_some(())).await;
    }
    until_all_stand(&server).await;
    until("everyone to know who leads", async || members.iter().all(Member::knows_a_leader).then_some(())).await;
    let (first, waiting) = read_with_kazoo(&server);
    assert_eq!((first.as_str(), waiting.len()), ("r1", 3), "{waiting:?}");

    let mut dice = Dice(1);
    for number in 0..HANDOVERS {
        let leader = until("somebody to lead", async || members.iter().position(Member::leads)).await;
        if number == HANDOVERS / 2 {
            a_foreign_leader_is_known_by_name(&server, &members).await;
        }
        let ending = if dice.one_in(8) { Ending::Kill } else { Ending::Leave };
        members[leader].end(&server, &peers, ending).await;
        // Somebody who waits may die as well.
        if dice.one_in(40) {
            let other = (leader + 1 + dice.below(3)) % members.len();
            members[other].end(&server, &peers, Ending::Kill).await;
        }
    }

    let mut terms: Vec<Term> = Vec::new();
    for member in members {
        terms.extend(member.terms().await);
    }
    terms.sort_by_key(|term| term.begin);
    let mut passed: BTreeMap<(Kind, Kind), usize> = BTreeMap::new();
    for pair in terms.windows(2) {
        let [before, after] = pair else { unreachable!("windows of two") };
        assert!(before.end <= after.begin, "two leaders: {before:?} and {after:?}");
        *passed.entry((before.kind, after.kind)).or_default() += 1;
    }
    assert!(terms.len() >= HANDOVERS, "{} terms", terms.len());
    for way in [(Kind::Rolecall, Kind::Curator), (Kind::Curator, Kind::Rolecall)] {
        assert!(passed.get(&way).is_some_and(|times| *times > HANDOVERS / 10), "{passed:?}");
    }
}

/// Waits for a leader of the other kind if there is none, and asks our nodes who leads.
async fn a_foreign_leader_is_known_by_name(server: &ZooKeeperServer, members: &[Member]) {
    let leader = until("a leader that everyone knows", async || {
        let leader = members.iter().find(|member| member.leads())?;
        let sees = |member: &Member| match (member.sees(), leader.kind) {
            (Some(Leader::Foreign { id }), Kind::Curator) | (Some(Leader::Node { id, .. }), Kind::Rolecall) => {
                *id == *leader.name
            }
            (Some(Leader::Foreign { .. } | Leader::Node { .. }), _) => false,
            // A latch tells nobody whom it follows.
            (None, _) => member.kind == Kind::Curator,
        };
        members.iter().all(sees).then_some(leader.name)
    })
    .await;
    until_all_stand(server).await;
    assert_eq!(read_with_kazoo(server).0, leader);
}

async fn until_all_stand(server: &ZooKeeperServer) {
    let observer = server.observer().await;
    until("four to stand in the queue", async || (observer.list_children(PATH).await.ok()?.len() == 4).then_some(()))
        .await;
}

/// Asks kazoo's Lock, which is told how candidates are named, who stands first and who waits.
fn read_with_kazoo(server: &ZooKeeperServer) -> (String, Vec<String>) {
    const READ: &str = "
import sys
from kazoo.client import KazooClient
client = KazooClient(hosts=sys.argv[1])
client.start()
lock = client.Lock(sys.argv[2], 'reader', extra_lock_patterns=['-latch-'])
print(*lock.contenders())
client.stop()
";
    let address = server.address().to_string();
    let output = Command::new(tool("python3")).args(["-c", READ, &address, PATH]).output().expect("it is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut names = told.split_whitespace().map(str::to_owned);
    (names.next().expect("somebody stands there"), names.collect())
}

/// A small generator, so that each run is the same (Knuth's MMIX).
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }
}
