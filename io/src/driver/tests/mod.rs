//! A whole node on a store that knows nobody else, with real sockets and the real clock.

mod lone;

use std::sync::Mutex;

use bytes::Bytes;
use http::{Method, Request as HttpRequest, Response, StatusCode};
use rolecall_core::{Candidate, Config, Epoch, Fence, Guid, Incarnation, Objection, Role, Session, Violation};
use tokio::sync::watch;

use self::lone::LoneStore;
use super::*;
use crate::http::{Application as HttpApplication, Client, ClientLimits, Handler, HttpNode, HttpNodeBuilder};
use crate::journal::{JournalLimits, read, replay};
use crate::{Observer, Status, SystemClock, TokioNet};

const LIMIT: Duration = Duration::from_secs(30);
const TIMEOUT: Duration = Duration::from_secs(60);

/// Answers with its epoch; hangs at `/hang` until the request is cut off. It does not start, or stop, while it is `broken`.
#[derive(Clone, Debug)]
struct Application {
    broken: Arc<Mutex<Option<&'static str>>>,
    stops: watch::Sender<usize>,
    hanging: watch::Sender<usize>,
}

impl Application {
    fn new() -> Self {
        Self { broken: Arc::default(), stops: watch::Sender::new(0), hanging: watch::Sender::new(0) }
    }
}

struct Serving(Application, Assignment);

impl HttpApplication for Application {
    type Handler = Serving;

    async fn serve(&self, assignment: Assignment) -> Result<Serving, Box<dyn core::error::Error + Send + Sync>> {
        let broken = *self.broken.lock().expect("no test panics while it holds this");
        match broken {
            Some("panic") => panic!("as asked"),
            Some(error) => Err(error.into()),
            None => Ok(Serving(self.clone(), assignment)),
        }
    }
}

impl Handler for Serving {
    async fn handle(&self, request: HttpRequest<Bytes>) -> Response<Bytes> {
        if request.uri().path() == "/hang" {
            self.0.hanging.send_modify(|hanging| *hanging += 1);
            return core::future::pending().await;
        }
        let text = match &self.1 {
            Assignment::Lead(term) => match term.check() {
                Ok(fence) => format!("leader {}", fence.epoch.0),
                Err(over) => over.to_string(),
            },
            Assignment::Follow(_) => "worker".into(),
        };
        Response::new(text.into())
    }

    async fn stop(&self) {
        self.0.stops.send_modify(|stops| *stops += 1);
        if *self.0.broken.lock().expect("no test panics while it holds this") == Some("never stops") {
            core::future::pending().await
        }
    }
}

struct TestBed {
    store: LoneStore,
    application: Application,
    node: HttpNode,
}

fn config() -> Config {
    let mut config = Config::new("node-a");
    config.drain = Duration::from_millis(100);
    config
}

async fn test_bed(config: Config, journal: Option<Journal>) -> TestBed {
    let (store, application, mut builder) = prepared(config);
    if let Some(journal) = journal {
        builder = builder.journal(journal);
    }
    let node = builder.start().await.expect("a free port");
    TestBed { store, application, node }
}

fn prepared(config: Config) -> (LoneStore, Application, HttpNodeBuilder) {
    let store = LoneStore::default();
    let application = Application::new();
    let opened = store.clone();
    let builder = HttpNodeBuilder::new(config, application.clone(), move |participant| {
        assert_eq!((&*participant.id, &*participant.cluster), ("node-a", "default"));
        Ok::<_, core::convert::Infallible>(Box::new(opened) as Box<dyn Store>)
    });
    (store, application, builder)
}

async fn until(observer: &Observer, wanted: impl FnMut(&Status) -> bool + Send) -> Status {
    within(observer.until(wanted)).await.expect("the node lives")
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, future).await.expect("it happens in time")
}

async fn get(address: &str, path: &str) -> (StatusCode, String) {
    let clock = Arc::new(SystemClock::new());
    let deadline = clock.now() + LIMIT;
    let client = Client::new(Arc::new(TokioNet), clock, ClientLimits::default());
    let request =
        HttpRequest::builder().method(Method::GET).uri(path).body(Bytes::new()).expect("a well-formed request");
    let response = client.send(address, request, deadline).await.expect("an answer");
    (response.status(), String::from_utf8(response.into_body().into()).expect("text"))
}

fn leads(status: &Status) -> bool {
    status.role == Role::Leader && status.ready().is_ok() && status.leader.is_some()
}

