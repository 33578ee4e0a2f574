//! A wall clock that a test steps, for one process.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;

use super::ServerError;

/// Source of the library that a server preloads.
const SOURCE: &str = include_str!("step_clock.c");

/// The wall clock of one server.
#[derive(Debug)]
pub(super) struct SteppedClock {
    library: &'static Path,
    path: PathBuf,
    file: File,
}

impl SteppedClock {
    /// A clock that shows the true time, until it is stepped.
    pub(super) fn new(folder: &Path) -> Result<Self, ServerError> {
        let path = folder.join("step");
        let file = File::create(&path)?;
        file.write_all_at(&0_i64.to_ne_bytes(), 0)?;
        Ok(Self { library: library()?, path, file })
    }

    /// Makes a command's process see this clock.
    pub(super) fn preload(&self, command: &mut Command) {
        command.env("LD_PRELOAD", self.library).env("ROLECALL_CLOCK_STEP", &self.path);
    }

    /// Steps the clock, by microseconds from the true time so far.
    pub(super) fn step(&self, by_us: i64) {
        let mut bytes = [0; 8];
        let read = self.file_for_reading().and_then(|file| file.read_exact_at(&mut bytes, 0));
        read.expect("the file can be read");
        let step = i64::from_ne_bytes(bytes) + by_us;
        self.file.write_all_at(&step.to_ne_bytes(), 0).expect("the file can be written");
    }

    fn file_for_reading(&self) -> io::Result<File> {
        File::open(&self.path)
    }
}

/// The library, built once in a process of tests.
fn library() -> Result<&'static Path, ServerError> {
    static BUILT: OnceLock<Result<(TempDir, PathBuf), String>> = OnceLock::new();
    match BUILT.get_or_init(build) {
        Ok((_, path)) => Ok(path),
        Err(reason) => Err(ServerError::NoCompiler { reason: reason.clone() }),
    }
}

fn build() -> Result<(TempDir, PathBuf), String> {
    let folder = TempDir::new().map_err(|error| error.to_string())?;
    let (source, library) = (folder.path().join("step_clock.c"), folder.path().join("step_clock.so"));
    fs::write(&source, SOURCE).map_err(|error| error.to_string())?;
    let compiler = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source).output();
    let output = compiler.map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok((folder, library))
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}
