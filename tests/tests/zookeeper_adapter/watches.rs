//! Changes that cause a notice, and changes that do not.

use rolecall::store::StoreEvent;
use rolecall_core::store::{Answer, DirectoryReply, DirectoryRequest, Notice, QueueRequest, Reply, Request};
use rolecall_core::{Candidate, Directory};
use rolecall_tests::proxy::Proxy;
use rolecall_tests::wait::until;

use super::{LONG, Outcome, ROOT, children, node, world};

async fn path_of(observer: &zookeeper_client::Client, candidate: Candidate) -> Result<String, zookeeper_client::Error> {
    let names = children(observer, &format!("{ROOT}/election")).await?;
    let name = names.iter().find(|name| name.ends_with(&format!("{:010}", candidate.sequence)));
    Ok(format!("{ROOT}/election/{}", name.expect("the candidate is there")))
}

#[tokio::test]
async fn a_candidates_watch_tells_its_change_and_its_end() -> Outcome {
    let (_server, mut a, observer) = world().await?;
    let candidate = a.enter(1).await;
    let path = path_of(&observer, candidate).await?;
    let first = a.send(Request::Queue(QueueRequest::Inspect { candidate, watch: true }));
    a.answer(first).await;
    observer.set_data(&path, b"other", None).await?;
    assert_eq!(a.notice(first).await, Notice::Changed);
    let second = a.send(Request::Queue(QueueRequest::Inspect { candidate, watch: true }));
    a.answer(second).await;
    let mut writer = observer.new_multi_writer();
    writer.add_delete(&path, None)?;
    writer.commit().await?;
    assert_eq!(a.notice(second).await, Notice::Deleted, "also when a transaction did it");
    Ok(())
}

#[tokio::test]
async fn an_inspection_without_a_watch_leaves_none() -> Outcome {
    let (_server, mut a, observer) = world().await?;
    let candidate = a.enter(1).await;
    a.done(Request::Queue(QueueRequest::Inspect { candidate, watch: false })).await;
    observer.set_data(&path_of(&observer, candidate).await?, b"other", None).await?;
    a.done(Request::Sync).await;
    assert_eq!(a.kept().collect::<Vec<_>>(), Vec::<&StoreEvent>::new());
    Ok(())
}

#[tokio::test]
async fn a_newer_watch_replaces_the_older_of_its_slot() -> Outcome {
    let (_server, mut a, observer) = world().await?;
    let candidate = a.enter(1).await;
    let ids: Vec<_> =
        (0..50).map(|_| a.send(Request::Queue(QueueRequest::Inspect { candidate, watch: true }))).collect();
    for id in &ids {
        assert!(matches!(a.answer(*id).await, Answer::Done(_)));
    }
    let last = *ids.last().expect("fifty");
    observer.delete(&path_of(&observer, candidate).await?, None).await?;
    assert_eq!(a.notice(last).await, Notice::Deleted);
    a.done(Request::Sync).await;
    assert_eq!(a.kept().collect::<Vec<_>>(), Vec::<&StoreEvent>::new(), "one notice, that of the newest");
    Ok(())
}

#[tokio::test]
async fn a_directorys_watch_tells_who_comes_and_goes() -> Outcome {
    let (server, mut a, observer) = world().await?;
    let mut b = node("node-b", server.address(), "", LONG)?;
    let (session, _) = b.up().await;
    let directory = Directory::Workers;
    let watch = Request::Directory(DirectoryRequest::Members { directory, watch: true });

    let id = a.send(watch.clone());
    assert_eq!(
        a.answer(id).await,
        Answer::Done(Reply::Directory(DirectoryReply::Members(rolecall_core::Snapshot::default())))
    );
    b.done(Request::Directory(DirectoryRequest::Join { directory, session, epoch: None })).await;
    assert_eq!(a.notice(id).await, Notice::Changed);

    let id = a.send(watch.clone());
    assert!(
        matches!(a.answer(id).await, Answer::Done(Reply::Directory(DirectoryReply::Members(s))) if s.members.len() == 1)
    );
    b.done(Request::Directory(DirectoryRequest::Leave { directory, session })).await;
    assert_eq!(a.notice(id).await, Notice::Changed);

    let id = a.send(watch);
    a.answer(id).await;
    observer.delete(&format!("{ROOT}/services/workers"), None).await?;
    assert_eq!(a.notice(id).await, Notice::Changed, "a directory that is gone is an empty one");
    Ok(())
}

#[tokio::test]
async fn an_own_entrys_watch_tells_its_end() -> Outcome {
    let (server, _a, observer) = world().await?;
    let mut b = node("node-b", server.address(), "", LONG)?;
    let (session, _) = b.up().await;
    let directory = Directory::Workers;
    b.done(Request::Directory(DirectoryRequest::Join { directory, session, epoch: None })).await;
    let id = b.send(Request::Directory(DirectoryRequest::Verify { directory, session }));
    b.answer(id).await;
    observer.delete(&format!("{ROOT}/services/workers/node-b.{:016x}", session.0), None).await?;
    assert_eq!(b.notice(id).await, Notice::Deleted);
    Ok(())
}

#[tokio::test]
async fn a_watch_outlives_a_loss_of_the_connection() -> Outcome {
    let (server, _a, observer) = world().await?;
    let proxy = Proxy::start(server.address()).await?;
    let mut b = node("node-b", proxy.address(), "", LONG)?;
    let up = b.up().await;
    let candidate = b.enter(1).await;
    let id = b.send(Request::Queue(QueueRequest::Inspect { candidate, watch: true }));
    b.answer(id).await;
    proxy.refuse();
    proxy.reset();
    assert_eq!(b.session_event().await, StoreEvent::Suspended);
    observer.delete(&path_of(&observer, candidate).await?, None).await?;
    proxy.heal();
    assert_eq!(b.up().await, up);
    assert_eq!(b.notice(id).await, Notice::Deleted);
    until("the probe is tidied away", async || {
        children(&observer, ROOT).await.ok().filter(|names| names == &["election"])
    })
    .await;
    Ok(())
}
