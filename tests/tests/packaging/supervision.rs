//! The service manager's side of a node and of `rolecall exec`: a socket that hears when they are ready, alive and stopping.

use core::time::Duration;
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, Stdio};

use rolecall_tests::documents;
use rolecall_tests::process::binary;
use rolecall_tests::wait::LIMIT;
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Time that the manager waits for a sign of life.
const PATIENCE: Duration = Duration::from_millis(200);

struct Manager {
    folder: TempDir,
    socket: UnixDatagram,
}

impl Manager {
    fn new() -> Self {
        let folder = TempDir::new().expect("a temporary folder");
        let socket = UnixDatagram::bind(folder.path().join("notify")).expect("a new name");
        socket.set_read_timeout(Some(LIMIT)).expect("a time");
        Self { folder, socket }
    }

    /// Starts a command as the manager does.
    fn start(&self, words: &[&str]) -> Started {
        let mut command = Command::new(binary());
        command.args(words).env("NOTIFY_SOCKET", self.folder.path().join("notify"));
        command.env("WATCHDOG_USEC", PATIENCE.as_micros().to_string());
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Started(child.expect("the binary was built"))
    }

    fn hears(&self) -> String {
        let mut message = [0; 256];
        let length = self.socket.recv(&mut message).expect("a message in time");
        String::from_utf8_lossy(&message[..length]).into_owned()
    }

    /// Messages up to the first that is `last`.
    fn hears_until(&self, last: &str) -> Vec<String> {
        let mut heard = Vec::new();
        while heard.last().is_none_or(|message| message != last) {
            heard.push(self.hears());
        }
        heard
    }
}

/// Killed when dropped.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn node<'a>(documents: &'a str, data: &'a str, store: &'a str) -> [&'a str; 11] {
    ["node", "--id", "a", "--listen", "127.0.0.1:0", "--store", store, "--documents", documents, "--data", data]
}

#[test]
fn a_node_tells_when_it_is_ready_alive_and_stopping() {
    let manager = Manager::new();
    let texts = manager.folder.path().join("texts");
    documents::generate(&texts, 5).expect("a new folder can be written");
    let (texts, data) = (texts.display().to_string(), manager.folder.path().join("data").display().to_string());
    let mut node = manager.start(&node(&texts, &data, "memory:"));

    manager.hears_until("READY=1");
    for _ in 0..3 {
        assert_eq!(manager.hears(), "WATCHDOG=1");
    }
    kill_process(Pid::from_child(&node.0), Signal::TERM).expect("it runs");
    let heard = manager.hears_until("STOPPING=1");
    assert!(heard.iter().all(|message| message == "WATCHDOG=1" || message == "STOPPING=1"), "{heard:?}");
    assert_eq!(node.0.wait().expect("it is a child").code(), Some(0));
}

#[test]
fn a_node_without_a_store_is_alive_and_not_ready() {
    let manager = Manager::new();
    let (texts, data) = (manager.folder.path().display().to_string(), manager.folder.path().join("data"));
    // Nobody answers there, nor refuses.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    let store = format!("zookeeper://{}", silent.local_addr().expect("it is bound"));
    let _node = manager.start(&node(&texts, &data.display().to_string(), &store));

    for _ in 0..5 {
        assert_eq!(manager.hears(), "WATCHDOG=1");
    }
}

#[test]
fn a_member_of_an_election_is_ready_and_keeps_the_socket_from_its_program() {
    let manager = Manager::new();
    let shown = manager.folder.path().join("shown");
    let program = format!("sh -c 'env > {0}.part; mv {0}.part {0}; exec sleep 1000'", shown.display());
    let mut member = manager.start(&["exec", "--store", "memory:", "--id", "a", "--leader", &program]);

    manager.hears_until("READY=1");
    while !shown.exists() {
        assert_eq!(manager.hears(), "WATCHDOG=1");
    }
    let environment = std::fs::read_to_string(&shown).expect("it is there");
    assert!(environment.contains("ROLECALL_ROLE=leader"), "{environment}");
    assert!(!environment.contains("NOTIFY_SOCKET") && !environment.contains("WATCHDOG"), "{environment}");
    kill_process(Pid::from_child(&member.0), Signal::TERM).expect("it runs");
    assert_eq!(member.0.wait().expect("it is a child").code(), Some(0));
}
