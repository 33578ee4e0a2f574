//! Indexing and searching start no thread, so that a simulation can do both. This test is alone in its process, because the
//! threads of others would count.

use core::error::Error;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use rolecall::Time;
use rolecall_cli::search::documents::{DocumentFile, FolderError, Scan, Source};
use rolecall_cli::search::holdings::Holdings;
use rolecall_cli::search::index::IndexStorage;
use rolecall_cli::search::wire::{Task, TaskAnswer};
use rolecall_cli::search::{Settings, ShardId};

fn threads() -> std::io::Result<usize> {
    Ok(fs::read_dir("/proc/self/task")?.count())
}

/// A folder that counts the threads whenever a file is read: in the midst of the building of a shard.
#[derive(Debug)]
struct Counting {
    folder: PathBuf,
    most: Arc<AtomicUsize>,
}

impl Source for Counting {
    fn scan(&self, now: SystemTime) -> Result<Scan, FolderError> {
        self.folder.scan(now)
    }

    fn bytes(&self, file: &DocumentFile) -> std::io::Result<Vec<u8>> {
        self.most.fetch_max(threads()?, Ordering::Relaxed);
        self.folder.bytes(file)
    }
}

#[test]
fn nothing_starts_a_thread() -> Result<(), Box<dyn Error>> {
    let (folder, data) = (tempfile::tempdir()?, tempfile::tempdir()?);
    for number in 0..20 {
        fs::write(folder.path().join(format!("{number}.html")), "<p>some words")?;
    }
    let before = threads()?;
    let most = Arc::new(AtomicUsize::new(0));
    // The second round finds the index that the first has stored.
    for storage in
        [IndexStorage::Memory, IndexStorage::Disk(data.path().to_owned()), IndexStorage::Disk(data.path().to_owned())]
    {
        let settings = Settings::default();
        let shards: Vec<_> = ShardId::all(settings.shards.count()).collect();
        let documents = Arc::new(Counting { folder: folder.path().to_owned(), most: Arc::clone(&most) });
        let holdings = Holdings::of(documents, settings, storage, SystemTime::now())?;
        holdings.want(shards.iter().copied());
        for due in holdings.look(SystemTime::now(), Time::ZERO)? {
            holdings.refresh(&due, Time::ZERO)?;
        }
        let answer = holdings.answer(&Task::Statistics { shards, terms: vec!["word".into()] })?;
        let TaskAnswer::Statistics(answered) = answer else { return Err("an answer to another task".into()) };
        assert_eq!(answered.iter().map(|shard| shard.statistics.frequencies[0]).sum::<u64>(), 20);
        assert_eq!((most.load(Ordering::Relaxed), threads()?), (before, before));
    }
    Ok(())
}
