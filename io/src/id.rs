//! Generated ids of members.

use crate::entropy::{Entropy, OsEntropy};

/// Makes an id for a member that was given none: the host's name, `-`, and six random letters.
///
/// It is made of ASCII letters, digits, `-`, `_` and `.`, begins with a letter or a digit, and is at most 97 bytes long.
#[must_use]
pub fn generated_id() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    id(&host, &mut OsEntropy)
}

fn id(host: &str, entropy: &mut impl Entropy) -> String {
    let mut bits = entropy.bits();
    let letters: String = core::iter::repeat_with(|| {
        let letter = b'a' + u8::try_from(bits % 26).unwrap_or_default();
        bits /= 26;
        char::from(letter)
    })
    .take(6)
    .collect();
    let fits = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
    let host: String = host.chars().filter(fits).take(90).collect();
    let host = host.trim_start_matches(|first: char| !first.is_ascii_alphanumeric());
    if host.is_empty() { format!("node-{letters}") } else { format!("{host}-{letters}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::SeededEntropy;

    #[test]
    fn an_id_is_the_name_of_the_host_and_six_letters() {
        let of = |host: &str| {
            let id = id(host, &mut SeededEntropy::new(7));
            let (name, letters) = id.rsplit_once('-').expect("a hyphen");
            assert!(letters.len() == 6 && letters.bytes().all(|letter| letter.is_ascii_lowercase()), "{id}");
            name.to_owned()
        };
        assert_eq!(of("web-1.example\n"), "web-1.example");
        assert_eq!(of("-_.7 häns/el"), "7hnsel");
        assert_eq!(of(""), "node");
        assert_eq!(of("..."), "node");
        assert_eq!(of(&"a".repeat(200)).len(), 90);
    }

    #[test]
    fn no_two_ids_are_the_same() {
        assert_ne!(generated_id(), generated_id());
    }
}
