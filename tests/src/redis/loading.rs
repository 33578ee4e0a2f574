//! A server that takes its time to load its data.

use core::error::Error;

use redis::RedisError;

use super::RedisServer;
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
    /// The error of a command or of the start.
    pub async fn restart_loading(&mut self) -> Result<(), Box<dyn Error>> {
        let fill = "for i = 1, tonumber(ARGV[1]) do redis.call('SET', 'filler:' .. i, string.rep('x', 1100)) end";
        self.command::<()>(redis::cmd("EVAL").arg(fill).arg(0).arg(FILLERS)).await?;
        self.command::<()>(redis::cmd("CONFIG").arg("SET").arg("rdbcompression").arg("no")).await?;
        // A log of commands is loaded in large pieces, and nobody is heard meanwhile. A snapshot is loaded key by key.
        self.command::<()>(&redis::cmd("BGREWRITEAOF")).await?;
        until("the log to begin with a snapshot", async || {
            let info = self.persistence().await.ok()?;
            let is_done = ["aof_rewrite_in_progress:0", "aof_rewrite_scheduled:0", "aof_rewrites:1"];
            is_done.iter().all(|field| info.contains(field)).then_some(())
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
    pub async fn finish_loading(&mut self) -> Result<(), Box<dyn Error>> {
        // A server that is loading may answer too late.
        let set = async || self.command::<()>(redis::cmd("CONFIG").arg("SET").arg("key-load-delay").arg(0)).await.ok();
        until("the server to load faster", set).await;
        Ok(self.answers().await?)
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
