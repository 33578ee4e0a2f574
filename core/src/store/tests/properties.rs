//! Properties for arbitrary events: no panic, every invariant, one answer for each request, and no view that goes back.

use alloc::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::arbitrary::event;
use super::*;

proptest! {
    #[test]
    fn whatever_happens_the_store_keeps_its_promises(events in proptest::collection::vec(event(), 1..150)) {
        let mut world = World::new(3);
        let mut asked = BTreeMap::new();
        let mut fired = BTreeSet::new();
        for (delay, event) in events {
            world.now = world.now + delay;
            let event = world.named(event);
            if let Event::Request { session, id, .. } = event {
                asked.insert(id, session);
            }
            let mut out = world.event(event);
            // A cut can make a session due at once.
            out.extend(world.event(Event::Wake));
            prop_assert!(world.store.next_deadline().is_none_or(|deadline| deadline > world.now));
            for output in out {
                match output {
                    Output::Answered { session, id, .. } => {
                        prop_assert_eq!(asked.remove(&id), Some(session), "answered twice, or to a stranger");
                    }
                    Output::Noticed { id, .. } => prop_assert!(fired.insert(id), "a watch fired twice"),
                    Output::Connected { .. }
                    | Output::Expired { .. }
                    | Output::Rejected { .. }
                    | Output::Disconnected { .. }
                    | Output::Closed { .. } => {}
                }
            }
        }
        // Only requests that an isolated server still holds may be without an answer.
        for server in 0..3 {
            world.fault(Fault::Heal { server: Server(server), deliver: true }).into_iter().for_each(|output| {
                if let Output::Answered { id, .. } = output {
                    asked.remove(&id);
                }
            });
        }
        prop_assert_eq!(asked, BTreeMap::new());
    }
}
