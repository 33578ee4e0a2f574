//! The elections that are compared.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::str::FromStr;

use super::count::Purposeful;
use super::network::Transport;
use super::world::{Part, World};
use super::{Run, Setting, ours};
use crate::election::textbook::bully::Bully;
use crate::election::textbook::naive_lease::{self, NaiveLease};
use crate::election::textbook::raft::Raft;
use crate::election::textbook::ring::Ring;
use crate::election::textbook::{Config, Contender, Peer};

macro_rules! elections {
    ($($(#[$meaning:meta])* $election:ident $name:literal,)*) => {
        /// An election that takes part in a comparison.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Election {
            $($(#[$meaning])* $election,)*
        }

        impl Election {
            /// All elections.
            pub const ALL: &[Self] = &[$(Self::$election),*];

            /// Name on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$election => $name,)*
                }
            }
        }
    };
}

elections! {
    /// Rolecall's nodes, with a queue of candidates in a store.
    Queue "queue",
    /// Rolecall's nodes, with a lease in a store.
    Lease "lease",
    /// [`bully`](crate::election::textbook::bully).
    Bully "bully",
    /// [`ring`](crate::election::textbook::ring).
    Ring "ring",
    /// [`raft`](crate::election::textbook::raft).
    Raft "raft",
    /// [`naive_lease`](crate::election::textbook::naive_lease).
    NaiveLease "naive-lease",
}

impl Election {
    /// True if Rolecall's nodes can use it.
    #[must_use]
    pub const fn is_ours(self) -> bool {
        match self {
            Self::Queue | Self::Lease => true,
            Self::Bully | Self::Ring | Self::Raft | Self::NaiveLease => false,
        }
    }

    /// Simulates one run.
    #[must_use]
    pub fn run(self, setting: &Setting, seed: u64) -> Run {
        match self {
            Self::Queue => ours::run(setting, seed, ours::queue()),
            Self::Lease => ours::run(setting, seed, ours::lease()),
            Self::Bully => among_nodes(setting, seed, |config| Box::new(Bully::new(config))),
            Self::Ring => among_nodes(setting, seed, |config| Box::new(Ring::new(config))),
            Self::Raft => among_nodes(setting, seed, |config| Box::new(Raft::new(config))),
            Self::NaiveLease => {
                let store: Part<_> = (Peer::STORE, Box::new(naive_lease::Store::new()));
                let nodes = (0..setting.nodes).map(|number| -> Part<_> { (Peer(number), Box::new(NaiveLease::new())) });
                World::run(setting, seed, Transport::Stream, core::iter::once(store).chain(nodes))
            }
        }
    }
}

/// Simulates nodes that speak to each other.
fn among_nodes<M: Purposeful>(
    setting: &Setting,
    seed: u64,
    node: impl Fn(Config) -> Box<dyn Contender<Message = M>>,
) -> Run {
    let nodes = (0..setting.nodes).map(|number| (Peer(number), node(Config::new(Peer(number), setting.nodes))));
    World::run(setting, seed, Transport::Datagrams, nodes)
}

impl fmt::Display for Election {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Election {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.iter().copied().find(|election| election.name() == name).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|election| election.name()).collect();
            format!("unknown election `{name}`; accepted: {}", known.join(", "))
        })
    }
}
