//! Real ensembles that fail under a register, and nodes that are restarted a hundred times.

use rolecall_tests::chaos::{EnsembleFault, Outcome, over_a_failover, over_an_ensemble};

#[tokio::test(flavor = "multi_thread")]
async fn a_register_stays_linearizable_while_an_ensemble_loses_its_leader_its_quorum_and_links_in_one_direction()
-> Outcome {
    let account = over_an_ensemble(&EnsembleFault::ALL).await?;
    assert_eq!(account.faults.len(), EnsembleFault::ALL.len(), "{account}");
    assert!(account.terms >= 2, "{account}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_register_stays_linearizable_while_sentinel_fails_over_and_back() -> Outcome {
    let account = over_a_failover(2).await?;
    assert_eq!(account.faults.len(), 4, "{account}");
    assert!(account.terms >= 4, "{account}");
    Ok(())
}
