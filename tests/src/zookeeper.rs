//! Real ZooKeeper servers: Debian's package, started and stopped by the test.

use core::time::Duration;
use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};
use zookeeper_client::Client;

use crate::ports;
use crate::process::until_still;
use crate::wait::LIMIT;

/// A ZooKeeper server in a process of its own, on `127.0.0.1`, with a data folder that is removed at the end.
///
/// Dropping it kills it. Its tick is 100 ms unless [`start_with_tick`](Self::start_with_tick) says otherwise, so the
/// server grants sessions from 200 ms to 60 s and ends them at most a tick late.
///
/// ```no_run
/// # async fn example() -> Result<(), rolecall_tests::zookeeper::ServerError> {
/// use rolecall_tests::zookeeper::ZooKeeperServer;
///
/// let mut server = ZooKeeperServer::start().await?;
/// println!("--store {}", server.url());
/// server.kill(); // as in a power loss
/// server.restart().await?; // on the same port, with the same data
/// server.kill();
/// server.wipe()?;
/// server.restart().await // empty
/// # }
/// ```
#[derive(Debug)]
pub struct ZooKeeperServer {
    folder: TempDir,
    port: u16,
    process: Option<Child>,
}

/// Reasons for which a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Java or ZooKeeper is not installed.
    #[error("{missing} is missing; to install it: apt-get install -y --no-install-recommends zookeeper")]
    NotInstalled {
        /// The missing file or command.
        missing: String,
    },
    /// The server ended at once or did not answer.
    #[error("ZooKeeper on port {port} does not answer; its log:\n{log}")]
    Silent {
        /// The server's port.
        port: u16,
        /// The server's output.
        log: String,
    },
    /// The server's folder could not be used.
    #[error("ZooKeeper's folder: {0}")]
    Folder(#[from] io::Error),
}

impl ZooKeeperServer {
    /// Starts an empty server with a tick of 100 ms, and waits until it answers.
    ///
    /// # Errors
    /// [`ServerError`]; if ZooKeeper is not installed, the message has the command that installs it.
    pub async fn start() -> Result<Self, ServerError> {
        Self::start_with_tick(Duration::from_millis(100)).await
    }

    /// Starts an empty server, and waits until it answers. It grants sessions from two ticks to 60 s.
    ///
    /// # Errors
    /// [`ServerError`].
    pub async fn start_with_tick(tick: Duration) -> Result<Self, ServerError> {
        let mut server = Self { folder: TempDir::new()?, port: ports::free(), process: None };
        server.configure(tick)?;
        for _ in 0..5 {
            match server.restart().await {
                // Another process took the port after it was found free.
                Err(ServerError::Silent { log, .. }) if log.contains("Address already in use") => {
                    server.port = ports::free();
                    server.configure(tick)?;
                }
                outcome => return outcome.map(|()| server),
            }
        }
        server.restart().await.map(|()| server)
    }

    /// Address of the server.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// Store URL of the server.
    #[must_use]
    pub fn url(&self) -> String {
        format!("zookeeper://{}", self.address())
    }

    /// A client with a session of its own, to look at the server from outside.
    ///
    /// # Panics
    /// If no session comes up within [`LIMIT`].
    pub async fn observer(&self) -> Client {
        let end = Instant::now() + LIMIT;
        loop {
            match self.connect().await {
                Ok(client) => return client,
                Err(error) => assert!(Instant::now() < end, "no session with {}: {error}", self.address()),
            }
        }
    }

