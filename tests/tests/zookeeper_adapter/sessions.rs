//! The beginning, the interruption and the end of sessions.

use core::time::Duration;

use rolecall::store::{Store, StoreEvent};
use rolecall_core::store::{
    Answer, DirectoryReply, DirectoryRequest, QueueReply, QueueRequest, Refusal, Reply, Request,
};
use rolecall_core::{Directory, Guid};
use rolecall_tests::proxy::{Direction, Proxy};
use rolecall_tests::wait::until;
use rolecall_tests::zookeeper::{ZooKeeperServer, forget_session};

use super::{LONG, Outcome, ROOT, children, node, world};

const SHORT: Duration = Duration::from_secs(2);
const DISCONNECTED: Answer = Answer::Refused(Refusal::Disconnected);

#[tokio::test]
async fn a_store_that_is_not_there_yet_is_waited_for() -> Outcome {
    let server = ZooKeeperServer::start().await?;
    let proxy = Proxy::start(server.address()).await?;
    proxy.refuse();
    let mut a = node("node-a", proxy.address(), "", SHORT)?;
    assert_eq!(a.ask(Request::Queue(QueueRequest::List)).await, DISCONNECTED);
    until("three attempts", async || (proxy.accepted() >= 3).then_some(())).await;
    proxy.heal();
    let (_, timeout) = a.up().await;
    assert_eq!(timeout, SHORT);
    assert_eq!(a.list().await, (vec![], 0));
    Ok(())
}

#[tokio::test]
async fn the_timeout_is_the_one_that_the_server_grants() -> Outcome {
    let server = ZooKeeperServer::start().await?;
    let mut a = node("node-a", server.address(), "", Duration::from_secs(3600))?;
    assert_eq!(a.up().await.1, Duration::from_secs(60));
    Ok(())
}

#[tokio::test]
async fn a_lost_connection_suspends_and_the_same_session_comes_back() -> Outcome {
    let (server, _, observer) = world().await?;
    let proxy = Proxy::start(server.address()).await?;
    let mut a = node("node-b", proxy.address(), "", LONG)?;
    let (session, timeout) = a.up().await;
    let candidate = a.enter(1).await;
    for _ in 0..3 {
        proxy.reset();
        assert_eq!(a.session_event().await, StoreEvent::Suspended, "no reconnect is swallowed");
        assert_eq!(a.session_event().await, StoreEvent::Up { session, timeout });
    }
    let inspected = a.done(Request::Queue(QueueRequest::Inspect { candidate, watch: false })).await;
    assert!(matches!(inspected, Reply::Queue(QueueReply::Candidate { owner, .. }) if owner == session));
    until("no probe is left", async || children(&observer, ROOT).await.ok().filter(|names| names == &["election"]))
        .await;
    Ok(())
}

#[tokio::test]
async fn a_session_without_anything_of_its_own_comes_back_too() -> Outcome {
    let server = ZooKeeperServer::start().await?;
    let proxy = Proxy::start(server.address()).await?;
    let mut a = node("node-a", proxy.address(), "/new", LONG)?;
    let (session, timeout) = a.up().await;
    proxy.reset();
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    assert_eq!(a.session_event().await, StoreEvent::Up { session, timeout });
    Ok(())
}

#[tokio::test]
async fn a_cut_that_outlasts_the_session_loses_it() -> Outcome {
    let (server, _, observer) = world().await?;
    let proxy = Proxy::start(server.address()).await?;
    let mut a = node("node-b", proxy.address(), "", SHORT)?;
    let (old, _) = a.up().await;
    a.enter(1).await;
    proxy.cut();
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    assert_eq!(a.ask(Request::Queue(QueueRequest::List)).await, DISCONNECTED, "nothing waits for a connection");
    assert_eq!(a.session_event().await, StoreEvent::Lost);
    assert_eq!(a.ask(Request::Queue(QueueRequest::List)).await, DISCONNECTED);
    until("the old session's candidate is gone", async || {
        children(&observer, &format!("{ROOT}/election")).await.ok().filter(Vec::is_empty)
    })
    .await;
    proxy.heal();
    let (new, _) = a.up().await;
    assert_ne!(old, new);
    assert_eq!(a.list().await, (vec![], 0));
    Ok(())
}

#[tokio::test]
async fn a_server_that_comes_back_with_its_data_keeps_the_session() -> Outcome {
    let (mut server, mut a, _) = world().await?;
    let candidate = a.enter(1).await;
    server.kill();
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    server.restart().await?;
    let up = a.session_event().await;
    let Reply::Queue(QueueReply::Candidate { owner, .. }) =
        a.done(Request::Queue(QueueRequest::Inspect { candidate, watch: false })).await
    else {
        panic!("the candidate is there")
    };
    assert!(matches!(up, StoreEvent::Up { session, .. } if session == owner), "{up:?}");
    Ok(())
}

#[tokio::test]
async fn a_server_that_comes_back_empty_has_lost_the_session() -> Outcome {
    let mut server = ZooKeeperServer::start().await?;
    let mut a = node("node-a", server.address(), "", SHORT)?;
    let (old, _) = a.up().await;
    a.enter(1).await;
    server.kill();
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    server.wipe()?;
    server.restart().await?;
    assert_eq!(a.session_event().await, StoreEvent::Lost);
    let (new, _) = a.up().await;
    assert_ne!(old, new);
    assert_eq!(a.list().await, (vec![], 0));
    Ok(())
}

