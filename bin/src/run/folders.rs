//! Where a node keeps its index, and what a demo searches, where nothing else is said.

use std::fs;
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

fn cache() -> Result<PathBuf, Failure> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = folder("XDG_CACHE_HOME").or_else(|| folder("HOME").map(|home| home.join(".cache")));
    cache.map(|cache| cache.join("rolecall")).ok_or_else(|| {
        Failure::Usage(
            "neither HOME nor XDG_CACHE_HOME says where the cache is; --data DIR says where to keep the index".into(),
        )
    })
}

/// The Rust documentation that came with the toolchain.
pub(super) fn rust_documentation() -> Option<PathBuf> {
    let output =
        Command::new("rustc").args(["--print", "sysroot"]).output().ok().filter(|output| output.status.success())?;
    let folder = Path::new(String::from_utf8(output.stdout).ok()?.trim()).join("share/doc/rust/html");
    folder.join("book").is_dir().then_some(folder)
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