#[tokio::test]
async fn a_node_alone_leads_serves_and_ends_in_good_order() {
    let mut bed = test_bed(config(), None).await;
    let observer = bed.node.observer().clone();
    assert_eq!(get(bed.node.address(), "/").await.0, StatusCode::SERVICE_UNAVAILABLE, "it has no role yet");

    bed.store.connect(1);
    let status = until(&observer, leads).await;
    let (fence, left) = observer.term().expect("its term holds");
    assert_eq!(status.floor, Some(fence));
    assert!(left <= TIMEOUT);
    assert_eq!(get(bed.node.address(), "/").await, (StatusCode::OK, format!("leader {}", fence.epoch.0)));
    assert!(observer.is_alive());
    assert_metrics(
        &observer,
        &[
            "# TYPE rolecall_terms_total counter",
            "# TYPE rolecall_store_round_trip_seconds histogram",
            "rolecall_leader 1",
            "rolecall_leader_known 1",
            "rolecall_terms_total 1",
            "rolecall_events_total{kind=\"session_up\"} 1",
            "rolecall_store_requests_total{kind=\"claim\"} 1",
            "rolecall_store_round_trip_seconds_count{kind=\"claim\"} 1",
            "rolecall_leaderless_seconds_count 0",
            "rolecall_requests_in_flight 0",
        ],
    );

    bed.node.shut_down().await;
    assert_eq!(within(bed.node.wait()).await, Outcome::Exited);
    assert_eq!(bed.node.wait().await, Outcome::Exited, "asked again it says the same");
    assert!(bed.store.with(|lone| lone.closed && lone.candidates.is_empty() && lone.entries.is_empty()));
    assert_eq!(*bed.application.stops.borrow(), 1);
    assert_eq!(observer.term(), None);
    assert_metrics(&observer, &["rolecall_terms_ended_total{cause=\"shut_down\"} 1", "rolecall_leader 0"]);
    assert!(!observer.is_alive());
    assert!(connect(bed.node.address()).await.is_err(), "nobody listens any more");
}

/// Checks that each of `lines` stands in the metrics.
fn assert_metrics(observer: &Observer, lines: &[&str]) {
    let metrics = observer.metrics();
    for line in lines {
        assert!(metrics.lines().any(|one| one == *line), "{line} is missing in {metrics}");
    }
}

async fn connect(address: &str) -> std::io::Result<()> {
    crate::Net::connect(&TokioNet, address).await.map(drop)
}

#[tokio::test]
async fn a_lost_session_closes_the_gate_and_cuts_off_what_was_begun() {
    let bed = test_bed(config(), None).await;
    let observer = bed.node.observer().clone();
    bed.store.connect(1);
    until(&observer, leads).await;
    let first = observer.term().map(|(fence, _)| fence);
    let address = bed.node.address().to_owned();
    let begun = tokio::spawn(async move { get(&address, "/hang").await });
    within(bed.application.hanging.subscribe().wait_for(|hanging| *hanging == 1)).await.expect("it lives");

    bed.store.lose_session();
    until(&observer, |status| status.role != Role::Leader).await;
    assert_eq!(observer.term(), None);
    assert_eq!(begun.await.expect("no panic").0, StatusCode::SERVICE_UNAVAILABLE);

    bed.store.connect(2);
    until(&observer, leads).await;
    assert_metrics(
        &observer,
        &["rolecall_terms_ended_total{cause=\"session_lost\"} 1", "rolecall_leaderless_seconds_count 1"],
    );
    let second = observer.term().map(|(fence, _)| fence);
    assert!(second.zip(first).is_some_and(|(second, first)| second.is_newer_than(first)), "{first:?} {second:?}");
}

#[tokio::test]
async fn requests_that_outlast_the_drain_do_not_hold_a_shutdown() {
    let mut bed = test_bed(config(), None).await;
    bed.store.connect(1);
    until(bed.node.observer(), leads).await;
    let address = bed.node.address().to_owned();
    let begun = tokio::spawn(async move { get(&address, "/hang").await });
    within(bed.application.hanging.subscribe().wait_for(|hanging| *hanging == 1)).await.expect("it lives");

    bed.node.shut_down().await;

    assert_eq!(within(bed.node.wait()).await, Outcome::Exited);
    assert_eq!(begun.await.expect("no panic").0, StatusCode::SERVICE_UNAVAILABLE);
}

#[tokio::test]
async fn a_service_that_fails_to_start_is_tried_again() {
    for failure in ["no disk", "panic"] {
        let bed = test_bed(config(), None).await;
        *bed.application.broken.lock().expect("not poisoned") = Some(failure);
        bed.store.connect(1);
        let status =
            until(bed.node.observer(), |status| matches!(status.health, rolecall_core::Health::Failing(_))).await;
        let reason = status.ready().expect_err("it serves nothing");
        assert!(status.failure.as_ref().is_some_and(|failure| reason.ends_with(&**failure)), "{reason}");

        *bed.application.broken.lock().expect("not poisoned") = None;
        until(bed.node.observer(), |status| status.ready().is_ok() && status.role != Role::None).await;
    }
}

