//! The record of a wish, as JSON: a pure function on bytes that anyone may have written. Unknown fields are ignored,
//! because versions mix during an upgrade.

use rolecall_core::store::{Aim, Verdict, Wish};
use rolecall_core::{Epoch, Fence, Incarnation};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct WishJson {
    id: String,
    #[serde(flatten)]
    aim: AimJson,
    incarnation: String,
    epoch: u64,
    author: String,
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    verdict: Option<VerdictJson>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "aim", rename_all = "snake_case")]
enum AimJson {
    Resign,
    Handover { to: String },
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
enum VerdictJson {
    Obeyed,
    Refused { reason: String },
    Withdrawn,
}

/// Parses the record of a wish; `None` if it is malformed.
#[must_use]
pub fn parse_wish(data: &[u8]) -> Option<Wish> {
    let value: serde_json::Value = serde_json::from_slice(data).ok()?;
    // One verdict that this version does not know must not make the wish one without any.
    let has_verdict = value.get("verdict").is_some();
    let WishJson { id, aim, incarnation, epoch, author, verdict } = serde_json::from_value(value).ok()?;
    if has_verdict && verdict.is_none() {
        return None;
    }
    Some(Wish {
        id: parse_hex(&id)?,
        aim: match aim {
            AimJson::Resign => Aim::Resign,
            AimJson::Handover { to } => Aim::Handover { to: to.into() },
        },
        term: Fence { incarnation: Incarnation(parse_hex(&incarnation)?), epoch: Epoch(epoch) },
        author: author.into(),
        verdict: verdict.map(|verdict| match verdict {
            VerdictJson::Obeyed => Verdict::Obeyed,
            VerdictJson::Refused { reason } => Verdict::Refused { reason: reason.into() },
            VerdictJson::Withdrawn => Verdict::Withdrawn,
        }),
    })
}

/// The record of a wish as JSON; `None` if it wishes for something that this version cannot write.
#[must_use]
pub fn wish_to_bytes(wish: &Wish) -> Option<Vec<u8>> {
    let Wish { id, aim, term: Fence { incarnation: Incarnation(incarnation), epoch: Epoch(epoch) }, author, verdict } =
        wish;
    let aim = match aim {
        Aim::Resign => AimJson::Resign,
        Aim::Handover { to } => AimJson::Handover { to: to.to_string() },
        _ => return None,
    };
    let verdict = match verdict {
        None => None,
        Some(Verdict::Obeyed) => Some(VerdictJson::Obeyed),
        Some(Verdict::Refused { reason }) => Some(VerdictJson::Refused { reason: reason.to_string() }),
        Some(Verdict::Withdrawn) => Some(VerdictJson::Withdrawn),
        Some(_) => return None,
    };
    let (id, incarnation) = (format!("{id:016x}"), format!("{incarnation:016x}"));
    let json = WishJson { id, aim, incarnation, epoch: *epoch, author: author.to_string(), verdict };
    serde_json::to_vec(&json).ok()
}

/// Parses exactly 16 hexadecimal digits in lower case.
fn parse_hex(text: &str) -> Option<u64> {
    let digits = text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    digits.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(aim: Aim, verdict: Option<Verdict>) -> Wish {
        let term = Fence { incarnation: Incarnation(0xab), epoch: Epoch(7) };
        Wish { id: 1, aim, term, author: "root@größe".into(), verdict }
    }

    #[test]
    fn a_wish_is_read_as_it_was_written() {
        let verdicts = [None, Some(Verdict::Obeyed), Some(Verdict::Withdrawn)];
        let refused = Some(Verdict::Refused { reason: "no \"b\"".into() });
        for verdict in verdicts.into_iter().chain([refused]) {
            for aim in [Aim::Resign, Aim::Handover { to: "b".into() }] {
                let wish = wish(aim, verdict.clone());
                let bytes = wish_to_bytes(&wish).expect("a wish of this version");
                assert_eq!(parse_wish(&bytes), Some(wish), "{}", String::from_utf8_lossy(&bytes));
            }
        }
        let text = String::from_utf8(wish_to_bytes(&wish(Aim::Resign, None)).expect("a wish")).expect("JSON is UTF-8");
        assert_eq!(
            text,
            r#"{"id":"0000000000000001","aim":"resign","incarnation":"00000000000000ab","epoch":7,"author":"root@größe"}"#
        );
        assert!(parse_wish(text.replace('{', r#"{"later":[1],"#).as_bytes()).is_some(), "unknown fields are ignored");
    }

    #[test]
    fn garbage_is_not_a_wish() {
        let good = String::from_utf8(wish_to_bytes(&wish(Aim::Resign, Some(Verdict::Obeyed))).expect("a wish"))
            .expect("JSON is UTF-8");
        assert!(parse_wish(good.as_bytes()).is_some());
        for (part, other) in [
            ("0000000000000001", "1"),
            ("00000000000000ab", "00000000000000AB"),
            ("resign", "dance"),
            ("obeyed", "shrugged"),
            (":7", ":-7"),
            (r#""author""#, r#""writer""#),
            ("{", "["),
        ] {
            assert_eq!(parse_wish(good.replace(part, other).as_bytes()), None, "{other}");
        }
        for data in [&b""[..], b"null", b"{}", b"\xff\xfe"] {
            assert_eq!(parse_wish(data), None);
        }
    }
}
