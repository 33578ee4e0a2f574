//! A model of a cluster at rest: a list of names.

use super::Bytes;

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Things that can happen to a node, or to all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transition {
    Start,
    Crash,
    ShutDown,
    /// Shorter than a session.
    CutShort,
    /// Longer than a session.
    CutLong,
    PauseShort,
    PauseLong,
    Expire,
    ReplaceSession,
    GiveSessionUp,
    DeleteCandidate,
    RewriteCandidate,
    DeleteEntry,
    Litter,
    RestartStore,
    Resign,
}

const ALL: [Transition; 16] = [
    Transition::Start,
    Transition::Crash,
    Transition::ShutDown,
    Transition::CutShort,
    Transition::CutLong,
    Transition::PauseShort,
    Transition::PauseLong,
    Transition::Expire,
    Transition::ReplaceSession,
    Transition::GiveSessionUp,
    Transition::DeleteCandidate,
    Transition::RewriteCandidate,
    Transition::DeleteEntry,
    Transition::Litter,
    Transition::RestartStore,
    Transition::Resign,
];

/// The running nodes, in the order of their candidates.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) queue: Vec<&'static str>,
}

impl Model {
    /// The transition that `byte` stands for, and its node; `None` if that makes no sense as things stand.
    pub(super) fn transition(&self, byte: u8, bytes: &mut Bytes<'_>) -> Option<(Transition, &'static str)> {
        let name = bytes.pick(&NAMES);
        if !self.queue.contains(&name) {
            return Some((Transition::Start, name));
        }
        let transition = ALL[usize::from(byte) % ALL.len()];
        (transition != Transition::Start).then_some((transition, name))
    }

    /// Applies a transition. Returns true if the leader may have to claim a new term.
    pub(super) fn apply(&mut self, transition: Transition, name: &'static str) -> bool {
        let led = self.queue.first() == Some(&name);
        match transition {
            Transition::Start => self.queue.push(name),
            Transition::Crash | Transition::ShutDown => self.leave(name),
            Transition::CutLong
            | Transition::PauseLong
            | Transition::Expire
            | Transition::ReplaceSession
            | Transition::GiveSessionUp
            | Transition::DeleteCandidate => {
                self.leave(name);
                self.queue.push(name);
            }
            // A node that does not lead has nothing to resign from; a leader makes room for all others.
            Transition::Resign if led => {
                self.leave(name);
                self.queue.push(name);
            }
            Transition::Resign => return false,
            Transition::CutShort
            | Transition::PauseShort
            | Transition::RewriteCandidate
            | Transition::DeleteEntry
            | Transition::Litter
            | Transition::RestartStore => return false,
        }
        led
    }

    fn leave(&mut self, name: &str) {
        self.queue.retain(|other| *other != name);
    }
}
