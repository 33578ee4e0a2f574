use core::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::*;
use crate::search::Settings;
use crate::search::index::IndexStorage;
use crate::search::testing::{index_all, write_documents};
use crate::search::wire::Share;

type Outcome = Result<(), Box<dyn Error>>;

const SHARDS: u16 = 8;

fn open(folder: &Path, storage: IndexStorage) -> Result<Holdings, Box<dyn Error>> {
    let settings = Settings { shards: SHARDS.try_into()?, ..Settings::default() };
    let holdings = Holdings::open(folder, settings, storage, SystemTime::now())?;
    holdings.want(ShardId::all(SHARDS));
    index_all(&holdings, Time::ZERO);
    Ok(holdings)
}

fn merge(holdings: &Holdings, now: Time) -> Result<(), BuildError> {
    holdings.merge(&|| now)
}

fn is_merged(holdings: &Holdings) -> bool {
    holdings.whole().expect("every shard is held").is_merged()
}

fn merged_folders(data: &Path) -> Result<Vec<PathBuf>, io::Error> {
    let mut found = Vec::new();
    for settings in fs::read_dir(data)? {
        for shard in fs::read_dir(settings?.path())? {
            let shard = shard?.path();
            if shard.file_name().is_some_and(|name| name.to_string_lossy().starts_with("merged-")) {
                found.extend(
                    fs::read_dir(shard)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?,
                );
            }
        }
    }
    Ok(found)
}

#[test]
fn shards_are_merged_once_nothing_has_changed_for_a_while() -> Outcome {
    let folder = tempfile::tempdir()?;
    write_documents(folder.path(), 60, 3)?;
    let holdings = open(folder.path(), IndexStorage::Memory)?;
    merge(&holdings, Time::ZERO)?;
    assert!(!is_merged(&holdings), "it was indexed just now");
    merge(&holdings, Time::ZERO + QUIET)?;
    assert!(is_merged(&holdings));

    let changed = Time::ZERO + QUIET * 2;
    fs::write(folder.path().join("new.txt"), "new")?;
    index_all(&holdings, changed);
    assert!(!is_merged(&holdings), "the shard of the new file is searched by itself");
    let groups = holdings.whole().expect("every shard is held");
    merge(&holdings, changed + QUIET / 2)?;
    assert!(!is_merged(&holdings));
    merge(&holdings, changed + QUIET)?;
    assert!(is_merged(&holdings));
    assert!(!groups.is_merged(), "a search that has begun goes on with what it had");
    Ok(())
}

#[test]
fn where_documents_keep_changing_merging_takes_a_small_share_of_the_time() -> Outcome {
    let folder = tempfile::tempdir()?;
    write_documents(folder.path(), 60, 3)?;
    let holdings = open(folder.path(), IndexStorage::Memory)?;
    let took = Duration::from_secs(1);
    let times = std::cell::Cell::new(Time::ZERO + QUIET);
    holdings.merge(&|| times.replace(times.get() + took))?;
    assert!(is_merged(&holdings));
    fs::write(folder.path().join("new.txt"), "new")?;
    index_all(&holdings, Time::ZERO + QUIET);
    let ended = Time::ZERO + QUIET + took;
    merge(&holdings, ended + took * (PAUSES - 1))?;
    assert!(!is_merged(&holdings));
    merge(&holdings, ended + took * PAUSES)?;
    assert!(is_merged(&holdings));
    Ok(())
}

#[test]
fn what_is_asked_for_first_and_the_rest_become_one_index_each() -> Outcome {
    let folder = tempfile::tempdir()?;
    write_documents(folder.path(), 60, 3)?;
    let holdings = open(folder.path(), IndexStorage::Memory)?;
    let groups = |shards: core::ops::Range<u16>| {
        let snapshots = shards.filter_map(|shard| holdings.current(ShardId(shard))).collect();
        let Groups { merged, single, .. } = holdings.grouped(snapshots);
        (merged.len(), single.len())
    };
    holdings.hold(&Share { hold: ShardId::all(SHARDS).collect(), first: 5, ..Share::default() });
    merge(&holdings, Time::ZERO + QUIET)?;
    assert_eq!([groups(0..5), groups(5..8), groups(0..8)], [(1, 0), (1, 0), (2, 0)]);
    assert_eq!(groups(0..1), (0, 1), "most of the index would be looked at for nothing");
    assert_eq!(groups(0..6), (1, 1));

    holdings.want(ShardId::all(SHARDS));
    assert_eq!(groups(0..8), (2, 0), "a new share is searched in the old indexes");
    merge(&holdings, Time::ZERO + QUIET)?;
    assert_eq!(groups(0..8), (1, 0));
    Ok(())
}

#[test]
fn a_merged_index_on_disk_is_opened_again_and_damage_is_repaired() -> Outcome {
    let (folder, data) = (tempfile::tempdir()?, tempfile::tempdir()?);
    write_documents(folder.path(), 60, 3)?;
    let storage = IndexStorage::Disk(data.path().to_owned());
    merge(&open(folder.path(), storage.clone())?, Time::ZERO + QUIET)?;
    let stored = merged_folders(data.path())?;
    let [place] = stored.as_slice() else { panic!("one index is stored, not {stored:?}") };
    let written = fs::metadata(place)?.modified()?;

    let again = open(folder.path(), storage.clone())?;
    merge(&again, Time::ZERO + QUIET)?;
    assert!(is_merged(&again));
    assert_eq!(fs::metadata(place)?.modified()?, written, "it was not written again");

    for file in fs::read_dir(place)? {
        let file = file?.path();
        if file.extension().is_some_and(|extension| extension == "idx") {
            let mut bytes = fs::read(&file)?;
            bytes[0] ^= 0xff;
            fs::write(&file, bytes)?;
        }
    }
    let repaired = open(folder.path(), storage)?;
    merge(&repaired, Time::ZERO + QUIET)?;
    assert!(is_merged(&repaired));
    assert!(fs::metadata(place)?.modified()? > written);
    assert_eq!(merged_folders(data.path())?, stored, "nothing else is left behind");
    Ok(())
}
