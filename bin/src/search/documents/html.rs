//! Extracts the title and the text of an HTML page.
//!
//! A tokenizer is enough. No tree is built, so deep nesting and tag soup cost nothing.

use html5gum::{DefaultEmitter, Token, Tokenizer};

use super::extract::Text;

/// Extracts the text of a page, without scripts, styles and navigation. If the page has a `<main>` element, only the text
/// of that element counts.
pub(super) fn extract(page: &str) -> Text {
    let mut reader = Reader::default();
    let mut emitter = DefaultEmitter::default();
    // Without this, the contents of scripts and the like would be read as tags.
    emitter.naively_switch_states(true);
    for Ok(token) in Tokenizer::new_with_emitter(page, emitter) {
        match token {
            Token::StartTag(tag) => {
                reader.open(&tag.name);
                if tag.self_closing {
                    reader.close(&tag.name);
                }
            }
            Token::EndTag(tag) => reader.close(&tag.name),
            Token::String(text) => reader.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    reader.finish()
}

#[derive(Default)]
struct Reader {
    body: String,
    title: String,
    in_title: bool,
    /// Open elements whose text is dropped when they close: the name, and the length of `body` when the element opened.
    /// An element that never closes keeps its text: too much text is better than none.
    dropped_from: Vec<(Vec<u8>, usize)>,
    main_from: Option<usize>,
    main: Option<String>,
}

/// Elements whose text is not part of the page's text.
const DROPPED: [&[u8]; 9] =
    [b"head", b"nav", b"noscript", b"script", b"style", b"svg", b"template", b"textarea", b"select"];

/// Inline elements. They do not separate words: `<b>t</b>wo` is one word.
const INLINE: [&[u8]; 22] = [
    b"a", b"abbr", b"b", b"bdi", b"bdo", b"cite", b"code", b"dfn", b"em", b"font", b"i", b"kbd", b"mark", b"q", b"s",
    b"samp", b"small", b"span", b"strong", b"u", b"var", b"wbr",
];

/// Largest number of nested dropped elements that are tracked. Anything deeper is junk.
const DEEPEST: usize = 64;

impl Reader {
    fn open(&mut self, name: &[u8]) {
        self.separate(name);
        match name {
            b"title" if self.title.is_empty() => self.in_title = true,
            b"main" if self.main.is_none() => self.main_from = Some(self.body.len()),
            _ if DROPPED.contains(&name) && self.dropped_from.len() < DEEPEST => {
                self.dropped_from.push((name.to_vec(), self.body.len()));
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &[u8]) {
        self.separate(name);
        match name {
            b"title" => self.in_title = false,
            b"main" => {
                if let Some(from) = self.main_from.take() {
                    self.main = self.body.get(from..).map(str::to_owned);
                }
            }
            _ => {
                if let Some(at) = self.dropped_from.iter().rposition(|(open, _)| open == name) {
                    self.body.truncate(self.dropped_from[at].1);
                    self.dropped_from.truncate(at);
                }
            }
        }
    }

    fn text(&mut self, text: &str) {
        if self.in_title {
            self.title.push_str(text);
            return;
        }
        for (index, word) in text.split(char::is_whitespace).enumerate() {
            if index > 0 {
                self.space();
            }
            self.body.push_str(word);
        }
    }

    /// Separates the words before and after a block element.
    fn separate(&mut self, name: &[u8]) {
        if !INLINE.contains(&name) {
            self.space();
        }
    }

    fn space(&mut self) {
        if self.body.chars().next_back().is_some_and(|last| last != ' ') {
            self.body.push(' ');
        }
    }

    fn finish(self) -> Text {
        let body = self.main.filter(|main| !main.trim().is_empty()).unwrap_or(self.body);
        let title_is_apart = !self.title.is_empty();
        Text { title: self.title, title_is_apart, body: body.trim().to_owned() }
    }
}
