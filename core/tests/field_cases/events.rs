//! Single nodes, for cases that turn on the very order of events.

use core::time::Duration;

use rolecall_core::Event;
use rolecall_core::store::{Answer, Notice, QueueReply, QueueRequest, Reply, Request};

use crate::three;
use crate::world::LATENCY;

// Q-B02, Q-B28: a notice that overtakes the answer which armed it
#[test]
fn a_notice_that_comes_before_its_answer_makes_that_answer_out_of_date() {
    let mut world = three();
    world.host("c").holds = Some(|event| {
        matches!(event, Event::Answered { answer: Answer::Done(Reply::Queue(QueueReply::Candidate { .. })), .. })
    });
    world.cut("c");
    world.heal("c");
    world.run(10 * LATENCY);
    let id = world.hosts["c"].newest(|ask| matches!(ask, Request::Queue(QueueRequest::Inspect { watch: true, .. })));
    world.fresh_trace();
    world.deliver("c", Event::Noticed { id, notice: Notice::Deleted });
    world.release("c");
    // The node does not trust the answer's watch: it lists the queue once more and sets the watch anew.
    assert!(world.trace.text().contains("-> list"), "{}", world.trace.text());
    world.settle();
}

// Q-B03: a late notice of an earlier watch
#[test]
fn a_notice_of_an_earlier_watch_changes_nothing() {
    let mut world = three();
    let id = world.hosts["c"].newest(|ask| matches!(ask, Request::Queue(QueueRequest::Inspect { watch: true, .. })));
    world.cut("c");
    world.heal("c");
    world.settle();
    let before = world.node("c").clone();
    world.deliver("c", Event::Noticed { id, notice: Notice::Deleted });
    assert_eq!(*world.node("c"), before);
}

// Q-B03: the predecessor goes while this node is giving up its own candidate
#[test]
fn a_node_that_gives_its_place_up_does_not_lead_when_its_predecessor_goes() {
    let mut world = three();
    world.deliver("b", Event::Shutdown);
    world.delete_candidate_of("a");
    world.run(Duration::from_secs(1));
    assert_eq!(world.hosts["b"].count(|ask| matches!(ask, Request::Queue(QueueRequest::Claim { .. }))), 0);
}
