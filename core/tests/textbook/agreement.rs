//! Without faults, every election ends with one leader, which stays.

use std::collections::BTreeSet;

use proptest::prelude::*;
use rolecall_core::Time;
use rolecall_core::testing::comparison::{Election, MomentKind, Setting};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn without_faults_every_election_agrees_on_one_leader_that_stays(seed: u64, nodes in 1..=12_u8) {
        let setting = Setting { nodes, faults: Vec::new(), has_history: true, ..Setting::default() };
        for election in Election::ALL {
            let run = election.run(&setting, seed);
            prop_assert_eq!((run.broken, run.faults), (None, 0), "{}", election);
            let mut leaders = BTreeSet::new();
            for moment in &run.history {
                match moment.kind {
                    MomentKind::Leads => _ = leaders.insert(moment.node),
                    MomentKind::LeadsNoMore => _ = leaders.remove(&moment.node),
                    MomentKind::State(_) | MomentKind::Message | MomentKind::Fault | MomentKind::Mend => continue,
                }
                prop_assert!(moment.at < Time::from_millis(60_000), "{}: {:?}", election, moment);
            }
            prop_assert_eq!(leaders.len(), 1, "{}", election);
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_run(seed: u64, nodes in 1..=7_u8) {
        let setting = Setting { nodes, has_history: true, ..Setting::default() };
        for election in Election::ALL {
            prop_assert_eq!(election.run(&setting, seed), election.run(&setting, seed));
        }
    }
}
