//! `rolecall sim --compare`: Rolecall's elections and those of the textbook under the same faults.

mod drawing;
mod lengths;
mod scene;
mod table;

use rolecall_core::testing::comparison::{Election, Run};

use self::scene::Scene;
use self::table::Row;
use crate::cli::{Failure, Sim, print};

/// Runs every election under every seed and prints one table.
///
/// # Errors
/// [`Failure::Usage`] if a fault or an election is not known, or if a report is asked for without naming an election.
/// [`Failure::Failed`] if two of Rolecall's nodes lead at once, if an election breaks an invariant of its own, or if the
/// report cannot be written.
pub(super) fn compare(options: &Sim) -> Result<(), Failure> {
    let scene = Scene::new(options)?;
    let named = named(options)?;
    let elections = named.as_ref().map_or(Election::ALL, core::slice::from_ref);
    let rows: Vec<Row> = elections.iter().map(|election| row(&scene, *election)).collect::<Result<_, _>>()?;
    print(&table::text(&scene, &rows))?;
    if let (Some(path), [row]) = (&options.report, rows.as_slice()) {
        let seed = row.two_leaders_in.unwrap_or(*scene.seeds.start());
        drawing::write(path, &scene, row.election, seed)?;
        let what = if row.two_leaders_in.is_some() { "the first with two leaders" } else { "no seed has two leaders" };
        print(&format!("\nreport of seed {seed} ({what}): {}\n", path.display()))?;
    }
    Ok(())
}

fn named(options: &Sim) -> Result<Option<Election>, Failure> {
    let named = options.election.as_deref().map(str::parse).transpose();
    let named = named.map_err(|error: String| Failure::Usage(format!("--election: {error}")))?;
    if named.is_none() && options.report.is_some() {
        return Err(Failure::Usage("--report draws one election: name it with --election, such as bully".to_owned()));
    }
    Ok(named)
}

/// Runs one election under every seed, and keeps only the sums.
fn row(scene: &Scene, election: Election) -> Result<Row, Failure> {
    let mut row = Row::new(election);
    for seed in scene.seeds.clone() {
        let run = election.run(&scene.setting, seed);
        judge(scene, election, seed, &run)?;
        row.add(seed, &run);
    }
    Ok(row)
}

/// Fails if a run shows a mistake in this program, and not one of the textbook.
fn judge(scene: &Scene, election: Election, seed: u64, run: &Run) -> Result<(), Failure> {
    let wrong = match (&run.broken, run.two_leaders_at) {
        (Some((at, peer, broken)), _) => {
            let at = at.since(rolecall::Time::ZERO).as_secs_f64();
            format!("node {} broke an invariant after {at:.3} s: {broken:?}", peer.0)
        }
        (None, Some(at)) if election.is_ours() => {
            format!("two nodes lead after {:.3} s", at.since(rolecall::Time::ZERO).as_secs_f64())
        }
        (None, _) => return Ok(()),
    };
    let command = scene.command(election, seed);
    Err(Failure::Failed(format!("{election}, seed {seed}: {wrong}; repeat it with: {command}")))
}
