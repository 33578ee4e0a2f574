//! Splits a query's text into tokens.

use super::parser::BadQuery;

/// Smallest part of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Word as typed; the analyzer may turn it into several terms.
    Word(&'a str),
    /// Text between two quotes.
    Phrase(&'a str),
    And,
    Or,
    Not,
    Open,
    Close,
}

/// Tokens of `text`, each with the position of its first character, counted from 1.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token<'_>, usize)>, BadQuery> {
    let mut tokens = Vec::new();
    let mut column = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '(' => (Some(Token::Open), 1),
            ')' => (Some(Token::Close), 1),
            '"' => {
                let end = rest[1..].find('"').ok_or(BadQuery::OpenQuote { column })? + 1;
                (Some(Token::Phrase(&rest[1..end])), end + 1)
            }
            white if white.is_whitespace() => (None, white.len_utf8()),
            _ => {
                let end = rest.find(|c: char| c.is_whitespace() || "()\"".contains(c)).unwrap_or(rest.len());
                (Some(word(&rest[..end])), end)
            }
        };
        let (taken, left) = rest.split_at(length);
        tokens.extend(token.map(|token| (token, column)));
        column += taken.chars().count();
        rest = left;
    }
    Ok(tokens)
}

fn word(word: &str) -> Token<'_> {
    match word {
        "AND" => Token::And,
        "OR" => Token::Or,
        "NOT" => Token::Not,
        word => Token::Word(word),
    }
}