#[tokio::test]
async fn a_crash_closes_nothing_and_frees_the_address() {
    let bed = test_bed(config(), None).await;
    let observer = bed.node.observer().clone();
    bed.store.connect(1);
    until(&observer, leads).await;
    let address = bed.node.address().to_owned();

    bed.node.crash().await;

    assert_eq!(observer.term(), None);
    assert!(bed.store.with(|lone| !lone.closed && !lone.candidates.is_empty()));
    assert_eq!(*bed.application.stops.borrow(), 0);
    within(async { while connect(&address).await.is_ok() {} }).await;
}

#[tokio::test]
async fn a_session_too_short_to_lead_in_is_refused_with_the_numbers() {
    let mut config = config();
    config.clock_error_ppm = 900_000;
    let mut bed = test_bed(config, None).await;

    bed.store.connect(1);

    let outcome = within(bed.node.wait()).await;
    assert!(matches!(outcome, Outcome::Refused(Objection::NoValidity { timeout_ms: 60_000, .. })), "{outcome:?}");
    assert!(outcome.to_string().contains("60000 ms"), "{outcome}");
}

#[tokio::test]
async fn what_a_node_does_can_be_replayed_from_its_journal() {
    let folder = tempfile::tempdir().expect("a folder");
    let limits = JournalLimits::default().file_bytes(4_000).files(1_000);
    let journal = Journal::in_folder(folder.path(), limits).expect("a journal");
    let mut bed = test_bed(config(), Some(journal)).await;
    bed.store.connect(1);
    until(bed.node.observer(), leads).await;
    bed.store.lose_session();
    bed.store.connect(2);
    until(bed.node.observer(), |status| leads(status) && status.session == Some(Session(2))).await;
    bed.node.shut_down().await;
    within(bed.node.wait()).await;

    let replayed = replay(read(folder.path()).expect("a journal")).expect("the same actions");

    assert!(replayed.steps > 20, "{replayed:?}");
    assert_eq!((replayed.starts, replayed.gaps, replayed.missing), (1, 0, 0));
    assert!(std::fs::read_dir(folder.path()).expect("a folder").count() > 1, "it goes on in new files");
}

#[tokio::test]
async fn a_leader_that_reads_of_a_newer_term_works_under_it() {
    let bed = test_bed(config(), None).await;
    bed.store.connect(1);
    until(bed.node.observer(), leads).await;
    let (fence, _) = bed.node.observer().term().expect("its term holds");
    let newer = Fence { epoch: Epoch(fence.epoch.0 + 1), ..fence };

    // Another node has claimed a term; this one has not heard of it.
    bed.store.with(|lone| {
        let other = Candidate { sequence: 0, guid: Some(Guid::ours(1)) };
        lone.candidates.insert(other, Session(99));
        lone.term = Some(newer);
        lone.events.push_back(StoreEvent::Suspended);
        lone.events.push_back(StoreEvent::Up { session: lone.session, timeout: TIMEOUT });
    });

    let status = until(bed.node.observer(), |status| status.floor == Some(newer)).await;
    assert_eq!(status.floor.map(|floor| floor.incarnation), Some(newer.incarnation));
    until(bed.node.observer(), |status| status.role == Role::Worker).await;
    assert_eq!(bed.node.observer().term(), None);
    assert_ne!(newer.incarnation, Incarnation(0));
}

#[tokio::test]
async fn settings_whose_answer_is_lost_are_asked_for_again() {
    let (store, _application, builder) = prepared(config());
    store.with(|lone| lone.unsettled = 1);
    let node = builder.settings("64 shards").start().await.expect("a free port");

    store.connect(1);

    until(node.observer(), leads).await;
    assert_eq!(store.with(|lone| lone.unsettled), 0);
}

#[tokio::test]
async fn a_service_that_never_stops_halts_the_node_which_deletes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = Journal::in_folder(folder.path(), JournalLimits::default()).expect("a journal");
    let mut config = config();
    config.stop_grace = Duration::from_millis(50);
    let mut bed = test_bed(config, Some(journal)).await;
    bed.store.connect(1);
    until(bed.node.observer(), leads).await;

    *bed.application.broken.lock().expect("not poisoned") = Some("never stops");
    bed.node.shut_down().await;

    assert_eq!(within(bed.node.wait()).await, Outcome::Halted(Violation::StopOverran));
    assert_eq!(bed.node.observer().term(), None);
    assert!(bed.store.with(|lone| !lone.closed && !lone.candidates.is_empty()));
    let replayed = replay(read(folder.path()).expect("a journal")).expect("the same actions");
    assert!(replayed.steps > 0);
    let last = read(folder.path()).expect("a journal").last().expect("lines").expect("well-formed").1;
    let crate::journal::Record::Step { actions, .. } = last else { panic!("{last:?}") };
    assert!(actions.contains(&Action::Halt(Violation::StopOverran)), "{actions:?}");
}
