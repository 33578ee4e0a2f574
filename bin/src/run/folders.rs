//! Where a node keeps its index, and what a demo searches, where nothing else is said.

use core::time::Duration;
use std::fs::{self, File, TryLockError};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cli::Failure;

/// A folder of its own for one node: `data` itself, or one under the user's cache.
pub(super) fn data(data: Option<&Path>, cluster: &str, id: &str) -> Result<PathBuf, Failure> {
    match data {
        Some(folder) => Ok(folder.to_owned()),
        None => Ok(cache()?.join(cluster).join(id)),
    }
}

/// How often a folder that is in use is tried.
const CLAIMS: u32 = 20;
/// How long to wait between.
const BETWEEN_CLAIMS: Duration = Duration::from_millis(100);

/// Makes the folder `data` this process's own, for as long as the file is open: two that build indexes in one folder would
/// clear away each other's.
pub(super) fn claim(data: &Path) -> Result<File, Failure> {
    let refused = |why: &dyn core::fmt::Display| {
        Failure::Usage(format!("--data {}: {why}; accepted is a folder that can be written", data.display()))
    };
    fs::create_dir_all(data).map_err(|error| refused(&error))?;
    let lock = File::create(data.join(".lock")).map_err(|error| refused(&error))?;
    for _ in 0..CLAIMS {
        match lock.try_lock() {
            // A process that was killed a moment ago may still be about to let go.
            Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_CLAIMS),
            // A file system without locks keeps no index from being used.
            Ok(()) | Err(TryLockError::Error(_)) => return Ok(lock),
        }
    }
    Err(refused(&"another process uses it, and each node needs one of its own"))
}

fn cache() -> Result<PathBuf, Failure> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    cache.map(|cache| cache.join("rolecall")).ok_or_else(|| {
        Failure::Usage(
            "neither HOME nor XDG_CACHE_HOME says where the cache is; --data DIR says where to keep the index".into(),
        )
    })
}

/// The books of the Rust documentation that came with the toolchain, as links in a folder in `data`: about 1,800 pages. The
/// reference of the standard library beside them has twenty times as many, which takes minutes to index.
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
        // A link of an earlier run may lead to a toolchain that is gone.
        fs::remove_file(&link).ok();
        linked += usize::from(symlink(installed.join(book), link).is_ok());
    }
    (linked > 0).then_some(folder)
}

/// The project's own guide, written to `data`.
pub(super) fn guide(data: &Path) -> Result<PathBuf, Failure> {
    const PAGES: [(&str, &str); 3] = [
        ("operating.md", include_str!("../../guide/operating.md")),
        ("searching.md", include_str!("../../guide/searching.md")),
        ("healing.md", include_str!("../../guide/healing.md")),
    ];
    let folder = data.join("guide");
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(&folder)?;
        PAGES.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text))
    };
    write().map_err(|error| Failure::Failed(format!("can't write the guide to {}: {error}", folder.display())))?;
    Ok(folder)
}
