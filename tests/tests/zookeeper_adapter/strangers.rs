//! Znodes that another kind of client, or an operator, has made.

use rolecall_core::store::{
    Answer, DirectoryReply, DirectoryRequest, Notice, QueueReply, QueueRequest, Refusal, Reply, Request,
    SettingsRequest, TermRequest,
};
use rolecall_core::{Candidate, Directory, Guid, Session};

use super::{Outcome, PERSISTENT, ROOT, world};

#[tokio::test]
async fn foreign_candidates_are_listed_read_and_watched() -> Outcome {
    let (_server, mut a, observer) = world().await?;
    let ours = a.enter(1).await;
    let curator = "_c_d83cff5d-1bb2-4f1b-bd09-00ec4e8dac2d-latch-0000000007";
    for name in [curator, "bare-latch-0000000009", "junk", "latch-12", "lock-0000000001"] {
        observer.create(&format!("{ROOT}/election/{name}"), b"stranger", &PERSISTENT).await?;
    }
    let bare = Candidate { sequence: 9, guid: None };
    let request = Request::Queue(QueueRequest::Inspect { candidate: bare, watch: true });
    assert_eq!(a.ask(request.clone()).await, Answer::Refused(Refusal::Missing), "its name is not known yet");

    let guid = Guid(0xd83c_ff5d_1bb2_4f1b_bd09_00ec_4e8d_ac2d);
    let foreign = Candidate { sequence: 7, guid: Some(guid) };
    assert_eq!(a.list().await, (vec![ours, foreign, bare], 3));
    let id = a.send(request);
    let stranger = Reply::Queue(QueueReply::Candidate { owner: Session(0), participant: "stranger".into() });
    assert_eq!(a.answer(id).await, Answer::Done(stranger.clone()));
    assert_eq!(a.done(Request::Queue(QueueRequest::Inspect { candidate: foreign, watch: false })).await, stranger);
    observer.delete(&format!("{ROOT}/election/bare-latch-0000000009"), None).await?;
    assert_eq!(a.notice(id).await, Notice::Deleted);
    assert_eq!(a.list().await, (vec![ours, foreign], 3));
    Ok(())
}

#[tokio::test]
async fn malformed_members_are_skipped_and_counted() -> Outcome {
    let (_server, mut a, observer) = world().await?;
    let directory = Directory::Workers;
    a.done(Request::Directory(DirectoryRequest::Members { directory, watch: true })).await;
    for (name, data) in [
        ("good.00000000000000ff", r#"{"address":"::1","port":80,"new":{}}"#),
        ("dotted.name.00000000000000fe", r#"{"address":"b","port":81,"payload":{"x":1}}"#),
        ("empty.00000000000000fd", ""),
        ("garbage.00000000000000fc", "{"),
        ("noport.00000000000000fb", r#"{"address":"a"}"#),
        ("f9a1c7e2-8d1b-4a57-9a49-0a4f7f6d7c11", r#"{"address":"a","port":1}"#),
    ] {
        observer.create(&format!("{ROOT}/services/workers/{name}"), data.as_bytes(), &PERSISTENT).await?;
    }
    let snapshot = a.members(directory).await;
    let read: Vec<_> = snapshot.members.iter().map(|m| (&*m.key.id, m.key.session.0, &*m.address)).collect();
    assert_eq!(read, [("dotted.name", 0xfe, "b:81"), ("good", 0xff, "[::1]:80")]);
    assert_eq!(snapshot.skipped, 4);
    Ok(())
}

#[tokio::test]
async fn garbage_in_the_term_and_the_settings_is_refused() -> Outcome {
    let (_server, mut a, observer) = world().await?;
    a.enter(1).await;
    for data in [b"".as_slice(), b"{}", b"\xff"] {
        observer.create(&format!("{ROOT}/term"), data, &PERSISTENT).await?;
        assert_eq!(a.ask(Request::Term(TermRequest::Read)).await, Answer::Refused(Refusal::Malformed));
        observer.delete(&format!("{ROOT}/term"), None).await?;
    }
    observer.create(&format!("{ROOT}/settings"), b"\xff", &PERSISTENT).await?;
    assert_eq!(
        a.ask(Request::Settings(SettingsRequest::Settle { settings: "x".into() })).await,
        Answer::Refused(Refusal::Denied)
    );
    Ok(())
}

#[tokio::test]
async fn an_entry_that_an_operator_spoilt_is_still_ours() -> Outcome {
    let (_server, mut a, observer) = world().await?;
    let session = Session(observed_session(&mut a).await?);
    let directory = Directory::Workers;
    let path = format!("{ROOT}/services/workers/node-a.{:016x}", session.0);
    observer.set_data(&path, b"spoilt", None).await?;
    let verified = a.done(Request::Directory(DirectoryRequest::Verify { directory, session })).await;
    assert_eq!(verified, Reply::Directory(DirectoryReply::Registered { owner: session, epoch: None }));
    Ok(())
}

/// Number of a node's session, as the owner of its candidate, after the node joined the workers.
async fn observed_session(a: &mut super::Node) -> Result<u64, Box<dyn std::error::Error>> {
    let candidate = a.enter(1).await;
    let Reply::Queue(QueueReply::Candidate { owner, .. }) =
        a.done(Request::Queue(QueueRequest::Inspect { candidate, watch: false })).await
    else {
        return Err("an inspection shows a candidate".into());
    };
    a.done(Request::Directory(DirectoryRequest::Join { directory: Directory::Workers, session: owner, epoch: None }))
        .await;
    Ok(owner.0)
}
