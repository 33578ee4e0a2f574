//! The journal's promises: it never makes the node wait, and says what is missing.

use std::fs;

use rolecall_core::election::Timing;
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
    let mut recorded = in_folder(folder.path(), JournalLimits::default().file_bytes(5_000).files(1_000));
    recorded.live(1..50);
    recorded.journal.close().await;

    let replayed = replay(read(folder.path()).expect("a journal")).expect("the same actions");

    assert_eq!(replayed, Replayed { steps: 196, starts: 1, ..Replayed::default() });
    let files = file::files(folder.path()).expect("a folder");
    assert!(files.len() > 3);
    let open: Vec<_> = files.iter().filter(|path| !file::is_compressed(path)).collect();
    assert_eq!(open, [files.last().expect("the last")], "every file that is full is compressed");
}

#[tokio::test]
async fn old_files_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut recorded = in_folder(folder.path(), JournalLimits::default().file_bytes(1).files(3));
    recorded.live(1..10);
    recorded.journal.close().await;

    assert_eq!(file::files(folder.path()).expect("a folder").len(), 3);
    let replayed = replay(read(folder.path()).expect("a journal")).expect("no other actions");
    let expected = Replayed { gaps: 1, missing: 33, passed_over: 3, ..Replayed::default() };
    assert_eq!(replayed, expected, "the start is gone, and it says so");
}

#[test]
fn a_full_queue_leaves_a_gap_that_is_told_and_skipped_by_the_replay() {
    let (journal, mut entries) = Journal::new(JournalLimits::default().queue(4));
    let mut recorded = Recorded::new(journal);
    recorded.live(1..4);
    assert_eq!(recorded.journal.dropped(), 12 - 3, "the start and three steps had room");

    let mut texts: Vec<String> = Vec::new();
    let mut drain = |recorded: &mut Recorded, entries: &mut mpsc::Receiver<Entry>| {
        while let Ok(entry) = entries.try_recv() {
            match (entry, texts.last_mut()) {
                (Entry::Line(line), Some(text)) => text.push_str(&line),
                (Entry::File(text) | Entry::Line(text), _) => texts.push(text),
            }
        }
        recorded.step(&Event::Wake);
    };
    drain(&mut recorded, &mut entries);
    drain(&mut recorded, &mut entries);
    drain(&mut recorded, &mut entries);

    let folder = tempfile::tempdir().expect("a folder");
    for (number, text) in texts.iter().enumerate() {
        fs::write(folder.path().join(format!("journal-{number}.jsonl")), text).expect("it is written");
    }
    let replayed = replay(read(folder.path()).expect("a journal")).expect("the same actions");
    assert_eq!(replayed, Replayed { steps: 3, starts: 1, gaps: 1, missing: 9, passed_over: 2 });
}

#[test]
fn a_disk_that_takes_nothing_is_reported_and_tried_again_and_no_step_is_lost() {
    let parent = tempfile::tempdir().expect("a folder");
    let (folder, elsewhere) = (parent.path().join("journal"), parent.path().join("elsewhere"));
    let mut recorded = in_folder(&folder, JournalLimits::default());
    recorded.live(1..2);
    // A folder that is gone behaves as a disk that takes no new files.
    fs::rename(&folder, &elsewhere).expect("it can be moved");
    recorded.journal.limits.file_bytes = 1;
    recorded.live(2..4);
    let begun = std::time::Instant::now();
    while recorded.journal.failures() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(300), "no failure is reported");
        std::thread::yield_now();
    }

    fs::rename(&elsewhere, &folder).expect("it can be moved back");
    while file::files(&folder).expect("a folder").len() < 9 {
        assert!(begun.elapsed() < Duration::from_secs(300), "nothing is written any more");
        std::thread::yield_now();
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    assert_eq!(recorded.journal.dropped(), 0);
    runtime.block_on(recorded.journal.close());

    let replayed = replay(read(&folder).expect("a journal")).expect("the same actions");
    assert_eq!(replayed, Replayed { steps: 12, starts: 1, ..Replayed::default() });
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

    let garbled = changed(&[lines[0], lines[1], lines[2], "{\"step\":{\"at\":\"noon\"}}", lines[3]]);
    let headless = changed(&lines[1..]);
    let newer = changed(&["{\"journal\":2,\"core\":\"9.0.0\",\"family\":\"queue\"}", lines[1]]);
    let mut forged: serde_json::Value = serde_json::from_str(lines[2]).expect("a step");
    forged["step"]["actions"] = serde_json::json!([]);
    let forged = forged.to_string();
    let differing = changed(&[lines[0], lines[1], &forged]);

    let place = |line: usize| format!("{}:{line}: ", path.display());
    assert!(garbled.starts_with(&place(4)) && garbled.contains("damaged"), "{garbled}");
    assert!(garbled.contains("1 earlier steps were replayed and agree"), "{garbled}");
    assert!(headless.starts_with(&place(1)) && headless.contains("not the first line of a journal"), "{headless}");
    assert!(newer.starts_with(&place(1)) && newer.contains("version 2") && newer.contains("rolecall 9.0.0"), "{newer}");
    assert!(differing.starts_with(&place(3)) && differing.contains("the machine orders"), "{differing}");
}

#[test]
fn a_configuration_survives_its_record() {
    let mut config = Config::new("b");
    config.election = Timing::queue(Duration::from_secs(2));
    config.clock_error_ppm = 77;
    config.relist = Duration::from_nanos(123_456_789);
    config.registers = false;
    config.follows_workers = true;
    config.settings = Some("64 shards".into());
    let text = serde_json::to_string(&Configuration::from(&config)).expect("it has a form in JSON");
    let recorded: Configuration = serde_json::from_str(&text).expect("it is one");
    assert_eq!(Config::from(recorded), config);
}

#[test]
fn a_configuration_is_recorded_with_every_field() {
    let config = Config::new("b");
    let ours = serde_json::to_value(Configuration::from(&config)).expect("it has a form in JSON");
    let core = serde_json::to_value(&config).expect("it has a form in JSON");
    assert_eq!(ours, core);
}

#[test]
fn a_file_that_is_missing_in_the_middle_is_told() {
    let place = |line| Place { file: "x".into(), line };
    let wake = |at| Record::Step { at: Time::from_millis(at), event: Event::Wake, actions: Vec::new() };
    let config = (&Config::new("a")).into();
    let records = [
        Record::Start { at: Time::ZERO, wall_ms: 0, config },
        wake(1),
        Record::Continue { at: Time::ZERO, wall_ms: 0, steps: 11 },
        wake(2),
    ];
    let replayed = replay(records.into_iter().enumerate().map(|(line, record)| Ok((place(line), record))));
    let expected = Replayed { steps: 1, starts: 1, gaps: 1, missing: 10, passed_over: 1 };
    assert_eq!(replayed.expect("every action is the same"), expected);
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
