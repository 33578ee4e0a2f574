//! Parameters of `/search`, from its query string.

use percent_encoding::percent_decode_str;

use crate::search::coordinator::SearchRequest;

/// Default number of hits.
const LIMIT: usize = 10;

/// Fault of a query string.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadParameters {
    #[error("the parameter q is missing; expected /search?q=WORDS, optionally with &limit=10&offset=0")]
    NoQuery,
    #[error("the parameter {0} is given more than once")]
    Twice(&'static str),
    #[error("{name}={value} is not a number; a whole number from 0 on is accepted")]
    NoNumber { name: &'static str, value: String },
    #[error("`{0}` is not percent-encoded UTF-8")]
    Encoding(String),
}

/// Parses `q`, `limit` and `offset`, and ignores other parameters.
pub(super) fn parse(query: &str) -> Result<SearchRequest, BadParameters> {
    let (mut q, mut limit, mut offset) = (None, None, None);
    for pair in query.split('&') {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, slot) = match name {
            "q" => ("q", &mut q),
            "limit" => ("limit", &mut limit),
            "offset" => ("offset", &mut offset),
            _ => continue,
        };
        if slot.replace(decode(value)?).is_some() {
            return Err(BadParameters::Twice(name));
        }
    }
    let number = |name, value: Option<String>, default| match value {
        None => Ok(default),
        Some(value) => value.parse().map_err(|_| BadParameters::NoNumber { name, value }),
    };
    Ok(SearchRequest {
        query: q.ok_or(BadParameters::NoQuery)?,
        limit: number("limit", limit, LIMIT)?,
        offset: number("offset", offset, 0)?,
    })
}

/// Decodes a value of `application/x-www-form-urlencoded` (WHATWG URL, 5.1), strictly.
fn decode(value: &str) -> Result<String, BadParameters> {
    let is_code = |after: &str| after.bytes().take(2).filter(u8::is_ascii_hexdigit).count() == 2;
    let spaced = value.replace('+', " ");
    match percent_decode_str(&spaced).decode_utf8() {
        Ok(decoded) if value.split('%').skip(1).all(is_code) => Ok(decoded.into_owned()),
        Ok(_) | Err(_) => Err(BadParameters::Encoding(value.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::{BadParameters, parse};
    use crate::search::coordinator::SearchRequest;

    #[test]
    fn parameters_are_decoded_and_have_defaults() {
        let request = |query: &str, limit, offset| Ok(SearchRequest { query: query.to_owned(), limit, offset });
        assert_eq!(parse("q=a+b%20%C3%A9%26"), request("a b é&", 10, 0));
        assert_eq!(parse("limit=3&q=x&offset=7&theme=dark"), request("x", 3, 7));
        assert_eq!(parse("q="), request("", 10, 0));
    }

    #[test]
    fn malformed_parameters_are_named() {
        assert_eq!(parse(""), Err(BadParameters::NoQuery));
        assert_eq!(parse("limit=1"), Err(BadParameters::NoQuery));
        assert_eq!(parse("q=a&q=b"), Err(BadParameters::Twice("q")));
        for limit in ["-1", "ten", "", "1.5", "99999999999999999999999"] {
            let value = limit.to_owned();
            assert_eq!(parse(&format!("q=a&limit={limit}")), Err(BadParameters::NoNumber { name: "limit", value }));
        }
        for query in ["%", "%2", "%zz", "%+1", "a%2", "%ff"] {
            assert_eq!(parse(&format!("q={query}")), Err(BadParameters::Encoding(query.to_owned())));
        }
    }
}
