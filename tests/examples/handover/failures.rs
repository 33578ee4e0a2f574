//! Unplanned changes of real processes: how long until a search is whole again, and until the next program runs.

use core::fmt::Write as _;
use core::time::Duration;
use std::time::SystemTime;

use http::StatusCode;
use rolecall_tests::cluster::Cluster;
use rolecall_tests::command::{Stage, send};
use rolecall_tests::wait::until;
use rolecall_tests::zookeeper::ZooKeeperServer;
use rustix::process::Signal;
use tokio::time::Instant;

use crate::Outcome;
use crate::table::{median, sorted};

const DOCUMENTS: u32 = 200;
/// Session timeouts of the nodes, in seconds.
const SESSIONS: [u64; 2] = [2, 10];

/// Measures each so many times. Returns a table.
pub(crate) async fn measure(runs: usize) -> Outcome<String> {
    let mut table = "| from | until | median | least .. most | goal |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for session in SESSIONS {
        let times = repeated(runs, || healing(Duration::from_secs(session))).await?;
        let from = format!("kill -9 of the leading node, session {session} s");
        row(&mut table, &from, "the first whole answer", &times, &format!("{:.1} s", 1.1 * session_seconds(session)))?;
    }
    let times = repeated(runs, next_program).await?;
    row(&mut table, "the program of `rolecall exec` is killed", "the next one's program runs", &times, "100 ms")?;
    Ok(table)
}

fn session_seconds(session: u64) -> f64 {
    Duration::from_secs(session).as_secs_f64()
}

fn row(table: &mut String, from: &str, until: &str, times: &[Duration], goal: &str) -> Outcome<()> {
    let times = sorted(times);
    let (median, least, most) = (median(&times), times[0], times[times.len() - 1]);
    writeln!(table, "| {from} | {until} | {median:.0} ms | {least:.0} .. {most:.0} ms | {goal} |")?;
    Ok(())
}

async fn repeated<F: Future<Output = Outcome<Duration>>>(
    runs: usize,
    measurement: impl Fn() -> F,
) -> Outcome<Vec<Duration>> {
    let mut times = Vec::new();
    for _ in 0..runs {
        times.push(measurement().await?);
    }
    Ok(times)
}

/// From the end of the leading one of three nodes until another answers a search in full.
async fn healing(session: Duration) -> Outcome<Duration> {
    let mut cluster = Cluster::new(DOCUMENTS).await;
    let url = cluster.zookeeper.url();
    for id in ["a", "b", "c"] {
        cluster.start_at(id, &url, &format!("{}s", session.as_secs()));
        cluster.until_ready(id).await;
    }
    cluster.until_leads("a").await;
    cluster.until_all_shards_are_whole("a").await;
    let path = "/search?q=lantern%20harbour%20river&limit=10";
    let total = cluster.web.get(cluster.address("a"), path).await.ok_or("the leader answers")?.body["total"].clone();
    let begin = Instant::now();
    cluster.kill("a");
    until("b to answer in full", async || {
        let answer = cluster.web.get(cluster.address("b"), path).await?;
        let is_whole = answer.status == StatusCode::OK && answer.body["partial"] == false;
        (is_whole && answer.body["total"] == total).then_some(())
    })
    .await;
    Ok(begin.elapsed())
}

/// From the end of the leader's program until the program of the next member has begun.
async fn next_program() -> Outcome<Duration> {
    let (server, stage) = (ZooKeeperServer::start().await?, Stage::new());
    let mut members = Vec::new();
    for name in ["a", "b"] {
        let mut command = stage.command(name, &server.url(), "10s");
        command.args(["--leader", &stage.program()]);
        members.push(stage.start(name, command));
        let member = members.last().ok_or("it was pushed")?;
        until(&format!("{name} to be a member"), async || member.log().contains("is a member of").then_some(())).await;
        if name == "a" {
            stage.until_noted("start", "a", 1).await;
        }
    }
    let program = stage.until_noted("start", "a", 1).await.process;
    let begin = SystemTime::now();
    send(program, Signal::KILL);
    let next = stage.until_noted("start", "b", 1).await.at;
    let begin = begin.duration_since(SystemTime::UNIX_EPOCH)?;
    Ok(Duration::from_nanos(next).saturating_sub(begin))
}
