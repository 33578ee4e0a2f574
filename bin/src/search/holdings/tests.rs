use core::error::Error;
use core::time::Duration;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rolecall::Time;

use super::{Holdings, KEEP_PREVIOUS, KEEP_UNWANTED};
use crate::search::documents::{FolderError, SkipReason};
use crate::search::index::{IndexStorage, SnapshotId};
use crate::search::testing::{index_all, write_documents};
use crate::search::{Settings, ShardId};

type Outcome = Result<(), Box<dyn Error>>;

const ONLY: ShardId = ShardId(0);

fn open(folder: &Path, shards: u16, storage: IndexStorage) -> Result<Holdings, Box<dyn Error>> {
    let settings = Settings { shards: shards.try_into()?, ..Settings::default() };
    let holdings = Holdings::open(folder, settings, storage, SystemTime::now())?;
    holdings.want(ShardId::all(shards));
    index_all(&holdings, Time::ZERO);
    Ok(holdings)
}

fn current(holdings: &Holdings) -> SnapshotId {
    holdings.current(ONLY).expect("the shard is held").id
}

#[test]
fn the_state_before_is_kept_for_a_while() -> Outcome {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("a.txt"), "one")?;
    let holdings = open(folder.path(), 1, IndexStorage::Memory)?;
    let before = current(&holdings);
    let changed = Time::from_millis(1000);

    fs::write(folder.path().join("a.txt"), "two")?;
    index_all(&holdings, changed);

    assert_ne!(current(&holdings), before);
    assert!(holdings.state_of(ONLY, before).is_some_and(|snapshot| snapshot.is_some()));
    index_all(&holdings, changed + KEEP_PREVIOUS);
    assert!(holdings.state_of(ONLY, before).is_some_and(|snapshot| snapshot.is_none()));
    assert!(holdings.state_of(ShardId(1), before).is_none(), "not held at all");
    Ok(())
}

#[test]
fn a_shard_that_is_no_longer_wanted_is_kept_up_to_date_for_a_while() -> Outcome {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("a.txt"), "one")?;
    let holdings = open(folder.path(), 1, IndexStorage::Memory)?;
    let before = current(&holdings);

    holdings.want([]);
    fs::write(folder.path().join("a.txt"), "two")?;
    index_all(&holdings, Time::ZERO);
    assert_ne!(current(&holdings), before);

    index_all(&holdings, Time::ZERO + KEEP_UNWANTED);
    assert!(holdings.current(ONLY).is_none());
    Ok(())
}

#[test]
fn an_index_that_lies_among_the_documents_is_not_searched() -> Outcome {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("a.txt"), "one")?;
    let holdings = open(folder.path(), 1, IndexStorage::Disk(folder.path().join("data")))?;
    let first = current(&holdings);

    index_all(&holdings, Time::from_millis(1000));

    assert_eq!(holdings.report().documents, 1);
    assert_eq!(current(&holdings), first);
    Ok(())
}

#[test]
fn a_folder_that_disappears_leaves_the_index_as_it_is() -> Outcome {
    let parent = tempfile::tempdir()?;
    let (folder, away) = (parent.path().join("documents"), parent.path().join("away"));
    fs::create_dir(&folder)?;
    fs::write(folder.join("a.txt"), "one")?;
    let holdings = open(&folder, 1, IndexStorage::Memory)?;

    fs::rename(&folder, &away)?;
    assert!(matches!(holdings.look(SystemTime::now(), Time::ZERO), Err(FolderError::Missing(_))));
    assert_eq!(holdings.report().documents, 1);

    fs::rename(away, folder)?;
    index_all(&holdings, Time::ZERO);
    assert_eq!(holdings.report().documents, 1);
    Ok(())
}

#[test]
fn a_restart_builds_only_what_changed() -> Outcome {
    let (folder, data) = (tempfile::tempdir()?, tempfile::tempdir()?);
    write_documents(folder.path(), 60, 3)?;
    let storage = IndexStorage::Disk(data.path().to_owned());
    let kept = || -> Result<BTreeSet<(PathBuf, u64)>, Box<dyn Error>> {
        open(folder.path(), 8, storage.clone())?;
        let mut kept = BTreeSet::new();
        for shard in fs::read_dir(data.path().join("v2-8-bm25"))? {
            for snapshot in fs::read_dir(shard?.path())? {
                let snapshot = snapshot?;
                kept.insert((snapshot.path(), snapshot.metadata()?.ino()));
            }
        }
        Ok(kept)
    };
    let first = kept()?;
    assert_eq!(first.len(), 8);
    assert_eq!(kept()?, first);
    fs::write(folder.path().join("part-0/0.md"), "changed")?;
    let changed = kept()?;
    assert_eq!((changed.len(), changed.difference(&first).count()), (8, 1));
    Ok(())
}

#[test]
fn a_build_that_fails_leaves_nothing_behind_and_is_due_again() -> Outcome {
    let (folder, data) = (tempfile::tempdir()?, tempfile::tempdir()?);
    fs::write(folder.path().join("a.txt"), "one")?;
    let holdings = open(folder.path(), 1, IndexStorage::Disk(data.path().join("index")))?;
    let shard = data.path().join("index/v2-1-bm25/0000");
    let later = SystemTime::now() + Duration::from_secs(60);

    fs::write(folder.path().join("a.txt"), "two")?;
    fs::remove_dir_all(&shard)?;
    fs::write(&shard, "a file in the way")?;
    let due = holdings.look(later, Time::ZERO)?;
    assert!(holdings.refresh(&due[0], Time::ZERO).is_err());
    assert_eq!(holdings.report().documents, 1, "the state before stays");

    fs::remove_file(&shard)?;
    index_all(&holdings, Time::ZERO);
    assert_eq!(fs::read_dir(&shard)?.count(), 1);
    assert!(holdings.look(later, Time::ZERO)?.is_empty());
    Ok(())
}

#[test]
fn what_is_skipped_is_reported_by_reason() -> Outcome {
    let (folder, data) = (tempfile::tempdir()?, tempfile::tempdir()?);
    for (name, contents) in [
        ("a.txt", &b"fine"[..]),
        ("old.txt", b"na\xefve caf\xe9"),
        ("b.txt", b"\0"),
        ("c.md", b"\xff\xfex"),
        ("d.png", b"x"),
    ] {
        fs::write(folder.path().join(name), contents)?;
    }
    fs::write(folder.path().join("locked.txt"), "x")?;
    fs::set_permissions(folder.path().join("locked.txt"), fs::Permissions::from_mode(0o000))?;
    let readable_all_the_same = fs::read(folder.path().join("locked.txt")).is_ok();
    for _start in 0..2 {
        let report = open(folder.path(), 4, IndexStorage::Disk(data.path().to_owned()))?.report();
        assert_eq!((report.wanted, report.ready), (4, 4));
        assert_eq!(report.documents, 2 + u64::from(readable_all_the_same));
        let recoded =
            report.encodings.iter().filter(|(name, _)| **name != "UTF-8").map(|(&name, &count)| (name, count));
        assert_eq!(recoded.collect::<Vec<_>>(), [("windows-1252", 1)]);
        let counts = report.skipped.counts;
        for reason in [SkipReason::Binary, SkipReason::UnknownEncoding, SkipReason::UnknownKind] {
            assert_eq!(counts.get(&reason), Some(&1), "{reason}");
        }
        assert_eq!(counts.contains_key(&SkipReason::Unreadable), !readable_all_the_same);
    }
    Ok(())
}
