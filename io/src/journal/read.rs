//! The reading end.

use core::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Record;
use super::file::files;

/// Reads a journal: one file, or a folder with all that follow one another.
///
/// # Errors
/// The path can't be read, or is a folder without journals.
pub fn read(path: &Path) -> Result<Records, JournalError> {
    let open = |source| JournalError::Open { path: path.to_owned(), source };
    let mut paths = if path.is_dir() { files(path).map_err(open)? } else { vec![path.to_owned()] };
    if paths.is_empty() {
        return Err(JournalError::Empty { path: path.to_owned() });
    }
    paths.reverse();
    let mut records = Records { rest: paths, file: None };
    records.next_file()?;
    Ok(records)
}

/// Where in a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file.display(), self.line)
    }
}

/// The lines of a journal in order.
///
/// A last line of a file that has no end was being written when the process died; it is left out.
#[derive(Debug)]
pub struct Records {
    /// The last is next.
    rest: Vec<PathBuf>,
    file: Option<(BufReader<File>, Place)>,
}

impl Records {
    fn next_file(&mut self) -> Result<bool, JournalError> {
        let Some(path) = self.rest.pop() else { return Ok(false) };
        let file = File::open(&path).map_err(|source| JournalError::Open { path: path.clone(), source })?;
        self.file = Some((BufReader::new(file), Place { file: path, line: 0 }));
        Ok(true)
    }
}

impl Iterator for Records {
    type Item = Result<(Place, Record), JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut text = Vec::new();
        loop {
            let (reader, place) = self.file.as_mut()?;
            place.line += 1;
            let place = place.clone();
            text.clear();
            match reader.read_until(b'\n', &mut text) {
                Ok(_) if text.ends_with(b"\n") => {}
                Ok(length) => {
                    if length > 0 {
                        tracing::warn!(%place, "this line has no end and is left out");
                    }
                    self.file = None;
                    match self.next_file() {
                        Ok(true) => continue,
                        Ok(false) => return None,
                        Err(error) => return Some(Err(error)),
                    }
                }
                Err(source) => {
                    self.file = None;
                    return Some(Err(JournalError::Read { place, source }));
                }
            }
            let record = serde_json::from_slice(&text);
            return Some(match record {
                Ok(record) => Ok((place, record)),
                Err(source) => {
                    self.file = None;
                    Err(JournalError::Malformed { place, source })
                }
            });
        }
    }
}

/// Why a journal can't be read.
#[derive(Debug, Error)]
pub enum JournalError {
    /// A file or folder can't be opened.
    #[error("{}: {source}", path.display())]
    Open {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The folder has no journals.
    #[error("{}: no journal in this folder: accepted are files journal-*.jsonl", path.display())]
    Empty {
        /// Which.
        path: PathBuf,
    },
    /// A file can't be read on.
    #[error("{place}: {source}")]
    Read {
        /// Where.
        place: Place,
        /// What the system says.
        source: io::Error,
    },
    /// A line is none of a journal, or of one that another version wrote.
    #[error("{place}: not a line of a journal that this version reads: {source}")]
    Malformed {
        /// Where.
        place: Place,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}
