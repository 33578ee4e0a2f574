//! Files that are not searched, with the reason.

use core::fmt;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::read::MAX_FILE_BYTES;

/// Reason for which a file is not searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// The extension is not one of text, Markdown or HTML.
    UnknownKind,
    /// The file is larger than [`MAX_FILE_BYTES`].
    TooLarge,
    /// The file contains bytes that no text has.
    Binary,
    /// The contents are text in no encoding that is known.
    UnknownEncoding,
    /// The name is not UTF-8.
    NameNotUtf8,
    /// The file or folder could not be opened or read.
    Unreadable,
    /// Not a regular file, but a socket, a pipe, a device or a dangling link.
    NotAFile,
    /// A link to a folder that contains the link.
    Loop,
    /// A file or folder that is found under another path, too. It is searched under the shortest.
    SeenElsewhere,
    /// The parser failed to extract the text.
    Unparsable,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKind => formatter.write_str("not text, Markdown or HTML by its name"),
            Self::TooLarge => write!(formatter, "larger than {} MiB", MAX_FILE_BYTES >> 20),
            Self::Binary => formatter.write_str("binary"),
            Self::UnknownEncoding => formatter.write_str("text in an encoding that is not known: convert it to UTF-8"),
            Self::NameNotUtf8 => formatter.write_str("its name is not UTF-8"),
            Self::Unreadable => formatter.write_str("unreadable"),
            Self::NotAFile => formatter.write_str("not a regular file"),
            Self::Loop => formatter.write_str("a link to a folder that contains it"),
            Self::SeenElsewhere => formatter.write_str("found under a shorter path, too"),
            Self::Unparsable => formatter.write_str("its text could not be extracted"),
        }
    }
}

/// File that is not searched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    /// Path relative to the documents folder. Bytes that are not UTF-8 are replaced.
    pub path: String,
    /// Reason for skipping the file.
    pub reason: SkipReason,
}

/// Counts of the skipped files, with the first few by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SkippedReport {
    /// Number of skipped files for each reason.
    pub counts: BTreeMap<SkipReason, u64>,
    /// The first skipped files, at most [`Self::EXAMPLES`] for each reason.
    pub examples: Vec<Skipped>,
}

impl SkippedReport {
    /// Largest number of files that are named for each reason.
    pub const EXAMPLES: u64 = 20;

    /// Counts a skipped file.
    pub fn add(&mut self, skipped: &Skipped) {
        let count = self.counts.entry(skipped.reason).or_default();
        *count += 1;
        if *count <= Self::EXAMPLES {
            self.examples.push(skipped.clone());
        }
    }

    /// Number of skipped files.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }
}
