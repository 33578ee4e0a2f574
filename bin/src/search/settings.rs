//! Settings on which all nodes of a cluster must agree.

use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Serialize};

/// Settings of the whole cluster. A node with other settings would rank or divide the documents differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Number of shards into which the documents are divided. Default: 64.
    pub shards: Shards,
    /// Formula that scores documents. Default: BM25.
    pub ranking: Ranking,
}

impl Default for Settings {
    fn default() -> Self {
        Self { shards: Shards(64), ranking: Ranking::Bm25 }
    }
}

impl fmt::Display for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} shards, ranking {}", self.shards.0, self.ranking)
    }
}

/// Number of shards, from 1 to [`Shards::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct Shards(u16);

impl Shards {
    /// Largest number of shards in a cluster.
    pub const MAX: u16 = 4096;

    /// The number of shards.
    #[must_use]
    pub const fn count(self) -> u16 {
        self.0
    }
}

impl TryFrom<u16> for Shards {
    type Error = BadShards;

    fn try_from(count: u16) -> Result<Self, BadShards> {
        if (1..=Self::MAX).contains(&count) { Ok(Self(count)) } else { Err(BadShards(count.to_string())) }
    }
}

impl From<Shards> for u16 {
    fn from(shards: Shards) -> Self {
        shards.0
    }
}

impl FromStr for Shards {
    type Err = BadShards;

    fn from_str(text: &str) -> Result<Self, BadShards> {
        let count: u16 = text.parse().map_err(|_| BadShards(text.to_owned()))?;
        count.try_into()
    }
}

/// Number of shards that is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a number of shards: a whole number from 1 to {max} is accepted", max = Shards::MAX)]
pub struct BadShards(String);

/// Formula that scores documents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ranking {
    /// Okapi BM25 (k1 = 1.2, b = 0.75) over words stemmed as English.
    #[default]
    Bm25,
    /// The textbook formula, a sum of `count / words * log10(documents / documents with the word)`, over plain words.
    Tfidf,
}

impl fmt::Display for Ranking {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Bm25 => "bm25",
            Self::Tfidf => "tfidf",
        })
    }
}

impl FromStr for Ranking {
    type Err = BadRanking;

    fn from_str(text: &str) -> Result<Self, BadRanking> {
        match text {
            "bm25" => Ok(Self::Bm25),
            "tfidf" => Ok(Self::Tfidf),
            other => Err(BadRanking(other.to_owned())),
        }
    }
}

/// Ranking that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a ranking: `bm25` and `tfidf` are accepted")]
pub struct BadRanking(String);
