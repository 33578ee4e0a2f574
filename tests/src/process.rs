//! The real binary, as processes that a test can kill, stop and ask.

use core::time::Duration;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;

use http::{Request, StatusCode};
use rolecall::http::{Client, ClientLimits};
use rolecall::{Clock, SystemClock, TokioNet};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::wait::{LIMIT, until};

/// Path of the binary `rolecall`, as this package builds it for its tests. (A build of the package `rolecall-cli` alone
/// has other features of its dependencies, so it would build them all again.)
///
/// # Panics
/// Outside of a test of this package.
#[must_use]
pub fn binary() -> PathBuf {
    built("rolecall-under-test")
}

/// Path of a binary of this package.
fn built(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test is a file");
    // target/PROFILE/deps/TEST
    let profile = test.ancestors().nth(2).expect("cargo puts tests two folders below the profile's");
    let binary = profile.join(name);
    assert!(binary.exists(), "cargo builds {} with the tests of this package", binary.display());
    binary
}

/// One node in a process of its own. Killed when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// The node's `--id`.
    pub id: String,
    /// The node's address.
    pub address: String,
    folder: TempDir,
}

/// Arguments of a node.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// `--id`.
    pub id: &'a str,
    /// `--store`.
    pub store: &'a str,
    /// `--documents`.
    pub documents: &'a Path,
    /// Address to listen on. Default: a free port.
    pub address: Option<&'a str>,
    /// `--session-timeout`.
    pub session_timeout: &'a str,
    /// `--cluster-token`. Default: none.
    pub cluster_token: Option<&'a Path>,
}

/// Arguments of a node that serves a register.
#[derive(Clone, Copy, Debug)]
pub struct RegisterLaunch<'a> {
    /// Id of the node.
    pub id: &'a str,
    /// Address to listen on.
    pub address: &'a str,
    /// URL of the store.
    pub store: &'a str,
    /// Address of the register's storage.
    pub storage: &'a str,
    /// Session timeout, and time to live of the lease.
    pub lease: Duration,
    /// Time after which a leader gives up a request to the storage.
    pub patience: Duration,
}

impl Process {
    /// Starts a node; on ZooKeeper with the tick of [`ZooKeeperServer::start`](crate::zookeeper::ZooKeeperServer::start).
    ///
    /// # Panics
    /// If the process can't be started.
    #[must_use]
    pub fn start(launch: &Launch<'_>) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let address = launch.address.map_or_else(|| format!("127.0.0.1:{}", crate::ports::free()), str::to_owned);
        let mut command = Command::new(binary());
        command
            .args(["node", "--store", launch.store, "--id", launch.id, "--listen", &address])
            .args(["--session-timeout", launch.session_timeout])
            .args(if launch.store.starts_with("zookeeper") { &["--store-tick", "100ms"][..] } else { &[] })
            .args(launch.cluster_token.iter().flat_map(|file| ["--cluster-token".as_ref(), file.as_os_str()]))
            .arg("--documents")
            .arg(launch.documents)
            .arg("--data")
            .arg(folder.path().join("data"))
            .arg("--journal")
            .arg(folder.path().join("journal"))
            .env("RUST_LOG", "info");
        Self::spawn(&mut command, launch.id, address, folder)
    }

    /// Starts a node that serves a register.
    ///
    /// # Panics
    /// If the process can't be started.
    #[must_use]
    pub fn register(launch: &RegisterLaunch<'_>) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let millis = |length: Duration| length.as_millis().to_string();
        let mut command = Command::new(built("register-node"));
        command.args([launch.id, launch.address, launch.store, launch.storage]);
        command.args([millis(launch.lease), millis(launch.patience)]);
        Self::spawn(&mut command, launch.id, launch.address.to_owned(), folder)
    }

    fn spawn(command: &mut Command, id: &str, address: String, folder: TempDir) -> Self {
        let log = File::create(folder.path().join("log")).expect("a file in a new folder");
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let child = command.spawn().expect("the binary was built");
        Self { child, id: id.to_owned(), address, folder }
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a child has a process id");
        kill_process(pid, signal).expect("a child that was not waited for can be signalled");
    }

