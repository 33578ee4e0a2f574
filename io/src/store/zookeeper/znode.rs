//! Names of znodes: pure functions on text that anyone may have written.

use rolecall_core::{Candidate, Guid, Session};

/// Parses the name of a child of the election directory; `None` if it is not a candidate's.
///
/// A candidate is whatever Apache Curator's `LeaderLatch` counts as one: a name that ends in `latch-` and the sequence
/// number as the server writes it (ten digits; after an overflow, a minus sign makes it up to eleven characters). The guid
/// is known if the name has exactly the form `_c_<guid>-latch-<sequence>`; [`candidate_name`] then gives the name back.
#[must_use]
pub fn parse_candidate(name: &str) -> Option<Candidate> {
    let (head, digits) = name.rsplit_once("latch-")?;
    let sequence = parse_sequence(digits)?;
    let guid = head.strip_prefix("_c_").and_then(|rest| rest.strip_suffix('-')).and_then(parse_guid);
    Some(Candidate { sequence, guid })
}

/// Name of a candidate's znode. `None` if the candidate has no guid: its name cannot be derived, only read.
#[must_use]
pub fn candidate_name(candidate: Candidate) -> Option<String> {
    let guid = candidate.guid?;
    Some(format!("{}{:010}", candidate_prefix(guid), candidate.sequence))
}

/// Beginning of a candidate's name, to which the server appends the sequence number.
#[must_use]
pub fn candidate_prefix(Guid(guid): Guid) -> String {
    let (a, b, c, d, e) =
        (guid >> 96, (guid >> 80) & 0xffff, (guid >> 64) & 0xffff, (guid >> 48) & 0xffff, guid & 0xffff_ffff_ffff);
    format!("_c_{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}-latch-")
}

/// Parses the name of a registry's entry, `<node id>.<session, 16 hex digits>`, into node and session.
#[must_use]
pub fn parse_entry(name: &str) -> Option<(&str, Session)> {
    let (id, session) = name.rsplit_once('.')?;
    (!id.is_empty() && session.len() == 16).then_some(())?;
    Some((id, Session(parse_hex(session)?)))
}

/// Name of a registry's entry.
#[must_use]
pub fn entry_name(id: &str, Session(session): Session) -> String {
    format!("{id}.{session:016x}")
}

/// Parses a number that consists of lower-case hexadecimal digits only.
pub(super) fn parse_hex(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    digits.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

/// Parses the digits that ZooKeeper gave a name: its counter has 32 bits and a sign.
fn parse_sequence(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let sequence: i32 = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()?;
    (format!("{sequence:010}") == text).then(|| sequence.into())
}

fn parse_guid(text: &str) -> Option<Guid> {
    let dashes = [8, 13, 18, 23];
    let shape = text.len() == 36
        && text.bytes().enumerate().all(|(index, byte)| match byte {
            b'-' => dashes.contains(&index),
            b'0'..=b'9' | b'a'..=b'f' => !dashes.contains(&index),
            _ => false,
        });
    shape.then(|| u128::from_str_radix(&text.replace('-', ""), 16).ok()).flatten().map(Guid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curator_name_is_read_and_written() {
        let name = "_c_d83cff5d-1bb2-4f1b-bd09-00ec4e8dac2d-latch-0000000007";
        let candidate = parse_candidate(name).expect("a candidate");
        let guid = Guid(0xd83c_ff5d_1bb2_4f1b_bd09_00ec_4e8d_ac2d);
        assert_eq!(candidate, Candidate { sequence: 7, guid: Some(guid) });
        assert_eq!(candidate_name(candidate).as_deref(), Some(name));
        assert!(candidate.is_foreign());
    }

    #[test]
    fn our_own_names_survive_the_overflow_of_the_sequence() {
        for sequence in [0, 1, i32::MAX, i32::MIN, -1].map(i64::from) {
            let candidate = Candidate { sequence, guid: Some(Guid::ours(u128::MAX / 3)) };
            let name = candidate_name(candidate).expect("it has a guid");
            assert_eq!(parse_candidate(&name), Some(candidate), "{name}");
            assert!(!candidate.is_foreign());
        }
    }

    #[test]
    fn a_candidate_without_a_guid_is_still_a_candidate() {
        for name in [
            "latch-0000000003",
            "x-latch-0000000003",
            "_c_D83CFF5D-1bb2-4f1b-bd09-00ec4e8dac2d-latch-0000000003",
            "_c_d83cff5d1bb24f1bbd0900ec4e8dac2d-latch-0000000003",
            "_c_+83cff5d-1bb2-4f1b-bd09-00ec4e8dac2d-latch-0000000003",
            "_c_d83cff5d-1bb2-4f1b-bd09-00ec4e8dac2dlatch-0000000003",
            "_c_ünfug-latch-0000000003",
        ] {
            assert_eq!(parse_candidate(name), Some(Candidate { sequence: 3, guid: None }), "{name}");
        }
    }

    #[test]
    fn other_names_are_not_candidates() {
        for name in [
            "",
            "latch-",
            "lock-0000000001",
            "latch-000000001",
            "latch-00000000001",
            "latch-+000000001",
            "latch-0000000001x",
            "latch-9999999999",
            "latch--000000000",
            "latch-00000000０1",
            "0000000001",
        ] {
            assert_eq!(parse_candidate(name), None, "{name}");
        }
    }

    #[test]
    fn entries_are_read_and_written() {
        for id in ["node-a", "a.b.c", "größe", ".", "x.0123456789abcdef"] {
            let name = entry_name(id, Session(0xff00_0000_0000_00ab));
            assert_eq!(parse_entry(&name), Some((id, Session(0xff00_0000_0000_00ab))), "{name}");
        }
    }

    #[test]
    fn other_names_are_not_entries() {
        for name in [
            "",
            "a",
            ".0123456789abcdef",
            "a.0123456789ABCDEF",
            "a.123456789abcdef",
            "a.00123456789abcdef",
            "a.+123456789abcde",
            "f9a1c7e2-8d1b-4a57-9a49-0a4f7f6d7c11",
        ] {
            assert_eq!(parse_entry(name), None, "{name}");
        }
    }
}
