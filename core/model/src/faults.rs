//! What may go wrong in a world, and how often.

use std::fmt;
use std::str::FromStr;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// A process is gone at once. It may start again.
    Crash,
    /// The store ends the session of a client that lives.
    Expiry,
    /// A link breaks: answers under way are lost, requests may or may not arrive.
    Cut,
    /// An answer is lost on a link that lives, or its client gives it up.
    Lost,
    /// What is under way when a link breaks arrives all the same, later than anything else.
    Late,
    /// A client has a new session while the old one lives, and does not say so.
    Renewal,
    /// An operator deletes a candidate.
    Candidate,
    /// An operator deletes an entry of a directory.
    Member,
    /// An operator asks the leader to resign.
    Resign,
    /// A node is asked to end.
    Shutdown,
    /// A node waits for an answer longer than it has patience.
    Overdue,
    /// A timer runs out while something is under way to its node.
    Haste,
    /// A service cannot be started.
    Failure,
    /// A process does nothing for a while; only where time is common to all.
    Pause,
    /// A server of the store loses the others; only where time is common to all.
    Server,
}

impl Fault {
    /// Every kind.
    pub const ALL: [Self; 15] = [
        Self::Crash,
        Self::Expiry,
        Self::Cut,
        Self::Lost,
        Self::Late,
        Self::Renewal,
        Self::Candidate,
        Self::Member,
        Self::Resign,
        Self::Shutdown,
        Self::Overdue,
        Self::Haste,
        Self::Failure,
        Self::Pause,
        Self::Server,
    ];

    /// Whether it happens in worlds that know no time, or in those that do.
    #[must_use]
    pub const fn happens(self, timed: bool) -> bool {
        match self {
            Self::Crash | Self::Cut | Self::Lost | Self::Late | Self::Resign | Self::Shutdown => true,
            Self::Pause | Self::Server => timed,
            Self::Expiry
            | Self::Renewal
            | Self::Candidate
            | Self::Member
            | Self::Overdue
            | Self::Haste
            | Self::Failure => !timed,
        }
    }

    /// What it is called in a list of faults.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Expiry => "expiry",
            Self::Cut => "cut",
            Self::Lost => "lost",
            Self::Late => "late",
            Self::Renewal => "renewal",
            Self::Candidate => "candidate",
            Self::Member => "member",
            Self::Resign => "resign",
            Self::Shutdown => "shutdown",
            Self::Overdue => "overdue",
            Self::Haste => "haste",
            Self::Failure => "failure",
            Self::Pause => "pause",
            Self::Server => "server",
        }
    }
}

/// How many faults of each kind are left to happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults([u8; Fault::ALL.len()]);

impl Faults {
    /// Nothing goes wrong.
    #[must_use]
    pub const fn none() -> Self {
        Self([0; Fault::ALL.len()])
    }

    /// One of each kind that happens in worlds that know no time, or in those that do.
    #[must_use]
    pub fn one_each(timed: bool) -> Self {
        Self(Fault::ALL.map(|fault| u8::from(fault.happens(timed))))
    }

    /// What is in it that does not happen in such worlds.
    #[must_use]
    pub fn foreign(&self, timed: bool) -> Option<Fault> {
        Fault::ALL.into_iter().find(|fault| self.left(*fault) > 0 && !fault.happens(timed))
    }

    /// One more of this kind.
    #[must_use]
    pub const fn with(mut self, fault: Fault) -> Self {
        self.0[fault as usize] = self.0[fault as usize].saturating_add(1);
        self
    }

    /// How many of this kind are left.
    #[must_use]
    pub const fn left(&self, fault: Fault) -> u8 {
        self.0[fault as usize]
    }

    /// Uses one up; false if there is none.
    pub(crate) fn spend(&mut self, fault: Fault) -> bool {
        let left = &mut self.0[fault as usize];
        let any = *left > 0;
        *left = left.saturating_sub(1);
        any
    }
}

/// A list of faults that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is no fault: give a list such as `crash,cut,cut`, or `none`, out of {}", names())]
pub struct UnknownFault {
    given: String,
}

fn names() -> String {
    Fault::ALL.map(Fault::name).join(", ")
}

/// A list, such as `crash,cut,cut`: each word allows one fault.
impl FromStr for Faults {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<Self, UnknownFault> {
        match text {
            "none" | "" => return Ok(Self::none()),
            _ => {}
        }
        text.split(',').map(str::trim).try_fold(Self::none(), |faults, name| {
            let fault = Fault::ALL.into_iter().find(|fault| fault.name() == name);
            fault.map(|fault| faults.with(fault)).ok_or_else(|| UnknownFault { given: name.to_owned() })
        })
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = Fault::ALL.into_iter();
        let words: Vec<&str> =
            all.flat_map(|fault| std::iter::repeat_n(fault.name(), usize::from(self.left(fault)))).collect();
        if words.is_empty() { formatter.write_str("none") } else { formatter.write_str(&words.join(",")) }
    }
}
