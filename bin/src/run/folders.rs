//! Default folders: for the index of a node, and for the documents of a demo.

use core::time::Duration;
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::Failure;

/// Folder for one node or demo: `data` if given, else one under the user's cache.
pub(super) fn data(data: Option<&Path>, cluster: &str, id: &str) -> Result<PathBuf, Failure> {
    match data {
        Some(folder) => Ok(folder.to_owned()),
        None => Ok(cache()?.join(cluster).join(id)),
    }
}

/// Folder in a cluster's cache for nodes with generated ids. No id begins with this character.
const GENERATED: &str = "+generated";

/// Claims a folder under the user's cache for a node whose id is generated, and deletes those of earlier nodes that have
/// ended: no later node gets their ids, so nobody would use them again.
pub(super) fn claim_generated(cluster: &str, id: &str) -> Result<(PathBuf, File), Failure> {
    let all = cache()?.join(cluster).join(GENERATED);
    let refused = |error: std::io::Error| {
        Failure::Usage(format!("cannot use the cache {}: {error}; give a folder with --data DIR", all.display()))
    };
    fs::create_dir_all(&all).map_err(refused)?;
    // One process at a time, so that nobody deletes a folder that another has made and not claimed yet.
    let turn = File::create(all.join(".lock")).map_err(refused)?;
    // On a file system without locks, no folder can be shown to be unused.
    if turn.lock().is_ok() {
        fs::read_dir(&all).map_err(refused)?.flatten().for_each(|entry| remove_unused(&entry.path()));
    }
    let data = all.join(id);
    let claim = claim(&data)?;
    Ok((data, claim))
}

/// Deletes the folder of a node that has ended.
fn remove_unused(folder: &Path) {
    let Ok(lock) = File::open(folder.join(".lock")) else { return };
    if lock.try_lock().is_ok()
        && let Err(error) = fs::remove_dir_all(folder)
    {
        tracing::warn!(folder = %folder.display(), %error, "the folder of a node that has ended cannot be deleted");
    }
}

/// Attempts to claim a folder that is in use.
const CLAIMS: u32 = 20;
/// Pause between the attempts.
const BETWEEN_CLAIMS: Duration = Duration::from_millis(100);

/// Claims the folder `data` for this process, for as long as the returned file is open. Two processes that build indexes in
/// one folder would delete each other's.
pub(super) fn claim(data: &Path) -> Result<File, Failure> {
    let refused = |why: &dyn core::fmt::Display| {
        Failure::Usage(format!("--data {}: {why}; expected a folder that can be written", data.display()))
    };
    fs::create_dir_all(data).map_err(|error| refused(&error))?;
    let lock = File::create(data.join(".lock")).map_err(|error| refused(&error))?;
    for _ in 0..CLAIMS {
        match lock.try_lock() {
            // A process that was killed a moment ago may not have released the lock yet.
            Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_CLAIMS),
            // On a file system without locks, use the folder anyway.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(lock),
        }
    }
    Err(refused(&"another process uses it, and each node needs its own folder"))
}

fn cache() -> Result<PathBuf, Failure> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    cache.map(|cache| cache.join("rolecall")).ok_or_else(|| {
        Failure::Usage(
            "cannot find the cache, because neither HOME nor XDG_CACHE_HOME is set; give a folder with --data DIR"
                .into(),
        )
    })
}

/// Makes a folder in `data` with links to the books of the toolchain's Rust documentation, about 1,800 pages. The reference
/// of the standard library is left out: it has twenty times as many pages, which take minutes to index.
pub(super) fn rust_documentation(data: &Path) -> Option<PathBuf> {
    const BOOKS: [&str; 5] = ["book", "cargo", "nomicon", "reference", "rust-by-example"];
    let output =
        Command::new("rustc").args(["--print", "sysroot"]).output().ok().filter(|output| output.status.success())?;
    let installed = Path::new(String::from_utf8(output.stdout).ok()?.trim()).join("share/doc/rust/html");
    let folder = data.join("rust-documentation");
    fs::create_dir_all(&folder).ok()?;
    let mut linked = 0;
    for book in BOOKS.iter().filter(|book| installed.join(book).is_dir()) {
        let link = folder.join(book);
        // A link from an earlier run may lead to a toolchain that is gone.
        fs::remove_file(&link).ok();
        linked += usize::from(symlink(installed.join(book), link).is_ok());
    }
    (linked > 0).then_some(folder)
}

/// Writes the project's own guide to a folder in `data`.
pub(super) fn guide(data: &Path) -> Result<PathBuf, Failure> {
    const PAGES: [(&str, &str); 4] = [
        ("operating.md", include_str!("../../guide/operating.md")),
        ("searching.md", include_str!("../../guide/searching.md")),
        ("healing.md", include_str!("../../guide/healing.md")),
        ("redis.md", include_str!("../../guide/redis.md")),
    ];
    let folder = data.join("guide");
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(&folder)?;
        PAGES.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text))
    };
    write().map_err(|error| Failure::Failed(format!("cannot write the guide to {}: {error}", folder.display())))?;
    Ok(folder)
}
