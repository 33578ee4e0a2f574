//! A queue of a peer's contenders, in one process of its own.

use core::time::Duration;
use std::net::SocketAddr;

use rolecall_tests::peers::{Entry, Peer, Peers, Program};
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::time::timeout;

use crate::{Outcome, SESSION};

/// The start of a thousand contenders takes a while.
const LIMIT: Duration = Duration::from_secs(300);

pub(crate) struct PeerQueue {
    process: Peer,
    lines: UnboundedReceiver<String>,
}

impl PeerQueue {
    pub(crate) async fn start(
        peers: &Peers,
        program: Program,
        server: SocketAddr,
        path: &str,
        contenders: usize,
    ) -> Outcome<Self> {
        let (sender, lines) = mpsc::unbounded_channel();
        let entry = Entry { path, id: &contenders.to_string(), servers: &[server], session: SESSION };
        let process = peers.start(program, &entry, move |line| drop(sender.send(line.to_owned())))?;
        let mut queue = Self { process, lines };
        match queue.line().await?.as_str() {
            "led" => Ok(queue),
            line => Err(format!("{program:?} began with {line:?}").into()),
        }
    }

    pub(crate) async fn hand_over(&mut self) -> Outcome<Duration> {
        self.process.tell("hand over")?;
        let line = self.line().await?;
        let time = line.strip_prefix("handed ").and_then(|time| time.parse().ok());
        time.map(Duration::from_nanos).ok_or_else(|| format!("no time: {line:?}").into())
    }

    async fn line(&mut self) -> Outcome<String> {
        timeout(LIMIT, self.lines.recv()).await?.ok_or_else(|| "the process has ended".into())
    }
}