    /// Kills the server, as a crash or a power loss does. Its data stays.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill().expect("a child can be killed");
            process.wait().expect("a killed child ends");
        }
    }

    /// Asks the server to end, and waits until it has. Its data stays.
    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            signal(&process, Signal::TERM);
            process.wait().expect("ZooKeeper ends when asked to");
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

    /// Removes the data of a stopped server, so that it starts empty: with new sessions, and revisions from the start.
    ///
    /// # Errors
    /// The error of the removal.
    ///
    /// # Panics
    /// If the server runs.
    pub fn wipe(&mut self) -> Result<(), ServerError> {
        assert!(self.process.is_none(), "kill or stop the server before its data is wiped");
        Ok(fs::remove_dir_all(self.data())?)
    }

    /// Starts the server again on the same port with its data, and waits until it answers. If it runs, it is killed
    /// first.
    ///
    /// # Errors
    /// [`ServerError`].
    pub async fn restart(&mut self) -> Result<(), ServerError> {
        self.kill();
        fs::create_dir_all(self.data())?;
        let process = launch(&self.folder.path().join("zoo.cfg"), &self.log_path(), &[])?;
        self.process = Some(process);
        self.answers().await
    }

    /// The server's output since its last start.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_path()).unwrap_or_default()
    }

    async fn answers(&mut self) -> Result<(), ServerError> {
        let end = Instant::now() + LIMIT;
        loop {
            if self.connect().await.is_ok() {
                return Ok(());
            }
            let ended = match &mut self.process {
                Some(process) => process.try_wait()?.is_some(),
                None => true,
            };
            if ended || Instant::now() > end {
                return Err(ServerError::Silent { port: self.port, log: self.log() });
            }
            sleep(Duration::from_millis(20)).await;
        }
    }

    async fn connect(&self) -> Result<Client, zookeeper_client::Error> {
        // A server that has just bound its port may never answer the connections that it accepts first: try again soon.
        let connector = Client::connector()
            .with_session_timeout(Duration::from_secs(30))
            .with_connection_timeout(Duration::from_secs(1))
            .with_fail_eagerly();
        connector.connect(&self.address().to_string()).await
    }

    fn configure(&self, tick: Duration) -> Result<(), ServerError> {
        let tick = tick.as_millis();
        let lines = [
            format!("tickTime={tick}"),
            format!("dataDir={}", self.data().display()),
            format!("clientPort={}", self.port),
            "clientPortAddress=127.0.0.1".into(),
            format!("minSessionTimeout={}", tick * 2),
            "maxSessionTimeout=60000".into(),
            "maxClientCnxns=0".into(),
            "admin.enableServer=false".into(),
        ];
        Ok(fs::write(self.folder.path().join("zoo.cfg"), lines.join("\n"))?)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("log")
    }
}

impl Drop for ZooKeeperServer {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Hello rewriter for a [`Proxy`](crate::proxy::Proxy) between a client and a server. It makes the server forget the
/// session that the client wants to resume, so the reconnect is answered with a session of another number. Some servers
/// do so by themselves; Apache's does not.
pub fn forget_session(hello: &mut [u8]) {
    // Length, version, last zxid and timeout come before the number of the session; after it comes the password's
    // length.
    const SESSION: core::ops::Range<usize> = 20..28;
    const PASSWORD: core::ops::Range<usize> = 32..48;
    for range in [SESSION, PASSWORD] {
        if let Some(bytes) = hello.get_mut(range) {
            bytes.fill(0);
        }
    }
}

/// Starts a server's process, with its output in a new file `log`.
pub(crate) fn launch(configuration: &Path, log: &Path, options: &[String]) -> Result<Child, ServerError> {
    let log = File::create(log)?;
    Command::new("java")
        .args(["-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"])
        // Small files, not synced: a test's server need not survive a power loss.
        .args(["-Dzookeeper.forceSync=no", "-Dzookeeper.preAllocSize=64"])
        .args(["-Dorg.slf4j.simpleLogger.showDateTime=true", "-cp", &class_path()?])
        .args(options)
        .arg("org.apache.zookeeper.server.quorum.QuorumPeerMain")
        .arg(configuration)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .map_err(|error| ServerError::NotInstalled { missing: format!("the command java ({error})") })
}

fn class_path() -> Result<String, ServerError> {
    let jars = ["/usr/share/java/zookeeper.jar", "/usr/share/java/slf4j-simple.jar"];
    match jars.into_iter().find(|jar| !Path::new(jar).exists()) {
        Some(missing) => Err(ServerError::NotInstalled { missing: missing.into() }),
        None => Ok(jars.join(":")),
    }
}

fn signal(process: &Child, signal: Signal) {
    let id = i32::try_from(process.id()).ok().and_then(Pid::from_raw).expect("a child has a process id");
    kill_process(id, signal).expect("a child can be signalled");
}
