//! Nothing is assumed about the order of events: `handle` is total, and every promise about one node holds after each.

#[path = "common/hostile.rs"]
mod hostile;

use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_events_in_any_order_break_no_promise(bytes in prop::collection::vec(any::<u8>(), 0..900)) {
        hostile::play(&bytes).map_err(TestCaseError::fail)?;
    }
}
