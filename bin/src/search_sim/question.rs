//! Questions of the simulated search.

use core::fmt;

/// Search request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    /// Query as a person types it.
    pub query: &'static str,
    /// Number of hits to return.
    pub limit: usize,
    /// Number of the best hits to skip.
    pub offset: usize,
}

/// Questions asked throughout a run: queries of every form, pages, and some that are refused.
pub(super) const QUESTIONS: &[Question] = &[
    first("river"),
    first("stone lantern"),
    first("river AND stone"),
    first("river NOT stone"),
    first("\"river river\""),
    first("\"stone river\" orchard"),
    first("(copper AND river) OR (falcon AND stone)"),
    first("meadow AND (harbour OR winter) NOT \"river stone\""),
    first("rivers Lanterns"),
    first("zeppelin"),
    page("river stone", 3, 0),
    page("river stone", 3, 3),
    page("river stone lantern meadow", 100, 0),
    page("river", 5, 30),
    page("lantern", 0, 0),
    first("\"river"),
    first(""),
    page("river", 1_001, 0),
];

const fn first(query: &'static str) -> Question {
    page(query, 10, 0)
}

const fn page(query: &'static str, limit: usize, offset: usize) -> Question {
    Question { query, limit, offset }
}

impl Question {
    /// Asks for the first ten hits for `query`.
    #[must_use]
    pub const fn new(query: &'static str) -> Self {
        first(query)
    }

    /// Path and query of the request.
    pub(super) fn target(&self) -> String {
        let Self { query, limit, offset } = self;
        let mut target = format!("/search?limit={limit}&offset={offset}&q=");
        for byte in query.bytes() {
            match byte {
                b' ' => target.push('+'),
                byte if byte.is_ascii_alphanumeric() => target.push(char::from(byte)),
                byte => target.push_str(&format!("%{byte:02x}")),
            }
        }
        target
    }
}

impl fmt::Display for Question {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { query, limit, offset } = self;
        write!(formatter, "`{query}`, {limit} from {offset} on")
    }
}
