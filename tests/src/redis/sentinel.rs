//! Sentinels, which watch a primary and promote a replica of it.

use core::time::Duration;
use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};

use redis::Client;
use tempfile::TempDir;

use super::{RedisServer, ServerError};
use crate::ports;
use crate::wait::until;

/// A sentinel that alone decides that a primary is down. Dropping it kills it.
#[derive(Debug)]
pub struct Sentinel {
    // Held until the sentinel, which writes its configuration there, is gone.
    _folder: TempDir,
    port: u16,
    process: Child,
}

impl Sentinel {
    /// Starts a sentinel that watches `primary` under `name`, and waits until it knows the primary and its only replica.
    ///
    /// # Errors
    /// [`ServerError`].
    ///
    /// # Panics
    /// If it does not answer.
    pub async fn start(name: &str, primary: &RedisServer, down_after: Duration) -> Result<Self, ServerError> {
        let (folder, port) = (TempDir::new()?, ports::free());
        let configuration = folder.path().join("sentinel.conf");
        let lines = [
            format!("port {port}"),
            "bind 127.0.0.1".into(),
            format!("sentinel monitor {name} 127.0.0.1 {} 1", primary.address().port()),
            format!("sentinel down-after-milliseconds {name} {}", down_after.as_millis()),
            format!("sentinel failover-timeout {name} 5000"),
        ];
        fs::write(&configuration, lines.join("\n"))?;
        let log = File::create(folder.path().join("log"))?;
        let mut command = Command::new("redis-server");
        command.arg(&configuration).arg("--sentinel").stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let process = command.spawn().map_err(|error| ServerError::NotInstalled { error })?;
        let sentinel = Self { _folder: folder, port, process };
        until("the sentinel to know the replica", async || {
            let client = Client::open(format!("redis://{}", sentinel.address())).ok()?;
            let mut connection = client.get_multiplexed_async_connection().await.ok()?;
            let mut ask = redis::cmd("SENTINEL");
            ask.arg("REPLICAS").arg(name);
            let replicas: Vec<redis::Value> = ask.query_async(&mut connection).await.ok()?;
            (replicas.len() == 1).then_some(())
        })
        .await;
        Ok(sentinel)
    }

    /// Address of the sentinel.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        // It may have ended by itself, and there is nobody to tell.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
