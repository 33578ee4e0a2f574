//! Every request with its answers, and its effect in ZooKeeper.

use rolecall_core::store::{
    Answer, DirectoryReply, DirectoryRequest, QueueReply, QueueRequest, Refusal, Reply, Request, SettingsRequest,
    TermRecord, TermRequest,
};
use rolecall_core::{Candidate, Directory, Epoch, Fence, Guid, Incarnation, MemberKey, Session};

use super::{LONG, Outcome, PERSISTENT, ROOT, children, node, world};

#[tokio::test]
async fn the_queue_is_that_of_curators_leader_latch() -> Outcome {
    let (server, mut a, observer) = world().await?;
    let mut b = node("node-b", server.address(), "", LONG)?;
    let (session, _) = b.up().await;
    assert_eq!(a.list().await, (vec![], 0), "a queue that does not exist is empty");

    let first = a.enter(1).await;
    let second = b.enter(2).await;
    assert_eq!((first.sequence, second.sequence), (0, 1));
    assert_eq!(a.list().await, (vec![first, second], 0));
    let names = children(&observer, &format!("{ROOT}/election")).await?;
    assert_eq!(
        names,
        [
            "_c_52434c00-0000-0000-0000-000000000001-latch-0000000000",
            "_c_52434c00-0000-0000-0000-000000000002-latch-0000000001"
        ]
    );
    let (data, stat) = observer.get_data(&format!("{ROOT}/election/{}", names[1])).await?;
    assert_eq!((data.as_slice(), stat.ephemeral_owner.cast_unsigned()), (b"node-b".as_slice(), session.0));

    let inspected = a.done(Request::Queue(QueueRequest::Inspect { candidate: second, watch: false })).await;
    assert_eq!(inspected, Reply::Queue(QueueReply::Candidate { owner: session, participant: "node-b".into() }));
    assert_eq!(
        a.done(Request::Queue(QueueRequest::Delete { candidate: second })).await,
        Reply::Queue(QueueReply::Deleted)
    );
    let missing = Answer::Refused(Refusal::Missing);
    assert_eq!(a.ask(Request::Queue(QueueRequest::Delete { candidate: second })).await, missing);
    assert_eq!(a.ask(Request::Queue(QueueRequest::Inspect { candidate: second, watch: true })).await, missing);
    assert_eq!(a.list().await, (vec![first], 0));
    Ok(())
}

#[tokio::test]
async fn a_term_is_claimed_only_with_a_candidate() -> Outcome {
    let (_server, mut a, observer) = world().await?;
    let candidate = a.enter(1).await;
    let gone = Candidate { sequence: 99, guid: Some(Guid::ours(9)) };
    let incarnation = Incarnation(0xabc);
    let claim = |candidate, create| Request::Queue(QueueRequest::Claim { candidate, incarnation, create });

    assert_eq!(a.ask(Request::Term(TermRequest::Read)).await, Answer::Refused(Refusal::Missing));
    assert_eq!(a.ask(claim(candidate, false)).await, Answer::Refused(Refusal::Missing));
    assert_eq!(a.ask(claim(gone, true)).await, Answer::Refused(Refusal::CandidateGone));
    let mut epochs = Vec::new();
    for create in [true, false, false] {
        let Reply::Queue(QueueReply::Claimed(epoch)) = a.done(claim(candidate, create)).await else {
            panic!("a claim is claimed")
        };
        let (data, stat) = observer.get_data(&format!("{ROOT}/term")).await?;
        assert_eq!(stat.mzxid.cast_unsigned(), epoch.0, "the epoch is the revision of the write");
        assert_eq!(stat.ephemeral_owner, 0, "the record outlives its leader");
        let json: serde_json::Value = serde_json::from_slice(&data)?;
        assert_eq!(json["incarnation"], "0000000000000abc");
        epochs.push(epoch);
    }
    assert!(epochs.is_sorted_by(|one, other| one < other), "{epochs:?}");
    assert_eq!(a.ask(claim(candidate, true)).await, Answer::Refused(Refusal::Exists));
    assert_eq!(a.ask(claim(gone, false)).await, Answer::Refused(Refusal::CandidateGone));
    let fence = Fence { incarnation, epoch: epochs[2] };
    let record = TermRecord { fence, leader: "node-a".into(), address: "10.0.0.5:8080".into() };
    assert_eq!(a.done(Request::Term(TermRequest::Read)).await, Reply::Term(record));
    Ok(())
}

#[tokio::test]
async fn a_heartbeat_needs_its_candidate_and_creates_its_record() -> Outcome {
    let (_server, mut a, observer) = world().await?;
    let candidate = a.enter(1).await;
    let path = format!("{ROOT}/beat");
    for beat in 0..3 {
        assert_eq!(a.done(Request::Queue(QueueRequest::Beat { candidate })).await, Reply::Queue(QueueReply::Beaten));
        assert_eq!(observer.get_data(&path).await?.1.version, beat, "each is a write");
    }
    observer.delete(&path, None).await?;
    assert_eq!(a.done(Request::Queue(QueueRequest::Beat { candidate })).await, Reply::Queue(QueueReply::Beaten));
    a.done(Request::Queue(QueueRequest::Delete { candidate })).await;
    assert_eq!(a.ask(Request::Queue(QueueRequest::Beat { candidate })).await, Answer::Refused(Refusal::CandidateGone));
    assert_eq!(observer.get_data(&path).await?.1.version, 0, "nothing is written without the candidate");
    Ok(())
}