    /// Sends SIGKILL, and waits until the process is gone.
    ///
    /// # Panics
    /// If it can't be waited for.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.child.wait().expect("it is a child");
    }

    /// Sends SIGSTOP, and waits until the process stands still: a signal takes effect a little later than it is sent.
    pub async fn pause(&self) {
        self.signal(Signal::STOP);
        until_still(self.child.id()).await;
    }

    /// Sends SIGCONT.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Sends SIGTERM.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Exit status, once the process has ended.
    ///
    /// # Errors
    /// If the process can't be waited for.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Waits for the end of the process. Returns its exit code.
    ///
    /// # Panics
    /// If it does not end within [`LIMIT`], or is ended by a signal.
    pub async fn exit_code(&mut self) -> i32 {
        let id = self.id.clone();
        let child = &mut self.child;
        let status = until(&format!("{id} to end"), || {
            let status = child.try_wait().expect("it is a child");
            async move { status }
        })
        .await;
        status.code().unwrap_or_else(|| panic!("{id} ended by a signal: {status}"))
    }

    /// The log so far.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Path of the journal.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.folder.path().join("journal")
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- log of {}\n{}", self.id, self.log());
        }
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer to a request.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Status code.
    pub status: StatusCode,
    /// The `Location` header.
    pub location: Option<String>,
    /// Body; null if it is not JSON.
    pub body: Value,
}

/// HTTP client for the tests.
#[derive(Clone, Debug)]
pub struct Web {
    client: Client,
    clock: Arc<SystemClock>,
}

impl Default for Web {
    fn default() -> Self {
        let clock = Arc::new(SystemClock::new());
        let client = Client::new(Arc::new(TokioNet), clock.clone(), ClientLimits::default());
        Self { client, clock }
    }
}

impl Web {
    /// Sends `GET path` to the node at `address`. Returns `None` if no answer comes.
    ///
    /// # Panics
    /// If the path is malformed.
    pub async fn get(&self, address: &str, path: &str) -> Option<Answer> {
        let request = Request::get(path).body(bytes::Bytes::new()).expect("the test's path is well-formed");
        self.send(address, request).await
    }

    /// Sends `POST path` with a JSON body.
    ///
    /// # Panics
    /// If the path is malformed.
    pub async fn post(&self, address: &str, path: &str, body: &Value) -> Option<Answer> {
        let request = Request::post(path)
            .header("content-type", "application/json")
            .body(body.to_string().into())
            .expect("the test's path is well-formed");
        self.send(address, request).await
    }

    async fn send(&self, address: &str, request: Request<bytes::Bytes>) -> Option<Answer> {
        let deadline = self.clock.now() + LIMIT;
        let response = self.client.send(address, request, deadline).await.ok()?;
        let location = response.headers().get("location").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let body = serde_json::from_slice(response.body()).unwrap_or(Value::Null);
        Some(Answer { status: response.status(), location, body })
    }

    /// The status of a node.
    pub async fn status(&self, address: &str) -> Option<Value> {
        self.get(address, "/status").await.map(|answer| answer.body)
    }
}

/// Waits until every thread of a process that was sent SIGSTOP stands still: the signal reaches one after the other.
pub(crate) async fn until_still(process: u32) {
    until("the process to stand still", async || {
        let threads = std::fs::read_dir(format!("/proc/{process}/task")).ok()?;
        let is_still = |thread: io::Result<std::fs::DirEntry>| {
            // The state follows the name, which is in parentheses (proc(5)).
            let line = std::fs::read_to_string(thread.ok()?.path().join("stat")).ok()?;
            line.rsplit_once(") ")?.1.starts_with('T').then_some(())
        };
        threads.map(is_still).collect::<Option<Vec<()>>>().map(drop)
    })
    .await;
}
