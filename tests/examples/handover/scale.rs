//! A node among many members: what it costs at rest, and what the departure of one member costs the store. The node follows all
//! members; the others follow only the leader.

use core::fmt::Write as _;
use core::time::Duration;
use std::fs;
use std::process::{Child, Command, Stdio};

use rolecall_tests::process::binary;
use rolecall_tests::wait::until;
use rolecall_tests::zookeeper::ZooKeeperServer;
use tokio::time::{Instant, sleep};
use zookeeper_client::{Acls, Client, CreateMode};

use crate::Outcome;
use crate::own::{Follow, Own};

const NAME: &str = "scale";
/// Time over which the processor time of a node at rest is measured.
const REST: Duration = Duration::from_secs(30);
/// Unit of the times in `/proc/PID/stat`, the same on all machines that run Debian (USER_HZ, proc(5)).
const TICKS_PER_SECOND: f64 = 100.0;

/// Measures both with `members` members. Returns a table.
pub(crate) async fn measure(server: &ZooKeeperServer, members: usize) -> Outcome<String> {
    eprintln!("a node among {members} members");
    let observer = server.observer().await;
    let mut own = Own::start(server.address(), NAME, members, Follow::LeaderOnly).await?;
    let node = Node::start(server)?;
    until_listed(&observer, members + 1).await;

    let idle = node.idle().await?;
    let mut table = "| with this many members | |\n| --- | --- |\n".to_owned();
    writeln!(table, "| members | {} |", members + 1)?;
    writeln!(table, "| resident memory of one node | {:.1} MiB |", idle.resident_mib)?;
    writeln!(table, "| processor time of one node at rest | {:.2} % of one core |", idle.percent)?;

    let probe = Probe::new(&observer).await?;
    let before = probe.writes().await?;
    own.depart().await?;
    until_listed(&observer, members).await;
    let after = probe.writes().await?;
    writeln!(table, "| writes to the store for one departure | {} |", after - before)?;
    Ok(table)
}

async fn until_listed(observer: &Client, members: usize) {
    let folder = format!("/rolecall/{NAME}/services");
    until(&format!("{members} members to be listed"), async || {
        let mut listed = 0;
        for role in ["workers", "coordinators"] {
            listed += observer.list_children(&format!("{folder}/{role}")).await.map_or(0, |names| names.len());
        }
        (listed == members).then_some(())
    })
    .await;
}

/// A counter of the store's writes, apart from heartbeats and its own.
struct Probe<'a> {
    observer: &'a Client,
}

impl<'a> Probe<'a> {
    const PATH: &'static str = "/handover-probe";

    async fn new(observer: &'a Client) -> Outcome<Self> {
        let persistent = CreateMode::Persistent.with_acls(Acls::anyone_all());
        observer.create(Self::PATH, b"", &persistent).await?;
        Ok(Self { observer })
    }

    /// Every write has the next zxid (within the term of ZooKeeper's leader).
    async fn writes(&self) -> Outcome<i64> {
        let beat = self.observer.check_stat(&format!("/rolecall/{NAME}/beat")).await?.ok_or("no heartbeat")?;
        let own = self.observer.set_data(Self::PATH, b"", None).await?;
        Ok(own.mzxid - i64::from(beat.version) - i64::from(own.version))
    }
}

/// `rolecall exec` as a member that never leads meanwhile.
struct Node(Child);

struct Idle {
    resident_mib: f64,
    percent: f64,
}

impl Node {
    fn start(server: &ZooKeeperServer) -> Outcome<Self> {
        let mut command = Command::new(binary());
        command.args(["exec", "--store", &server.url(), "--cluster", NAME, "--id", "measured"]);
        command.args(["--leader", "sleep 100000", "--worker", "sleep 100000"]);
        Ok(Self(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn()?))
    }

    async fn idle(&self) -> Outcome<Idle> {
        let (begin, before) = (Instant::now(), self.ticks()?);
        sleep(REST).await;
        let spent = Duration::from_secs(self.ticks()? - before).as_secs_f64() / TICKS_PER_SECOND;
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("no VmRSS")?;
        let kib: u32 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(Idle { resident_mib: f64::from(kib) / 1024.0, percent: 100.0 * spent / begin.elapsed().as_secs_f64() })
    }

    /// Clock ticks that it has run (proc(5)).
    fn ticks(&self) -> Outcome<u64> {
        let line = fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        let fields: Vec<_> = line.rsplit_once(") ").ok_or("no name")?.1.split(' ').collect();
        Ok(fields[11].parse::<u64>()? + fields[12].parse::<u64>()?)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Its guard ends the program.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
