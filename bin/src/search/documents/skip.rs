//! Files that are not searched, and why.

use core::fmt;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::read::MAX_FILE_BYTES;

/// Why a file is not searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// The end of its name says that it is no text, Markdown or HTML.
    UnknownKind,
    /// It is larger than [`MAX_FILE_BYTES`].
    TooLarge,
    /// It holds a zero byte, so it is no text.
    Binary,
    /// It is not UTF-8.
    NotUtf8,
    /// Its name is not UTF-8.
    NameNotUtf8,
    /// It could not be opened or read.
    Unreadable,
    /// It is no regular file: a socket, a pipe, a device, a link to nothing.
    NotAFile,
    /// A link to a folder that it lies in.
    Loop,
    /// Its text could not be made out: the parser failed.
    Unparsable,
}

impl fmt::Display for SkipReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKind => formatter.write_str("not text, Markdown or HTML by its name"),
            Self::TooLarge => write!(formatter, "larger than {} MiB", MAX_FILE_BYTES >> 20),
            Self::Binary => formatter.write_str("binary"),
            Self::NotUtf8 => formatter.write_str("not UTF-8"),
            Self::NameNotUtf8 => formatter.write_str("its name is not UTF-8"),
            Self::Unreadable => formatter.write_str("unreadable"),
            Self::NotAFile => formatter.write_str("not a regular file"),
            Self::Loop => formatter.write_str("a link to a folder that it lies in"),
            Self::Unparsable => formatter.write_str("its text could not be made out"),
        }
    }
}

/// A file that is not searched.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Skipped {
    /// Its path, relative to the documents folder; what is not UTF-8 in it is replaced.
    pub path: String,
    /// Why.
    pub reason: SkipReason,
}

/// All that was skipped, counted, with the first few by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SkippedReport {
    /// How many, by reason.
    pub counts: BTreeMap<SkipReason, u64>,
    /// The first by name, at most [`Self::EXAMPLES`] for each reason.
    pub examples: Vec<Skipped>,
}

impl SkippedReport {
    /// How many files of each reason are named.
    pub const EXAMPLES: u64 = 20;

    /// Counts one more.
    pub fn add(&mut self, skipped: &Skipped) {
        let count = self.counts.entry(skipped.reason).or_default();
        *count += 1;
        if *count <= Self::EXAMPLES {
            self.examples.push(skipped.clone());
        }
    }

    /// How many there are in all.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.values().sum()
    }
}
