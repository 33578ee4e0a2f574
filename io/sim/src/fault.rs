//! The faults that a simulation can inject.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use rolecall_core::Family;

/// A fault, and how long it lasts. Nodes and servers are counted from 0; a number that is too high wraps around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A process dies, and its kernel closes its connections. It starts again.
    Crash {
        /// The node.
        node: u8,
        /// Time until it starts again; [`Fault::FOR_GOOD`] for never.
        down: Duration,
    },
    /// A machine loses its power, and nobody is told. It starts again.
    PowerLoss {
        /// The node.
        node: u8,
        /// Time until it starts again; [`Fault::FOR_GOOD`] for never.
        down: Duration,
    },
    /// A process is stopped, as by SIGSTOP, while its clock goes on.
    Pause {
        /// The node.
        node: u8,
        /// Time until it goes on.
        length: Duration,
    },
    /// A clock runs too fast, or with a negative value too slow.
    ClockRate {
        /// The node.
        node: u8,
        /// Error of the rate, in parts per million.
        ppm: i32,
    },
    /// Nothing passes between two hosts, in either direction.
    Partition {
        /// One.
        from: End,
        /// The other.
        to: End,
        /// Duration.
        length: Duration,
    },
    /// Nothing passes from one host to another; the other direction is open.
    OneWay {
        /// The sender, whose messages are lost.
        from: End,
        /// The receiver.
        to: End,
        /// Duration.
        length: Duration,
    },
    /// Messages between two hosts wait, and arrive all at once.
    Stall {
        /// One.
        from: End,
        /// The other.
        to: End,
        /// Duration.
        length: Duration,
    },
    /// All messages between a node and the store take longer.
    SlowLink {
        /// The node.
        node: u8,
        /// Time that a message takes.
        latency: Duration,
        /// Duration.
        length: Duration,
    },
    /// The store does what a node asks, but its answers are lost.
    LostAnswers {
        /// The node.
        node: u8,
        /// True if answers to reads still arrive.
        writes_only: bool,
        /// Duration.
        length: Duration,
    },
    /// Answers and notices arrive late and overtake each other, even after deadlines and reconnects.
    LateAnswers {
        /// The node.
        node: u8,
        /// Longest delay.
        by: Duration,
        /// Duration.
        length: Duration,
    },
    /// A server of the store lags behind and shows old data. Where the store keeps a lease, its replica lags behind, and
    /// takes the server's place in a [`Fault::StoreRestart`] before the end.
    Lag {
        /// The server.
        server: u8,
        /// Duration.
        length: Duration,
    },
    /// The store ends a session early.
    Expire {
        /// The node.
        node: u8,
    },
    /// A client opens a new session while the old one lives, and reports only the new one.
    NewSession {
        /// The node.
        node: u8,
    },
    /// A client drops its session while the store still keeps it.
    SessionGivenUp {
        /// The node.
        node: u8,
    },
    /// A client moves to another server. If there is only one, it connects again.
    Move {
        /// The node.
        node: u8,
    },
    /// A server of the store loses contact with the others: it answers reads and commits nothing.
    Cut {
        /// The server.
        server: u8,
        /// Duration.
        length: Duration,
        /// True if the requests it held reach the others in the end.
        deliver: bool,
    },
    /// The store stops and starts again, with its data.
    StoreRestart,
    /// The store stops and starts again, empty.
    DataLoss,
    /// An operator deletes a node's candidate.
    DeleteCandidate {
        /// The node.
        node: u8,
    },
    /// An operator deletes a node's entries in the registries.
    DeleteMember {
        /// The node.
        node: u8,
    },
    /// The service fails to start.
    FailStarts {
        /// The node.
        node: u8,
        /// Number of failures in a row.
        times: u8,
    },
    /// The service takes long to stop.
    SlowStop {
        /// The node.
        node: u8,
        /// Time that it takes to stop.
        takes: Duration,
        /// Duration of the fault.
        length: Duration,
    },
    /// A node is asked to shut down. It starts again.
    Shutdown {
        /// The node.
        node: u8,
        /// Time from the request until it starts again.
        down: Duration,
    },
    /// An operator asks a node to resign.
    Resign {
        /// The node.
        node: u8,
    },
    /// The wall clock of the store's server steps. More steps forward than nodes allow for within one lease do not happen.
    Clock {
        /// Milliseconds forward, or back if negative.
        millis: i64,
    },
}

impl Fault {
    /// Down time of a machine that never comes back, not even after the end of all faults. The last machine always does.
    pub const FOR_GOOD: Duration = Duration::MAX;
}

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A node.
    Node(u8),
    /// The store, with all its servers.
    Store,
    /// One server of the store.
    Server(u8),
}

macro_rules! kinds {
    ($($kind:ident $name:literal,)*) => {
        /// The kinds of [`Fault`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FaultKind {
            $(#[doc = concat!("[`Fault::", stringify!($kind), "`]")] $kind,)*
        }

        impl FaultKind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Name on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }

        impl Fault {
            /// The kind of this fault.
            #[must_use]
            pub const fn kind(&self) -> FaultKind {
                match self {
                    $(Self::$kind { .. } => FaultKind::$kind,)*
                }
            }
        }
    };
}

kinds! {
    Crash "crash",
    PowerLoss "power-loss",
    Pause "pause",
    ClockRate "clock-rate",
    Partition "partition",
    OneWay "one-way",
    Stall "stall",
    SlowLink "slow-link",
    LostAnswers "lost-answers",
    LateAnswers "late-answers",
    Lag "lag",
    Expire "expire",
    NewSession "new-session",
    SessionGivenUp "session-given-up",
    Move "move",
    Cut "cut",
    StoreRestart "store-restart",
    DataLoss "data-loss",
    DeleteCandidate "delete-candidate",
    DeleteMember "delete-member",
    FailStarts "fail-starts",
    SlowStop "slow-stop",
    Shutdown "shutdown",
    Resign "resign",
    Clock "clock",
}

impl FaultKind {
    /// The kinds that can happen on a store of this family.
    #[must_use]
    pub fn of(family: Family) -> Vec<Self> {
        Self::ALL.iter().copied().filter(|kind| kind.can_happen_on(family)).collect()
    }

    /// True if this can happen on a store of this family. A store that keeps a lease has one server and no candidates, and
    /// is the only one that asks a wall clock.
    #[must_use]
    pub const fn can_happen_on(self, family: Family) -> bool {
        match self {
            Self::Cut | Self::DeleteCandidate => matches!(family, Family::Queue),
            Self::Clock => matches!(family, Family::Lease),
            Self::Crash
            | Self::PowerLoss
            | Self::Pause
            | Self::ClockRate
            | Self::Partition
            | Self::OneWay
            | Self::Stall
            | Self::SlowLink
            | Self::LostAnswers
            | Self::LateAnswers
            | Self::Lag
            | Self::Expire
            | Self::NewSession
            | Self::SessionGivenUp
            | Self::Move
            | Self::StoreRestart
            | Self::DataLoss
            | Self::DeleteMember
            | Self::FailStarts
            | Self::SlowStop
            | Self::Shutdown
            | Self::Resign => true,
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for FaultKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|kind| kind.name()).collect();
            format!("unknown fault `{name}`; accepted: all, {}", known.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_as_they_are_written() {
        for kind in FaultKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(*kind));
        }
        let refused = "earthquake".parse::<FaultKind>().expect_err("no such fault");
        assert!(refused.contains("`earthquake`") && refused.contains("power-loss"), "{refused}");
    }
}
