//! The journal's promises: it never makes the node wait, and says what is missing.

use std::fs;

use rolecall_core::{Config, Session};

use super::*;

fn up(session: u64) -> Event {
    Event::SessionUp { session: Session(session), timeout: Duration::from_secs(10), entropy: session }
}

/// A node that records what it does.
struct Recorded {
    node: Node,
    journal: Journal,
    now: Time,
}

impl Recorded {
    fn new(journal: Journal) -> Self {
        Self { node: Node::new(Config::new("node-a")), journal, now: Time::ZERO }
    }

    fn step(&mut self, event: &Event) {
        self.now = self.now + Duration::from_millis(700);
        let mut actions = Vec::new();
        self.journal.before(self.now, SystemTime::UNIX_EPOCH, &self.node);
        self.node.handle(self.now, event.clone(), &mut actions);
        self.journal.step(self.now, event, &actions);
    }

    fn live(&mut self, sessions: core::ops::Range<u64>) {
        for session in sessions {
            self.step(&up(session));
            self.step(&Event::Suspended);
            self.step(&Event::Wake);
            self.step(&Event::SessionLost);
        }
    }
}

fn in_folder(folder: &Path, limits: JournalLimits) -> Recorded {
    Recorded::new(Journal::in_folder(folder, limits).expect("a journal"))
}

#[tokio::test]
async fn what_was_recorded_is_replayed_across_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut recorded =
        in_folder(folder.path(), JournalLimits { file_bytes: 5_000, files: 1_000, ..JournalLimits::default() });
    recorded.live(1..50);
    recorded.journal.close().await;

    let replayed = replay(read(folder.path()).expect("a journal")).expect("the same actions");

    assert_eq!(replayed, Replayed { steps: 196, starts: 1, gaps: 0, dropped: 0 });
    assert!(file::files(folder.path()).expect("a folder").len() > 3);
}

#[tokio::test]
async fn old_files_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut recorded = in_folder(folder.path(), JournalLimits { file_bytes: 1, files: 3, ..JournalLimits::default() });
    recorded.live(1..10);
    recorded.journal.close().await;

    assert_eq!(file::files(folder.path()).expect("a folder").len(), 3);
    let replayed = replay(read(folder.path()).expect("a journal")).expect("the same actions");
    assert_eq!(replayed.steps, 3);
}

#[test]
fn a_full_queue_leaves_a_gap_that_is_told_and_skipped_by_the_replay() {
    let (journal, mut entries) = Journal::new(JournalLimits { queue: 4, ..JournalLimits::default() });
    let mut recorded = Recorded::new(journal);
    recorded.live(1..4);
    assert_eq!(recorded.journal.dropped(), 12 - 3, "the state and three steps had room");

    let mut text = String::new();
    let mut drain = |recorded: &mut Recorded, entries: &mut mpsc::Receiver<Entry>| {
        while let Ok(Entry::File(line) | Entry::Line(line)) = entries.try_recv() {
            text.push_str(&line);
        }
        recorded.step(&Event::Wake);
    };
    drain(&mut recorded, &mut entries);
    drain(&mut recorded, &mut entries);
    drain(&mut recorded, &mut entries);

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("gap.jsonl");
    fs::write(&path, text).expect("it is written");
    let replayed = replay(read(&path).expect("a journal")).expect("the same actions");
    assert_eq!(replayed, Replayed { steps: 5, starts: 1, gaps: 1, dropped: 9 });
}

#[test]
fn a_disk_that_takes_nothing_is_reported_and_the_node_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut recorded = in_folder(folder.path(), JournalLimits::default());
    recorded.live(1..2);
    // A folder that is gone behaves as a disk that takes no new files.
    fs::remove_dir_all(folder.path()).expect("it can be deleted");
    recorded.journal.limits.file_bytes = 1;
    let begun = std::time::Instant::now();
    let mut session = 2;
    while recorded.journal.failures() == 0 && begun.elapsed() < Duration::from_secs(30) {
        recorded.live(session..session + 1);
        session += 1;
    }
    assert!(recorded.journal.failures() > 0);

    fs::create_dir_all(folder.path()).expect("it can be created");
    recorded.journal.limits.file_bytes = u64::MAX;
    while file::files(folder.path()).expect("a folder").is_empty() && begun.elapsed() < Duration::from_secs(30) {
        recorded.live(session..session + 1);
        session += 1;
        std::thread::yield_now();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let dropped = recorded.journal.dropped();
    runtime.block_on(recorded.journal.close());

    let replayed = replay(read(folder.path()).expect("a journal")).expect("the same actions");
    assert!(replayed.gaps >= 1 && replayed.dropped > 0 && replayed.dropped <= dropped, "{replayed:?} of {dropped}");
}

#[tokio::test]
async fn a_line_that_is_wrong_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut recorded = in_folder(folder.path(), JournalLimits::default());
    recorded.live(1..3);
    recorded.journal.close().await;
    let path = file::files(folder.path()).expect("a folder").remove(0);
    let text = fs::read_to_string(&path).expect("a file");
    let changed = |lines: &[&str]| {
        fs::write(&path, lines.join("\n") + "\n").expect("it is written");
        replay(read(&path).expect("a journal")).expect_err("it is wrong").to_string()
    };
    let lines: Vec<&str> = text.lines().collect();

    let garbled = changed(&[lines[0], lines[1], "{\"step\":{\"at\":\"noon\"}}"]);
    let headless = changed(&lines[1..]);
    let forged = lines[1].replace(r#"{"term":"read"}"#, r#""sync""#);
    assert_ne!(forged, lines[1], "it reads the term record");
    let differing = changed(&[lines[0], &forged]);

    let place = |line: usize| format!("{}:{line}: ", path.display());
    assert!(garbled.starts_with(&place(3)) && garbled.contains("not a line of a journal"), "{garbled}");
    assert!(headless.starts_with(&place(1)) && headless.contains("without a state"), "{headless}");
    assert!(differing.starts_with(&place(2)) && differing.contains("Term(Read)"), "{differing}");
}

#[tokio::test]
async fn a_line_that_was_being_written_at_a_crash_is_left_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut recorded = in_folder(folder.path(), JournalLimits::default());
    recorded.live(1..3);
    recorded.journal.close().await;
    let path = file::files(folder.path()).expect("a folder").remove(0);
    let text = fs::read_to_string(&path).expect("a file");
    fs::write(&path, &text[..text.len() - 10]).expect("it is written");

    let replayed = replay(read(folder.path()).expect("a journal")).expect("the same actions");

    assert_eq!(replayed.steps, 7);
}

#[test]
fn what_is_no_journal_is_told() {
    let folder = tempfile::tempdir().expect("a folder");

    let empty = read(folder.path()).expect_err("there is none");
    let missing = read(&folder.path().join("missing.jsonl")).expect_err("there is none");

    assert!(matches!(empty, JournalError::Empty { .. }) && empty.to_string().contains("journal-*.jsonl"), "{empty}");
    assert!(matches!(missing, JournalError::Open { .. }), "{missing}");
}
