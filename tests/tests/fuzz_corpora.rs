//! Inputs that the fuzzer found useful go through the same code here, on any toolchain.

use std::fs;
use std::path::Path;

use rolecall_tests::fuzz::{node_events, parsers, store_machine, transitions};

/// Passes every file of the corpus of `target` to `run`, and names the one that fails.
fn replay(target: &str, run: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus").join(target);
    let entries = fs::read_dir(&corpus).unwrap_or_else(|error| panic!("{}: {error}", corpus.display()));
    let mut count = 0;
    for entry in entries {
        let path = entry.expect("a folder that can be read").path();
        let data = fs::read(&path).expect("a file that can be read");
        if let Err(panic) = std::panic::catch_unwind(|| run(&data)) {
            eprintln!("cargo +nightly fuzz run {target} {} repeats this", path.display());
            std::panic::resume_unwind(panic);
        }
        count += 1;
    }
    assert!(count >= 10, "{} holds {count} files: a corpus has more", corpus.display());
}

#[test]
fn the_corpus_of_node_events_breaks_no_promise() {
    replay("node_events", node_events::run);
}

#[test]
fn the_corpus_of_store_machine_shows_no_difference_from_its_model() {
    replay("store_machine", store_machine::run);
}

#[test]
fn the_corpus_of_transitions_leads_where_the_model_says() {
    replay("transitions", transitions::run);
}

#[test]
fn the_corpus_of_parsers_is_read_or_refused() {
    replay("parsers", parsers::run);
}
