//! Texts of any origin into every parser: none panics, and a parsed value reads the same after it is written.
//!
//! The first byte chooses the parser, the rest is the text.

mod application;
mod journal;
mod store;

/// Reads `data`.
///
/// # Panics
/// If a parser does, or if a value does not survive being written and read again.
pub fn run(data: &[u8]) {
    let Some((parser, text)) = data.split_first() else { return };
    match parser % 10 {
        0 => store::names(text),
        1 => store::term(text),
        2 => store::entry(text),
        3 => store::url(text),
        4 => journal::line(text),
        5 => application::configuration(text),
        6 => application::task(text),
        7 => application::query(text),
        8 => application::answer(text),
        _ => application::value(text),
    }
}
