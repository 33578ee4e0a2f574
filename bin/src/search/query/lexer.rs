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
    /// `+` before an operand, which every document must then have.
    Plus,
    /// `-` before an operand, which no document may then have.
    Minus,
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
            '+' if is_operand(&rest[1..]) => (Some(Token::Plus), 1),
            '-' if is_operand(&rest[1..]) => (Some(Token::Minus), 1),
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

/// True if an operand begins right here.
fn is_operand(rest: &str) -> bool {
    rest.starts_with(|first: char| first.is_alphanumeric() || first == '"' || first == '(')
}

fn word(word: &str) -> Token<'_> {
    match word {
        "AND" => Token::And,
        "OR" => Token::Or,
        "NOT" => Token::Not,
        word => Token::Word(word),
    }
}
