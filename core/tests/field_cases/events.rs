//! Single nodes, for cases that turn on the very order of events.

use core::time::Duration;

use rolecall_core::Event;
use rolecall_core::store::{Answer, Notice, QueueReply, QueueRequest, Reply, Request};

use crate::three;
use rolecall_core::testing::LATENCY;

// Q-B02, Q-B28: a notice that overtakes the answer which armed it
#[test]
fn a_notice_that_comes_before_its_answer_makes_that_answer_out_of_date() {
    let mut cluster = three();
    cluster.host("c").holds = Some(|event| {
        matches!(event, Event::Answered { answer: Answer::Done(Reply::Queue(QueueReply::Candidate { .. })), .. })
    });
    cluster.cut("c");
    cluster.heal("c");
    cluster.run(10 * LATENCY);
    let id = cluster.hosts["c"].newest(|ask| matches!(ask, Request::Queue(QueueRequest::Inspect { watch: true, .. })));
    cluster.fresh_trace();
    cluster.deliver("c", Event::Noticed { id, notice: Notice::Deleted });
    cluster.release("c");
    // The node does not trust the answer's watch: it lists the queue once more and sets the watch anew.
    assert!(cluster.trace.text().contains("-> list"), "{}", cluster.trace.text());
    cluster.settle();
}

// Q-B03: a late notice of an earlier watch
#[test]
fn a_notice_of_an_earlier_watch_changes_nothing() {
    let mut cluster = three();
    let id = cluster.hosts["c"].newest(|ask| matches!(ask, Request::Queue(QueueRequest::Inspect { watch: true, .. })));
    cluster.cut("c");
    cluster.heal("c");
    cluster.settle();
    let before = cluster.node("c").clone();
    cluster.deliver("c", Event::Noticed { id, notice: Notice::Deleted });
    assert_eq!(*cluster.node("c"), before);
}

// Q-B03: the predecessor goes while this node is giving up its own candidate
#[test]
fn a_node_that_gives_its_place_up_does_not_lead_when_its_predecessor_goes() {
    let mut cluster = three();
    cluster.deliver("b", Event::Shutdown);
    cluster.delete_candidate_of("a");
    cluster.run(Duration::from_secs(1));
    assert_eq!(cluster.hosts["b"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Claim { .. }))), 0);
}
