//! Indexing and searching start no thread, so that a simulation can do both. Alone in its process: others would be counted.

use core::error::Error;
use std::fs;
use std::time::SystemTime;

use rolecall::search::holdings::Holdings;
use rolecall::search::index::Storage;
use rolecall::search::wire::{Task, TaskAnswer};
use rolecall::search::{Settings, ShardId};
use rolecall_core::Time;

fn threads() -> std::io::Result<usize> {
    Ok(fs::read_dir("/proc/self/task")?.count())
}

#[test]
fn nothing_starts_a_thread() -> Result<(), Box<dyn Error>> {
    let (folder, data) = (tempfile::tempdir()?, tempfile::tempdir()?);
    for number in 0..20 {
        fs::write(folder.path().join(format!("{number}.html")), "<p>some words")?;
    }
    let before = threads()?;
    // The second round finds what the first has kept.
    for storage in [Storage::Memory, Storage::Disk(data.path().to_owned()), Storage::Disk(data.path().to_owned())] {
        let settings = Settings::default();
        let shards: Vec<_> = ShardId::all(settings.shards.count()).collect();
        let holdings = Holdings::open(folder.path(), settings, storage, SystemTime::now())?;
        holdings.want(shards.iter().copied().collect(), Time::ZERO);
        for due in holdings.look(SystemTime::now(), Time::ZERO)? {
            holdings.refresh(&due, Time::ZERO)?;
        }
        let answer = holdings.answer(&Task::Statistics { shards, terms: vec!["word".into()] })?;
        let TaskAnswer::Statistics(answered) = answer else { return Err("an answer to another task".into()) };
        assert_eq!(answered.iter().map(|shard| shard.statistics.frequencies[0]).sum::<u64>(), 20);
        assert_eq!(threads()?, before);
    }
    Ok(())
}
