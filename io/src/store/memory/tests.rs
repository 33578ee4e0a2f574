//! Embedded store with a clock that tests move by hand, and once with that of the machine.

use core::future::poll_fn;
use std::time::SystemTime;

use rolecall_core::store::{Answer, DirectoryRequest, Notice, QueueReply, QueueRequest, Refusal, Reply};
use rolecall_core::{Candidate, Directory, Guid, Link, Session, Slot};
use tokio::sync::watch;

use super::*;
use crate::{BoxFuture, SystemClock};

const TIMEOUT: Duration = Duration::from_secs(3);

#[derive(Debug)]
struct ManualClock(watch::Sender<Time>);

impl Clock for ManualClock {
    fn now(&self) -> Time {
        *self.0.borrow()
    }

    fn sleep_until(&self, time: Time) -> BoxFuture<'static, ()> {
        let mut now = self.0.subscribe();
        Box::pin(async move {
            // If the clock is gone, nobody waits for its sleepers.
            let _ = now.wait_for(|now| *now >= time).await;
        })
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

/// Store with its clock.
struct World {
    clock: Arc<ManualClock>,
    store: MemoryStore,
    asked: u32,
}

impl World {
    fn new() -> Self {
        let clock = Arc::new(ManualClock(watch::Sender::new(Time::ZERO)));
        Self { store: MemoryStore::new(clock.clone()), clock, asked: 0 }
    }

    /// Opens a connection and its session.
    fn join(&self, id: &str) -> (MemoryConnection, Session) {
        let mut connection = self.store.connect(participant(id, TIMEOUT));
        match events(&mut connection)[..] {
            [StoreEvent::Up { session, timeout: TIMEOUT }] => (connection, session),
            ref other => panic!("not up: {other:?}"),
        }
    }

    fn send(&mut self, connection: &mut MemoryConnection, request: Request) -> OpId {
        self.asked += 1;
        let id = OpId { link: Link(0), slot: Slot::Election, sequence: self.asked };
        connection.send(id, request);
        id
    }

    fn ask(&mut self, connection: &mut MemoryConnection, request: Request) -> Answer {
        let id = self.send(connection, request);
        match events(connection).as_slice() {
            [StoreEvent::Answered { id: of, answer }] if *of == id => answer.clone(),
            other => panic!("not one answer: {other:?}"),
        }
    }

    fn enter(&mut self, connection: &mut MemoryConnection) -> Candidate {
        let answer = self.ask(connection, Request::Queue(QueueRequest::Enter { guid: Guid::ours(1) }));
        let Answer::Done(Reply::Queue(QueueReply::Entered(candidate))) = answer else {
            panic!("not entered: {answer:?}")
        };
        candidate
    }

    fn watch(&mut self, connection: &mut MemoryConnection, candidate: Candidate) -> OpId {
        let answer = self.ask(connection, Request::Queue(QueueRequest::Inspect { candidate, watch: true }));
        assert!(matches!(answer, Answer::Done(_)), "not watched: {answer:?}");
        OpId { link: Link(0), slot: Slot::Election, sequence: self.asked }
    }

