//! The queue, the term, the settings.

use super::*;
use crate::store::{DirectoryRequest, QueueReply, QueueRequest, Refusal, SettingsRequest, TermRecord, TermRequest};
use crate::{Directory, Epoch, Fence, Incarnation};

#[test]
fn sequence_numbers_count_what_was_ever_created_and_not_what_was_deleted() {
    let mut world = World::new(1);
    let a = world.open("a", A);
    let first = world.enter(a, 1);
    assert_eq!(first, Candidate { sequence: 0, guid: Some(Guid::ours(1)) });
    assert_eq!(
        world.ask(a, Request::Queue(QueueRequest::Delete { candidate: first })),
        Answer::Done(Reply::Queue(QueueReply::Deleted))
    );
    world.operate(Act::LitterQueue);
    let foreign = Act::AddCandidate { guid: None, participant: "curator".into(), owner: Session(0) };
    world.operate(foreign);

    let last = world.enter(a, 1);

    assert_eq!(last.sequence, 3);
    let expected = Reply::Queue(QueueReply::Candidates {
        candidates: [Candidate { sequence: 2, guid: None }, last].into(),
        skipped: 1,
    });
    assert_eq!(world.ask(a, Request::Queue(QueueRequest::List)), Answer::Done(expected));
}

#[test]
fn a_candidate_is_found_by_its_whole_name_and_deleted_by_whoever_knows_it() {
    let mut world = World::new(1);
    let (a, b) = (world.open("a", A), world.open("b", A));
    let candidate = world.enter(a, 1);
    let other = Candidate { guid: Some(Guid::ours(2)), ..candidate };

    assert_eq!(
        world.ask(b, Request::Queue(QueueRequest::Delete { candidate: other })),
        Answer::Refused(Refusal::Missing)
    );
    let inspected = world.ask(b, Request::Queue(QueueRequest::Inspect { candidate, watch: false }));
    assert_eq!(inspected, Answer::Done(Reply::Queue(QueueReply::Candidate { owner: a, participant: "a".into() })));
    assert_eq!(
        world.ask(b, Request::Queue(QueueRequest::Delete { candidate })),
        Answer::Done(Reply::Queue(QueueReply::Deleted))
    );
    assert_eq!(world.queue(a), []);
}

#[test]
fn a_claim_gets_the_revision_of_its_write_and_checks_existence_only() {
    let mut world = World::new(1);
    let (a, b) = (world.open("a", A), world.open("b", A));
    let candidate = world.enter(a, 1);
    let claim = |create| Request::Queue(QueueRequest::Claim { candidate, incarnation: Incarnation(7), create });

    assert_eq!(world.ask(a, claim(false)), Answer::Refused(Refusal::Missing));
    assert_eq!(world.ask(a, claim(true)), Answer::Done(Reply::Queue(QueueReply::Claimed(Epoch(2)))));
    assert_eq!(world.ask(a, claim(true)), Answer::Refused(Refusal::Exists));
    assert_eq!(world.ask(b, claim(false)), Answer::Done(Reply::Queue(QueueReply::Claimed(Epoch(3)))));
    let fence = Fence { incarnation: Incarnation(7), epoch: Epoch(3) };
    let record = TermRecord { fence, leader: "b".into(), address: "b:80".into() };
    assert_eq!(world.ask(a, Request::Term(TermRequest::Read)), Answer::Done(Reply::Term(record)));

    world.operate(Act::DeleteTerm);
    assert_eq!(world.ask(a, Request::Term(TermRequest::Read)), Answer::Refused(Refusal::Missing));
    world.operate(Act::DeleteCandidate(candidate));
    assert_eq!(world.ask(a, claim(true)), Answer::Refused(Refusal::CandidateGone));
    assert_eq!(world.ask(a, Request::Queue(QueueRequest::Beat { candidate })), Answer::Refused(Refusal::CandidateGone));
}

#[test]
fn the_settings_of_the_first_hold() {
    let mut world = World::new(1);
    let a = world.open("a", A);
    let settle = |text: &str| Request::Settings(SettingsRequest::Settle { settings: text.into() });
    assert_eq!(world.ask(a, settle("64 shards")), Answer::Done(Reply::Settings("64 shards".into())));
    assert_eq!(world.ask(a, settle("8 shards")), Answer::Done(Reply::Settings("64 shards".into())));
}

#[test]
fn an_operator_asks_the_store_who_holds_and_who_contends() {
    let mut world = World::new(1);
    let a = world.open("a", A);
    let leftover = Act::AddCandidate { guid: None, participant: "leftover".into(), owner: Session::NOBODY };
    world.operate(leftover);
    assert_eq!(world.store.holder(), None, "nobody's candidate holds nothing");

    let candidate = world.enter(a, 1);
    world.ask(a, Request::Directory(DirectoryRequest::Join { directory: Directory::Workers, session: a, epoch: None }));

    let holder = world.store.holder().expect("a stands");
    assert_eq!((holder.candidate, holder.owner, &*holder.participant), (candidate, a, "a"));
    assert_eq!(world.store.contenders().len(), 2);
    let workers: Vec<_> = world.store.members(Directory::Workers).map(|member| &*member.key.id).collect();
    assert_eq!(workers, ["a"]);
    assert_eq!(world.store.members(Directory::Coordinators).count(), 0);
}
