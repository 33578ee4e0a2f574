//! Reading end of a journal.

use core::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use thiserror::Error;

use flate2::read::MultiGzDecoder;

use super::file::{files, is_compressed};
use super::{Header, Record};

/// Reads a journal: one file, or all files of a folder in order.
///
/// # Errors
/// If the path cannot be read, or is a folder without journals.
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

/// Place in a journal.
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

type Reader = Box<dyn BufRead + Send>;

/// Lines of a journal in order, without the headers of its files, which must be of this version.
///
/// A last line without an end was being written when the process died, and is left out.
pub struct Records {
    /// Files still to be read; the last is next.
    rest: Vec<PathBuf>,
    file: Option<(Reader, Place)>,
}

impl Records {
    fn next_file(&mut self) -> Result<bool, JournalError> {
        let Some(path) = self.rest.pop() else { return Ok(false) };
        let file = File::open(&path).map_err(|source| JournalError::Open { path: path.clone(), source })?;
        let reader: Reader = if is_compressed(&path) {
            Box::new(BufReader::new(MultiGzDecoder::new(file)))
        } else {
            Box::new(BufReader::new(file))
        };
        self.file = Some((reader, Place { file: path, line: 0 }));
        Ok(true)
    }
}

impl fmt::Debug for Records {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.file.as_ref().map(|(_, place)| place);
        formatter.debug_struct("Records").field("rest", &self.rest).field("place", &place).finish()
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
            let record = match parse(&text, place) {
                Ok(None) => continue,
                Ok(Some(record)) => Ok(record),
                Err(error) => {
                    self.file = None;
                    self.rest.clear();
                    Err(error)
                }
            };
            return Some(record);
        }
    }
}

/// Reads a line; `None` for the header of a file.
fn parse(text: &[u8], place: Place) -> Result<Option<(Place, Record)>, JournalError> {
    if place.line > 1 {
        return match serde_json::from_slice(text) {
            Ok(record) => Ok(Some((place, record))),
            Err(source) => Err(JournalError::Malformed { place, source }),
        };
    }
    match serde_json::from_slice::<Header>(text) {
        Ok(header) if header.is_readable() => Ok(None),
        Ok(header) => Err(JournalError::Version { place, header }),
        Err(_) => Err(JournalError::NoJournal { place }),
    }
}

/// Reason for which a journal cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// A file or folder cannot be opened.
    #[error("{}: {source}", path.display())]
    Open {
        /// Path of the file or folder.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The folder has no journals.
    #[error("{}: no journal in this folder; accepted: files journal-*.jsonl and journal-*.jsonl.gz", path.display())]
    Empty {
        /// Path of the folder.
        path: PathBuf,
    },
    /// Reading failed in the middle of a file.
    #[error("{place}: {source}")]
    Read {
        /// Place of the failure.
        place: Place,
        /// Error of the system.
        source: io::Error,
    },
    /// A file does not begin as a journal does.
    #[error("{place}: not the first line of a journal, which names its version")]
    NoJournal {
        /// Place of the line.
        place: Place,
    },
    /// A file was written in a form that this version does not read.
    #[error(
        "{place}: this journal has version {} and family {} (written by rolecall {}); this program reads version {} of \
         the families queue and lease. Replay it with the version that wrote it",
        header.journal, header.family, header.core, super::VERSION
    )]
    Version {
        /// Place of the line.
        place: Place,
        /// Header of the file.
        header: Header,
    },
    /// A line is damaged.
    #[error("{place}: this line is damaged: {source}")]
    Malformed {
        /// Place of the line.
        place: Place,
        /// Fault of the line.
        source: serde_json::Error,
    },
}
