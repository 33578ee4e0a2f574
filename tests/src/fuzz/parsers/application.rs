//! Parsers of the application: its configuration, a leader's tasks, workers' answers, and people's queries.

use core::fmt::{Debug, Display};
use core::str::{FromStr, from_utf8};

use rolecall_cli::cli::{self, Address, ClockError, Name, Seeds};
use rolecall_cli::search::query::{Query, parse};
use rolecall_cli::search::wire::{Task, TaskAnswer, TaskRequest};
use rolecall_cli::search::{Ranking, Shards, Statistics, analyzer};

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

/// Parses the value of a setting, as every kind of setting.
pub(super) fn value(text: &[u8]) {
    let Ok(text) = from_utf8(text) else { return };
    survives::<Address>(text);
    survives::<Name>(text);
    survives::<Ranking>(text);
    if let Ok(error) = text.parse::<ClockError>() {
        assert!(error.ppm <= 100_000, "{error:?} of {text}");
    }
    if let Ok(Seeds(seeds)) = text.parse() {
        assert!(!seeds.is_empty(), "{seeds:?} of {text}");
    }
    if let Ok(shards) = text.parse::<Shards>() {
        assert!((1..=Shards::MAX).contains(&shards.count()), "{shards:?} of {text}");
    }
}

/// Checks that a parsed value reads the same after it is shown.
fn survives<T: Debug + Display + FromStr + PartialEq>(text: &str) {
    let Ok(value) = text.parse::<T>() else { return };
    assert_eq!(value.to_string().parse().ok(), Some(value), "{text}");
}

pub(super) fn task(body: &[u8]) {
    let Ok(request) = serde_json::from_slice::<TaskRequest>(body) else { return };
    let again = serde_json::to_vec(&request).expect("what was read can be written");
    assert_eq!(serde_json::from_slice::<TaskRequest>(&again).ok().as_ref(), Some(&request));
    if request.check(request.settings).is_ok() {
        match &request.task {
            Task::Hold | Task::Statistics { .. } => {}
            Task::Search { query, .. } | Task::Snippets { query, .. } => look_through(query),
        }
    }
}

pub(super) fn answer(body: &[u8]) {
    let Ok(answer) = serde_json::from_slice::<TaskAnswer>(body) else { return };
    let again = serde_json::to_vec(&answer).expect("what was read can be written");
    assert_eq!(serde_json::from_slice::<TaskAnswer>(&again).ok().as_ref(), Some(&answer));
    match answer {
        TaskAnswer::Statistics(shards) => {
            let mut sum = Statistics::default();
            shards.iter().for_each(|shard| sum.add(&shard.statistics));
            let none_is_above = shards.iter().all(|shard| shard.statistics.documents <= sum.documents);
            assert!(none_is_above, "{sum:?} of {shards:?}");
        }
        TaskAnswer::Hold(_) | TaskAnswer::Search { .. } | TaskAnswer::Snippets(_) => {}
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

/// Uses a sound query.
fn look_through(query: &Query) {
    assert_eq!(query.scoring().len(), query.leaves.len());
    assert!(query.terms().is_sorted());
}
