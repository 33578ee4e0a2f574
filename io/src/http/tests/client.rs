//! Client against this server, and against misbehaving ones.

use core::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::TcpListener;

use super::*;

#[tokio::test]
async fn connections_are_kept_and_used_again() {
    let bed = test_bed(ServerLimits::default()).await;
    let client = bed.client();
    let mut peers = Vec::new();

    for _ in 0..3 {
        let response = client
            .send(bed.server.address(), request("GET", "/peer", ""), bed.clock.now() + LIMIT)
            .await
            .expect("an answer");
        peers.push(text(response));
    }

    assert_eq!(peers[0], peers[1]);
    assert_eq!(peers[1], peers[2]);
}

#[tokio::test]
async fn a_body_goes_there_and_back() {
    let bed = test_bed(ServerLimits::default()).await;

    let response = bed
        .client()
        .send(bed.server.address(), request("POST", "/echo", "a body"), bed.clock.now() + LIMIT)
        .await
        .expect("an answer");

    assert_eq!(text(response), "a body");
}

#[tokio::test]
async fn the_deadline_covers_the_wait_for_the_answer() {
    let bed = test_bed(ServerLimits::default()).await;
    let deadline = bed.clock.now() + Duration::from_millis(50);

    let answered = bed.client().send(bed.server.address(), request("GET", "/hang", ""), deadline).await;

    assert!(matches!(answered, Err(ClientError::TimedOut { sent: true, .. })), "{answered:?}");
    assert!(bed.clock.now() >= deadline);
}

#[tokio::test]
async fn nobody_listening_is_told_from_a_slow_answer() {
    let bed = test_bed(ServerLimits::default()).await;
    let free = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = free.local_addr().expect("it is bound").to_string();
    drop(free);

    let answered = bed.client().send(&address, request("GET", "/", ""), bed.clock.now() + LIMIT).await;
    let malformed = bed.client().send("no\naddress", request("GET", "/", ""), bed.clock.now() + LIMIT).await;

    let error = answered.expect_err("nobody listens");
    assert!(matches!(error, ClientError::Connect { .. }) && !error.may_have_been_sent(), "{error:?}");
    assert!(matches!(malformed, Err(ClientError::Connect { .. })), "{malformed:?}");
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_an_error() {
    let bed = test_bed(ServerLimits::default()).await;
    let limits = ClientLimits { response_bytes: 99_999, ..ClientLimits::default() };
    let client = Client::new(Arc::new(TokioNet), Arc::clone(&bed.clock), limits);

    let answered = client.send(bed.server.address(), request("GET", "/large", ""), bed.clock.now() + LIMIT).await;

    assert!(matches!(answered, Err(ClientError::TooLarge { limit: 99_999, .. })), "{answered:?}");
}

/// Starts a server that answers the first request on each connection and closes at the second, after `last_words`.
async fn moody(last_words: &'static str) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&requests);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            let requests = Arc::clone(&counted);
            tokio::spawn(async move {
                until(&mut stream, "\r\n\r\n").await;
                requests.fetch_add(1, Ordering::Relaxed);
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.expect("the client reads");
                until(&mut stream, "\r\n\r\n").await;
                requests.fetch_add(1, Ordering::Relaxed);
                stream.write_all(last_words.as_bytes()).await.expect("the client reads");
            });
        }
    });
    (address, requests)
}

#[tokio::test]
async fn a_kept_connection_that_died_is_replaced_for_a_harmless_request() {
    let bed = test_bed(ServerLimits::default()).await;
    let (address, requests) = moody("").await;
    let client = bed.client();

    for _ in 0..2 {
        let answered = client.send(&address, request("GET", "/", ""), bed.clock.now() + LIMIT).await;
        assert_eq!(text(answered.expect("an answer")), "ok");
    }
    assert_eq!(requests.load(Ordering::Relaxed), 3, "the second was sent twice");
}

#[tokio::test]
async fn what_may_have_been_done_is_not_sent_twice() {
    let bed = test_bed(ServerLimits::default()).await;
    let (address, requests) = moody("").await;
    let client = bed.client();
    client.send(&address, request("GET", "/", ""), bed.clock.now() + LIMIT).await.expect("an answer");

    let answered = client.send(&address, request("POST", "/", ""), bed.clock.now() + LIMIT).await;

    let error = answered.expect_err("the connection died");
    assert!(matches!(error, ClientError::Broken { sent: true, heard: false, .. }), "{error:?}");
    assert_eq!(requests.load(Ordering::Relaxed), 2);

    let mut marked = request("POST", "/", "");
    marked.extensions_mut().insert(Idempotent);
    client.send(&address, request("GET", "/", ""), bed.clock.now() + LIMIT).await.expect("an answer");
    client.send(&address, marked, bed.clock.now() + LIMIT).await.expect("it was sent again");
}

#[tokio::test]
async fn an_answer_that_had_begun_is_not_asked_for_again() {
    let bed = test_bed(ServerLimits::default()).await;
    let (address, requests) = moody("HTTP/1.1 200 O").await;
    let client = bed.client();
    client.send(&address, request("GET", "/", ""), bed.clock.now() + LIMIT).await.expect("an answer");

    let answered = client.send(&address, request("GET", "/", ""), bed.clock.now() + LIMIT).await;

    assert!(matches!(answered, Err(ClientError::Broken { heard: true, .. })), "{answered:?}");
    assert_eq!(requests.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn a_server_that_closes_after_each_answer_is_not_noticed_by_the_caller() {
    let bed = test_bed(ServerLimits::default()).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            until(&mut stream, "\r\n\r\n").await;
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.expect("the client reads");
        }
    });
    let client = bed.client();

    for _ in 0..50 {
        let answered = client.send(&address, request("GET", "/", ""), bed.clock.now() + LIMIT).await;
        assert_eq!(text(answered.expect("an answer")), "ok");
    }
}

#[tokio::test]
async fn what_is_not_http_is_an_error() {
    let bed = test_bed(ServerLimits::default()).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        stream.write_all(b"220 mail.example ESMTP\r\n").await.expect("the client reads");
        everything(stream).await;
    });

    let answered = bed.client().send(&address, request("GET", "/", ""), bed.clock.now() + LIMIT).await;

    assert!(matches!(answered, Err(ClientError::Broken { .. })), "{answered:?}");
}
