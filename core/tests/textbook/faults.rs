//! What faults do to each election, in true time.

use std::time::Duration;

use rolecall_core::testing::comparison::{Election, FaultKind, MomentKind, Run, Setting, plan};

const SEEDS: core::ops::Range<u64> = 0..40;

fn runs(election: Election, faults: &[FaultKind]) -> Vec<Run> {
    let setting = Setting { faults: faults.to_vec(), ..Setting::default() };
    SEEDS.map(|seed| election.run(&setting, seed)).collect()
}

fn with_two_leaders(runs: &[Run]) -> usize {
    runs.iter().filter(|run| run.two_leaders_at.is_some()).count()
}

#[test]
fn no_gate_of_ours_is_ever_open_beside_another() {
    for election in Election::ALL.iter().copied().filter(|election| election.is_ours()) {
        for (seed, run) in SEEDS.zip(runs(election, FaultKind::ALL)) {
            assert_eq!((run.two_leaders_at, run.broken), (None, None), "{election}, seed {seed}");
            assert!(run.elections > 0 && run.faults > 0, "{election}, seed {seed}");
        }
    }
}

#[test]
fn no_election_breaks_its_own_invariants_under_any_fault() {
    for election in Election::ALL {
        for (seed, run) in SEEDS.zip(runs(*election, FaultKind::ALL)) {
            assert_eq!(run.broken, None, "{election}, seed {seed}");
        }
    }
}

#[test]
fn after_a_pause_the_bully_the_ring_and_the_recipe_have_two_leaders() {
    for election in [Election::Bully, Election::Ring, Election::NaiveLease] {
        let runs = runs(election, &[FaultKind::Pause]);
        assert!(with_two_leaders(&runs) > 0, "{election}");
    }
}

#[test]
fn in_a_partition_the_bully_the_ring_and_the_recipe_have_two_leaders() {
    for election in [Election::Bully, Election::Ring, Election::NaiveLease] {
        let runs = runs(election, &[FaultKind::Partition]);
        assert!(with_two_leaders(&runs) > 0, "{election}");
    }
}

#[test]
fn a_wall_clock_that_is_set_gives_only_the_recipe_two_leaders() {
    for election in Election::ALL {
        let runs = runs(*election, &[FaultKind::Clock]);
        assert_eq!(with_two_leaders(&runs) > 0, *election == Election::NaiveLease, "{election}");
    }
}

#[test]
fn rafts_old_leader_believes_on_for_moments_only() {
    let runs = runs(Election::Raft, FaultKind::ALL);
    assert!(with_two_leaders(&runs) > 0, "it promises one leader a term, not one at an instant");
    let longest = runs.iter().map(|run| run.two_leaders).max();
    assert!(longest < Some(Duration::from_secs(10)), "{longest:?}: the majority is lost after one election timeout");
}

#[test]
fn whoever_crashes_is_replaced() {
    for election in Election::ALL {
        let runs = runs(*election, &[FaultKind::Crash]);
        let heals: Vec<_> = runs.iter().flat_map(|run| run.heals.iter().copied()).collect();
        assert!(heals.len() > 20, "{election}: {}", heals.len());
        let limit = match election {
            // The key lives for 30 s, and somebody looks within 5.
            Election::NaiveLease => 36,
            // While three of five are down, for up to a minute, there is no majority.
            Election::Raft => 90,
            // A silence of 10 s, as long again for an election that another crash has interrupted, and the rounding.
            Election::Queue | Election::Lease | Election::Bully | Election::Ring => 31,
        };
        let longest = heals.iter().max();
        assert!(longest < Some(&Duration::from_secs(limit)), "{election}: {longest:?}");
    }
}

#[test]
fn the_faults_do_not_depend_on_the_election() {
    let setting = Setting { has_history: true, ..Setting::default() };
    let planned = plan(&setting, 5).len();
    for election in Election::ALL {
        let run = election.run(&setting, 5);
        let told = run.history.iter().filter(|moment| moment.kind == MomentKind::Fault).count();
        assert_eq!((told, run.faults), (planned, planned as u64), "{election}");
    }
}

#[test]
fn a_history_tells_of_the_first_instant_at_which_two_lead() {
    let setting = Setting { faults: vec![FaultKind::Pause], has_history: true, ..Setting::default() };
    let run = SEEDS
        .map(|seed| Election::NaiveLease.run(&setting, seed))
        .find(|run| run.two_leaders_at.is_some())
        .expect("the recipe has two leaders after a pause");
    let mut leaders = std::collections::BTreeSet::new();
    for moment in run.history.iter().take_while(|moment| Some(moment.at) <= run.two_leaders_at) {
        match moment.kind {
            MomentKind::Leads => _ = leaders.insert(moment.node),
            MomentKind::LeadsNoMore => _ = leaders.remove(&moment.node),
            MomentKind::State(_) | MomentKind::Message | MomentKind::Fault | MomentKind::Mend => {}
        }
    }
    assert!(leaders.len() > 1, "{leaders:?}");
}
