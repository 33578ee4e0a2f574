//! Server against input that is not a well-behaved request.

use super::*;

#[tokio::test]
async fn garbage_is_a_bad_request_and_the_server_goes_on() {
    let bed = test_bed(ServerLimits::default()).await;

    for garbage in [
        "\r\n\r\n\r\nnonsense\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}\r\n\r\n",
        "GET / HTTP/1.1\r\nno colon here\r\n\r\n",
        "GET / HTTP/9.9\r\n\r\n",
        "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
        "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
    ] {
        let answer = bed.raw(garbage).await;
        assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400"), "{garbage:?} was answered {answer:?}");
    }
    let answer = bed.raw("POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("bad_body"), "{answer}");
    assert_eq!(bed.get("/").await, (StatusCode::OK, "first".into()));
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let bed = test_bed(ServerLimits { head_bytes: 1_000, ..ServerLimits::default() }).await;

    let answer = bed.raw(&format!("GET / HTTP/1.1\r\nhost: x\r\nlong: {}\r\n\r\n", "x".repeat(2_000))).await;

    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_whether_it_says_so_or_not() {
    let bed = test_bed(ServerLimits { body_bytes: 10, ..ServerLimits::default() }).await;

    let said = bed.raw("POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 11\r\n\r\n").await;
    let unsaid =
        bed.raw("POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nb\r\n12345678901\r\n").await;
    let right =
        bed.raw("POST /echo HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 10\r\n\r\n1234567890").await;

    assert!(said.starts_with("HTTP/1.1 413") && said.contains("body_too_large"), "{said}");
    assert!(unsaid.starts_with("HTTP/1.1 413") && unsaid.contains("body_too_large"), "{unsaid}");
    assert!(right.starts_with("HTTP/1.1 200") && right.ends_with("1234567890"), "{right}");
}

#[tokio::test]
async fn a_head_that_never_ends_loses_its_connection() {
    let bed = test_bed(ServerLimits { head_time: Duration::from_millis(50), ..ServerLimits::default() }).await;

    let loris = bed.raw("GET / HTTP/1.1\r\nhost: x\r\nslow").await;
    let silent = bed.raw("").await;

    assert!(loris.is_empty() || loris.starts_with("HTTP/1.1 408"), "{loris}");
    assert_eq!(silent, "");
}

#[tokio::test]
async fn a_body_that_never_ends_is_given_up() {
    let request_time = Duration::from_millis(50);
    let bed = test_bed(ServerLimits { request_time, ..ServerLimits::default() }).await;

    let answer = bed.raw("POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n12345").await;

    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("body_too_slow"), "{answer}");
}

#[tokio::test]
async fn a_client_that_reads_nothing_loses_its_connection() {
    let bed = test_bed(ServerLimits { write_time: Duration::from_millis(50), ..ServerLimits::default() }).await;
    let mut stream = bed.connect().await;

    // More answers than the sockets' buffers hold, and none of them is read.
    let asked = async {
        loop {
            stream.write_all(b"GET /large HTTP/1.1\r\nhost: x\r\n\r\n").await?;
            tokio::task::yield_now().await;
        }
    };
    let ended: std::io::Result<()> = within(asked).await;

    assert!(ended.is_err(), "the server has closed the connection");
}

#[tokio::test]
async fn a_client_that_closed_its_half_gets_its_answer() {
    let bed = test_bed(ServerLimits::default()).await;
    let mut stream = bed.connect().await;

    stream.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n").await.expect("the server reads");
    stream.shutdown().await.expect("the half closes");

    assert!(everything(stream).await.ends_with("first"));
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order() {
    let bed = test_bed(ServerLimits::default()).await;

    let answers = bed
        .raw(
            "POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\none\
             GET /status HTTP/1.1\r\nhost: x\r\n\r\n\
             POST /echo HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 5\r\n\r\nthree",
        )
        .await;

    let places: Vec<_> = ["\r\n\r\none", "\r\n\r\nstatus", "\r\n\r\nthree"].map(|body| answers.find(body)).into();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{answers}");
}

#[tokio::test]
async fn http_1_0_is_answered_and_closed() {
    let bed = test_bed(ServerLimits::default()).await;

    let answer = bed.raw("GET / HTTP/1.0\r\n\r\n").await;

    assert!(answer.contains("200 OK") && answer.ends_with("first"), "{answer}");
}

#[tokio::test]
async fn head_has_the_length_and_no_body() {
    let bed = test_bed(ServerLimits::default()).await;

    let answer = bed.raw("HEAD / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;

    assert!(answer.contains("content-length: 5") && answer.ends_with("\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn methods_that_a_route_does_not_have_are_told_apart() {
    let bed = test_bed(ServerLimits::default()).await;

    let wrong = bed.raw("DELETE /only-get HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    let options = bed.raw("OPTIONS /only-get HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    let whole = bed.raw("OPTIONS * HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
    let tunnel = bed.raw("CONNECT elsewhere:80 HTTP/1.1\r\nhost: x\r\n\r\n").await;

    assert!(wrong.starts_with("HTTP/1.1 405") && wrong.contains("allow: GET, HEAD, OPTIONS"), "{wrong}");
    assert!(options.starts_with("HTTP/1.1 204") && options.contains("allow: GET, HEAD, OPTIONS"), "{options}");
    assert!(whole.starts_with("HTTP/1.1 204"), "{whole}");
    assert!(tunnel.starts_with("HTTP/1.1 405"), "{tunnel}");
}

#[tokio::test]
async fn the_time_of_day_can_be_left_out() {
    let with = test_bed(ServerLimits::default()).await;
    let without = test_bed(ServerLimits { date_header: false, ..ServerLimits::default() }).await;

    let text = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";

    assert!(with.raw(text).await.contains("\r\ndate: "));
    assert!(!without.raw(text).await.contains("\r\ndate: "));
}
