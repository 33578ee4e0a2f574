//! What the application reads: its configuration, tasks of a leader, and queries of people.

use core::str::from_utf8;

use rolecall::cli;
use rolecall::search::query::{Query, parse};
use rolecall::search::wire::{Task, TaskRequest};
use rolecall::search::{Ranking, analyzer};

pub(super) fn configuration(text: &[u8]) {
    let Ok(text) = from_utf8(text) else { return };
    let lines = text.split('\n').count();
    match cli::configuration(text) {
        Ok(settings) => {
            assert!(settings.iter().all(|setting| (1..=lines).contains(&setting.line)), "{settings:?} of {text}");
        }
        Err((line, what)) => assert!((1..=lines).contains(&line), "line {line} of {text}: {what}"),
    }
}

pub(super) fn task(body: &[u8]) {
    let Ok(request) = serde_json::from_slice::<TaskRequest>(body) else { return };
    let again = serde_json::to_vec(&request).expect("what was read can be written");
    assert_eq!(serde_json::from_slice::<TaskRequest>(&again).ok().as_ref(), Some(&request));
    if request.task.check(request.settings).is_ok() {
        match &request.task {
            Task::Statistics { .. } => {}
            Task::Search { query, .. } | Task::Snippets { query, .. } => look_through(query),
        }
    }
}

pub(super) fn query(text: &[u8]) {
    let Ok(text) = from_utf8(text) else { return };
    for ranking in [Ranking::Bm25, Ranking::Tfidf] {
        if let Ok(query) = parse(text, &mut analyzer(ranking)) {
            assert!(query.is_sound(), "{query:?} of {text}");
            look_through(&query);
        }
    }
}

/// What is done with a query that is sound.
fn look_through(query: &Query) {
    assert_eq!(query.scoring().len(), query.leaves.len());
    assert!(query.terms().is_sorted());
}
