//! Engines that a Python module brings: a program indexes the documents, asks itself and prints the answer times.

use core::time::Duration;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Outcome;
use crate::latencies::{Latencies, Load};
use crate::questions::Questions;
use crate::table::Row;

/// An engine, and the program that measures it.
pub(crate) struct Peer {
    pub(crate) engine: &'static str,
    program: &'static str,
}

pub(crate) const SQLITE: Peer = Peer { engine: "SQLite FTS5", program: include_str!("peers/sqlite_fts5.py") };

pub(crate) const XAPIAN: Peer = Peer { engine: "Xapian", program: include_str!("peers/xapian_bm25.py") };

pub(crate) fn measure(
    peer: &Peer,
    python: &Path,
    documents: &Path,
    questions: &Questions,
    loads: &[Load],
) -> Outcome<Row> {
    let folder = tempfile::TempDir::new()?;
    let (program, asked) = (folder.path().join("peer.py"), folder.path().join("questions"));
    fs::write(&program, peer.program)?;
    fs::write(folder.path().join("asking.py"), include_str!("peers/asking.py"))?;
    fs::write(&asked, questions.all().join("\n"))?;
    let mut command = Command::new(python);
    command.arg(program).arg(documents).arg(folder.path()).arg(asked);
    command.args(loads.iter().map(|load| format!("{}:{}", load.clients, load.length.as_secs())));
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{}: {}", peer.engine, String::from_utf8_lossy(&output.stderr)).into());
    }
    // The first line is the time that indexing took; each next one has the answer times of a load. All are in microseconds.
    let printed = String::from_utf8(output.stdout)?;
    let mut lines = printed.lines();
    let (version, indexing) = lines.next().and_then(|line| line.split_once(' ')).ok_or("a program prints its times")?;
    let times = |line: &str| line.split(' ').map(micros).collect::<Outcome<Vec<_>>>();
    let latencies = lines.zip(loads).map(|(line, load)| Latencies::of(times(line)?, load.length));
    Ok(Row {
        engine: format!("{} {version}", peer.engine),
        indexing: micros(indexing)?,
        copies: 1,
        latencies: latencies.collect::<Outcome<_>>()?,
        remarks: "in the processes of its clients".to_owned(),
    })
}

fn micros(text: &str) -> Outcome<Duration> {
    Ok(Duration::from_micros(text.parse()?))
}
