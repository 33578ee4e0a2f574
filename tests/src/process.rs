//! The real binary, as processes that can be killed, stopped and asked.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, OnceLock};

use http::{Request, StatusCode};
use rolecall_io::http::{Client, ClientLimits};
use rolecall_io::{Clock, SystemClock, TokioNet};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::wait::{LIMIT, until};

/// The binary `rolecall`, built from the present sources with the profile of the tests.
///
/// # Panics
/// If it can't be built.
pub fn binary() -> &'static Path {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY.get_or_init(|| {
        let test = std::env::current_exe().expect("a test is a file");
        // target/PROFILE/deps/TEST
        let profile = test.ancestors().nth(2).expect("cargo puts tests two folders below the profile's");
        let target = profile.parent().expect("cargo puts the profile below the target folder");
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", "rolecall", "--bin", "rolecall", "--target-dir"]).arg(target);
        if profile.ends_with("release") {
            build.arg("--release");
        }
        let status = build.status().expect("cargo runs the tests, so it can be run");
        assert!(status.success(), "the binary under test can't be built");
        profile.join("rolecall")
    })
}

/// One `rolecall node`. Killed when it is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Its `--id`.
    pub id: String,
    /// Where it answers.
    pub address: String,
    folder: TempDir,
}

/// What a node is started with.
#[derive(Clone, Debug)]
pub struct Launch<'a> {
    /// `--id`.
    pub id: &'a str,
    /// `--store`.
    pub store: &'a str,
    /// `--documents`.
    pub documents: &'a Path,
    /// Where it is to listen; a free port where there is none.
    pub address: Option<&'a str>,
    /// More flags.
    pub more: &'a [&'a str],
}

impl Process {
    /// Starts a node, with sessions of one second and the tick of [`ZooKeeperServer::start`](crate::zookeeper::ZooKeeperServer::start).
    ///
    /// # Panics
    /// If the process can't be started.
    #[must_use]
    pub fn start(launch: &Launch<'_>) -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let address = launch.address.map_or_else(|| format!("127.0.0.1:{}", crate::ports::free()), str::to_owned);
        let log = File::create(folder.path().join("log")).expect("a file in a new folder");
        let child = Command::new(binary())
            .args(["node", "--store", launch.store, "--id", launch.id, "--listen", &address])
            .args(["--session-timeout", "1s", "--store-tick", "100ms"])
            .arg("--documents")
            .arg(launch.documents)
            .arg("--data")
            .arg(folder.path().join("data"))
            .arg("--journal")
            .arg(folder.path().join("journal"))
            .args(launch.more)
            .env("RUST_LOG", "info")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("the binary was built");
        Self { child, id: launch.id.to_owned(), address, folder }
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a child has a process id");
        kill_process(pid, signal).expect("a child that was not waited for can be signalled");
    }

    /// `kill -9`, and waits until it is gone.
    ///
    /// # Panics
    /// If it can't be waited for.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.child.wait().expect("it is a child");
    }

    /// SIGSTOP.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
    }

    /// SIGCONT.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// SIGTERM.
    pub fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// How it ended, once it has.
    ///
    /// # Errors
    /// It can't be waited for.
    pub fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Waits for its end, and gives its exit code.
    ///
    /// # Panics
    /// If it does not end within [`LIMIT`], or by a signal.
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

    /// What it logged.
    #[must_use]
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Where its journal is.
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
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer to a request.
#[derive(Clone, Debug)]
pub struct Answer {
    /// Its status.
    pub status: StatusCode,
    /// Its `Location`.
    pub location: Option<String>,
    /// Its body; null where that is no JSON.
    pub body: Value,
}

/// Asks nodes over HTTP.
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
    /// `GET path` from the node at `address`; `None` where nothing is answered.
    ///
    /// # Panics
    /// If the path is none.
    pub async fn get(&self, address: &str, path: &str) -> Option<Answer> {
        let request = Request::get(path).body(bytes::Bytes::new()).expect("the test's path is well-formed");
        self.send(address, request).await
    }

    /// `POST path` with a JSON body.
    ///
    /// # Panics
    /// If the path is none.
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
