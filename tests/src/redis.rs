//! Real Redis servers: Debian's package, started and stopped by the test.

mod clock;
mod loading;
mod sentinel;

use core::time::Duration;
use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use redis::aio::MultiplexedConnection;
use redis::{Client, Cmd, RedisError, Value};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::time::{Instant, sleep, timeout};

use self::clock::SteppedClock;
pub use self::sentinel::Sentinel;
use crate::ports;
use crate::process::until_still;
use crate::wait::{LIMIT, until};

/// A Redis server in a process of its own, on `127.0.0.1`, with a data folder that is removed at the end.
///
/// Dropping it kills it. Each of its writes is in its log before it is answered, so a kill loses nothing unless the data is
/// wiped. Its wall clock can be stepped.
///
/// ```no_run
/// # async fn example() -> Result<(), rolecall_tests::redis::ServerError> {
/// use rolecall_tests::redis::RedisServer;
///
/// let mut server = RedisServer::start().await?;
/// println!("--store {}", server.url());
/// server.step_clock(3_600_000_000); // an hour on
/// server.kill(); // as in a power loss
/// server.restart().await?; // on the same port, with the same data
/// server.kill();
/// server.wipe()?;
/// server.restart().await // empty
/// # }
/// ```
#[derive(Debug)]
pub struct RedisServer {
    folder: TempDir,
    port: u16,
    options: Vec<String>,
    /// Options of the next start alone.
    options_once: Vec<String>,
    clock: SteppedClock,
    process: Option<Child>,
}

/// Reasons for which a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Redis is not installed.
    #[error(
        "redis-server does not run ({error}); to install it: apt-get install -y --no-install-recommends redis-server"
    )]
    NotInstalled {
        /// The error of the start.
        error: io::Error,
    },
    /// The library that steps a server's clock cannot be built.
    #[error("the C compiler fails ({reason}); to install it: apt-get install -y --no-install-recommends gcc libc6-dev")]
    NoCompiler {
        /// The compiler's words.
        reason: String,
    },
    /// The server ended at once or did not answer.
    #[error("Redis on port {port} does not answer; its log:\n{log}")]
    Silent {
        /// The server's port.
        port: u16,
        /// The server's output.
        log: String,
    },
    /// The server's folder could not be used.
    #[error("Redis's folder: {0}")]
    Folder(#[from] io::Error),
}

impl RedisServer {
    /// Starts an empty server, and waits until it answers.
    ///
    /// # Errors
    /// [`ServerError`]; if Redis is not installed, the message has the command that installs it.
    pub async fn start() -> Result<Self, ServerError> {
        Self::start_with(&[]).await
    }

    /// Starts an empty server with more options of its command line, and waits until it answers.
    ///
    /// # Errors
    /// [`ServerError`].
    pub async fn start_with(options: &[&str]) -> Result<Self, ServerError> {
        let folder = TempDir::new()?;
        let clock = SteppedClock::new(folder.path())?;
        let options = options.iter().map(|&option| option.to_owned()).collect();
        let mut server = Self { folder, port: ports::free(), options, options_once: Vec::new(), clock, process: None };
        for _ in 0..5 {
            match server.restart().await {
                // Another process took the port after it was found free.
                Err(ServerError::Silent { log, .. }) if log.contains("Address already in use") => {
                    server.port = ports::free();
                }
                outcome => return outcome.map(|()| server),
            }
        }
        server.restart().await.map(|()| server)
    }

    /// Starts a replica of this server, and waits until it has its data.
    ///
    /// # Errors
    /// [`ServerError`].
    ///
    /// # Panics
    /// If it does not follow within [`LIMIT`].
    pub async fn replica(&self) -> Result<Self, ServerError> {
        let replica = Self::start_with(&["--replicaof", &format!("127.0.0.1 {}", self.port)]).await?;
        until("the replica to follow", async || {
            let info: String = replica.command(redis::cmd("INFO").arg("replication")).await.ok()?;
            info.contains("master_link_status:up").then_some(())
        })
        .await;
        until("the primary to count the replica", async || {
            let info: String = self.command(redis::cmd("INFO").arg("replication")).await.ok()?;
            info.contains("state=online").then_some(())
        })
        .await;
        // Until it has written its log anew, its data does not survive a kill.
        until("the replica to log its data", async || {
            let info = replica.persistence().await.ok()?;
            let is_done = ["aof_rewrite_in_progress:0", "aof_rewrite_scheduled:0", "aof_enabled:1"];
            is_done.iter().all(|field| info.contains(field)).then_some(())
        })
        .await;
        Ok(replica)
    }

