//! A server that takes its time to load its data.

use redis::{Cmd, RedisError, Value};

use super::{RedisServer, ServerError};
use crate::wait::until;

/// Keys that take time to load: [`DELAY_US`] each.
const FILLERS: u32 = 6_000;
/// Longer than a test takes in all, if nobody ends it.
const DELAY_US: u32 = 20_000;

impl RedisServer {
    /// Kills the server, and starts it on the same port with its data, so that it is loading until
    /// [`finish_loading`](Self::finish_loading).
    ///
    /// # Errors
    /// The error of the start.
    pub async fn restart_loading(&mut self) -> Result<(), ServerError> {
        let fill = "for i = 1, tonumber(ARGV[1]) do redis.call('SET', 'filler:' .. i, string.rep('x', 1100)) end";
        self.done(redis::cmd("EVAL").arg(fill).arg(0).arg(FILLERS)).await;
        // A log of commands is loaded in large pieces, and nobody is heard meanwhile. A snapshot is loaded key by key.
        self.done(redis::cmd("CONFIG").arg("SET").arg("rdbcompression").arg("no")).await;
        self.done(&redis::cmd("BGREWRITEAOF")).await;
        until("the log to begin with a snapshot", async || {
            let info = self.persistence().await.ok()?;
            let is_done = ["aof_rewrite_in_progress:0", "aof_rewrite_scheduled:0"];
            let begun = !info.contains("aof_rewrites:0");
            (begun && is_done.iter().all(|field| info.contains(field))).then_some(())
        })
        .await;
        self.options_once = [
            ["--key-load-delay".to_owned(), DELAY_US.to_string()],
            ["--loading-process-events-interval-bytes", "1024"].map(str::to_owned),
        ]
        .concat();
        self.launch()?;
        until("the server to load", async || self.persistence().await.ok()?.contains("loading:1").then_some(())).await;
        Ok(())
    }

    /// Lets a server that is loading load the rest at once.
    ///
    /// # Errors
    /// The error of the start.
    pub async fn finish_loading(&mut self) -> Result<(), ServerError> {
        self.done(redis::cmd("CONFIG").arg("SET").arg("key-load-delay").arg(0)).await;
        self.answers().await
    }

    /// Sends a command until it is answered: the client's own patience is short for a busy machine.
    async fn done(&self, command: &Cmd) {
        let sent = async || match self.command::<Value>(command).await {
            Ok(_) => Some(()),
            // The rewrite that was asked for by an attempt whose answer came late.
            Err(error) => error.to_string().contains("already in progress").then_some(()),
        };
        until("the server to answer", sent).await;
    }

    /// Number of requests so far that this process has refused with an error of this kind, such as `LOADING`.
    ///
    /// # Errors
    /// The error of the command.
    pub async fn refusals(&self, kind: &str) -> Result<u64, RedisError> {
        let info: String = self.command(redis::cmd("INFO").arg("errorstats")).await?;
        let count = info.lines().find_map(|line| line.strip_prefix(&format!("errorstat_{kind}:count="))?.parse().ok());
        Ok(count.unwrap_or(0))
    }

    pub(super) async fn persistence(&self) -> Result<String, RedisError> {
        self.command(redis::cmd("INFO").arg("persistence")).await
    }
}
