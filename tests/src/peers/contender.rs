//! A peer's contender, which reports when it leads.

use core::time::Duration;
use std::io;

use super::{Entry, Peer, Peers, Program};
use crate::reign::{Chronicle, Reign};

/// A contender's process and its reign. Killed when dropped.
#[derive(Debug)]
pub struct PeerContender {
    _process: Peer,
    chronicle: Chronicle,
}

impl PeerContender {
    /// Starts a [`Program::CuratorContender`] or a [`Program::KazooContender`].
    ///
    /// # Errors
    /// If the process can't be started.
    pub fn start(peers: &Peers, program: Program, entry: &Entry<'_>) -> io::Result<Self> {
        let chronicle = Chronicle::default();
        let process = peers.start(program, entry, {
            let chronicle = chronicle.clone();
            move |line| note(&chronicle, line)
        })?;
        Ok(Self { _process: process, chronicle })
    }

    /// Times at which it said that it leads.
    #[must_use]
    pub fn reign(&self) -> Option<Reign> {
        self.chronicle.reign()
    }
}

/// Parses `leads NANOSECONDS` or `led NANOSECONDS`.
fn note(chronicle: &Chronicle, line: &str) {
    let Some((word, moment)) = line.split_once(' ') else { return };
    let Ok(moment) = moment.parse().map(Duration::from_nanos) else { return };
    match word {
        "leads" => chronicle.note(true, moment, moment),
        "led" => {
            chronicle.note(true, moment, moment);
            chronicle.note(false, moment, moment);
        }
        _ => {}
    }
}
