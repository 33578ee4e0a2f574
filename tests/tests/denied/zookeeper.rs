//! ACLs of ZooKeeper.

use rolecall_tests::cluster::{Cluster, SESSION};
use rolecall_tests::process::{Launch, Process};
use rolecall_tests::wait::until;
use zookeeper_client::{Acl, Acls, AuthId, CreateMode, Permission};

use super::{until_granted, until_said};

const ALL: [(&str, Permission); 5] = [
    ("READ", Permission::READ),
    ("WRITE", Permission::WRITE),
    ("CREATE", Permission::CREATE),
    ("DELETE", Permission::DELETE),
    ("ADMIN", Permission::ADMIN),
];

/// Takes a permission away from everybody; with none, gives all of them back.
async fn take(cluster: &Cluster, path: &str, taken: Option<&str>) {
    let left = ALL.into_iter().filter(|(name, _)| Some(*name) != taken);
    let left = left.fold(Permission::NONE, |left, (_, permission)| left | permission);
    let acl = Acl::new(left, AuthId::anyone());
    let observer = cluster.zookeeper.observer().await;
    observer.set_acl(path, &[acl], None).await.unwrap_or_else(|error| panic!("{path}: {error}"));
}

fn start(cluster: &Cluster, id: &str) -> Process {
    let (url, documents) = (cluster.zookeeper.url(), cluster.documents.path());
    let (address, session_timeout) = (None, SESSION);
    Process::start(&Launch { id, store: &url, documents, address, session_timeout, cluster_token: None })
}

/// Takes a permission on a znode, starts a node, and gives it back once the node has said that it is missing.
async fn is_told(cluster: &Cluster, id: &str, name: &str, permission: &str) {
    let path = format!("/rolecall/default{name}");
    take(cluster, &path, Some(permission)).await;
    let mut node = start(cluster, id);
    let client = "a client without credentials (world:anyone)";
    let denial = format!("the store denies {client} access to {path}: it needs the permission {permission}");
    until_said(&cluster.web, &node, &denial).await;
    take(cluster, &path, None).await;
    until_granted(&cluster.web, &node).await;
    node.terminate();
    assert_eq!(node.exit_code().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_names_the_znode_and_the_permission_that_it_needs_to_lead() {
    let mut cluster = Cluster::new(5).await;
    cluster.start_in_order(&["a"]).await;
    let observer = cluster.zookeeper.observer().await;
    until("the first heartbeat", async || observer.check_stat("/rolecall/default/beat").await.ok().flatten()).await;
    let mut first = cluster.nodes.remove("a").expect("it was started");
    first.terminate();
    assert_eq!(first.exit_code().await, 0);
    let options = CreateMode::Persistent.with_acls(Acls::anyone_all());
    observer.create("/rolecall/default/wish", b"", &options).await.expect("nobody has wished anything");
    for (name, permission) in [
        ("/settings", "READ"),
        ("/term", "READ"),
        ("/term", "WRITE"),
        ("/beat", "WRITE"),
        ("/wish", "READ"),
        ("/election", "CREATE"),
        ("/election", "READ"),
        ("/services/coordinators", "CREATE"),
        ("/services/coordinators", "READ"),
        ("/services/workers", "READ"),
    ] {
        is_told(&cluster, "b", name, permission).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_names_the_registry_and_the_permission_that_it_needs_to_work() {
    let mut cluster = Cluster::new(5).await;
    cluster.start_in_order(&["a", "b"]).await;
    for (name, permission) in [("/services/workers", "CREATE"), ("/services/coordinators", "READ")] {
        is_told(&cluster, "c", name, permission).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_names_the_znode_under_which_it_can_create_nothing() {
    let mut cluster = Cluster::new(5).await;
    take(&cluster, "/", Some("CREATE")).await;
    cluster.start("a");
    let node = cluster.nodes.remove("a").expect("it was started");
    let client = "a client without credentials (world:anyone)";
    let denial = format!("the store denies {client} access to /: it needs the permission CREATE, to create children");
    until_said(&cluster.web, &node, &denial).await;
    take(&cluster, "/", None).await;
    until_granted(&cluster.web, &node).await;
}
