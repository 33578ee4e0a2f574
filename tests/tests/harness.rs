//! Tests of the test tools: the proxy and the servers do what they promise.

use core::time::Duration;
use std::error::Error;
use std::io::ErrorKind;

use rolecall_tests::ensemble::{Ensemble, Timing};
use rolecall_tests::proxy::{Direction, Proxy};
use rolecall_tests::socks::Socks;
use rolecall_tests::wait::{LIMIT, until};
use rolecall_tests::zookeeper::ZooKeeperServer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use zookeeper_client::{Acls, Client, CreateMode};

type Outcome = Result<(), Box<dyn Error>>;

/// A server that echoes what it gets, and a proxy in front of it.
async fn echo() -> std::io::Result<Proxy> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut from, mut to) = stream.split();
                tokio::io::copy(&mut from, &mut to).await
            });
        }
    });
    Proxy::start(address).await
}

async fn hears(stream: &mut TcpStream, expected: &[u8]) -> std::io::Result<bool> {
    let mut bytes = vec![0; expected.len()];
    timeout(LIMIT, stream.read_exact(&mut bytes)).await??;
    Ok(bytes == expected)
}

#[tokio::test]
async fn a_cut_holds_bytes_and_healing_passes_them_on() -> Outcome {
    for cut in [
        Proxy::cut as fn(&Proxy),
        |proxy| proxy.cut_one_way(Direction::ToServer),
        |proxy| proxy.cut_one_way(Direction::ToClient),
    ] {
        let proxy = echo().await?;
        let mut stream = TcpStream::connect(proxy.address()).await?;
        stream.write_all(b"before").await?;
        assert!(hears(&mut stream, b"before").await?);
        cut(&proxy);
        stream.write_all(b"during").await?;
        let silence = timeout(Duration::from_millis(100), stream.read_u8()).await;
        assert!(silence.is_err(), "nothing passes a cut: {silence:?}");
        proxy.heal();
        assert!(hears(&mut stream, b"during").await?);
        assert_eq!(proxy.accepted(), 1);
    }
    Ok(())
}

#[tokio::test]
async fn a_reset_ends_connections_even_held_ones() -> Outcome {
    let proxy = echo().await?;
    let mut old = TcpStream::connect(proxy.address()).await?;
    old.write_all(b"x").await?;
    assert!(hears(&mut old, b"x").await?);
    proxy.cut();
    let mut held = TcpStream::connect(proxy.address()).await?;
    until("both are accepted", async || (proxy.accepted() == 2).then_some(())).await;
    proxy.reset();
    for stream in [&mut old, &mut held] {
        let error = timeout(LIMIT, stream.read_u8()).await?.expect_err("a reset");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    Ok(())
}

#[tokio::test]
async fn refusing_resets_new_connections_only() -> Outcome {
    let proxy = echo().await?;
    let mut old = TcpStream::connect(proxy.address()).await?;
    old.write_all(b"x").await?;
    assert!(hears(&mut old, b"x").await?);
    proxy.refuse();
    let mut new = TcpStream::connect(proxy.address()).await?;
    assert_eq!(timeout(LIMIT, new.read_u8()).await?.expect_err("a reset").kind(), ErrorKind::ConnectionReset);
    old.write_all(b"y").await?;
    assert!(hears(&mut old, b"y").await?);
    Ok(())
}

#[tokio::test]
async fn a_server_keeps_its_data_until_it_is_wiped() -> Outcome {
    let mut server = ZooKeeperServer::start().await?;
    let observer = server.observer().await;
    observer.create("/kept", b"data", &CreateMode::Persistent.with_acls(Acls::anyone_all())).await?;
    server.kill();
    server.restart().await?;
    assert_eq!(server.observer().await.get_data("/kept").await?.0, b"data");
    server.stop();
    server.wipe()?;
    server.restart().await?;
    assert_eq!(server.observer().await.check_stat("/kept").await?, None);
    Ok(())
}

#[tokio::test]
async fn a_paused_server_answers_once_it_goes_on() -> Outcome {
    let server = ZooKeeperServer::start().await?;
    let observer = server.observer().await;
    server.pause().await;
    let silence = timeout(Duration::from_millis(100), observer.check_stat("/")).await;
    assert!(silence.is_err(), "a stopped process answers nothing: {silence:?}");
    server.resume();
    assert!(observer.check_stat("/").await?.is_some());
    Ok(())
}

#[tokio::test]
async fn a_server_that_is_cut_off_answers_reads_and_commits_nothing() -> Outcome {
    // Slow enough that nobody notices the cut while it lasts.
    let ensemble = Ensemble::start(Timing { tick: Duration::from_secs(1), sync_limit: 20 }).await?;
    let leader = ensemble.leader().await.ok_or("the ensemble has no leader")?;
    let follower = (leader + 1) % 3;
    let (here, reader) = (client(&ensemble, follower).await?, client(&ensemble, follower).await?);
    let there = client(&ensemble, leader).await?;
    here.create("/znode", b"before", &CreateMode::Persistent.with_acls(Acls::anyone_all())).await?;

    ensemble.cut_off(follower);
    there.set_data("/znode", b"during", None).await?;
    let silence = timeout(Duration::from_millis(200), here.set_data("/znode", b"never seen", Some(0))).await;
    assert!(silence.is_err(), "nothing is committed without the others: {silence:?}");
    // On another connection: on the same one the answer would wait for that of the write.
    assert_eq!(reader.get_data("/znode").await?.0, b"before");
    assert_eq!(ensemble.mode(follower).await.as_deref(), Some("follower"));

    ensemble.heal();
    until("the cut to be over", async || {
        let (data, _) = reader.get_data("/znode").await.ok()?;
        (data == b"during").then_some(())
    })
    .await;
    Ok(())
}

async fn client(ensemble: &Ensemble, server: usize) -> Result<Client, zookeeper_client::Error> {
    Client::connector().with_session_timeout(LIMIT).connect(&ensemble.address(server).to_string()).await
}

#[tokio::test]
async fn a_way_out_leads_to_its_destinations_alone() -> Outcome {
    let (known, unknown) = (echo().await?, echo().await?);
    let socks = Socks::start([known.address()]).await?;
    for (proxy, outcome) in [(&known, 0), (&unknown, 2)] {
        let mut stream = TcpStream::connect(socks.address()).await?;
        stream.write_all(&[5, 1, 0]).await?;
        assert!(hears(&mut stream, &[5, 0]).await?);
        let port = proxy.address().port().to_be_bytes();
        stream.write_all(&[5, 1, 0, 1, 127, 0, 0, 1, port[0], port[1]]).await?;
        assert!(hears(&mut stream, &[5, outcome, 0, 1, 0, 0, 0, 0, 0, 0]).await?);
        stream.write_all(b"echo").await?;
        if outcome == 0 {
            assert!(hears(&mut stream, b"echo").await?);
        }
    }
    Ok(())
}
