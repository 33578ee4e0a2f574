//! Report of one run, as an HTML page: who did what when, and what went wrong.

use std::path::Path;

use rolecall::{Role, Time};
use rolecall_sim::{HostState, Moment, MomentKind, Run};
use serde_json::{Value, json};

use super::scenario::Scenario;
use crate::cli::Failure;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Writes the page of a run. The run must have been made with its history.
pub(super) fn write(path: &Path, scenario: &Scenario, run: &Run) -> Result<(), Failure> {
    write_page(path, &data(scenario, run))
}

/// Writes the page of a run that is described by `data`.
pub(super) fn write_page(path: &Path, data: &Value) -> Result<(), Failure> {
    std::fs::write(path, page(data)).map_err(|error| Failure::Failed(format!("--report: {}: {error}", path.display())))
}

fn page(data: &Value) -> String {
    // The data must not contain the end tag of the script element around it.
    let data = data.to_string().replace('<', "\\u003c");
    let parts = [("/* style */", STYLE), ("/* script */", SCRIPT), ("{\"data\": null}", &data)];
    parts.iter().fold(PAGE.to_owned(), |page, (place, part)| page.replacen(place, part, 1))
}

fn data(scenario: &Scenario, run: &Run) -> Value {
    let finding = run
        .finding
        .as_ref()
        .map(|finding| json!({ "at": millis(finding.at), "place": finding.place, "text": finding.to_string() }));
    let faults: u32 = run.faults.values().sum();
    json!({
        "seed": run.seed,
        "nodes": (0..usize::from(scenario.nodes)).map(rolecall_sim::node_name).collect::<Vec<_>>(),
        "command": scenario.command(run.seed),
        "length": u64::try_from(run.simulated.as_millis()).unwrap_or(u64::MAX),
        "troubled": u64::try_from(scenario.length.as_millis()).unwrap_or(u64::MAX),
        "terms": run.terms,
        "faults": faults,
        "leaderless": run.leaderless.as_secs_f64(),
        "finding": finding,
        "moments": run.history.iter().map(moment).collect::<Vec<_>>(),
    })
}

/// Encodes a moment as `[at, place, kind, text, more]`.
fn moment(moment: &Moment) -> Value {
    let (kind, more) = match moment.kind {
        MomentKind::Step => ("step", Value::Null),
        MomentKind::Exchange { until } => ("exchange", json!(millis(until))),
        MomentKind::Notice => ("notice", Value::Null),
        MomentKind::Host(HostState::Up) => ("up", Value::Null),
        MomentKind::Host(HostState::Paused) => ("paused", Value::Null),
        MomentKind::Host(HostState::Down) => ("down", Value::Null),
        MomentKind::Role(Role::None) => ("role", json!("none")),
        MomentKind::Role(Role::Worker) => ("role", json!("worker")),
        MomentKind::Role(Role::Leader) => ("role", json!("leader")),
        MomentKind::Term(fence) => ("term", json!(fence.epoch.0)),
        MomentKind::TermOver => ("term over", Value::Null),
        MomentKind::Fault => ("fault", Value::Null),
        MomentKind::Mend => ("mend", Value::Null),
        MomentKind::Visit => ("visit", Value::Null),
    };
    json!([millis(moment.at), moment.place, kind, moment.text, more])
}

fn millis(time: Time) -> f64 {
    time.since(Time::ZERO).as_secs_f64() * 1_000.0
}
