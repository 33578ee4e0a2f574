use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::SystemTime;

use super::*;

/// Far enough in the future that every stamp is settled.
fn later() -> SystemTime {
    SystemTime::now() + Duration::from_secs(60)
}

fn scanned(path: &Path) -> Folder {
    let folder = Folder::new(path);
    folder.scan(later()).expect("the folder can be read");
    assert!(!folder.has_news(), "nothing has happened since the scan");
    folder
}

/// What `change` does to a folder that has `a.txt`, `part/b.txt` and the link `c.txt` to `outside`/`c.txt` is news.
fn is_news(change: impl FnOnce(&Path, &Path)) {
    let (root, outside) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let write = |path: &Path| fs::write(path, "text").expect("a new folder can be written");
    fs::create_dir(root.path().join("part")).expect("a new folder can be written");
    write(&root.path().join("a.txt"));
    write(&root.path().join("part/b.txt"));
    write(&outside.path().join("c.txt"));
    symlink(outside.path().join("c.txt"), root.path().join("c.txt")).expect("a new folder can be written");
    let folder = scanned(root.path());
    change(root.path(), outside.path());
    assert!(folder.has_news());
    assert!(folder.has_news(), "it stays news until the next scan");
    let found = folder.scan(later()).expect("the folder can be read").documents;
    assert_eq!(found, scan_with(root.path(), later(), &mut |_| {}).expect("the folder can be read").documents);
    assert!(!folder.has_news());
}

#[test]
fn changes_to_files_are_news() {
    is_news(|root, _| fs::write(root.join("a.txt"), "other").expect("it can be written"));
    is_news(|root, _| fs::write(root.join("part/b.txt"), "text").expect("it can be written"));
    is_news(|root, _| fs::write(root.join("part/new.txt"), "text").expect("it can be written"));
    is_news(|root, _| fs::remove_file(root.join("part/b.txt")).expect("it can be removed"));
    is_news(|root, _| fs::rename(root.join("a.txt"), root.join("part/a.txt")).expect("it can be renamed"));
}

#[test]
fn changes_to_folders_are_news() {
    is_news(|root, _| fs::create_dir(root.join("new")).expect("it can be made"));
    is_news(|root, _| fs::remove_dir_all(root.join("part")).expect("it can be removed"));
    is_news(|root, outside| fs::rename(root.join("part"), outside.join("part")).expect("it can be renamed"));
}

#[test]
fn changes_behind_links_are_news() {
    is_news(|_, outside| fs::write(outside.join("c.txt"), "other").expect("it can be written"));
    is_news(|_, outside| fs::remove_file(outside.join("c.txt")).expect("it can be removed"));
}

#[test]
fn files_in_a_folder_that_came_after_the_scan_are_found() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = scanned(root.path());
    fs::create_dir(root.path().join("new")).expect("it can be made");
    folder.scan(later()).expect("the folder can be read");
    fs::write(root.path().join("new/a.txt"), "text").expect("it can be written");
    assert!(folder.has_news());
}

#[test]
fn another_folder_behind_the_same_link_is_news() {
    let place = tempfile::tempdir().expect("a folder");
    let [old, new, link] = ["old", "new", "current"].map(|name| place.path().join(name));
    fs::create_dir(&old).expect("it can be made");
    fs::create_dir(&new).expect("it can be made");
    symlink(&old, &link).expect("it can be made");
    let folder = scanned(&link);
    fs::remove_file(&link).expect("it can be removed");
    symlink(&new, &link).expect("it can be made");
    assert!(folder.has_news());
}

#[test]
fn a_folder_that_is_gone_is_news_until_it_is_back() {
    let place = tempfile::tempdir().expect("a folder");
    let root = place.path().join("documents");
    fs::create_dir(&root).expect("it can be made");
    let folder = scanned(&root);
    fs::remove_dir(&root).expect("it can be removed");
    assert!(folder.has_news());
    folder.scan(later()).expect_err("it is gone");
    assert!(folder.has_news());
    fs::create_dir(&root).expect("it can be made");
    folder.scan(later()).expect("the folder can be read");
    assert!(!folder.has_news());
}

#[test]
fn fresh_files_are_news_until_their_stamps_can_be_trusted() {
    let root = tempfile::tempdir().expect("a folder");
    fs::write(root.path().join("a.txt"), "text").expect("it can be written");
    let folder = Folder::new(root.path());
    folder.scan(SystemTime::now()).expect("the folder can be read");
    assert!(folder.has_news());
    folder.scan(later()).expect("the folder can be read");
    assert!(!folder.has_news());
}

#[test]
fn without_notices_the_dates_of_folders_tell() {
    let root = tempfile::tempdir().expect("a folder");
    let part = root.path().join("part");
    fs::create_dir(&part).expect("it can be made");
    let watch = |now| {
        let mut watch = Watch::default();
        [root.path(), &part].into_iter().for_each(|path| watch.add(path, now));
        watch
    };
    assert!(watch(SystemTime::now()).has_news(), "a folder's date may be too coarse to show the next change");
    let old = watch(later());
    assert!(!old.has_news() && !old.has_notices_of_all());
    fs::write(part.join("a.txt"), "text").expect("it can be written");
    assert!(old.has_news());
    let old = watch(later());
    fs::remove_dir_all(&part).expect("it can be removed");
    assert!(old.has_news());
}
