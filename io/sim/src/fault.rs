//! What may go wrong.

use core::fmt;
use core::str::FromStr;
use core::time::Duration;

/// Something that goes wrong, and for how long. Nodes and servers are counted from 0; a number that is too high goes round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A process dies; its connections are closed by its kernel. It starts again.
    Crash {
        /// Which.
        node: u8,
        /// For how long it is down.
        down: Duration,
    },
    /// A machine goes dark: nobody is told. It starts again.
    PowerLoss {
        /// Which.
        node: u8,
        /// For how long it is down.
        down: Duration,
    },
    /// A process is stopped, as by SIGSTOP, while its clock goes on.
    Pause {
        /// Which.
        node: u8,
        /// For how long.
        length: Duration,
    },
    /// A clock runs too fast, or with a negative value too slow.
    ClockRate {
        /// Whose.
        node: u8,
        /// By how much, in parts per million.
        ppm: i32,
    },
    /// Nothing passes between two hosts.
    Partition {
        /// One.
        from: End,
        /// The other.
        to: End,
        /// For how long.
        length: Duration,
    },
    /// Nothing passes from one host to another; the other way is open.
    OneWay {
        /// Whose words are lost.
        from: End,
        /// Who does not hear.
        to: End,
        /// For how long.
        length: Duration,
    },
    /// What is sent between two hosts waits, and comes all at once.
    Stall {
        /// One.
        from: End,
        /// The other.
        to: End,
        /// For how long.
        length: Duration,
    },
    /// Everything between a node and the store takes longer.
    SlowLink {
        /// Whose link.
        node: u8,
        /// How long a word is on its way.
        latency: Duration,
        /// For how long.
        length: Duration,
    },
    /// The store does what a node asks, and the node never hears.
    LostAnswers {
        /// Which.
        node: u8,
        /// Whether the answers to reads come all the same.
        writes_only: bool,
        /// For how long.
        length: Duration,
    },
    /// Answers and notices come late and overtake each other, beyond deadlines and reconnects too.
    LateAnswers {
        /// To whom.
        node: u8,
        /// By up to how much.
        by: Duration,
        /// For how long.
        length: Duration,
    },
    /// A server of the store shows what is no longer so.
    Lag {
        /// Which.
        server: u8,
        /// For how long.
        length: Duration,
    },
    /// The store ends a session before its time.
    Expire {
        /// Whose.
        node: u8,
    },
    /// A client gets a new session while the old one lives, and tells of the new one only.
    NewSession {
        /// Whose.
        node: u8,
    },
    /// A client gives its session up while the store still keeps it.
    SessionGivenUp {
        /// Whose.
        node: u8,
    },
    /// A client goes to another server.
    Move {
        /// Whose.
        node: u8,
    },
    /// A server of the store loses the others: it answers reads and commits nothing.
    Cut {
        /// Which.
        server: u8,
        /// For how long.
        length: Duration,
        /// Whether what it held reaches the others in the end.
        deliver: bool,
    },
    /// The store stops and starts again, with its data.
    StoreRestart,
    /// The store stops and starts again, empty.
    DataLoss,
    /// An operator deletes a node's candidate.
    DeleteCandidate {
        /// Whose.
        node: u8,
    },
    /// An operator deletes a node's entries in the registries.
    DeleteMember {
        /// Whose.
        node: u8,
    },
    /// The application fails to start.
    FailStarts {
        /// Where.
        node: u8,
        /// How often in a row.
        times: u8,
    },
    /// The application takes long to stop.
    SlowStop {
        /// Where.
        node: u8,
        /// How long.
        takes: Duration,
        /// For how long that is so.
        length: Duration,
    },
    /// A node is asked to end in good order. It starts again.
    Shutdown {
        /// Which.
        node: u8,
        /// How long after it was asked.
        down: Duration,
    },
    /// An operator asks a node to give up its term.
    Resign {
        /// Which.
        node: u8,
    },
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
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Its name on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }

        impl Fault {
            /// Of which kind it is.
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
