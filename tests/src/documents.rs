//! Folders of generated text.

use std::fs;
use std::io;
use std::path::Path;

/// Words for the documents: those near the front come often, those near the end rarely.
const WORDS: [&str; 24] = [
    "harbour", "lantern", "river", "copper", "winter", "garden", "signal", "ladder", "meadow", "anchor", "thunder",
    "basket", "candle", "forest", "needle", "orchard", "pepper", "quarry", "saddle", "timber", "velvet", "willow",
    "yonder", "zephyr",
];

/// Writes `count` documents of ten to seventy words, the same on every machine.
///
/// # Errors
/// If the folder can't be written.
pub fn generate(folder: &Path, count: u32) -> io::Result<()> {
    for number in 0..count {
        let subfolder = folder.join(format!("part-{}", number % 7));
        fs::create_dir_all(&subfolder)?;
        fs::write(subfolder.join(format!("document-{number:04}.txt")), text(number))?;
    }
    Ok(())
}

/// The text of one generated document.
#[must_use]
pub fn text(number: u32) -> String {
    let mut state = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let length = 10 + number % 60;
    let mut words = Vec::new();
    for _ in 0..length {
        // Xorshift (Marsaglia 2003). The lower of two draws makes early words common and late ones rare.
        let mut draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % 24).unwrap_or(0)
        };
        words.push(WORDS[draw().min(draw())]);
    }
    words.join(" ")
}
