//! Conformance of the lease: the pure machine and a real Redis, through its adapter, tell the nodes the same.
//!
//! Sequences of requests, of steps of the server's clock, and of faults: standstills (SIGSTOP, `CLIENT PAUSE`),
//! connections that are killed with a request under way, restarts with and without data, flushed data, flushed scripts, a
//! primary that may not write for a while, replicas that attach, promoted ones that lack the last writes. After each
//! request the machine is given the server's wall clock as the script has recorded it. If the two differ, one of them is
//! wrong.
//!
//! # Allowed differences
//! 1. *The time that is left differs by moments.* Scripts that open a session move the clock in between.
//! 2. *A watch does not outlast its connection*: whoever connects reads again. The machine keeps it for the session.
//! 3. *The order of requests that wait in a server is open*, and so is whether a request was carried out whose answer is
//!    lost: the machine has to agree in one of the possible cases.

mod faults;
mod random;
mod step;
mod table;
mod world;

use core::error::Error;
use core::ops::Range;
use core::time::Duration;

use rolecall_core::store::{Answer, Holding, LeaseReply, Reply};

use self::step::Step;
use self::world::World;

type TestResult<T = ()> = Result<T, Box<dyn Error>>;

/// Timeout of sessions: long, so that nothing keeps them alive in between.
const SESSION: Duration = Duration::from_secs(1_200);
/// Difference of two times that are left that tells nothing: less than any step.
const MOMENTS: Duration = Duration::from_secs(30);
const SEEDS: u64 = 24;
const LENGTH: usize = 120;

#[tokio::test(flavor = "multi_thread")]
async fn what_was_thought_of() -> TestResult {
    for (name, steps) in table::sequences() {
        compare(name, steps).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn random_sequences() -> TestResult {
    compare_seeds(0..SEEDS / 2).await
}

#[tokio::test(flavor = "multi_thread")]
async fn more_random_sequences() -> TestResult {
    compare_seeds(SEEDS / 2..SEEDS).await
}

async fn compare_seeds(seeds: Range<u64>) -> TestResult {
    for seed in seeds {
        compare(&format!("seed {seed}"), random::sequence(seed, LENGTH)).await?;
    }
    Ok(())
}

/// Plays a sequence with the machine and with a Redis of its own.
async fn compare(name: &str, steps: Vec<Step>) -> TestResult {
    let mut world = World::new(name).await?;
    for step in steps {
        world.step(step).await?;
    }
    world.has_no_more_notices();
    Ok(())
}

/// True if two answers are the same but for moments.
fn is_same(pure: &Answer, real: &Answer) -> bool {
    let (Answer::Done(Reply::Lease(pure_reply)), Answer::Done(Reply::Lease(real_reply))) = (pure, real) else {
        return pure == real;
    };
    let is_close = |one: Duration, other: Duration| one.abs_diff(other) < MOMENTS;
    match (pure_reply, real_reply) {
        (LeaseReply::Closed { left: pure }, LeaseReply::Closed { left: real }) => is_close(*pure, *real),
        (LeaseReply::Held(pure), LeaseReply::Held(real)) => {
            let real_then = Holding { left: pure.left, ..real.clone() };
            is_close(pure.left, real.left) && *pure == real_then
        }
        (pure, real) => pure == real,
    }
}
