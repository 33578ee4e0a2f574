//! Collects the title and the text of a page from its elements, whichever parser finds these.

use super::extract::Text;

/// Page that is being read. Its text leaves out scripts, styles and navigation; if it has a `<main>` element, only the text of that
/// counts.
#[derive(Default)]
pub(super) struct Page {
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

impl Page {
    pub(super) fn open(&mut self, name: &[u8]) {
        self.separate(name);
        match name {
            // A picture's title is not that of the page.
            b"title" if self.title.is_empty() && !self.is_in(b"svg") => self.in_title = true,
            b"main" if self.main.is_none() => self.main_from = Some(self.body.len()),
            _ if DROPPED.contains(&name) && self.dropped_from.len() < DEEPEST => {
                self.dropped_from.push((name.to_vec(), self.body.len()));
            }
            _ => {}
        }
    }

    pub(super) fn close(&mut self, name: &[u8]) {
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

    pub(super) fn text(&mut self, text: &str) {
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

    fn is_in(&self, name: &[u8]) -> bool {
        self.dropped_from.iter().any(|(open, _)| open == name)
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

    pub(super) fn finish(self) -> Text {
        let body = self.main.filter(|main| !main.trim().is_empty()).unwrap_or(self.body);
        let title_is_apart = !self.title.is_empty();
        Text { title: self.title, title_is_apart, body: body.trim().to_owned() }
    }
}