#[tokio::test]
async fn registries_are_those_of_curators_service_discovery() -> Outcome {
    let (server, mut a, observer) = world().await?;
    let mut b = node("größe.1", server.address(), "", LONG)?;
    let (session, _) = b.up().await;
    let directory = Directory::Coordinators;
    assert_eq!(b.members(directory).await.members, []);
    let join = Request::Directory(DirectoryRequest::Join { directory, session, epoch: Some(Epoch(7)) });
    assert_eq!(b.done(join.clone()).await, Reply::Directory(DirectoryReply::Joined));
    assert_eq!(b.ask(join).await, Answer::Refused(Refusal::Exists));
    let stale = Request::Directory(DirectoryRequest::Join { directory, session: Session(session.0 ^ 1), epoch: None });
    assert_eq!(b.ask(stale).await, Answer::Refused(Refusal::SessionOver), "a create is bound to the expected session");

    let snapshot = a.members(directory).await;
    let [member] = snapshot.members.as_slice() else { panic!("one member, not {snapshot:?}") };
    assert_eq!(member.key, MemberKey { id: "größe.1".into(), session });
    assert_eq!((member.address.as_ref(), member.epoch), ("10.0.0.5:8080", Some(Epoch(7))));
    assert_eq!((member.session_timeout, member.metadata.get("zone")), (Some(LONG), Some("eu-1")));
    let path = format!("{ROOT}/services/coordinators/größe.1.{:016x}", session.0);
    let (data, stat) = observer.get_data(&path).await?;
    assert_eq!(stat.ephemeral_owner.cast_unsigned(), session.0);
    assert_eq!(member.created, stat.czxid.cast_unsigned());
    let json: serde_json::Value = serde_json::from_slice(&data)?;
    assert_eq!((&json["payload"], &json["id"]), (&serde_json::Value::Null, &"größe.1".into()));
    assert_eq!(json["uriSpec"]["parts"][5]["value"], "/search");

    let verify = Request::Directory(DirectoryRequest::Verify { directory, session });
    assert_eq!(
        b.done(verify.clone()).await,
        Reply::Directory(DirectoryReply::Registered { owner: session, epoch: Some(Epoch(7)) })
    );
    assert_eq!(
        b.done(Request::Directory(DirectoryRequest::Leave { directory, session })).await,
        Reply::Directory(DirectoryReply::Left)
    );
    assert_eq!(
        b.ask(Request::Directory(DirectoryRequest::Leave { directory, session })).await,
        Answer::Refused(Refusal::Missing)
    );
    assert_eq!(b.ask(verify).await, Answer::Refused(Refusal::Missing));
    assert_eq!(a.members(directory).await.members, []);
    Ok(())
}

#[tokio::test]
async fn the_first_settings_hold_for_all() -> Outcome {
    let (server, mut a, _observer) = world().await?;
    let mut b = node("node-b", server.address(), "", LONG)?;
    b.up().await;
    let first = Reply::Settings("shards=64".into());
    assert_eq!(a.done(Request::Settings(SettingsRequest::Settle { settings: "shards=64".into() })).await, first);
    assert_eq!(b.done(Request::Settings(SettingsRequest::Settle { settings: "shards=32".into() })).await, first);
    Ok(())
}

#[tokio::test]
async fn everything_lies_under_a_chroot_that_is_created() -> Outcome {
    let (server, _a, observer) = world().await?;
    let mut b = node("node-b", server.address(), "/deep/er", LONG)?;
    let (session, _) = b.up().await;
    b.enter(1).await;
    let directory = Directory::Workers;
    b.done(Request::Directory(DirectoryRequest::Join { directory, session, epoch: None })).await;
    assert_eq!(b.done(Request::Sync).await, Reply::Synced);
    assert_eq!(children(&observer, "/deep/er/rolecall/default").await?, ["election", "services"]);
    assert_eq!(children(&observer, "/").await?, ["deep", "zookeeper"]);
    Ok(())
}

#[tokio::test]
async fn parents_that_were_deleted_are_created_again() -> Outcome {
    let (_server, mut a, observer) = world().await?;
    let candidate = a.enter(1).await;
    a.done(Request::Queue(QueueRequest::Delete { candidate })).await;
    for path in [format!("{ROOT}/election"), ROOT.into(), "/rolecall".into()] {
        observer.delete(&path, None).await?;
    }
    assert_eq!(a.list().await, (vec![], 0));
    assert_eq!(a.enter(2).await.sequence, 0);
    observer.create(&format!("{ROOT}/services"), b"", &PERSISTENT).await?;
    a.done(Request::Directory(DirectoryRequest::Members { directory: Directory::Workers, watch: true })).await;
    assert_eq!(children(&observer, &format!("{ROOT}/services")).await?, ["workers"], "so that it can be watched");
    Ok(())
}

#[tokio::test]
async fn requests_arrive_in_the_order_in_which_they_are_sent() -> Outcome {
    let (_server, mut a, _observer) = world().await?;
    let before = a.enter(0).await;
    let ids: Vec<_> =
        (1..=200).map(|guid| a.send(Request::Queue(QueueRequest::Enter { guid: Guid::ours(guid) }))).collect();
    let last = a.send(Request::Queue(QueueRequest::Delete {
        candidate: Candidate { sequence: 200, guid: Some(Guid::ours(200)) },
    }));
    for (id, sequence) in ids.into_iter().zip(before.sequence + 1..) {
        let entered = a.answer(id).await;
        assert!(
            matches!(entered, Answer::Done(Reply::Queue(QueueReply::Entered(c))) if c.sequence == sequence),
            "{entered:?}"
        );
    }
    assert_eq!(a.answer(last).await, Answer::Done(Reply::Queue(QueueReply::Deleted)));
    assert_eq!(a.list().await.0.len(), 200);
    Ok(())
}
