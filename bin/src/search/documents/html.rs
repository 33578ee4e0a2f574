//! The title and the text of an HTML page.
//!
//! A tokenizer suffices and no tree is built, so that deep nesting and tag soup cost nothing.

use html5gum::{DefaultEmitter, Token, Tokenizer};

use super::extract::Text;

/// The text of a page: that of its `<main>` where it has one, without scripts, styles and navigation.
pub(super) fn extract(page: &str) -> Text {
    let mut reader = Reader::default();
    let mut emitter = DefaultEmitter::default();
    // The contents of scripts and the like are not tags.
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
    /// Where in `body` the text of an open element began that is dropped when it closes. One that never closes keeps its
    /// text: better too much than nothing.
    dropped_from: Vec<(Vec<u8>, usize)>,
    main_from: Option<usize>,
    main: Option<String>,
}

/// Elements whose text is not the page's.
const DROPPED: [&[u8]; 9] =
    [b"head", b"nav", b"noscript", b"script", b"style", b"svg", b"template", b"textarea", b"select"];

/// Elements that stand in the line: the text around them is one word.
const INLINE: [&[u8]; 22] = [
    b"a", b"abbr", b"b", b"bdi", b"bdo", b"cite", b"code", b"dfn", b"em", b"font", b"i", b"kbd", b"mark", b"q", b"s",
    b"samp", b"small", b"span", b"strong", b"u", b"var", b"wbr",
];

/// Deeper nesting of dropped elements is not followed: it is junk.
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

    /// Words on both sides of a block do not run together.
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
