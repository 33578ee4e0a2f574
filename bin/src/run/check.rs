//! `rolecall check`: explores every state that a small cluster can reach.

use std::io::Write as _;
use std::thread;
use std::time::Duration;

use rolecall::Family;
use rolecall_model::{self as model, Ending, Faults, Options, Progress, Rate, UnknownRate};

use super::memory::Budget;
use crate::cli::{Check, Election, Failure, print};

/// Default time limit, in minutes. There must be one: three nodes with every fault have too many states to wait for.
const MINUTES: u64 = 5;

/// Explores until every state has been seen, the time is up, the memory is full or a promise is broken.
///
/// # Errors
/// [`Failure::Usage`] for an unknown fault or a number of nodes that is not supported. [`Failure::Failed`] if a promise is
/// broken. [`Failure::Unfinished`] if states are left.
pub fn check(check: &Check) -> Result<(), Failure> {
    let budget = Budget::new(check.world.memory);
    let options = Options { memory: Some(budget.bytes()), ..options(check)? };
    let minutes = options.time.map_or(0, |time| time.as_secs() / 60);
    let begin = if options.settled > 0 { "from a cluster at rest" } else { "from the start" };
    let clocks = if options.timed { ", on clocks that go wrong" } else { "" };
    tell(&format!(
        "{} nodes that elect by a {} {begin}{clocks}, faults {}, for at most {minutes} minutes and in {budget} of memory",
        options.nodes, options.family, options.faults
    ));
    let mut told = Duration::ZERO;
    let report = model::run(&options, |progress: Progress| {
        if progress.took >= told + Duration::from_secs(5) {
            told = progress.took;
            tell(&format!("{progress}, {}", budget.told(progress.memory)));
        }
    });
    print(&format!("{report}\n"))?;
    match (report.ending, report.violated) {
        (_, Some(violated)) => Err(Failure::Failed(format!("broken: {}", violated.what))),
        (Ending::MemoryFull, None) => Err(budget.exceeded()),
        (Ending::TimeUp, None) => Err(Failure::Unfinished(format!(
            "stopped before the end: the {minutes} minutes are over; give more with --minutes {}",
            minutes.saturating_mul(2)
        ))),
        (Ending::Exhausted | Ending::Broken, None) => Ok(()),
    }
}

fn options(check: &Check) -> Result<Options, Failure> {
    let nodes = u8::try_from(check.world.nodes).ok().filter(|nodes| (1..=5).contains(nodes));
    let nodes = nodes.ok_or_else(|| {
        Failure::Usage(format!("--nodes {}: a model has 1 to 5 nodes; more have too many states", check.world.nodes))
    })?;
    let family = match check.election {
        Election::Queue => Family::Queue,
        Election::Lease => Family::Lease,
    };
    let faults = faults(check, family)?;
    let clocks = clocks(check)?;
    let minutes = check.world.minutes.unwrap_or(MINUTES);
    let time = Some(Duration::from_secs(minutes.saturating_mul(60)));
    let threads = thread::available_parallelism().map_or(1, usize::from);
    // Several nodes have too many states to explore both the start and faults later, so explore one of the two.
    let lean = nodes > 1;
    let settled = if lean && faults != Faults::none() { nodes } else { 0 };
    let timed = check.timed;
    Ok(Options { family, faults, timed, clocks, time, threads, lean, settled, ..Options::new(nodes) })
}

fn faults(check: &Check, family: Family) -> Result<Faults, Failure> {
    let list = check.world.faults.join(",");
    let all = Faults::one_each(family, check.timed);
    if list.is_empty() || list == "all" {
        return Ok(all);
    }
    let faults: Faults = list.parse().map_err(|error| Failure::Usage(format!("--faults {list}: {error}")))?;
    match faults.foreign(family, check.timed) {
        None => Ok(faults),
        Some(fault) => {
            let (with, name) = (if check.timed { "with" } else { "without" }, fault.name());
            Err(Failure::Usage(format!(
                "--faults {list}: there is no fault `{name}` with --election {family} {with} --timed; there are {all}"
            )))
        }
    }
}

fn clocks(check: &Check) -> Result<Vec<Rate>, Failure> {
    let list = check.clocks.join(",");
    let refuse = |why: String| Failure::Usage(format!("--clocks {list}: {why}"));
    let rates: Result<Vec<Rate>, _> = check.clocks.iter().map(|name| name.parse()).collect();
    let rates = rates.map_err(|error: UnknownRate| refuse(error.to_string()))?;
    if rates.is_empty() || rates.len() == usize::from(check.world.nodes) {
        Ok(rates)
    } else {
        Err(refuse(format!("give one rate for each of the {} nodes", check.world.nodes)))
    }
}

/// Prints a line about the progress on standard error, for people.
fn tell(line: &str) {
    // A closed standard error must not stop the exploration.
    drop(writeln!(std::io::stderr(), "{line}"));
}
