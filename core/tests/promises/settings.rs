//! Settings of the whole cluster: agreed upon first, and kept while somebody leads.

use std::time::Duration;

use rolecall_core::store::{Act, Answer, Refusal, Request};
use rolecall_core::{Action, Config, Event, Health, Node, Objection, Role, Session, Time};

use rolecall_core::testing::{Cluster, LATENCY, Outcome};

fn start(cluster: &mut Cluster, name: &'static str, settings: &str) {
    cluster.start_with(name, |config| config.settings = Some(settings.into()));
}

#[test]
fn the_first_node_writes_the_settings_and_one_with_others_is_refused() {
    let mut cluster = Cluster::new();
    start(&mut cluster, "a", "64 shards");
    cluster.until("led", |cluster| cluster.role("a") == Role::Leader);
    start(&mut cluster, "b", "8 shards");
    start(&mut cluster, "c", "64 shards");
    cluster.until("worked", |cluster| cluster.role("c") == Role::Worker);
    let differ = Objection::SettingsDiffer { ours: "8 shards".into(), theirs: "64 shards".into() };
    assert_eq!(cluster.hosts["b"].outcome, Outcome::Refused(differ));
}

#[test]
fn a_node_stands_for_nothing_until_the_settings_are_agreed_upon() {
    let mut cluster = Cluster::new();
    start(&mut cluster, "a", "64 shards");
    cluster.host("a").loses = Some(|request| matches!(request, Request::Settings(_)));
    cluster.run(Duration::from_secs(20));
    assert_eq!(cluster.node("a").health(), Health::Unsettled);
    assert!(cluster.queue().is_empty());
    cluster.host("a").loses = None;
    cluster.settle();
}

#[test]
fn settings_that_are_deleted_under_a_leader_are_written_again() {
    let mut cluster = Cluster::new();
    for name in ["a", "b"] {
        start(&mut cluster, name, "64 shards");
        cluster.run(100 * LATENCY);
    }
    cluster.operator(Act::DeleteSettings);
    cluster.run(Duration::from_secs(40));
    assert_eq!(cluster.store.settings().map(AsRef::as_ref), Some("64 shards"));
    // And by whoever leads next, at once.
    cluster.operator(Act::DeleteSettings);
    cluster.settle_without("a");
    assert_eq!(cluster.store.settings().map(AsRef::as_ref), Some("64 shards"));
}

#[test]
fn settings_that_are_changed_under_a_cluster_end_no_node() {
    let mut cluster = Cluster::new();
    start(&mut cluster, "a", "64 shards");
    cluster.until("led", |cluster| cluster.role("a") == Role::Leader);
    cluster.run(100 * LATENCY);
    cluster.operator(Act::DeleteSettings);
    start(&mut cluster, "b", "8 shards");
    cluster.run(Duration::from_secs(40));
    assert_eq!(cluster.leaders(), ["a"]);
    assert_eq!(cluster.hosts["a"].outcome, Outcome::Runs);
    assert!(cluster.trace.text().contains("settings are 8 shards"), "{}", cluster.trace.text());
}

#[test]
fn a_node_whose_settings_the_store_denies_is_refused_in_the_end() {
    let mut config = Config::new("a");
    config.settings = Some("64 shards".into());
    let mut node = Node::new(config);
    let mut now = Time::from_millis(1);
    let (mut actions, mut asked) = (Vec::new(), 0);
    let up = Event::SessionUp { session: Session(1), timeout: Duration::from_secs(60), entropy: 1 };
    node.handle(now, up, &mut actions);
    let begun = now;
    let refused = loop {
        let settle = actions
            .drain(..)
            .find(|action| matches!(action, Action::Store { request: Request::Settings(_), .. } | Action::Refuse(_)));
        match settle {
            Some(Action::Refuse(objection)) => break objection,
            Some(Action::Store { id, .. }) => {
                asked += 1;
                node.handle(now, Event::Answered { id, answer: Answer::Refused(Refusal::Denied) }, &mut actions);
            }
            _ => {
                now = node.next_deadline().expect("it waits for something").0;
                node.handle(now, Event::Wake, &mut actions);
            }
        }
    };
    assert_eq!((refused, now.since(begun)), (Objection::SettingsDenied { limit_ms: 10_000 }, Duration::from_secs(10)));
    assert!(asked > 3, "it asked {asked} times");
}