    /// Makes a replica a primary, also for its next start.
    ///
    /// # Errors
    /// The error of the command.
    pub async fn promote(&mut self) -> Result<(), RedisError> {
        if let Some(at) = self.options.iter().position(|option| option == "--replicaof") {
            self.options.drain(at..(at + 2).min(self.options.len()));
        }
        self.command(redis::cmd("REPLICAOF").arg("NO").arg("ONE")).await
    }

    /// Address of the server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// Store URL of the server.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}", self.address())
    }

    /// A connection of its own, to look at the server from outside.
    ///
    /// # Errors
    /// The error of the connection.
    pub async fn connect(&self) -> Result<MultiplexedConnection, RedisError> {
        Client::open(format!("redis://{}", self.address()))?.get_multiplexed_async_connection().await
    }

    /// Sends a command over a connection of its own.
    ///
    /// # Errors
    /// The error of the connection or the command.
    pub async fn command<T: redis::FromRedisValue>(&self, command: &Cmd) -> Result<T, RedisError> {
        command.query_async(&mut self.connect().await?).await
    }

    /// Kills the server, as a crash or a power loss does. Its data stays.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().expect("a child can be killed");
            process.wait().expect("a killed child ends");
        }
    }

    /// Freezes the process (SIGSTOP): connections stay, and nothing is answered.
    ///
    /// # Panics
    /// If it does not run.
    pub async fn pause(&self) {
        let process = self.process.as_ref().expect("it runs");
        signal(process, Signal::STOP);
        until_still(process.id()).await;
    }

    /// Lets a paused process go on.
    ///
    /// # Panics
    /// If it does not run.
    pub fn resume(&self) {
        signal(self.process.as_ref().expect("it runs"), Signal::CONT);
    }

    /// Steps the server's wall clock by this many microseconds, on or back, and no other clock.
    pub fn step_clock(&self, by_us: i64) {
        self.clock.step(by_us);
    }

    /// Removes the data of a stopped server, so that it starts empty.
    ///
    /// # Errors
    /// The error of the removal.
    ///
    /// # Panics
    /// If the server runs.
    pub fn wipe(&mut self) -> Result<(), ServerError> {
        assert!(self.process.is_none(), "kill the server before its data is wiped");
        Ok(fs::remove_dir_all(self.data())?)
    }

    /// Starts the server again on the same port with its data, and waits until it answers. If it runs, it is killed first.
    ///
    /// # Errors
    /// [`ServerError`].
    pub async fn restart(&mut self) -> Result<(), ServerError> {
        self.launch()?;
        self.answers().await
    }

    /// Starts the server again on the same port with its data, and does not wait until it has loaded that. If it runs, it is
    /// killed first.
    ///
    /// # Errors
    /// [`ServerError`].
    fn launch(&mut self) -> Result<(), ServerError> {
        self.kill();
        fs::create_dir_all(self.data())?;
        let log = File::create(self.log_path())?;
        let mut command = Command::new("redis-server");
        command
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--daemonize", "no"])
            .args(["--save", "", "--appendonly", "yes", "--appendfsync", "no", "--repl-diskless-sync-delay", "0"])
            .arg("--dir")
            .arg(self.data())
            .args(&self.options)
            .args(self.options_once.drain(..));
        self.clock.preload(&mut command);
        let process = command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).spawn();
        self.process = Some(process.map_err(|error| ServerError::NotInstalled { error })?);
        Ok(())
    }

    /// The server's output since its last start.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    async fn answers(&mut self) -> Result<(), ServerError> {
        let end = Instant::now() + LIMIT;
        loop {
            let ping = redis::cmd("PING");
            match timeout(Duration::from_secs(1), self.command::<Value>(&ping)).await {
                Ok(Ok(_)) => return Ok(()),
                // It answers, although it wants a password.
                Ok(Err(error)) if error.code() == Some("NOAUTH") => return Ok(()),
                Ok(Err(_)) | Err(_) => {}
            }
            let ended = match &mut self.process {
                Some(process) => process.try_wait()?.is_some(),
                None => true,
            };
            if ended || Instant::now() > end {
                return Err(ServerError::Silent { port: self.port, log: self.log() });
            }
            sleep(Duration::from_millis(10)).await;
        }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn signal(process: &Child, signal: Signal) {
    let id = i32::try_from(process.id()).ok().and_then(Pid::from_raw).expect("a child has a process id");
    kill_process(id, signal).expect("a child can be signalled");
}
