//! The documents: entries of the GNU Collaborative International Dictionary of English, as Debian packages it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Outcome;

const INDEX: &str = "/usr/share/dictd/gcide.index";
const TEXTS: &str = "/usr/share/dictd/gcide.dict.dz";
/// Number of files in a folder.
const IN_A_FOLDER: usize = 1000;

/// Texts of the first `most` entries.
pub(crate) fn entries(most: usize) -> Outcome<Vec<String>> {
    let index = fs::read_to_string(INDEX)
        .map_err(|error| format!("{INDEX}: {error}; to install it: apt-get install -y dict-gcide"))?;
    let texts = Command::new("gzip").args(["-dc", TEXTS]).output()?.stdout;
    // An entry stands in the index once for each of its headwords.
    let places: BTreeSet<_> = index.lines().filter_map(place).collect();
    let entries = places.into_iter().take(most).map(|(from, length)| {
        let bytes = texts.get(from..from + length).ok_or("the dictionary's index does not fit its texts")?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    });
    entries.collect()
}

/// Offset and length of an entry, from its line in the index.
fn place(line: &str) -> Option<(usize, usize)> {
    let mut parts = line.split('\t');
    let name = parts.next()?;
    (!name.starts_with("00-")).then_some(())?;
    Some((number(parts.next()?)?, number(parts.next()?)?))
}

/// Number in the notation of dictd: digits of base 64, the highest first.
fn number(text: &str) -> Option<usize> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text.bytes().try_fold(0, |number, byte| Some(number * 64 + DIGITS.iter().position(|&digit| digit == byte)?))
}

/// Writes one file for each entry.
pub(crate) fn write(entries: &[String], folder: &Path) -> Outcome<()> {
    for (number, files) in entries.chunks(IN_A_FOLDER).enumerate() {
        let part = folder.join(format!("{number:04}"));
        fs::create_dir(&part)?;
        for (file, text) in files.iter().enumerate() {
            fs::write(part.join(format!("{file:03}.txt")), text)?;
        }
    }
    Ok(())
}