    /// Lets time pass in small steps while `connection` is polled, and returns its events.
    fn pass(&self, time: Duration, connection: &mut MemoryConnection) -> Vec<StoreEvent> {
        let step = Duration::from_millis(50);
        let end = self.clock.now() + time;
        let mut got = Vec::new();
        while self.clock.now() < end {
            self.clock.0.send_modify(|now| *now = *now + step);
            got.extend(events(connection));
        }
        got
    }
}

fn participant(id: &str, session_timeout: Duration) -> Participant {
    Participant::new("test", id, session_timeout).at(format!("{id}:80"))
}

/// Events that a connection has right now.
fn events(connection: &mut MemoryConnection) -> Vec<StoreEvent> {
    let mut context = Context::from_waker(core::task::Waker::noop());
    core::iter::from_fn(|| match connection.poll_event(&mut context) {
        Poll::Ready(event) => Some(event),
        Poll::Pending => None,
    })
    .collect()
}

#[test]
fn a_session_lives_as_long_as_its_connection_is_polled() {
    let mut world = World::new();
    let (mut a, _) = world.join("a");
    let candidate = world.enter(&mut a);
    assert_eq!(world.pass(10 * TIMEOUT, &mut a), []);
    let answer = world.ask(&mut a, Request::Queue(QueueRequest::List));
    assert_eq!(answer, Answer::Done(Reply::Queue(QueueReply::Candidates { candidates: vec![candidate], skipped: 0 })));
}

#[test]
fn a_node_that_crashes_is_missed_when_its_timeout_is_over_and_not_before() {
    let mut world = World::new();
    let ((mut a, _), (mut b, _)) = (world.join("a"), world.join("b"));
    let candidate = world.enter(&mut a);
    let watch = world.watch(&mut b, candidate);

    drop(a);

    assert_eq!(world.pass(TIMEOUT, &mut b), []);
    let notice = StoreEvent::Noticed { id: watch, notice: Notice::Deleted };
    assert_eq!(world.pass(MemoryStore::TICK, &mut b), [notice]);
}

#[test]
fn a_node_that_hangs_loses_its_session_and_gets_a_new_one() {
    let mut world = World::new();
    let ((mut a, old), (mut b, _)) = (world.join("a"), world.join("b"));
    world.enter(&mut a);
    world.pass(3 * TIMEOUT, &mut b);

    let got = events(&mut a);

    let [StoreEvent::Lost, StoreEvent::Up { session, .. }] = got[..] else { panic!("not lost and up: {got:?}") };
    assert_ne!(session, old);
    let none = Answer::Done(Reply::Queue(QueueReply::Candidates { candidates: vec![], skipped: 0 }));
    assert_eq!(world.ask(&mut a, Request::Queue(QueueRequest::List)), none);
}

#[test]
fn a_node_that_closes_is_gone_at_once() {
    let mut world = World::new();
    let ((mut a, _), (mut b, _)) = (world.join("a"), world.join("b"));
    let candidate = world.enter(&mut a);
    let watch = world.watch(&mut b, candidate);

    a.close();

    assert_eq!(events(&mut a), [StoreEvent::Closed]);
    assert_eq!(events(&mut b), [StoreEvent::Noticed { id: watch, notice: Notice::Deleted }]);
    world.send(&mut a, Request::Queue(QueueRequest::List));
    a.renew();
    a.close();
    assert_eq!(world.pass(TIMEOUT, &mut a), [], "nothing follows a close");
}

#[test]
fn a_close_comes_to_its_end_though_the_session_is_over_or_out_of_reach() {
    let world = World::new();
    let ((mut a, _), (mut b, _), (mut c, _)) = (world.join("a"), world.join("b"), world.join("c"));
    world.store.suspend("b");
    world.pass(2 * TIMEOUT, &mut c);

    a.close();
    b.close();

    assert_eq!(events(&mut a), [StoreEvent::Lost, StoreEvent::Closed]);
    assert_eq!(events(&mut b), [StoreEvent::Suspended, StoreEvent::Closed]);
    world.store.resume("b");
    assert_eq!([events(&mut a), events(&mut b)], [vec![], vec![]]);

    // Nobody has noticed yet that this session is over.
    let (mut d, _) = world.join("d");
    world.clock.0.send_modify(|now| *now = *now + 2 * TIMEOUT);
    d.close();
    assert_eq!(events(&mut d), [StoreEvent::Lost, StoreEvent::Closed]);
}

#[test]
fn a_short_suspension_keeps_the_session_and_a_long_one_does_not() {
    let mut world = World::new();
    let (mut a, session) = world.join("a");
    let (mut b, _) = world.join("b");
    world.store.suspend("a");
    assert_eq!(events(&mut a), [StoreEvent::Suspended]);
    assert_eq!(world.ask(&mut a, Request::Queue(QueueRequest::List)), Answer::Refused(Refusal::Disconnected));
    world.pass(TIMEOUT / 2, &mut b);
    world.store.resume("a");
    assert_eq!(events(&mut a), [StoreEvent::Up { session, timeout: TIMEOUT }]);

    world.store.suspend("a");
    world.pass(TIMEOUT * 2, &mut b);
    assert_eq!(events(&mut a), [StoreEvent::Suspended], "who is cut off learns nothing");
    world.store.resume("a");

    let got = events(&mut a);
    assert!(matches!(got[..], [StoreEvent::Lost, StoreEvent::Up { session: new, .. }] if new != session), "{got:?}");
}

#[test]
fn a_session_that_is_given_up_expires_and_another_takes_its_place_at_once() {
    let mut world = World::new();
    let (mut a, old) = world.join("a");
    let candidate = world.enter(&mut a);

    a.renew();

    let got = events(&mut a);
    assert!(matches!(got[..], [StoreEvent::Lost, StoreEvent::Up { session, .. }] if session != old), "{got:?}");
    let watch = world.watch(&mut a, candidate);
    assert_eq!(world.pass(TIMEOUT * 2, &mut a), [StoreEvent::Noticed { id: watch, notice: Notice::Deleted }]);
}

#[test]
fn operators_and_faults_reach_whom_they_concern() {
    let mut world = World::new();
    let ((mut a, of_a), (mut b, _)) = (world.join("a"), world.join("b"));
    let candidate = world.enter(&mut a);
    let watch = world.watch(&mut b, candidate);
    world.store.operate(Act::DeleteCandidate(candidate));
    assert_eq!(events(&mut b), [StoreEvent::Noticed { id: watch, notice: Notice::Deleted }]);

    world.store.expire("a");
    let got = events(&mut a);
    let [StoreEvent::Lost, StoreEvent::Up { session, .. }] = got[..] else { panic!("not lost and up: {got:?}") };
    assert_ne!(session, of_a);
    assert_eq!(events(&mut b), []);

    world.store.restart(true);
    assert_eq!(events(&mut a), [StoreEvent::Suspended, StoreEvent::Up { session, timeout: TIMEOUT }]);
    world.store.restart(false);
    let got = events(&mut a);
    let [StoreEvent::Suspended, StoreEvent::Lost, StoreEvent::Up { .. }] = got[..] else { panic!("{got:?}") };
}

#[test]
fn the_state_of_a_store_can_be_written_down_and_read_again() {
    let mut machine = Machine::new(Timing::bounded(Duration::from_secs(2)), 2);
    let client = |id: &str| Client { id: id.into(), address: format!("{id}:80").into(), metadata: Default::default() };
    let id = OpId { link: Link(0), slot: Slot::Election, sequence: 1 };
    let (first, second) = (Session(1), Session(2));
    let request = |session, request| Event::Request { session, id, request };
    let events = [
        Event::Connect { server: Server(0), client: client("a"), previous: None, timeout: TIMEOUT },
        Event::Connect { server: Server(1), client: client("b"), previous: None, timeout: TIMEOUT },
        request(first, Request::Queue(QueueRequest::Enter { guid: Guid::ours(1) })),
        request(second, Request::Directory(DirectoryRequest::Members { directory: Directory::Workers, watch: true })),
        Event::Fault(Fault::Cut(Server(1))),
        request(
            second,
            Request::Directory(DirectoryRequest::Join { directory: Directory::Workers, session: second, epoch: None }),
        ),
        request(
            first,
            Request::Directory(DirectoryRequest::Join { directory: Directory::Workers, session: first, epoch: None }),
        ),
    ];
    for event in events {
        machine.handle(Time::ZERO, event, &mut Vec::new());
    }

    let text = serde_json::to_string(&machine).expect("a machine is written as JSON");

    assert_eq!(serde_json::from_str::<Machine>(&text).expect("what was written is read"), machine);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_node_is_woken_by_others_and_by_the_clock() {
    let store = MemoryStore::new(Arc::new(SystemClock::new()));
    let id = |sequence| OpId { link: Link(0), slot: Slot::Election, sequence };
    let mut a = store.connect(participant("a", Duration::from_millis(300)));
    let mut b = store.connect(participant("b", Duration::from_secs(60)));
    assert!(matches!(next(&mut a).await, StoreEvent::Up { .. }));
    assert!(matches!(next(&mut b).await, StoreEvent::Up { .. }));
    a.send(id(1), Request::Queue(QueueRequest::Enter { guid: Guid::ours(1) }));
    let StoreEvent::Answered { answer: Answer::Done(Reply::Queue(QueueReply::Entered(candidate))), .. } =
        next(&mut a).await
    else {
        panic!("not entered");
    };
    b.send(id(2), Request::Queue(QueueRequest::Inspect { candidate, watch: true }));
    assert!(matches!(next(&mut b).await, StoreEvent::Answered { answer: Answer::Done(_), .. }));

    // The waiter sleeps for its next ping, in 20 s; the crash moves its alarm.
    let waiter = tokio::spawn(async move { next(&mut b).await });
    tokio::task::yield_now().await;
    drop(a);

    let notice = waiter.await.expect("the waiter does not panic");
    assert_eq!(notice, StoreEvent::Noticed { id: id(2), notice: Notice::Deleted });
}

/// Next event, within a time limit.
async fn next(connection: &mut MemoryConnection) -> StoreEvent {
    let event = poll_fn(|context| connection.poll_event(context));
    tokio::time::timeout(Duration::from_secs(15), event).await.expect("an event within 15 s")
}
