//! Extracts the title and the text of an HTML page.
//!
//! A tokenizer is enough. No tree is built, so deep nesting and tag soup cost nothing.

use html5gum::{DefaultEmitter, State, Token, Tokenizer};

use super::extract::Text;
use super::page::Page;

/// Elements whose text is no markup. A self-closed one is meant to be empty, whatever browsers make of it.
const RAW: [&[u8]; 9] =
    [b"title", b"textarea", b"style", b"script", b"iframe", b"noembed", b"noframes", b"noscript", b"xmp"];

/// Extracts the text of a page.
pub(super) fn extract(text: &str) -> Text {
    let mut page = Page::default();
    let mut emitter = DefaultEmitter::default();
    // Without this, the contents of scripts and the like would be read as tags.
    emitter.naively_switch_states(true);
    let mut tokenizer = Tokenizer::new_with_emitter(text, emitter);
    while let Some(Ok(token)) = tokenizer.next() {
        match token {
            Token::StartTag(tag) => {
                page.open(&tag.name);
                if tag.self_closing {
                    page.close(&tag.name);
                    if RAW.contains(&&**tag.name) {
                        tokenizer.set_state(State::Data);
                    }
                }
            }
            Token::EndTag(tag) => page.close(&tag.name),
            Token::String(text) => page.text(&String::from_utf8_lossy(&text)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    page.finish()
}
