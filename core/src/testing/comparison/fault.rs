//! The faults of a run, and their times.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;
use core::time::Duration;

use super::Setting;
use crate::testing::Dice;

/// A fault. Who is meant is decided when it happens, so that each election has its own leader crashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A process dies and is started again. It remembers what its algorithm keeps on disk.
    Crash {
        /// The process.
        of: Victim,
        /// Time until it starts again.
        down: Duration,
    },
    /// A process stands still, as by SIGSTOP, while its clock goes on.
    Pause {
        /// The process.
        of: Victim,
        /// Time until it goes on.
        length: Duration,
    },
    /// Nothing passes between one node and everything else, the store included.
    Isolate {
        /// The node.
        of: Victim,
        /// Duration.
        length: Duration,
    },
    /// Nothing passes between these nodes and the others. The store is with the others.
    Split {
        /// The nodes, one bit each.
        nodes: u32,
        /// Duration.
        length: Duration,
    },
    /// A node's clock runs at another rate from now on, within the error that nodes are configured for.
    ClockRate {
        /// The node.
        of: Victim,
        /// Error of the rate, in parts per million.
        ppm: i32,
    },
    /// Someone sets the wall clock of the store's machine.
    StoreClock {
        /// Length of the step.
        by: Duration,
        /// True for a step into the future.
        forward: bool,
    },
    /// One message in five is lost. On a connection to a store it is sent again, and comes late.
    Loss {
        /// Duration.
        length: Duration,
    },
    /// Every other message is late, and overtaken unless it is on a connection to a store.
    Late {
        /// Longest delay.
        by: Duration,
        /// Duration.
        length: Duration,
    },
}

/// The process that a fault strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// Whoever leads when the fault happens; if nobody does, the node with this number.
    Leader(u8),
    /// The node with this number.
    Node(u8),
}

macro_rules! kinds {
    ($($(#[$meaning:meta])* $kind:ident $name:literal,)*) => {
        /// Kinds of faults.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FaultKind {
            $($(#[$meaning])* $kind,)*
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
    };
}

kinds! {
    /// A process dies, and stays down for up to a minute.
    Crash "crash",
    /// A process dies and is started again within a second.
    Restart "restart",
    /// A process stands still for up to a minute.
    Pause "pause",
    /// A node, or several, are cut off for up to a minute.
    Partition "partition",
    /// A node's clock changes its rate, or the wall clock of the store's machine is set.
    Clock "clock",
    /// Messages are lost.
    Loss "loss",
    /// Messages are late.
    Late "late",
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

/// Shortest time between two steps of the store's wall clock into the future. Leases are configured for one such step
/// before they end, and live for 10 s.
const BETWEEN_STEPS: Duration = Duration::from_secs(11);

/// Time before the first fault, in which a leader is elected.
const CALM: Duration = Duration::from_secs(60);

/// The faults of a seed, in the order of their times since the start. They do not depend on the election.
#[must_use]
pub fn plan(setting: &Setting, seed: u64) -> Vec<(Duration, Fault)> {
    let mut dice = Dice::new(seed ^ 0x7465_7874);
    let mut plan = Vec::new();
    let mut at = CALM;
    let mut step_from = Duration::ZERO;
    while at < setting.length && !setting.faults.is_empty() {
        let kind = dice.pick(&setting.faults);
        let mut fault = fault(kind, setting.nodes, &mut dice);
        if let Fault::StoreClock { forward: forward @ true, .. } = &mut fault {
            *forward = step_from <= at;
            step_from = if *forward { at + BETWEEN_STEPS } else { step_from };
        }
        plan.push((at, fault));
        let pause = dice.pick(&[2_000, 20_000, 90_000]);
        at += dice.millis(500, pause);
    }
    plan
}

fn fault(kind: FaultKind, nodes: u8, dice: &mut Dice) -> Fault {
    let node = u8::try_from(dice.below(u64::from(nodes.max(1)))).unwrap_or(0);
    let of = if dice.one_in(3) { Victim::Node(node) } else { Victim::Leader(node) };
    let longest = dice.pick(&[2_000, 15_000, 60_000]);
    let length = dice.millis(200, longest);
    match kind {
        FaultKind::Crash => Fault::Crash { of, down: length },
        FaultKind::Restart => Fault::Crash { of, down: dice.millis(100, 1_000) },
        FaultKind::Pause => Fault::Pause { of, length },
        FaultKind::Partition if dice.one_in(2) => Fault::Isolate { of, length },
        FaultKind::Partition => {
            let nodes = u32::try_from(dice.below(1 << nodes.min(31))).unwrap_or(0);
            Fault::Split { nodes, length }
        }
        FaultKind::Clock if dice.one_in(2) => Fault::ClockRate { of, ppm: dice.pick(&[-9_900, 0, 9_900]) },
        FaultKind::Clock => Fault::StoreClock {
            by: dice.pick(&[Duration::from_secs(2), Duration::from_secs(60), Duration::from_secs(3_600)]),
            forward: dice.one_in(2),
        },
        FaultKind::Loss => Fault::Loss { length },
        FaultKind::Late => Fault::Late { by: dice.millis(10, 3_000), length },
    }
}
