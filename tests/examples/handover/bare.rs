//! The operations of ZooKeeper that a hand-over with a claimed term needs, and nothing else: the leader deletes its candidate;
//! the next one is told, lists the queue, and claims its term in one transaction that checks its candidate.

use core::time::Duration;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use zookeeper_client::{Acls, Client, CreateMode, Error};

use crate::{Outcome, SESSION};

const LIMIT: Duration = Duration::from_secs(300);
const ANY_VERSION: i32 = -1;

pub(crate) struct Bare {
    contenders: JoinSet<Result<(), Error>>,
    resign: Arc<Notify>,
    begins: UnboundedReceiver<Instant>,
    ends: UnboundedReceiver<Instant>,
}

struct Contender {
    client: Client,
    path: String,
    resign: Arc<Notify>,
    begins: UnboundedSender<Instant>,
    ends: UnboundedSender<Instant>,
}

impl Bare {
    pub(crate) async fn start(server: SocketAddr, path: &str, contenders: usize) -> Outcome<Self> {
        let ((begun, begins), (ended, ends)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let mut bare = Self { contenders: JoinSet::new(), resign: Arc::new(Notify::new()), begins, ends };
        let persistent = CreateMode::Persistent.with_acls(Acls::anyone_all());
        for number in 0..contenders {
            let client = Client::connector().with_session_timeout(SESSION).connect(&server.to_string()).await?;
            if number == 0 {
                client.create(path, b"", &persistent).await?;
                client.create(&format!("{path}-term"), b"", &persistent).await?;
            }
            let (path, resign) = (path.to_owned(), Arc::clone(&bare.resign));
            let contender = Contender { client, path, resign, begins: begun.clone(), ends: ended.clone() };
            bare.contenders.spawn(contender.contend());
        }
        bare.next_beginning().await?;
        Ok(bare)
    }

    pub(crate) async fn hand_over(&mut self) -> Outcome<Duration> {
        self.resign.notify_one();
        let end = timeout(LIMIT, self.ends.recv()).await?.ok_or("no contender is left")?;
        Ok(self.next_beginning().await?.duration_since(end))
    }

    async fn next_beginning(&mut self) -> Outcome<Instant> {
        tokio::select! {
            begin = timeout(LIMIT, self.begins.recv()) => Ok(begin?.ok_or("no contender is left")?),
            Some(failed) = self.contenders.join_next() => Err(format!("a contender has ended: {failed:?}").into()),
        }
    }
}

impl Contender {
    async fn contend(self) -> Result<(), Error> {
        let ephemeral = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());
        loop {
            let (_, sequence) = self.client.create(&format!("{}/n-", self.path), b"", &ephemeral).await?;
            let own = format!("n-{sequence}");
            self.until_first(&own).await?;
            let mut claim = self.client.new_multi_writer();
            claim.add_check_version(&format!("{}/{own}", self.path), ANY_VERSION)?;
            claim.add_set_data(&format!("{}-term", self.path), own.as_bytes(), None)?;
            claim.commit().await.map_err(|_| Error::NoNode)?;
            self.begins.send(Instant::now()).ok();
            self.resign.notified().await;
            self.ends.send(Instant::now()).ok();
            self.client.delete(&format!("{}/{own}", self.path), None).await?;
        }
    }

    /// Waits until no other stands before `own`.
    async fn until_first(&self, own: &str) -> Result<(), Error> {
        loop {
            let names = self.client.list_children(&self.path).await?;
            let Some(before) = names.iter().filter(|name| name.as_str() < own).max() else { return Ok(()) };
            let (stat, watcher) = self.client.check_and_watch_stat(&format!("{}/{before}", self.path)).await?;
            if stat.is_some() {
                watcher.changed().await;
            }
        }
    }
}
