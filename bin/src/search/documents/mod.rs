//! Finds the documents and extracts their text.
//!
//! ```text
//! folder ──walk──► files with their stamps ──by shard──► read ──extract──► title and body
//!                  skipped files                         └─► skipped
//! ```
//! No problem with a file is fatal: a file that cannot be a document is skipped, with the reason.

mod encoding;
mod extract;
mod folder;
mod html;
mod kind;
mod page;
mod read;
mod skip;
mod source;
mod walk;
mod watch;
mod xhtml;

pub use encoding::Charset;
pub use extract::Text;
pub use folder::Folder;
pub use kind::Kind;
pub use read::{Content, MAX_FILE_BYTES};
pub use skip::{SkipReason, Skipped, SkippedReport};
pub use source::Source;
pub use walk::{DocumentFile, FolderError, Links, Scan, Stamp, scan};

pub(crate) use extract::extract;
pub(crate) use read::read;

#[cfg(test)]
mod tests;
