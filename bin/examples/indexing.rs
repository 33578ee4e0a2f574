//! Speed of indexing and size of the index, over any folder of documents, with one copy of each shard, on one thread.
//!
//! `cargo run --release -p rolecall-cli --example indexing -- FOLDER`

use core::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rolecall_cli::search::holdings::Holdings;
use rolecall_cli::search::index::IndexStorage;
use rolecall_cli::search::{Settings, ShardId};
use rolecall_core::Time;

/// Number of times that the folder is indexed. The fastest counts: the others waited for the machine.
const RUNS: usize = 5;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from).ok_or("give a folder of documents")?;
    let scan = rolecall_cli::search::documents::scan(&folder, SystemTime::now())?;
    let bytes: u64 = scan.documents.iter().map(|file| file.stamp.size).sum();
    let mut fastest = Duration::MAX;
    let mut documents = 0;
    // In memory, because a disk takes its own time.
    for _ in 0..RUNS {
        let begun = Instant::now();
        documents = index(&folder, IndexStorage::Memory)?;
        fastest = fastest.min(begun.elapsed());
    }
    let storage = tempfile::tempdir()?;
    index(&folder, IndexStorage::Disk(storage.path().to_owned()))?;
    let size = size_of_folder(storage.path())?;
    println!(
        "{documents} documents, {:.1} MB: {:.2} s, {:.1} MB/s; the index takes {:.1} MB",
        bytes as f64 / 1e6,
        fastest.as_secs_f64(),
        bytes as f64 / 1e6 / fastest.as_secs_f64(),
        size as f64 / 1e6,
    );
    Ok(())
}

/// Indexes everything in `folder` and returns the number of documents.
fn index(folder: &Path, storage: IndexStorage) -> Result<u64, Box<dyn Error>> {
    let settings = Settings::default();
    let holdings = Holdings::open(folder, settings, storage, SystemTime::now())?;
    holdings.want(ShardId::all(settings.shards.count()));
    for due in holdings.look(SystemTime::now(), Time::ZERO)? {
        holdings.refresh(&due, Time::ZERO)?;
    }
    Ok(holdings.report().documents)
}

fn size_of_folder(folder: &Path) -> std::io::Result<u64> {
    let mut size = 0;
    for entry in folder.read_dir()? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        size += if metadata.is_dir() { size_of_folder(&entry.path())? } else { metadata.len() };
    }
    Ok(size)
}
