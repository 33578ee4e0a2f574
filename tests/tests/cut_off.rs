//! A server of the ensemble is cut off from the others and goes on serving its clients, the leader among them.

use core::time::Duration;
use std::error::Error;

use rolecall_core::Role;
use rolecall_tests::contender::Contender;
use rolecall_tests::ensemble::{Ensemble, Timing};
use rolecall_tests::wait::until;

type Outcome = Result<(), Box<dyn Error>>;

const SESSION: Duration = Duration::from_secs(5);
const TICK: Duration = Duration::from_millis(500);

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_on_a_follower_that_is_cut_off_has_stopped_before_the_next_one_starts() -> Outcome {
    // The server notices after twelve seconds. It still answers pings and reads long after the others have ended the
    // sessions of its clients.
    let ensemble = Ensemble::start(Timing { tick: TICK, sync_limit: 24 }).await?;
    let leader = ensemble.leader().await.ok_or("the ensemble has no leader")?;
    let follower = (leader + 1) % 3;
    cut_off_under_a_leader(&ensemble, follower).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_on_zookeepers_leader_that_is_cut_off_has_stopped_before_the_next_one_starts() -> Outcome {
    // Nobody can lead before the other servers have noticed, after five seconds, and elected one of themselves.
    let ensemble = Ensemble::start(Timing { tick: TICK, sync_limit: 10 }).await?;
    let leader = ensemble.leader().await.ok_or("the ensemble has no leader")?;
    cut_off_under_a_leader(&ensemble, leader).await
}

async fn cut_off_under_a_leader(ensemble: &Ensemble, server: usize) -> Outcome {
    let old = Contender::start("old", &[ensemble.address(server)], SESSION).await?;
    until("the first to lead", async || old.leads().then_some(())).await;
    let new = Contender::start("new", &ensemble.others(server), SESSION).await?;
    until("the second to wait", async || {
        let status = new.observer().status();
        (status.role == Role::Worker && status.ready().is_ok() && old.leads()).then_some(())
    })
    .await;
    assert_eq!(new.reign(), None);

    ensemble.cut_off(server);
    until("the second to lead", async || new.leads().then_some(())).await;

    let (before, after) = (old.reign().expect("it has led"), new.reign().expect("it leads"));
    assert!(!before.lasts && before.last < after.first, "two leaders: {before:?} {after:?}");
    Ok(())
}
