//! The store machine against a naive ZooKeeper: the same events go into both, and every answer, notice and session event
//! must be the same.
//!
//! There is one server that never lags, since a cluster of servers has no naive form. `model` has sessions and watches,
//! `answers` has requests, `znodes` is the tree under them, `names` translates between both, and `events` makes events
//! from bytes.

mod answers;
mod events;
mod model;
mod names;
mod znodes;

use rolecall_core::Time;
use rolecall_core::store::{Machine, Output};

use super::bytes::Bytes;
use events::{TIMING, event, pause};
use model::Model;

/// Plays the events that `data` decodes to.
///
/// # Panics
/// If the machine breaks an invariant, or its outputs differ from the model's.
pub fn run(data: &[u8]) {
    let mut bytes = Bytes::new(data);
    let mut machine = Machine::new(TIMING, 1);
    let mut model = Model::default();
    let mut now = Time::from_millis(1);
    let mut asked = 0;
    while let Some(kind) = bytes.next() {
        now = now + pause(&mut bytes);
        asked += 1;
        let event = event(kind, asked, &mut bytes);
        let mut out = Vec::new();
        machine.handle(now, event.clone(), &mut out);
        let expected = model.handle(now, &event);
        assert_eq!(sorted(out), sorted(expected), "machine and model after {event:?} at {now:?}: {model:#?}");
        machine.check().unwrap_or_else(|broken| panic!("{broken} after {event:?}"));
        assert_eq!(machine.next_deadline(), model.next_deadline(), "the next end of a session after {event:?}");
        assert!(machine.sessions().map(|(session, _)| session).eq(model.sessions()), "sessions after {event:?}");
    }
}

/// Outputs other than notices as they came, then the notices by name: a store may send the notices of one change in any
/// order.
fn sorted(mut out: Vec<Output>) -> Vec<Output> {
    out.sort_by_key(|output| match output {
        Output::Noticed { session, id, .. } => Some((*session, *id)),
        Output::Connected { .. }
        | Output::Expired { .. }
        | Output::Rejected { .. }
        | Output::Disconnected { .. }
        | Output::Answered { .. }
        | Output::Closed { .. } => None,
    });
    out
}
