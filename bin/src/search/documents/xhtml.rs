//! Extracts the title and the text of an XHTML page.
//!
//! XML closes elements in its own way: `<title/>` has no text, where in HTML the rest of the page would be the title.

use quick_xml::Reader;
use quick_xml::escape::resolve_html5_entity;
use quick_xml::events::Event;

use super::extract::Text;
use super::page::Page;

/// Length of the beginning of a document in which it tells that it is XML, in bytes.
const TOLD_WITHIN: usize = 1024;

const NAMESPACE: &str = "http://www.w3.org/1999/xhtml";

/// True if the document at `path` says that it is XHTML: by its name, an XML declaration or the namespace.
pub(super) fn is_xhtml(path: &str, page: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let beginning = page[..page.floor_char_boundary(TOLD_WITHIN)].trim_start();
    ending.eq_ignore_ascii_case("xhtml")
        || ending.eq_ignore_ascii_case("xht")
        || beginning.starts_with("<?xml")
        || beginning.contains(NAMESPACE)
}

/// Extracts the text of a page; `None` if it is not well-formed XML.
pub(super) fn extract(text: &str) -> Option<Text> {
    let mut reader = Reader::from_str(text);
    reader.config_mut().expand_empty_elements = true;
    let mut page = Page::default();
    let mut has_root = false;
    loop {
        match reader.read_event().ok()? {
            Event::Start(element) => {
                has_root = true;
                page.open(element.local_name().as_ref().to_ascii_lowercase().as_bytes());
            }
            Event::End(element) => page.close(element.local_name().as_ref().to_ascii_lowercase().as_bytes()),
            Event::Text(text) => page.text(&text.xml10_content()),
            Event::CData(text) => page.text(&text.xml10_content()),
            Event::GeneralRef(reference) => match reference.resolve_char_ref().ok()? {
                Some(character) => page.text(character.encode_utf8(&mut [0; 4])),
                None => page.text(resolve_html5_entity(&reference.xml10_content()).unwrap_or(" ")),
            },
            // `expand_empty_elements` makes a start and an end of these.
            Event::Empty(_) | Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            Event::Eof => return has_root.then(|| page.finish()),
        }
    }
}
