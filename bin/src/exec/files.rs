//! Files that keep a program informed: its term, and the members of the election.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;
use rolecall::{Clock as _, Fence, Leader, Member, Metadata, SystemClock, Time};
use serde::Serialize;
use tempfile::TempDir;

use super::script::Role;

/// Private folder with the two files. Each is replaced as a whole, so a reader never sees half of one.
#[derive(Debug)]
pub(super) struct Files {
    folder: TempDir,
}

/// Contents of the file that `ROLECALL_TERM_FILE` names.
#[derive(Debug, Serialize)]
struct TermFile {
    role: &'static str,
    epoch: Option<u64>,
    incarnation: Option<String>,
    /// For people: the wall clock may be set.
    valid_until: Option<String>,
    /// On `CLOCK_BOOTTIME`, which is also the first number in /proc/uptime.
    valid_until_boottime_ms: Option<u64>,
}

/// Contents of the file that `ROLECALL_MEMBERS_FILE` names.
#[derive(Debug, Serialize)]
struct MembersFile<'a> {
    id: &'a str,
    leader: Option<LeaderEntry<'a>>,
    members: Vec<MemberEntry<'a>>,
}

#[derive(Debug, Serialize)]
struct LeaderEntry<'a> {
    id: &'a str,
    address: Option<&'a str>,
    epoch: Option<u64>,
    foreign: bool,
}

#[derive(Debug, Serialize)]
struct MemberEntry<'a> {
    id: &'a str,
    address: Option<&'a str>,
    role: &'static str,
    #[serde(skip_serializing_if = "Metadata::is_empty")]
    metadata: &'a Metadata,
}

impl Files {
    /// Makes the folder, where the user's running programs keep their files, or among the temporary ones.
    pub(super) fn new() -> io::Result<Self> {
        let place = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|place| place.is_dir());
        let place = place.unwrap_or_else(std::env::temp_dir);
        let mut builder = tempfile::Builder::new();
        let builder = builder.prefix("rolecall-exec-").permissions(Permissions::from_mode(0o700));
        Ok(Self { folder: builder.tempdir_in(place)? })
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Path of the file with the term.
    pub(super) fn term(&self) -> PathBuf {
        self.folder.path().join("term.json")
    }

    /// Path of the file with the members.
    pub(super) fn members(&self) -> PathBuf {
        self.folder.path().join("members.json")
    }

    /// Writes the term of a leader that is valid until `until`, or, without one, the newest term that this member has seen.
    pub(super) fn write_term(&self, role: Role, fence: Option<Fence>, until: Option<Time>) {
        let clock = SystemClock::new();
        self.write(
            &self.term(),
            &TermFile {
                role: role.name(),
                epoch: fence.map(|fence| fence.epoch.0),
                incarnation: fence.map(incarnation),
                valid_until: until.map(|until| wall(clock.wall(), clock.now(), until)),
                valid_until_boottime_ms: until.map(|until| until.as_nanos() / 1_000_000),
            },
        );
    }

    /// Writes who leads, and who is a member.
    pub(super) fn write_members(&self, id: &str, leader: Option<&Leader>, members: &Arc<[Member]>) {
        let leader = leader.map(|leader| match leader {
            Leader::Node { id, address, epoch } => {
                LeaderEntry { id, address: address_of(address), epoch: Some(epoch.0), foreign: false }
            }
            Leader::Foreign { id } => LeaderEntry { id, address: None, epoch: None, foreign: true },
        });
        let members = members.iter().map(|member| MemberEntry {
            id: &member.key.id,
            address: address_of(&member.address),
            role: if member.epoch.is_some() { Role::Leader.name() } else { Role::Worker.name() },
            metadata: &member.metadata,
        });
        self.write(&self.members(), &MembersFile { id, leader, members: members.collect() });
    }

    fn write(&self, path: &Path, contents: &impl Serialize) {
        let new = path.with_extension("new");
        let mut text = serde_json::to_vec(contents).expect("every key of these files is a string");
        text.push(b'\n');
        let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, path));
        if let Err(error) = written {
            tracing::warn!("cannot write {}: {error}; the program reads an old one", path.display());
        }
    }
}

/// Incarnation, as everything else shows it.
pub(super) fn incarnation(fence: Fence) -> String {
    format!("{:016x}", fence.incarnation.0)
}

fn address_of(address: &str) -> Option<&str> {
    (!address.is_empty()).then_some(address)
}

/// Time of the wall clock at `until`, as far as it can be known now.
fn wall(wall: SystemTime, now: Time, until: Time) -> String {
    let time = wall + until.since(now) - now.since(until);
    let time = Timestamp::try_from(time).unwrap_or_default();
    format!("{time:.3}")
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use rolecall::{Epoch, Incarnation};
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn the_term_says_until_when_it_is_valid_on_a_clock_that_scripts_can_read() {
        let files = Files::new().expect("a folder");
        let mode = std::fs::metadata(files.folder()).expect("a folder").permissions().mode();
        assert_eq!(mode & 0o077, 0, "others may not look into it");
        let read =
            || -> Value { serde_json::from_slice(&std::fs::read(files.term()).expect("a file")).expect("it is JSON") };
        let fence = Fence { incarnation: Incarnation(255), epoch: Epoch(7) };
        files.write_term(Role::Leader, Some(fence), Some(Time::from_nanos(1_234_567_890)));
        let term = read();
        assert_eq!(term["valid_until_boottime_ms"], 1_234);
        assert!(term["valid_until"].as_str().is_some_and(|time| time.ends_with('Z')), "{term}");
        assert_eq!((&term["role"], &term["epoch"]), (&json!("leader"), &json!(7)));
        assert_eq!(term["incarnation"], "00000000000000ff");
        files.write_term(Role::Worker, None, None);
        assert_eq!(read()["valid_until_boottime_ms"], Value::Null);
        assert_eq!(std::fs::read_dir(files.folder()).expect("a folder").count(), 1, "nothing else is left there");
    }

    #[test]
    fn a_time_of_the_wall_clock_is_as_far_away_as_that_of_the_other() {
        let at = |until| wall(SystemTime::UNIX_EPOCH + Duration::from_secs(60), Time::from_millis(5_000), until);
        assert_eq!(at(Time::from_millis(6_500)), "1970-01-01T00:01:01.500Z");
        assert_eq!(at(Time::from_millis(3_000)), "1970-01-01T00:00:58.000Z");
    }
}
