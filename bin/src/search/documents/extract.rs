//! Extracts the title and the text of a document.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::kind::Kind;
use super::skip::SkipReason;
use super::{html, xhtml};

/// Longest title, in characters.
const LONGEST_TITLE: usize = 200;

/// Text of a document, for searching and for showing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// Title that the document gives itself, or else the name of its file.
    pub title: String,
    /// True if the title does not occur in the body, so that its words have to be indexed separately.
    pub title_is_apart: bool,
    /// Text without the markup that the format hides from readers.
    pub body: String,
}

/// Extracts the text of the file at `path` from its contents.
///
/// Time and memory are linear in the size of the contents, whatever they are. If the parser panics, only this document
/// is lost.
///
/// # Errors
/// If the parser fails.
pub(crate) fn extract(kind: Kind, path: &str, contents: String) -> Result<Text, SkipReason> {
    let mut text = match kind {
        Kind::Text => Text { body: contents, ..Text::default() },
        Kind::Markdown => Text { title: heading(&contents), body: contents, ..Text::default() },
        Kind::Html => catch_unwind(AssertUnwindSafe(|| page(path, &contents))).map_err(|_| SkipReason::Unparsable)?,
    };
    text.title = one_line(&text.title);
    if text.title.is_empty() {
        text.title = path.rsplit('/').next().unwrap_or(path).to_owned();
        text.title_is_apart = false;
    }
    Ok(text)
}

/// Text of a page, parsed as what it says it is. Pages that say XHTML and are not well-formed are read as HTML, as browsers show them.
fn page(path: &str, contents: &str) -> Text {
    let as_xml = if xhtml::is_xhtml(path, contents) { xhtml::extract(contents) } else { None };
    as_xml.unwrap_or_else(|| html::extract(contents))
}

/// First heading of a Markdown text: `# Title`, or a line underlined with `===`.
fn heading(contents: &str) -> String {
    let mut before = "";
    for line in contents.lines().take(100) {
        if let Some(title) = line.strip_prefix("# ") {
            return title.trim_end_matches('#').to_owned();
        }
        if line.starts_with("==") && line.trim_end().bytes().all(|byte| byte == b'=') {
            return before.to_owned();
        }
        before = line;
    }
    String::new()
}

/// `text` with each run of white space replaced by one space, cut to the length of a title.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > LONGEST_TITLE * 4 {
            break;
        }
    }
    match line.char_indices().nth(LONGEST_TITLE) {
        Some((end, _)) => line[..end].to_owned() + "…",
        None => line,
    }
}
