//! Kinds of files that count as documents.

/// Kind of a document, recognized by the extension of the file's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Plain text: `.txt`, `.text`, `.log`, `.rst`, `.org`, `.adoc`, `.asciidoc`, and names without an extension,
    /// such as `README`.
    Text,
    /// Markdown: `.md`, `.markdown`.
    Markdown,
    /// HTML: `.html`, `.htm`, `.xhtml`, `.xht`.
    Html,
}

impl Kind {
    /// Kind of the file called `name`, or `None` if the file is not a document.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let Some((_, ending)) = name.rsplit_once('.') else { return Some(Self::Text) };
        match ending.to_ascii_lowercase().as_str() {
            "txt" | "text" | "log" | "rst" | "org" | "adoc" | "asciidoc" => Some(Self::Text),
            "md" | "markdown" => Some(Self::Markdown),
            "html" | "htm" | "xhtml" | "xht" => Some(Self::Html),
            _ => None,
        }
    }
}
