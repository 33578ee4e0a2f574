//! What kinds of files are documents.

/// The kind of a document, told by the end of its file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Plain UTF-8 text: `.txt`, `.text`, `.log`, `.rst`, `.org`, `.adoc`, `.asciidoc`, and names without an ending, as of
    /// `README`.
    Text,
    /// Markdown: `.md`, `.markdown`.
    Markdown,
    /// HTML: `.html`, `.htm`, `.xhtml`.
    Html,
}

impl Kind {
    /// The kind of a file of this name, or `None` for one that is no document.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let Some((_, ending)) = name.rsplit_once('.') else { return Some(Self::Text) };
        match ending.to_ascii_lowercase().as_str() {
            "txt" | "text" | "log" | "rst" | "org" | "adoc" | "asciidoc" => Some(Self::Text),
            "md" | "markdown" => Some(Self::Markdown),
            "html" | "htm" | "xhtml" => Some(Self::Html),
            _ => None,
        }
    }
}
