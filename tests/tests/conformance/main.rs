//! Conformance of the stores: the pure machine and a real ZooKeeper tell the nodes the same.
//!
//! Each sequence is played twice through the interface that a node's driver uses: with the embedded store, which is the
//! machine, and with ZooKeeper. Everything that the nodes are told is compared step by step: answers, notices, news of
//! the session. If they differ, the machine is wrong.
//!
//! # Allowed differences
//! Sessions are compared by the order in which they appeared, and revisions by their rank. Answers, notices and news of
//! the session may come in any order. Other allowed differences:
//! 1. *The end of a connected node's session comes with or without a suspension just before it.* A ZooKeeper server
//!    ends the connection and refuses the next; the machine reports the end at once. A node treats the loss as both.
//! 2. *A candidate without a guid is asked for only after a listing by the same session.* Its name cannot be made from
//!    the core's knowledge, so ZooKeeper's adapter remembers it from the listing; the machine has no names.
//! 3. *A session dropped for another* lives on for its timeout in the machine, as after a crash. ZooKeeper's client
//!    closes it in the background if it can. Here it ends at once in both.
//! 4. *Sessions of a store that lost its data* end at once in the machine. ZooKeeper turns their clients away until
//!    they give up. The difference is only one of time, so the step waits.
//! 5. *A reading of members is no single moment in ZooKeeper*: its adapter reads the names, then each entry. Requests
//!    that are sent along with others are therefore of the kinds that are one operation.
//!
//! Faults that only one of the two can have are tested elsewhere: servers that lag or are cut off.

mod random;
mod record;
mod run;
mod step;
mod table;
mod worlds;

use core::fmt::Write;
use core::time::Duration;

use rolecall_tests::zookeeper::ZooKeeperServer;
use tokio::task::{JoinSet, LocalSet};

use self::record::normalise;
use self::run::play;
use self::step::Step;
use self::worlds::{Memory, Outcome, ZooKeeper};

/// Timeout of sessions that end only if a sequence ends them.
const LONG: Duration = Duration::from_secs(50);
/// Timeout for clients that have to give up: long enough for a slow machine, since they must not give up early.
const SHORT: Duration = Duration::from_secs(8);

const SEEDS: u64 = 48;
const LENGTH: usize = 60;

#[tokio::test]
async fn what_was_thought_of() -> Outcome {
    let server = ZooKeeperServer::start().await?;
    let runs = table::sequences().into_iter().map(|(name, nodes, steps)| (name.to_owned(), nodes, steps));
    side_by_side(&server, runs.collect(), LONG).await;
    Ok(())
}

#[tokio::test]
async fn random_sequences() -> Outcome {
    let server = ZooKeeperServer::start().await?;
    let runs = (0..SEEDS).map(|seed| {
        let (nodes, steps) = random::sequence(seed, LENGTH);
        (format!("seed {seed}"), nodes, steps)
    });
    side_by_side(&server, runs.collect(), LONG).await;
    Ok(())
}

#[tokio::test]
async fn links_that_fall_silent_and_sessions_that_nobody_ends() -> Outcome {
    let server = ZooKeeperServer::start().await?;
    let runs = table::silences().into_iter().map(|(name, nodes, steps)| (name.to_owned(), nodes, steps));
    side_by_side(&server, runs.collect(), SHORT).await;
    Ok(())
}

#[tokio::test]
async fn a_store_that_stops() -> Outcome {
    for (name, nodes, steps) in table::restarts() {
        let timeout = if steps.contains(&Step::Wipe) { SHORT } else { LONG };
        compare(name, nodes, &steps, ZooKeeper::alone(timeout).await?, timeout).await?;
    }
    Ok(())
}

/// Compares all of these sequences, at the same time.
async fn side_by_side(server: &ZooKeeperServer, runs: Vec<(String, usize, Vec<Step>)>, timeout: Duration) {
    let mut tasks = JoinSet::new();
    let local = LocalSet::new();
    for (name, nodes, steps) in runs {
        let world = ZooKeeper::shared(server, timeout).await;
        tasks.spawn_local_on(
            async move {
                let outcome = compare(&name, nodes, &steps, world, timeout).await;
                outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
            },
            &local,
        );
    }
    local
        .run_until(async {
            while let Some(ended) = tasks.join_next().await {
                ended.expect("the two stores agree");
            }
        })
        .await;
}

/// Plays a sequence in both stores.
async fn compare(name: &str, nodes: usize, steps: &[Step], mut real: ZooKeeper, timeout: Duration) -> Outcome {
    let told = play(&mut Memory::new(timeout), nodes, steps, None).await?;
    let real = play(&mut real, nodes, steps, Some(&told)).await?;
    let (pure, real) = (normalise(told), normalise(real));
    let differs = pure.iter().zip(&real).position(|(pure, real)| pure != real);
    if let Some(at) = differs {
        let mut text = format!("{name}, {nodes} nodes: they differ in the last of these steps:\n");
        for (number, step) in steps.iter().enumerate().take((at + 1).saturating_sub(nodes)) {
            writeln!(text, "  {number}: {step:?}")?;
        }
        return Err(format!("{text}the machine tells\n{}ZooKeeper tells\n{}", pure[at], real[at]).into());
    }
    Ok(())
}
