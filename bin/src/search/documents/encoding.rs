//! Character encodings: finds out how the bytes of a file stand for text.
//!
//! In this order: a byte order mark, UTF-16 without one, UTF-8, the encoding that a page declares, and a guess by the frequencies of
//! letters, as browsers do it.

use core::fmt;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;
use serde::{Deserialize, Serialize};

use super::kind::Kind;
use super::skip::SkipReason;

/// Encoding of a document's text.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct Charset(&'static Encoding);

impl Charset {
    /// The encoding that most files have.
    pub const UTF_8: Self = Self(UTF_8);

    /// Name of the encoding in the Encoding Standard of WHATWG.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0.name()
    }
}

impl fmt::Debug for Charset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl From<Charset> for &'static str {
    fn from(charset: Charset) -> Self {
        charset.name()
    }
}

impl TryFrom<String> for Charset {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Encoding::for_label(name.as_bytes()).map(Self).ok_or_else(|| format!("`{name}` is no encoding"))
    }
}

/// Length of the beginning of a page in which it may declare its encoding, in bytes.
const DECLARED_WITHIN: usize = 1024;

/// Decodes `bytes` and returns the text, without a byte order mark, with its encoding.
///
/// # Errors
/// If the bytes are no text, or text in no encoding that is known.
pub(super) fn decode(kind: Kind, bytes: Vec<u8>) -> Result<(String, Charset), SkipReason> {
    if let Some((marked, length)) = Encoding::for_bom(&bytes) {
        return decode_as(marked, &bytes[length..]);
    }
    if bytes.contains(&0) {
        return utf_16(&bytes);
    }
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Ok((text, Charset::UTF_8)),
        Err(error) => error.into_bytes(),
    };
    if let Some(encoding) = declared(kind, &bytes)
        && let Ok(decoded) = decode_as(encoding, &bytes)
    {
        return Ok(decoded);
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(&bytes, true);
    decode_as(detector.guess(None, Utf8Detection::Deny), &bytes)
}

fn decode_as(encoding: &'static Encoding, bytes: &[u8]) -> Result<(String, Charset), SkipReason> {
    let Some(text) = encoding.decode_without_bom_handling_and_without_replacement(bytes) else {
        return Err(SkipReason::UnknownEncoding);
    };
    // No UTF-8 text is refused for its control characters, so none is with a mark.
    if encoding != UTF_8 && text.chars().any(is_control) {
        return Err(SkipReason::Binary);
    }
    Ok((text.into_owned(), Charset(encoding)))
}

/// Decodes UTF-16 without a mark. Its white space and the letters of many scripts have zero bytes, always on the same side.
fn utf_16(bytes: &[u8]) -> Result<(String, Charset), SkipReason> {
    let zeros = |side: usize| bytes.iter().skip(side).step_by(2).filter(|byte| **byte == 0).count();
    let encoding = if zeros(0) > zeros(1) { UTF_16BE } else { UTF_16LE };
    let Ok((text, charset)) = decode_as(encoding, bytes) else { return Err(SkipReason::Binary) };
    // Other data hits characters that no text has.
    let categories = CodePointMapData::<GeneralCategory>::new();
    let is_text =
        |character| !matches!(categories.get(character), GeneralCategory::Unassigned | GeneralCategory::PrivateUse);
    if text.chars().all(is_text) { Ok((text, charset)) } else { Err(SkipReason::Binary) }
}

/// True for characters that stand in no text.
fn is_control(character: char) -> bool {
    character.is_control() && !matches!(character, '\t' | '\n' | '\r' | '\u{c}' | '\u{85}' | '\u{1a}' | '\u{1b}')
}

/// Encoding that a page declares, in an XML declaration or a `<meta>` element.
fn declared(kind: Kind, bytes: &[u8]) -> Option<&'static Encoding> {
    match kind {
        Kind::Html => {}
        Kind::Text | Kind::Markdown => return None,
    }
    let beginning = &bytes[..bytes.len().min(DECLARED_WITHIN)];
    let beginning: String = beginning.iter().map(|byte| char::from(byte.to_ascii_lowercase())).collect();
    let is_xml = beginning.trim_start().starts_with("<?xml");
    let (_, after) = beginning.split_once(if is_xml { "encoding" } else { "charset" })?;
    let value = after.trim_start().strip_prefix('=')?.trim_start_matches([' ', '"', '\'']);
    let end = value.find(|character: char| !character.is_ascii_alphanumeric() && !"-_:.".contains(character))?;
    let encoding = Encoding::for_label(&value.as_bytes()[..end])?;
    // A page in UTF-16 could not be read up to here.
    (encoding != UTF_16LE && encoding != UTF_16BE).then_some(encoding)
}
