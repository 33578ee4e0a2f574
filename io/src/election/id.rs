//! Generated ids of members.

use crate::entropy::{Entropy, OsEntropy};

/// Makes an id: the host's name, `-`, and eight random letters, so that no two members get the same.
pub(super) fn generated() -> String {
    let mut bits = OsEntropy.bits();
    let letters: String = core::iter::repeat_with(|| {
        let letter = b'a' + u8::try_from(bits % 26).unwrap_or_default();
        bits /= 26;
        char::from(letter)
    })
    .take(8)
    .collect();
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let fits = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
    let host: String = host.trim().chars().filter(fits).take(90).collect();
    let host = host.trim_start_matches(|first: char| !first.is_ascii_alphanumeric());
    if host.is_empty() { format!("member-{letters}") } else { format!("{host}-{letters}") }
}
