//! An application that starves its own runtime keeps its term, because a separate thread drives its node.

use core::convert::Infallible;
use core::error::Error;
use core::time::Duration;
use std::sync::mpsc;
use std::sync::{Arc, Mutex};

use rolecall::store::{MemoryStore, Store};
use rolecall::{Assignment, Clock, Config, Leader, LeaderTerm, NodeBuilder, Role, RunningNode, Service, SystemClock};
use tokio::runtime::Runtime;

/// Session timeout, long compared with the time for which a busy machine may keep a thread waiting.
const SESSION: Duration = Duration::from_secs(4);
const WORKERS: usize = 2;

/// Application that hands its terms to the test.
struct Application(Mutex<mpsc::Sender<LeaderTerm>>);

impl Service for Application {
    type Running = ();

    async fn start(&self, assignment: Assignment) -> Result<(), Box<dyn Error + Send + Sync>> {
        if let Assignment::Lead(term) = assignment {
            self.0.lock().expect("nobody panics while holding this").send(term)?;
        }
        Ok(())
    }
}

fn start(runtime: &Runtime, store: &MemoryStore, id: &str) -> (RunningNode, mpsc::Receiver<LeaderTerm>) {
    let (terms, led) = mpsc::channel();
    let store = store.clone();
    let open = move |participant| Ok::<_, Infallible>(Box::new(store.connect(participant)) as Box<dyn Store>);
    let builder = NodeBuilder::new(Config::new(id), Application(Mutex::new(terms)), open).session_timeout(SESSION);
    (runtime.block_on(builder.start()).expect("a thread can be started"), led)
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().expect("a runtime")
}

#[test]
fn an_application_that_blocks_every_thread_of_its_runtime_leads_on() {
    let clock = SystemClock::new();
    let store = MemoryStore::new(Arc::new(clock));
    let (starved, other) = (runtime(), runtime());
    let (_node, led) = start(&starved, &store, "a");
    let term = led.recv().expect("it leads");
    let fence = term.check().expect("its term has begun");
    let (second, _) = start(&other, &store, "b");
    other.block_on(second.observer().until(|status| status.leader.is_some())).expect("the node lives");

    let (blocked, is_blocked) = mpsc::channel();
    let release = Arc::new(Mutex::new(()));
    let held = release.lock().expect("nobody panics while holding this");
    for _ in 0..WORKERS {
        let (blocked, release) = (blocked.clone(), Arc::clone(&release));
        starved.spawn(async move {
            blocked.send(()).expect("the test waits");
            drop(release.lock());
        });
    }
    (0..WORKERS).for_each(|_| is_blocked.recv().expect("the task runs"));
    let until = clock.now() + 2 * SESSION;
    while clock.now() < until {
        assert_eq!(term.check(), Ok(fence), "it leads on, in the same term");
        std::thread::sleep(SESSION / 400);
    }

    let status = second.observer().status();
    assert_eq!(status.role, Role::Worker);
    assert!(matches!(status.leader, Some(Leader::Node { epoch, .. }) if epoch == fence.epoch), "{:?}", status.leader);
    drop(held);
}
