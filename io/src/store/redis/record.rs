//! Entries of members: pure functions on bytes that anyone may have written. Unknown fields are ignored, because versions
//! mix during an upgrade.

use core::time::Duration;
use std::collections::BTreeMap;

use rolecall_core::{Epoch, Member, MemberKey, Metadata, Session};
use serde::{Deserialize, Serialize};

/// Entry of a member, as JSON in a directory's hash.
///
/// The field's name is the session that owns it. The script that writes it puts `created` in front.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Revision of the store at which the entry was created.
    #[serde(default, skip_serializing)]
    pub created: u64,
    /// Id of the node.
    pub id: String,
    /// Address of the node, `host:port`; `None` if it answers nowhere.
    pub address: Option<String>,
    /// Path at which it answers there, for clients of other kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Epoch of its term; only on a coordinator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// Timeout of its session, in milliseconds.
    #[serde(default)]
    pub session_timeout_ms: Option<u64>,
    /// Names and values of its application.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
}

impl Entry {
    /// Parses an entry; `None` if it is malformed.
    #[must_use]
    pub fn parse(data: &[u8]) -> Option<Self> {
        serde_json::from_slice(data).ok()
    }

    /// The entry as JSON, without `created`.
    ///
    /// # Panics
    /// Never: an entry has no key that JSON cannot have.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("an entry's keys are text")
    }

    /// The member of this entry, which `session` owns.
    #[must_use]
    pub fn into_member(self, session: Session) -> Member {
        Member {
            key: MemberKey { id: self.id.into(), session },
            address: self.address.unwrap_or_default().into(),
            epoch: self.epoch.map(Epoch),
            session_timeout: self.session_timeout_ms.map(Duration::from_millis),
            created: self.created,
            metadata: self.metadata.into_iter().collect(),
        }
    }
}

/// Names and values in the form of an entry.
pub(super) fn pairs(metadata: &Metadata) -> BTreeMap<String, String> {
    metadata.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Parses exactly 16 hexadecimal digits in lower case.
#[must_use]
pub fn parse_hex(text: &[u8]) -> Option<u64> {
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let text = core::str::from_utf8(text).ok().filter(|text| text.len() == 16 && text.bytes().all(|b| is_digit(&b)))?;
    u64::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            created: 0,
            id: "node-a".into(),
            address: Some("10.0.0.5:8080".into()),
            path: Some("/task".into()),
            epoch: None,
            session_timeout_ms: Some(10_000),
            metadata: BTreeMap::new(),
        }
    }

    #[test]
    fn an_entry_is_read_as_it_was_written_with_the_revision_that_the_script_puts_in_front() {
        let written = String::from_utf8(entry().to_bytes()).expect("JSON is UTF-8");
        assert_eq!(written, r#"{"id":"node-a","address":"10.0.0.5:8080","path":"/task","session_timeout_ms":10000}"#);
        let stored = format!(r#"{{"created":7,{}"#, &written[1..]);
        assert_eq!(Entry::parse(stored.as_bytes()), Some(Entry { created: 7, ..entry() }));
    }

    #[test]
    fn what_another_client_wrote_is_read_or_skipped() {
        assert_eq!(Entry::parse(b""), None);
        assert_eq!(Entry::parse(br#"{"id":7}"#), None);
        let least = Entry::parse(br#"{"id":"x","address":null,"new":[1]}"#).expect("unknown fields are ignored");
        assert_eq!(least.into_member(Session(3)).address.len(), 0);
        assert_eq!(parse_hex(b"00000000000000ff"), Some(255));
        for bad in ["", "ff", "00000000000000FF", "+0000000000000ff", "00000000000000fff"] {
            assert_eq!(parse_hex(bad.as_bytes()), None, "{bad}");
        }
    }
}
