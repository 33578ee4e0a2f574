//! Generated documents for tests, the same every time.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rolecall::{BoxFuture, Clock, Time};

use super::holdings::Holdings;

/// Sequence of pseudorandom numbers (the high bits of Knuth's MMIX generator).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

const SYLLABLES: [&str; 16] =
    ["ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ri", "so", "tu", "ve"];

/// Made-up word. Low numbers give the common words.
pub(crate) fn word(number: u64) -> String {
    let mut word = String::new();
    let mut left = number + 16;
    while left > 0 {
        word.push_str(SYLLABLES[(left % 16) as usize]);
        left /= 16;
    }
    word
}

/// Number of a word. Low numbers come much more often than high ones.
pub(crate) fn common(numbers: &mut Numbers) -> u64 {
    let bound = 1 + numbers.below(400);
    numbers.below(bound)
}

/// Text of up to `longest` words.
pub(crate) fn text(numbers: &mut Numbers, longest: u64) -> String {
    let length = numbers.below(longest + 1);
    (0..length).map(|_| word(common(numbers))).collect::<Vec<_>>().join(" ")
}

/// Writes `count` documents of all kinds into `folder`. Some are empty, and some differ only in their path.
pub(crate) fn write_documents(folder: &Path, count: u64, seed: u64) -> io::Result<()> {
    for number in 0..count {
        let mut numbers = Numbers::new(seed + number / 2);
        let text = text(&mut numbers, 120);
        let (ending, contents) = match number % 7 {
            0 | 1 => ("md", format!("# {}\n\n{text}\n", word(number))),
            2 | 3 => ("html", format!("<title>{}</title><body><p>{text}</p>", word(number))),
            _ => ("txt", text),
        };
        let path = folder.join(format!("part-{}/{number}.{ending}", number % 5));
        fs::create_dir_all(path.parent().expect("a path in a folder has a parent"))?;
        fs::write(path, contents)?;
    }
    Ok(())
}

/// Words of many scripts, some of which differ only in their accents, their normal form or where a dictionary cuts them.
const WORLD: [&str; 28] = [
    "resume",
    "r\u{e9}sum\u{e9}",
    "re\u{301}sume\u{301}",
    "R\u{c9}SUM\u{c9}",
    "straße",
    "STRASSE",
    "tiếng",
    "tieng",
    "việt",
    "ещё",
    "еще",
    "한국어",
    "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165}",
    "हिन्दी",
    "東京都",
    "東京",
    "京都",
    "大学",
    "北京大学",
    "我们",
    "手机",
    "ภาษาไทย",
    "ภาษา",
    "ភាសា",
    "ພາສາ",
    "iphone",
    "2024",
    "מִלָּה",
];

fn world(numbers: &mut Numbers) -> &'static str {
    let bound = 1 + numbers.below(WORLD.len() as u64);
    WORLD[numbers.below(bound) as usize]
}

/// Writes `count` documents of words of many scripts, with and without spaces, into `folder`.
pub(crate) fn write_documents_of_the_world(folder: &Path, count: u64, seed: u64) -> io::Result<()> {
    for number in 0..count {
        let mut numbers = Numbers::new(seed + number / 2);
        let mut text = String::new();
        for _ in 0..numbers.below(40) {
            text.push_str(world(&mut numbers));
            text.push_str(["", " ", " ", "。"][numbers.below(4) as usize]);
        }
        fs::write(folder.join(format!("{number}.txt")), text)?;
    }
    Ok(())
}

/// Queries of every form over the words of [`write_documents`].
pub(crate) fn queries(count: u64, seed: u64) -> Vec<String> {
    let mut numbers = Numbers::new(seed);
    queries_over(count, || word(common(&mut numbers)))
}

/// Queries of every form over the words of [`write_documents_of_the_world`].
pub(crate) fn queries_of_the_world(count: u64, seed: u64) -> Vec<String> {
    let mut numbers = Numbers::new(seed);
    queries_over(count, || world(&mut numbers).to_owned())
}

fn queries_over(count: u64, mut next: impl FnMut() -> String) -> Vec<String> {
    (0..count)
        .map(|number| {
            let (a, b, c, d) = (next(), next(), next(), next());
            match number % 9 {
                0 => a,
                1 => format!("{a} {b}"),
                2 => format!("{a} {b} {c} {d}"),
                3 => format!("{a} AND {b}"),
                4 => format!("\"{a} {b}\" {c}"),
                5 => format!("{a} {b} NOT {c}"),
                6 => format!("({a} AND {b}) OR ({c} AND {d})"),
                7 => format!("{a}{b} {c}"),
                _ => format!("{a} {b} AND {c} NOT \"{a} {d}\""),
            }
        })
        .collect()
}

/// Clock of tokio, which a test can pause.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokioClock(tokio::time::Instant);

impl TokioClock {
    pub(crate) fn new() -> Self {
        Self(tokio::time::Instant::now())
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Time {
        Time::ZERO + self.0.elapsed()
    }

    fn sleep_until(&self, time: Time) -> BoxFuture<'static, ()> {
        // This is further away than tokio's timers reach, which is far enough.
        let duration = time.since(Time::ZERO).min(Duration::from_secs(1 << 24));
        Box::pin(tokio::time::sleep_until(self.0 + duration))
    }

    fn wall(&self) -> SystemTime {
        SystemTime::now()
    }
}

/// Indexes everything that `holdings` want and lack, as if every stamp were old.
pub(crate) fn index_all(holdings: &Holdings, now: Time) {
    let later = SystemTime::now() + Duration::from_secs(60);
    for due in holdings.look(later, now).expect("the folder can be read") {
        holdings.refresh(&due, now).expect("the index is built");
    }
}
