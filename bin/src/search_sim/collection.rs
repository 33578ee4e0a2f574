//! Documents of the simulated search: a few dozen short texts, the same in every run.

use std::io;
use std::sync::LazyLock;
use std::time::SystemTime;

use crate::search::documents::{DocumentFile, FolderError, Kind, Scan, Source, Stamp};

const WORDS: [&str; 12] = [
    "river", "stone", "lantern", "meadow", "harbour", "winter", "copper", "signal", "thread", "orchard", "amber",
    "falcon",
];
const DOCUMENTS: u64 = 36;
const LONGEST: u64 = 14;

/// The documents. Each text has two paths, so that equal scores occur.
#[derive(Clone, Copy, Debug)]
pub(super) struct Collection;

/// Paths with texts, ordered by path.
static TEXTS: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
    let mut texts: Vec<_> = (0..DOCUMENTS).map(document).collect();
    texts.sort_unstable();
    texts
});

fn document(number: u64) -> (String, String) {
    let mut numbers = Numbers(number / 2);
    let length = 1 + numbers.below(LONGEST);
    // The first words of the list are common and the last are rare.
    let mut word = || {
        let all = WORDS.len() as u64;
        WORDS[numbers.below(all).min(numbers.below(all)) as usize]
    };
    let text = (0..length).map(|_| word()).collect::<Vec<_>>().join(" ");
    match number / 2 % 3 {
        0 => (format!("notes/{number:02}.md"), format!("# About {}\n\n{text}.\n", word())),
        1 => (format!("pages/{number:02}.html"), format!("<title>{}</title><p>{text}</p>", word())),
        _ => (format!("{number:02}.txt"), text),
    }
}

/// Sequence of pseudorandom numbers (the high bits of Knuth's MMIX generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

impl Source for Collection {
    fn scan(&self, _now: SystemTime) -> Result<Scan, FolderError> {
        let file = |(path, text): &(String, String)| {
            let stamp = Stamp { size: text.len() as u64, modified_ns: 0, changed_ns: 0, inode: 0 };
            let kind = Kind::of(path).expect("every path has a known extension");
            DocumentFile { path: path.clone(), kind, stamp, settled: true }
        };
        Ok(Scan { documents: TEXTS.iter().map(file).collect(), ..Scan::default() })
    }

    fn bytes(&self, file: &DocumentFile) -> io::Result<Vec<u8>> {
        let found = TEXTS.iter().find(|(path, _)| *path == file.path);
        found.map(|(_, text)| text.clone().into_bytes()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}