/// Q-B16.
#[tokio::test]
async fn a_reconnect_that_is_answered_with_another_session_is_a_loss() -> Outcome {
    let (server, _, observer) = world().await?;
    let proxy = Proxy::start(server.address()).await?;
    let mut a = node("node-b", proxy.address(), "", LONG)?;
    let (old, timeout) = a.up().await;
    let candidate = a.enter(1).await;
    proxy.rewrite_hello(Some(forget_session));
    proxy.reset();
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    assert_eq!(a.session_event().await, StoreEvent::Lost);
    let up = a.session_event().await;
    assert!(
        matches!(up, StoreEvent::Up { session, timeout: granted } if session != old && granted == timeout),
        "{up:?}"
    );
    // The old session lives on for its timeout, and so does its candidate: reading it would have proved nothing about
    // the new session.
    let Reply::Queue(QueueReply::Candidate { owner, .. }) =
        a.done(Request::Queue(QueueRequest::Inspect { candidate, watch: false })).await
    else {
        panic!("the old candidate is there")
    };
    assert_eq!(owner, old);
    until("the session in between is closed, and its probe gone", async || {
        children(&observer, ROOT).await.ok().filter(|names| names == &["election"])
    })
    .await;
    Ok(())
}

#[tokio::test]
async fn closing_removes_what_the_session_owned_at_once() -> Outcome {
    let (_server, mut a, observer) = world().await?;
    a.enter(1).await;
    let late = a.send(Request::Queue(QueueRequest::Enter { guid: Guid::ours(2) }));
    a.store.close();
    assert!(
        matches!(a.answer(late).await, Answer::Done(Reply::Queue(QueueReply::Entered(_)))),
        "what was begun is answered"
    );
    assert_eq!(a.next().await, StoreEvent::Closed);
    observer.sync(ROOT).await?;
    assert_eq!(children(&observer, &format!("{ROOT}/election")).await?, Vec::<String>::new());
    Ok(())
}

#[tokio::test]
async fn closing_ends_without_a_connection_too() -> Outcome {
    let server = ZooKeeperServer::start().await?;
    let proxy = Proxy::start(server.address()).await?;
    let mut a = node("node-a", proxy.address(), "", SHORT)?;
    a.up().await;
    proxy.refuse();
    proxy.reset();
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    a.store.close();
    assert_eq!(a.session_event().await, StoreEvent::Closed);
    let mut never = node("node-b", proxy.address(), "", SHORT)?;
    never.store.close();
    assert_eq!(never.next().await, StoreEvent::Closed);
    Ok(())
}

#[tokio::test]
async fn dropping_the_store_ends_its_session_in_the_background() -> Outcome {
    let (_server, mut a, observer) = world().await?;
    a.enter(1).await;
    drop(a);
    until("the candidate goes with its session", async || {
        children(&observer, &format!("{ROOT}/election")).await.ok().filter(Vec::is_empty)
    })
    .await;
    Ok(())
}

#[tokio::test]
async fn renewing_drops_the_session_and_opens_another() -> Outcome {
    let (_server, mut a, observer) = world().await?;
    let candidate = a.enter(1).await;
    a.store.renew();
    assert_eq!(a.session_event().await, StoreEvent::Lost);
    let (session, _) = a.up().await;
    let directory = Directory::Workers;
    assert_eq!(
        a.done(Request::Directory(DirectoryRequest::Join { directory, session, epoch: None })).await,
        Reply::Directory(DirectoryReply::Joined)
    );
    until("the candidate goes with its session", async || {
        children(&observer, &format!("{ROOT}/election")).await.ok().filter(Vec::is_empty)
    })
    .await;
    assert_eq!(
        a.ask(Request::Queue(QueueRequest::Inspect { candidate, watch: false })).await,
        Answer::Refused(Refusal::Missing)
    );
    Ok(())
}

#[tokio::test]
async fn a_late_answer_is_passed_on() -> Outcome {
    let (server, _, observer) = world().await?;
    let proxy = Proxy::start(server.address()).await?;
    let mut a = node("node-b", proxy.address(), "", LONG)?;
    a.up().await;
    a.enter(1).await;
    proxy.cut_one_way(Direction::ToClient);
    let id = a.send(Request::Queue(QueueRequest::Enter { guid: Guid::ours(2) }));
    until("it is created", async || {
        children(&observer, &format!("{ROOT}/election")).await.ok().filter(|names| names.len() == 2)
    })
    .await;
    proxy.heal();
    assert!(matches!(a.answer(id).await, Answer::Done(Reply::Queue(QueueReply::Entered(_)))));
    Ok(())
}

#[tokio::test]
async fn a_create_whose_answer_is_lost_is_unknown_and_found_by_its_guid() -> Outcome {
    let (server, _, observer) = world().await?;
    let proxy = Proxy::start(server.address()).await?;
    let mut a = node("node-b", proxy.address(), "", LONG)?;
    let (session, timeout) = a.up().await;
    proxy.cut_one_way(Direction::ToClient);
    let guid = Guid::ours(3);
    observer.mkdir(&format!("{ROOT}/election"), &super::PERSISTENT).await?;
    let id = a.send(Request::Queue(QueueRequest::Enter { guid }));
    until("it is created", async || {
        children(&observer, &format!("{ROOT}/election")).await.ok().filter(|names| names.len() == 1)
    })
    .await;
    proxy.reset();
    assert_eq!(a.session_event().await, StoreEvent::Suspended);
    assert_eq!(a.answer(id).await, Answer::Unknown);
    proxy.heal();
    assert_eq!(a.session_event().await, StoreEvent::Up { session, timeout });
    a.done(Request::Sync).await;
    let (candidates, _) = a.list().await;
    assert_eq!(candidates.iter().map(|candidate| candidate.guid).collect::<Vec<_>>(), [Some(guid)]);
    Ok(())
}
