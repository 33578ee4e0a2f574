//! Kinds of faults, and how many of each may happen.

use std::fmt;
use std::str::FromStr;

use rolecall_core::Family;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// A process dies at once. It may start again.
    Crash,
    /// The store ends the session of a living client.
    Expiry,
    /// A link breaks: answers under way are lost, requests may or may not arrive.
    Cut,
    /// An answer is lost on a working link, or its client stops waiting for it.
    Lost,
    /// Answers under way when a link breaks arrive nevertheless, later than anything else.
    Late,
    /// A client opens a new session while the old one lives, without saying so.
    Renewal,
    /// An operator deletes a candidate.
    Candidate,
    /// An operator deletes an entry of a directory.
    Member,
    /// An operator asks the leader to resign.
    Resign,
    /// A node is asked to shut down.
    Shutdown,
    /// A node's deadline for an answer passes.
    Overdue,
    /// A timer fires while something is under way to its node.
    Haste,
    /// A service fails to start.
    Failure,
    /// A process pauses for a while. Timed worlds only.
    Pause,
    /// A server of the store loses contact with the others. Timed worlds of a queue only.
    Server,
    /// The lease of a node that does not lead ends although something is under way to the node. Untimed worlds of a lease
    /// only.
    Lapse,
    /// The server's wall clock steps by an hour, back, or forward once within a lease at most. Timed worlds of a lease only.
    Clock,
    /// The store restarts, with its data or without. Timed worlds of a lease only.
    Restart,
    /// A replica falls behind. It takes the server's place if the store restarts meanwhile. Timed worlds of a lease only.
    Lag,
}

impl Fault {
    /// Every kind.
    pub const ALL: [Self; 19] = [
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
        Self::Lapse,
        Self::Clock,
        Self::Restart,
        Self::Lag,
    ];

    /// True if this kind happens in timed worlds (`timed`), or else in untimed ones, with an election of this family.
    #[must_use]
    pub fn happens(self, family: Family, timed: bool) -> bool {
        match self {
            Self::Crash | Self::Cut | Self::Lost | Self::Late | Self::Resign | Self::Shutdown => true,
            Self::Pause => timed,
            Self::Server => timed && family == Family::Queue,
            Self::Clock | Self::Restart | Self::Lag => timed && family == Family::Lease,
            Self::Expiry | Self::Renewal | Self::Member | Self::Overdue | Self::Haste | Self::Failure => !timed,
            Self::Candidate => !timed && family == Family::Queue,
            Self::Lapse => !timed && family == Family::Lease,
        }
    }

    /// Name in a list of faults.
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
            Self::Lapse => "lapse",
            Self::Clock => "clock",
            Self::Restart => "restart",
            Self::Lag => "lag",
        }
    }
}

/// Number of faults of each kind that are left to happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Faults([u8; Fault::ALL.len()]);

impl Faults {
    /// No faults.
    #[must_use]
    pub const fn none() -> Self {
        Self([0; Fault::ALL.len()])
    }

    /// One fault of each kind that happens in such worlds.
    #[must_use]
    pub fn one_each(family: Family, timed: bool) -> Self {
        Self(Fault::ALL.map(|fault| u8::from(fault.happens(family, timed))))
    }

    /// A fault of this list that does not happen in such worlds.
    #[must_use]
    pub fn foreign(&self, family: Family, timed: bool) -> Option<Fault> {
        Fault::ALL.into_iter().find(|fault| self.left(*fault) > 0 && !fault.happens(family, timed))
    }

    /// Adds one more fault of this kind.
    #[must_use]
    pub const fn with(mut self, fault: Fault) -> Self {
        self.0[fault as usize] = self.0[fault as usize].saturating_add(1);
        self
    }

    /// Number of faults of this kind that are left.
    #[must_use]
    pub const fn left(&self, fault: Fault) -> u8 {
        self.0[fault as usize]
    }

    /// Spends one fault of this kind. Returns false if none is left.
    pub(crate) fn spend(&mut self, fault: Fault) -> bool {
        let left = &mut self.0[fault as usize];
        let any = *left > 0;
        *left = left.saturating_sub(1);
        any
    }
}

/// A list of faults that names an unknown one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown fault `{given}`: give `none`, or a list such as `crash,cut,cut`; the faults are {}", names())]
pub struct UnknownFault {
    given: String,
}

fn names() -> String {
    Fault::ALL.map(Fault::name).join(", ")
}

/// A list such as `crash,cut,cut`, in which each word allows one fault.
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
