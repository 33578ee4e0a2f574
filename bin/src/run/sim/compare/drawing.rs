//! Drawing of one run.

use std::collections::BTreeSet;
use std::path::Path;

use rolecall::Time;
use rolecall_core::election::textbook::Peer;
use rolecall_core::testing::comparison::{Election, Moment, MomentKind, Run, Setting, State};
use serde_json::{Value, json};

use super::super::report;
use super::scene::Scene;
use crate::cli::Failure;

/// Runs an election under a seed again, and writes the page of that run.
pub(super) fn write(path: &Path, scene: &Scene, election: Election, seed: u64) -> Result<(), Failure> {
    let run = election.run(&Setting { has_history: true, ..scene.setting.clone() }, seed);
    report::write_page(path, &data(scene, election, seed, &run))
}

fn data(scene: &Scene, election: Election, seed: u64, run: &Run) -> Value {
    let both = run.two_leaders_at.map(|at| {
        let text = format!("{election}, after {:.3} s: two nodes lead", millis(at) / 1_000.0);
        json!({ "at": millis(at), "place": "network", "text": text })
    });
    let longest = run.heals.iter().max().copied().unwrap_or_default();
    json!({
        "seed": seed,
        "nodes": (0..scene.setting.nodes).map(name).collect::<Vec<_>>(),
        "visited": false,
        "verdict": format!("{election}: never two leaders."),
        "command": scene.command(election, seed),
        "length": u64::try_from(run.simulated.as_millis()).unwrap_or(u64::MAX),
        "troubled": u64::try_from(scene.setting.length.as_millis()).unwrap_or(u64::MAX),
        "terms": run.elections,
        "faults": run.faults,
        "leaderless": longest.as_secs_f64(),
        "finding": both,
        "moments": moments(run),
    })
}

fn moments(run: &Run) -> Vec<Value> {
    let mut running = BTreeSet::new();
    let mut moments = Vec::new();
    for moment in &run.history {
        match moment.kind {
            // It begins without leading, unlike one that goes on after a pause.
            MomentKind::State(State::Up) if running.insert(moment.node) => {
                moments.push(json!([millis(moment.at), place(moment), "role", moment.text, "worker"]));
            }
            MomentKind::State(State::Down) => _ = running.remove(&moment.node),
            MomentKind::State(State::Up | State::Paused)
            | MomentKind::Leads
            | MomentKind::LeadsNoMore
            | MomentKind::Message
            | MomentKind::Fault
            | MomentKind::Mend => {}
        }
        moments.extend(lines(moment));
    }
    moments
}

/// Encodes a moment as the page's lines `[at, place, kind, text, more]`.
fn lines(moment: &Moment) -> Vec<Value> {
    let line = |kind: &str, more: Value| json!([millis(moment.at), place(moment), kind, moment.text, more]);
    let step = line("step", Value::Null);
    match moment.kind {
        MomentKind::State(State::Up) => vec![line("up", Value::Null), step],
        MomentKind::State(State::Paused) => vec![line("paused", Value::Null), step],
        MomentKind::State(State::Down) => vec![line("down", Value::Null), step],
        MomentKind::Leads => vec![line("role", json!("leader")), step],
        MomentKind::LeadsNoMore => vec![line("role", json!("worker")), step],
        MomentKind::Message => vec![step],
        MomentKind::Fault => vec![line("fault", Value::Null)],
        MomentKind::Mend => vec![line("mend", Value::Null)],
    }
}

fn place(moment: &Moment) -> String {
    match moment.node {
        Some(Peer::STORE) => "store".to_owned(),
        Some(peer) => name(peer.0),
        None => "network".to_owned(),
    }
}

fn name(number: u8) -> String {
    format!("node {number}")
}

fn millis(time: Time) -> f64 {
    time.since(Time::ZERO).as_secs_f64() * 1_000.0
}
