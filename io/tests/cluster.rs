//! Nodes on the embedded store, tested from outside: real sockets, the real clock, and sessions of two seconds.

use core::convert::Infallible;
use core::error::Error;
use core::time::Duration;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use rolecall::http::{Application as HttpApplication, Client, ClientLimits, Handler, HttpNode, HttpNodeBuilder};
use rolecall::store::{MemoryStore, Store};
use rolecall::{
    Assignment, Clock, Config, Epoch, Family, Fence, Following, Leader, LeaderTerm, Objection, Outcome, Role, Stale,
    Status, SystemClock, TokioNet,
};

const LIMIT: Duration = Duration::from_secs(30);

/// Application that hands its latest assignment to the test.
#[derive(Clone, Default)]
struct Application(Arc<Mutex<Option<Assignment>>>);

impl Application {
    fn term(&self) -> LeaderTerm {
        match self.assignment() {
            Assignment::Lead(term) => term,
            Assignment::Follow(_) => panic!("it follows"),
        }
    }

    fn following(&self) -> Following {
        match self.assignment() {
            Assignment::Follow(following) => following,
            Assignment::Lead(_) => panic!("it leads"),
        }
    }

    fn assignment(&self) -> Assignment {
        self.0.lock().expect("nobody panics while holding this").clone().expect("a role was served")
    }
}

struct Serving(Assignment);

impl HttpApplication for Application {
    type Handler = Serving;

    async fn serve(&self, assignment: Assignment) -> Result<Serving, Box<dyn Error + Send + Sync>> {
        *self.0.lock().expect("nobody panics while holding this") = Some(assignment.clone());
        Ok(Serving(assignment))
    }
}

impl Handler for Serving {
    async fn handle(&self, _request: Request<Bytes>) -> Response<Bytes> {
        Response::new(format!("{:?}", self.0.role()).into())
    }
}

struct Node {
    id: &'static str,
    application: Application,
    running: HttpNode,
}

impl Node {
    async fn start(store: &MemoryStore, id: &'static str) -> Self {
        let application = Application::default();
        let store = store.clone();
        let open = move |participant| Ok::<_, Infallible>(Box::new(store.connect(participant)) as Box<dyn Store>);
        let builder = HttpNodeBuilder::new(Config::new(id), application.clone(), open);
        let running = builder.session_timeout(Duration::from_secs(2)).start().await.expect("a free port");
        Self { id, application, running }
    }

    async fn until(&self, wanted: impl FnMut(&Status) -> bool + Send) -> Status {
        within(self.running.observer().until(wanted)).await.expect("the node lives")
    }

    async fn until_leading_over(&self, workers: usize) -> Fence {
        self.until(|status| {
            status.role == Role::Leader && status.ready().is_ok() && status.workers.members.len() == workers
        })
        .await;
        self.running.observer().term().expect("its term holds").0
    }

    async fn until_working_under(&self, leader: &str) {
        self.until(|status| {
            let led = matches!(&status.leader, Some(Leader::Node { id, .. }) if &**id == leader);
            led && status.role == Role::Worker && status.ready().is_ok()
        })
        .await;
    }

    async fn get(&self, clock: &Arc<dyn Clock>) -> (StatusCode, String) {
        let client = Client::new(Arc::new(TokioNet), clock.clone(), ClientLimits::default());
        let deadline = clock.now() + LIMIT;
        let response = client.send(self.running.address(), Request::default(), deadline).await.expect("an answer");
        (response.status(), String::from_utf8(response.into_body().into()).expect("text"))
    }
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.expect("it happens in time")
}

/// Starts three nodes, of which the first leads.
async fn cluster() -> (MemoryStore, Arc<dyn Clock>, [Node; 3]) {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let store = MemoryStore::new(clock.clone());
    let a = Node::start(&store, "a").await;
    a.until_leading_over(0).await;
    let b = Node::start(&store, "b").await;
    b.until_working_under("a").await;
    let c = Node::start(&store, "c").await;
    c.until_working_under("a").await;
    a.until_leading_over(2).await;
    (store, clock, [a, b, c])
}

#[tokio::test]
async fn a_node_refuses_a_store_that_elects_in_another_way() {
    let store = MemoryStore::of(Family::Lease, Arc::new(SystemClock::new()));
    let open = move |participant| Ok::<Box<dyn Store>, Infallible>(Box::new(store.connect(participant)));
    let refused = HttpNodeBuilder::new(Config::new("a"), Application::default(), open).start().await;
    let error = refused.expect_err("the node is configured for a queue").to_string();
    assert!(error.contains("the store elects by a lease") && error.contains("by a queue"), "{error}");
}

#[tokio::test]
async fn each_node_serves_its_role_and_knows_the_others() {
    let (_store, clock, [a, b, c]) = cluster().await;

    assert_eq!(a.get(&clock).await, (StatusCode::OK, "Leader".into()));
    assert_eq!(b.get(&clock).await, (StatusCode::OK, "Worker".into()));
    assert_eq!(c.get(&clock).await, (StatusCode::OK, "Worker".into()));
    let members = a.application.term().members().now();
    let ids: Vec<_> = members.members.iter().map(|member| &*member.key.id).collect();
    assert_eq!(ids, ["b", "c"]);
    let Some(Leader::Node { address, .. }) = b.application.following().leader() else { panic!("b knows no leader") };
    assert_eq!(&*address, a.running.address());
}

