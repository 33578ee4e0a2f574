//! Events come in any order: `handle` is total, and every promise about one node holds after each event.

use proptest::prelude::*;
use rolecall_core::rename::{Canonical, ORIGIN, Rename};
use rolecall_core::testing::hostile::{self, Step};
use rolecall_core::{Action, Family, Node, Time};

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_events_in_any_order_break_no_promise(bytes in prop::collection::vec(any::<u8>(), 0..900)) {
        hostile::play(Family::Queue, &bytes, |_| {}).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn any_events_in_any_order_break_no_promise_on_a_lease(bytes in prop::collection::vec(any::<u8>(), 0..900)) {
        hostile::play(Family::Lease, &bytes, |_| {}).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn nothing_that_a_node_does_depends_on_names(bytes in prop::collection::vec(any::<u8>(), 0..900)) {
        hostile::play(Family::Queue, &bytes, commutes_with_naming).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn nothing_that_a_node_does_on_a_lease_depends_on_names(bytes in prop::collection::vec(any::<u8>(), 0..900)) {
        hostile::play(Family::Lease, &bytes, commutes_with_naming).map_err(TestCaseError::fail)?;
    }
}

/// Checks that a step from the canonical state leads to the same result as the real step, apart from names.
fn commutes_with_naming(step: &Step<'_>) {
    let (mut node, mut event) = (step.before.clone(), step.event.clone());
    let mut renamer = Canonical::new(step.since, step.before, &mut [&mut event.clone()]);
    node.rename(&mut renamer);
    event.rename(&mut renamer);
    let now = ORIGIN + step.now.since(step.since);

    let mut actions = Vec::new();
    node.handle(now, event, &mut actions);

    assert_eq!(canonical(now, &node, actions), canonical(step.now, step.after, step.actions.to_vec()));
    assert_eq!(node.canonical(now).canonical(ORIGIN), node.canonical(now), "named twice");
}

fn canonical(now: Time, node: &Node, mut actions: Vec<Action>) -> (Node, Vec<Action>) {
    let mut node = node.clone();
    let mut renamer = Canonical::new(now, &node, &mut [&mut actions.clone()]);
    node.rename(&mut renamer);
    actions.rename(&mut renamer);
    (node, actions)
}
