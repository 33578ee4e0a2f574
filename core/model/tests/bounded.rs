//! An exploration that has more states than the machine has memory stops in good order, and says what it has proved.

use rolecall_core::Family;
use rolecall_model::{Ending, Faults, Options, Progress, run};

/// A limit that three nodes with every fault reach in a moment.
const LIMIT: u64 = 96 * 1024 * 1024;

#[test]
#[cfg(target_os = "linux")]
fn an_exploration_stays_within_its_memory_and_says_to_which_depth_it_has_seen_everything() {
    let faults = Faults::one_each(Family::Queue, false);
    let options = Options { faults, lean: true, settled: 3, memory: Some(LIMIT), threads: 2, ..Options::new(3) };
    let report = run(&options, |_| ());

    let Progress { complete, depth, memory, .. } = report.found;
    assert_eq!(report.ending, Ending::MemoryFull, "{report}");
    assert!((2..depth).contains(&complete), "{report}");
    assert!(report.violated.is_none(), "{report}");
    // A block of states more for each thread, and tables that have grown.
    assert!(memory.is_some_and(|memory| (LIMIT / 2..LIMIT * 3 / 2).contains(&memory)), "{report}: {memory:?}");
    let told = format!("out of memory: every promise holds in all states to depth {complete}");
    assert!(report.to_string().contains(&told), "{report}");

    // The same states are found again where it stops by its depth.
    let to_there = Options { memory: None, depth: usize::try_from(complete + 1).ok(), ..options };
    assert_eq!(run(&to_there, |_| ()).ending, Ending::Exhausted);
}