#[tokio::test]
async fn a_crash_of_the_leader_makes_the_next_in_line_lead_with_a_newer_fence() {
    let (_store, _clock, [a, b, c]) = cluster().await;
    let (old, old_term) = (a.until_leading_over(2).await, a.application.term());
    let mut members = old_term.members();
    let difference = within(members.changed()).await.expect("the node lives");
    assert_eq!(difference.joined.len(), 2, "one difference for all since the term began");

    a.running.crash().await;
    assert!(old_term.check().is_err(), "the term ends with its node");
    assert_eq!(members.changed().await, None);

    let new = b.until_leading_over(1).await;
    assert!(new.is_newer_than(old), "{old:?} {new:?}");
    c.until_working_under("b").await;
    let worker = c.application.following();
    assert_eq!(within(worker.admit(new)).await, Ok(()), "shown to the worker it is looked up in the store");
    assert_eq!(worker.admit(old).await, Err(Stale::Older { shown: old, floor: new }));
    let forged = Fence { epoch: Epoch(new.epoch.0 + 1_000), ..new };
    assert_eq!(within(worker.admit(forged)).await, Err(Stale::Unconfirmed { shown: forged, floor: Some(new) }));
    assert_eq!(worker.admit(new).await, Ok(()), "a forged fence locks nobody out");
}

#[tokio::test]
async fn a_shutdown_hands_over_without_waiting_for_the_session_to_time_out() {
    let (_store, _clock, [mut a, b, c]) = cluster().await;

    a.running.shut_down().await;

    assert_eq!(within(a.running.wait()).await, Outcome::Exited);
    b.until_leading_over(1).await;
    c.until_working_under("b").await;
}

#[tokio::test]
async fn a_leader_that_resigns_works_under_its_successor() {
    let (_store, _clock, [a, b, c]) = cluster().await;

    a.running.resign().await;

    b.until_leading_over(2).await;
    for node in [&a, &c] {
        node.until_working_under("b").await;
        assert_ne!(node.id, "b");
    }
}

#[tokio::test]
async fn a_leader_that_is_cut_off_stops_before_another_starts() {
    let (store, _clock, [a, b, c]) = cluster().await;
    let term = a.application.term();

    store.suspend("a");
    let successor = b.until_leading_over(1);
    let ended = term.ended();
    tokio::pin!(successor, ended);
    within(async {
        tokio::select! {
            biased;
            () = &mut ended => {}
            _ = &mut successor => panic!("two lead"),
        }
    })
    .await;
    assert!(term.check().is_err());
    successor.await;

    store.resume("a");
    b.until_leading_over(2).await;
    a.until_working_under("b").await;
    c.until_working_under("b").await;
}

#[tokio::test]
async fn a_node_with_other_settings_than_its_cluster_is_refused() {
    let store = MemoryStore::new(Arc::new(SystemClock::new()));
    let start = async |id: &str, settings: &str| {
        let store = store.clone();
        let open = move |participant| Ok::<_, Infallible>(Box::new(store.connect(participant)) as Box<dyn Store>);
        let builder = HttpNodeBuilder::new(Config::new(id), Application::default(), open).settings(settings);
        builder.start().await.expect("a free port")
    };
    let first = start("a", "64 shards").await;
    within(first.observer().until(|status| status.role == Role::Leader)).await.expect("the node lives");

    let mut odd = start("b", "8 shards").await;
    let outcome = within(odd.wait()).await;
    let mut third = start("c", "64 shards").await;
    within(third.observer().until(|status| status.role == Role::Worker)).await.expect("the node lives");

    let differ = Objection::SettingsDiffer { ours: "8 shards".into(), theirs: "64 shards".into() };
    assert_eq!(outcome, Outcome::Refused(differ));
    assert!(outcome.to_string().contains("uses 64 shards"), "{outcome}");
    third.shut_down().await;
    assert_eq!(within(third.wait()).await, Outcome::Exited);
}

#[tokio::test]
async fn a_node_that_waits_for_its_store_can_be_ended() {
    let store = MemoryStore::new(Arc::new(SystemClock::new()));
    let opened = store.clone();
    let open = move |participant| Ok::<_, Infallible>(Box::new(opened.connect(participant)) as Box<dyn Store>);
    let builder = HttpNodeBuilder::new(Config::new("a"), Application::default(), open).settings("64 shards");
    let mut node = builder.start().await.expect("a free port");
    store.suspend("a");

    node.shut_down().await;

    assert_eq!(within(node.wait()).await, Outcome::Exited);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crashed_node_can_be_started_again_at_its_address() {
    let store = MemoryStore::new(Arc::new(SystemClock::new()));
    let start = async |address: &str| {
        let store = store.clone();
        let open = move |participant| Ok::<_, Infallible>(Box::new(store.connect(participant)) as Box<dyn Store>);
        let builder = HttpNodeBuilder::new(Config::new("a"), Application::default(), open).listen(address);
        builder.session_timeout(Duration::from_secs(1)).start().await
    };
    let mut node = start("127.0.0.1:0").await.expect("a free port");
    for _ in 0..20 {
        let address = node.listening().to_owned();
        node.crash().await;
        node = start(&address).await.expect("the address is free again");
    }
    within(node.observer().until(|status| status.role == Role::Leader)).await.expect("the node lives");
}

#[tokio::test]
async fn an_address_that_is_taken_is_named() {
    let (store, _clock, [a, ..]) = cluster().await;
    let open = move |participant| Ok::<_, Infallible>(Box::new(store.connect(participant)) as Box<dyn Store>);

    let builder = HttpNodeBuilder::new(Config::new("d"), Application::default(), open).listen(a.running.address());
    let error = builder.start().await.expect_err("the address is taken").to_string();

    assert!(error.contains(a.running.address()), "{error}");
}
