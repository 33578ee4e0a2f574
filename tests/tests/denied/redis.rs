//! Rights of a user of Redis.

use rolecall_tests::documents;
use rolecall_tests::process::{Launch, Process, Web};
use rolecall_tests::redis::RedisServer;
use tempfile::TempDir;

use super::{until_granted, until_said};

const CLUSTER: &str = "rolecall:{default}:*";

/// Gives the user `bob` these rights and no others.
async fn allow(server: &RedisServer, rules: &[&str]) {
    let mut command = redis::cmd("ACL");
    command.arg("SETUSER").arg("bob").arg("reset").arg("on").arg(">a-password");
    command.arg(format!("~{CLUSTER}")).arg(format!("&{CLUSTER}")).arg(rules);
    server.command::<()>(&command).await.expect("the rules are well-formed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_whose_rights_are_taken_away_says_so_and_goes_on_once_it_has_them_again() {
    let server = RedisServer::start().await.unwrap_or_else(|error| panic!("{error}"));
    let documents = TempDir::new().expect("a temporary folder");
    documents::generate(documents.path(), 5).expect("a new folder can be written");
    allow(&server, &["+@all"]).await;
    let url = format!("redis://bob:a-password@{}", server.address());
    let (documents, address, session_timeout) = (documents.path(), None, "2s");
    let launch = Launch { id: "a", store: &url, documents, address, session_timeout, cluster_token: None };
    let node = Process::start(&launch);
    let web = Web::default();
    until_granted(&web, &node).await;
    // Servers before 7.2 do not say which step of a script they deny.
    for (taken, words) in [("-hset", "script"), ("-eval -evalsha", "'evalsha'"), ("-info", "'info'")] {
        let rules: Vec<_> = core::iter::once("+@all").chain(taken.split(' ')).collect();
        allow(&server, &rules).await;
        // What it needs to connect is missed only by a new connection.
        server.command::<()>(redis::cmd("CLIENT").arg("KILL").arg("USER").arg("bob")).await.expect("it is connected");
        let denial = format!("the store denies user bob access to {CLUSTER}:");
        until_said(&web, &node, &denial).await;
        let names = |line: &str| line.contains(&denial) && line.contains(words);
        assert!(node.log().lines().any(names), "{words}");
        allow(&server, &["+@all"]).await;
        until_granted(&web, &node).await;
    }
    assert!(!node.log().contains("a-password"));
}
