//! The handler changes with the role, and the connections stay.

use rolecall_core::Time;

use super::*;
use crate::Drain;

fn drain_until(clock: &Arc<dyn Clock>, time: Time) -> Drain {
    Drain::new(Arc::clone(clock), watch::Sender::new(time).subscribe())
}

#[tokio::test]
async fn a_connection_made_before_a_change_of_role_works_after_it() {
    let bed = test_bed(ServerLimits::default()).await;
    let mut stream = bed.connect().await;
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("the server reads");
    until(&mut stream, "first").await;

    let first = bed.slot.clear().expect("a handler is in");
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("the server reads");
    let none = until(&mut stream, "}}").await;
    assert!(none.starts_with("HTTP/1.1 503") && none.contains("no_role") && none.contains("retry-after"), "{none}");
    stream.write_all(b"GET /status HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("the server reads");
    until(&mut stream, "status").await;

    first.stop(&drain_until(&bed.clock, bed.clock.now() + LIMIT)).await;
    bed.slot.fill(erased(&Script::new("second")));
    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("the server reads");
    until(&mut stream, "second").await;
}

#[tokio::test]
async fn a_stop_lets_requests_in_flight_end() {
    let bed = Arc::new(test_bed(ServerLimits::default()).await);
    let asked = tokio::spawn({
        let bed = Arc::clone(&bed);
        async move { bed.get("/hang").await }
    });
    bed.script.until_hanging(1).await;
    assert_eq!(bed.slot.in_flight(), 1);

    let occupant = bed.slot.clear().expect("a handler is in");
    let stopping = tokio::spawn({
        let drain = drain_until(&bed.clock, Time::MAX);
        async move { occupant.stop(&drain).await }
    });
    assert_eq!(bed.get("/").await.0, StatusCode::SERVICE_UNAVAILABLE, "nothing new is taken");
    assert_eq!(*bed.script.stopped.borrow(), 0, "not before the last request has ended");
    bed.script.release.add_permits(1);

    assert_eq!(asked.await.expect("no panic"), (StatusCode::OK, "released".into()));
    within(stopping).await.expect("no panic");
    assert_eq!(*bed.script.stopped.borrow(), 1);
}

#[tokio::test]
async fn a_stop_cuts_off_what_outlasts_the_drain() {
    let bed = Arc::new(test_bed(ServerLimits::default()).await);
    let asked = tokio::spawn({
        let bed = Arc::clone(&bed);
        async move { bed.get("/hang").await }
    });
    bed.script.until_hanging(1).await;

    let occupant = bed.slot.clear().expect("a handler is in");
    let drain = watch::Sender::new(Time::MAX);
    let stopping = tokio::spawn({
        let drain = Drain::new(Arc::clone(&bed.clock), drain.subscribe());
        async move { occupant.stop(&drain).await }
    });
    tokio::task::yield_now().await;
    drain.send_replace(Time::ZERO);
    within(stopping).await.expect("no panic");

    let (status, body) = asked.await.expect("no panic");
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(body.contains("stopping"), "{body}");
    assert_eq!(*bed.script.stopped.borrow(), 1);
}

#[tokio::test]
async fn a_panic_is_one_bad_answer_and_no_more() {
    let bed = test_bed(ServerLimits::default()).await;

    let (status, body) = bed.get("/panic").await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert!(body.contains("internal"), "{body}");

    assert_eq!(bed.get("/").await, (StatusCode::OK, "first".into()));
    assert_eq!(bed.slot.in_flight(), 0);
}

#[tokio::test]
async fn too_many_requests_are_refused_but_the_status_is_told() {
    let bed = Arc::new(test_bed(ServerLimits { requests: 1, ..ServerLimits::default() }).await);
    let asked = tokio::spawn({
        let bed = Arc::clone(&bed);
        async move { bed.get("/hang").await }
    });
    bed.script.until_hanging(1).await;

    let refused = bed.raw("GET / HTTP/1.0\r\n\r\n").await;
    assert!(refused.starts_with("HTTP/1.0 503") || refused.starts_with("HTTP/1.1 503"), "{refused}");
    assert!(refused.contains("overloaded") && refused.contains("retry-after: 1"), "{refused}");
    assert_eq!(bed.get("/status").await, (StatusCode::OK, "status".into()));

    bed.script.release.add_permits(1);
    asked.await.expect("no panic");
    assert_eq!(bed.get("/").await, (StatusCode::OK, "first".into()));
}

#[tokio::test]
async fn too_many_connections_are_refused_and_a_freed_place_is_taken() {
    let bed = test_bed(ServerLimits { connections: 1, ..ServerLimits::default() }).await;
    let mut holder = bed.connect().await;
    holder.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("the server reads");
    until(&mut holder, "first").await;

    let refused = bed.raw("GET / HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert!(refused.starts_with("HTTP/1.1 503") && refused.contains("overloaded"), "{refused}");

    drop(holder);
    within(async { while bed.get("/").await.0 != StatusCode::OK {} }).await;
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_given_up() {
    let request_time = Duration::from_millis(50);
    let bed = test_bed(ServerLimits { request_time, ..ServerLimits::default() }).await;

    let (status, body) = bed.get("/hang").await;
    assert_eq!(status, StatusCode::GATEWAY_TIMEOUT);
    assert!(body.contains("too_slow"), "{body}");
    assert_eq!(bed.slot.in_flight(), 0);
    assert_eq!(bed.get("/status/hang").await.0, StatusCode::GATEWAY_TIMEOUT);
}

#[tokio::test]
async fn a_closed_server_answers_what_it_has_begun() {
    let bed = test_bed(ServerLimits::default()).await;
    let mut stream = bed.connect().await;
    stream.write_all(b"GET /hang HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("the server reads");
    bed.script.until_hanging(1).await;
    let address = bed.server.address().to_owned();

    let closed = tokio::spawn(bed.server.close());
    within(async { while TcpStream::connect(&address).await.is_ok() {} }).await;
    bed.script.release.add_permits(1);

    assert!(everything(stream).await.ends_with("released"));
    within(closed).await.expect("no panic");
}

#[tokio::test]
async fn a_dropped_server_is_gone_like_a_crashed_one() {
    let bed = test_bed(ServerLimits::default()).await;
    let mut stream = bed.connect().await;
    stream.write_all(b"GET /hang HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("the server reads");
    bed.script.until_hanging(1).await;

    drop(bed.server);

    assert_eq!(everything(stream).await, "");
}
