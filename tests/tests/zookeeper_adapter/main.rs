//! The ZooKeeper adapter on a real server, observed from outside by a raw client.

use core::time::Duration;
use std::error::Error;
use std::net::SocketAddr;

use rolecall::store::zookeeper::ZooKeeperStore;
use rolecall::store::{Participant, Registration, ServerAddress};
use rolecall_tests::asker::Asker;
use rolecall_tests::zookeeper::ZooKeeperServer;
use zookeeper_client::{Acls, Client, CreateMode, CreateOptions};

mod requests;
mod sessions;
mod strangers;
mod watches;

type Outcome = Result<(), Box<dyn Error>>;
type Node = Asker<ZooKeeperStore>;

const PERSISTENT: CreateOptions<'static> = CreateMode::Persistent.with_acls(Acls::anyone_all());
const ROOT: &str = "/rolecall/default";

/// Timeout of sessions that end only if a test ends them: longer than a test waits for anything.
const LONG: Duration = Duration::from_secs(40);

/// A node that asks for sessions of `timeout` at `address`.
fn node(id: &str, address: SocketAddr, chroot: &str, timeout: Duration) -> Result<Node, Box<dyn Error>> {
    let server = ServerAddress { host: address.ip().to_string(), port: address.port() };
    let registration = Registration::at_paths("/task", "/search").metadata([("zone", "eu-1")].into_iter().collect());
    let participant = Participant::new("default", id, timeout).at("10.0.0.5:8080").registered(registration);
    Ok(Asker::new(ZooKeeperStore::open(&[server], chroot, &participant)?))
}

/// A server, a node with a session there, and an observer.
async fn world() -> Result<(ZooKeeperServer, Node, Client), Box<dyn Error>> {
    let server = ZooKeeperServer::start().await?;
    let mut node = node("node-a", server.address(), "", LONG)?;
    node.up().await;
    let observer = server.observer().await;
    Ok((server, node, observer))
}

async fn children(observer: &Client, path: &str) -> Result<Vec<String>, zookeeper_client::Error> {
    let mut children = observer.list_children(path).await?;
    children.sort();
    Ok(children)
}
