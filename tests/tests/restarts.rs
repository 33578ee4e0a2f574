//! A node that is restarted a hundred times in a row, in good order and killed, leaves nothing behind.

use core::time::Duration;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rolecall_tests::cluster::Cluster;
use rolecall_tests::command::children;
use rolecall_tests::ports;
use rolecall_tests::process::binary;
use rolecall_tests::wait::until;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

const RESTARTS: usize = 100;
/// One in so many is killed; the next start then waits until the session is over.
const KILLED: usize = 5;
const SESSION: Duration = Duration::from_secs(1);

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_restarts_leave_no_entry_no_file_no_socket_and_no_process() {
    let cluster = Cluster::new(20).await;
    let (home, address) = (TempDir::new().expect("a temporary folder"), format!("127.0.0.1:{}", ports::free()));
    fs::create_dir(home.path().join("tmp")).expect("a new folder");
    let mut after_the_first = None;
    for number in 0..RESTARTS {
        // Something to index, in the middle of which a node may be killed.
        fs::write(cluster.documents.path().join("changed.txt"), format!("lantern number {number}"))
            .expect("it can be written");
        let mut node = start(&cluster, home.path(), &address);
        until("the node to lead", async || (cluster.web.status(&address).await?["role"] == "leader").then_some(()))
            .await;
        if number == 0 || number == RESTARTS - 1 {
            until_indexed(&cluster, &address).await;
        }
        let children = children(i32::try_from(node.id()).expect("process ids are small"));
        assert!(children.is_empty(), "{children:?}");
        if number % KILLED == KILLED - 2 {
            node.kill().expect("it runs");
            node.wait().expect("it is a child");
        } else {
            kill_process(Pid::from_child(&node), Signal::TERM).expect("it runs");
            assert_eq!(node.wait().expect("it is a child").code(), Some(0));
        }
        if number == 0 {
            after_the_first = Some(files(home.path()));
        }
    }
    until("no entry to be left", async || {
        for folder in ["election", "services/workers", "services/coordinators"] {
            if !cluster.znodes(folder).await.is_empty() {
                return None;
            }
        }
        Some(())
    })
    .await;
    let root = cluster.zookeeper.observer().await.list_children("/rolecall/default").await.expect("it can be read");
    let known = ["beat", "election", "services", "settings", "term"];
    let unknown: Vec<_> = root.iter().filter(|name| !known.contains(&name.as_str())).collect();
    assert!(unknown.is_empty(), "znodes that one start would not have made: {unknown:?}");
    assert_eq!(Some(files(home.path())), after_the_first, "kinds of files, and how many there are");
    // The last one is the test's own, which has just looked.
    let ports =
        [cluster.zookeeper.address().port(), address.rsplit_once(':').expect("a port").1.parse().expect("a number")];
    until("no connection to be left", async || ports.into_iter().all(|port| connections(port) == 0).then_some(()))
        .await;
}

fn start(cluster: &Cluster, home: &Path, address: &str) -> Child {
    let mut command = Command::new(binary());
    command.args(["node", "--store", &cluster.zookeeper.url(), "--store-tick", "100ms", "--id", "a"]);
    command.args(["--session-timeout", &format!("{}ms", SESSION.as_millis()), "--listen", address]);
    command.arg("--documents").arg(cluster.documents.path()).env("HOME", home).env("TMPDIR", home.join("tmp"));
    command.env_remove("XDG_CACHE_HOME").env("RUST_LOG", "warn");
    command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("the binary was built")
}

/// Waits until a search finds the newest document.
async fn until_indexed(cluster: &Cluster, address: &str) {
    until("everything to be indexed", async || {
        let answer = cluster.web.get(address, "/search?q=number&limit=1").await?.body;
        (answer["partial"] == false && answer["total"] == 1).then_some(())
    })
    .await;
}

/// Numbers of folders and files under `folder`, by how deep they stand and how their names end. Names themselves change with what
/// is indexed.
fn files(folder: &Path) -> BTreeMap<(usize, String), usize> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let end = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            *found.entry((path.components().count(), end)).or_default() += 1;
            folders.extend(path.is_dir().then_some(path));
        }
    }
    found
}

/// Established connections of this machine to or from a port (proc_net_tcp(5)).
fn connections(port: u16) -> usize {
    const ESTABLISHED: &str = "01";
    let table = fs::read_to_string("/proc/net/tcp").unwrap_or_default();
    let ends_at =
        |address: &str| address.rsplit_once(':').is_some_and(|(_, hex)| u16::from_str_radix(hex, 16) == Ok(port));
    let is_one = |line: &&str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        fields.get(3) == Some(&ESTABLISHED) && (ends_at(fields[1]) || ends_at(fields[2]))
    };
    table.lines().skip(1).filter(is_one).count()
}
