//! Every command and its options.

use core::fmt;
use core::time::Duration;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use rolecall::store::StoreUrl;

use super::Failure;
use super::value::{Address, ClockError, Memory, Name, Seeds, duration};
use crate::search::{Ranking, Shards};

/// A search over a folder of documents, shared out among equal nodes of which one leads, that heals by itself.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "rolecall",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    after_help = "Options can also stand in a TOML file (--config) under their long names, and in the environment as \
                  ROLECALL_ and the name in capitals (ROLECALL_STORE). Flags win over the environment, the environment \
                  over the file.\n\nExit codes: 0 done, 1 failed at run time, 2 wrong usage or configuration, 3 \
                  stopped before the end (sim, check), 70 a promise about leadership was violated.\n\nExamples:\n  rolecall demo\n  rolecall node --store \
                  zookeeper://127.0.0.1:2181 --documents ~/notes\n  rolecall status --store zookeeper://127.0.0.1:2181"
)]
pub struct Cli {
    /// Read options from this TOML file
    #[arg(long, value_name = "FILE", env = "ROLECALL_CONFIG", global = true)]
    pub config: Option<PathBuf>,

    /// How logs look on standard error; RUST_LOG selects which
    #[arg(long, value_name = "FORMAT", env = "ROLECALL_LOG_FORMAT", global = true, default_value = "text")]
    pub log_format: LogFormat,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// How logs look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// A JSON object a line.
    Json,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one value of it in a process")]
pub enum Command {
    /// Run a whole cluster in this process, to look at
    Demo(Demo),
    /// Run one node of a cluster
    Node(Node),
    /// Tell who leads, since when, and who works
    Status(Status),
    /// Ask the leader to give up its term
    Resign(Resign),
    /// Ask the leader to let a certain node lead
    Handover(Handover),
    /// Run deterministic simulations
    Sim(Sim),
    /// Explore every reachable state (model checker)
    Check(Check),
    /// Run a recorded journal through the core again and compare every action
    Replay(Replay),
    /// Keep a command running according to the node's role
    Exec(Exec),
}

/// `rolecall demo`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Type help on its terminal for what can be done there: kill 1, start 1, quit.\n\nExamples:\n  \
                        rolecall demo\n  rolecall demo --documents ~/notes --nodes 5 --port 9000")]
pub struct Demo {
    /// The folder of documents [default: the Rust documentation of this machine's toolchain, else Rolecall's own guide]
    #[arg(long, value_name = "DIR", env = "ROLECALL_DOCUMENTS")]
    pub documents: Option<PathBuf>,

    /// How many nodes
    #[arg(long, value_name = "N", env = "ROLECALL_NODES", default_value = "3", value_parser = clap::value_parser!(u16).range(1..=20))]
    pub nodes: u16,

    /// The port of the first node; the others follow. Ports that are taken are left out
    #[arg(long, value_name = "PORT", env = "ROLECALL_PORT", default_value = "8080", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,

    /// What `node` takes too; here the session timeout is 2s, so that healing is seen.
    #[command(flatten)]
    pub tuning: Tuning,
}

/// `rolecall node`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  rolecall node --store zookeeper://127.0.0.1:2181 --documents ~/notes
  rolecall node --store zookeeper://zk1,zk2,zk3/apps --documents /srv/docs --id a \\
      --listen 0.0.0.0:8080 --advertise a.example:8080
  rolecall node --config /etc/rolecall.toml")]
pub struct Node {
    /// Where the cluster meets.
    #[command(flatten)]
    pub store: StoreAt,

    /// The folder of documents, the same for all nodes
    #[arg(long, value_name = "DIR", env = "ROLECALL_DOCUMENTS")]
    pub documents: PathBuf,

    /// This node's name, unique in the cluster; set it to keep the index between starts [default: host name, -, six random letters]
    #[arg(long, value_name = "NAME", env = "ROLECALL_ID")]
    pub id: Option<Name>,

    /// The address to listen on; port 0 lets the system choose
    #[arg(long, value_name = "HOST:PORT", env = "ROLECALL_LISTEN", default_value = "127.0.0.1:8080")]
    pub listen: Address,

    /// Where others reach this node [default: the address listened on]
    #[arg(long, value_name = "HOST:PORT", env = "ROLECALL_ADVERTISE")]
    pub advertise: Option<Address>,

    /// What `demo` takes too.
    #[command(flatten)]
    pub tuning: Tuning,
}

/// Where a cluster meets.
#[derive(Args, Clone, Debug)]
pub struct StoreAt {
    /// The coordination store, such as zookeeper://zk1:2181,zk2:2181/apps, or memory: for one in this process
    #[arg(long, value_name = "URL", env = "ROLECALL_STORE", hide_env_values = true)]
    pub store: StoreUrl,

    /// The cluster's name
    #[arg(long, value_name = "NAME", env = "ROLECALL_CLUSTER", default_value = "default")]
    pub cluster: Name,
}

impl StoreAt {
    /// Refuses a store that is known but that this build has no adapter for.
    ///
    /// # Errors
    /// [`Failure::Usage`] that says so.
    pub fn require_built(&self) -> Result<(), Failure> {
        self.store.require_built().map_err(|error| Failure::Usage(format!("--store {}: {error}", self.store)))
    }
}

/// How a node behaves.
#[derive(Args, Clone, Debug)]
pub struct Tuning {
    /// How long the store keeps the session of a node that it does not hear from
    #[arg(long, value_name = "DURATION", env = "ROLECALL_SESSION_TIMEOUT", default_value = "10s", value_parser = duration)]
    pub session_timeout: Duration,

    /// How long requests in flight may go on when a service stops
    #[arg(long, value_name = "DURATION", env = "ROLECALL_DRAIN_TIMEOUT", default_value = "5s", value_parser = duration)]
    pub drain_timeout: Duration,

    /// The tick of the store's servers [default: unknown, so a quarter of the session timeout is set aside]
    #[arg(long, value_name = "DURATION", env = "ROLECALL_STORE_TICK", value_parser = duration)]
    pub store_tick: Option<Duration>,

    /// By how much the rate of this machine's clock may be wrong
    #[arg(long, value_name = "PERCENT", env = "ROLECALL_CLOCK_ERROR", default_value = "1%")]
    pub clock_error: ClockError,

    /// What a leader does when it loses the connection to the store: lead on while its term is valid, or stop at once
    #[arg(long, value_name = "POLICY", env = "ROLECALL_ON_SUSPEND", default_value = "hold")]
    pub on_suspend: OnSuspend,

    /// Into how many shards the documents fall; the same for the whole cluster
    #[arg(long, value_name = "N", env = "ROLECALL_SHARDS", default_value = "64")]
    pub shards: Shards,

    /// How documents are ranked, bm25 or tfidf; the same for the whole cluster
    #[arg(long, value_name = "FORMULA", env = "ROLECALL_RANKING", default_value = "bm25")]
    pub ranking: Ranking,

    /// Where the index is kept [default: a folder of its own under the user's cache]
    #[arg(long, value_name = "DIR", env = "ROLECALL_DATA")]
    pub data: Option<PathBuf>,

    /// Record every event and action in this folder, for `rolecall replay` [default: none]
    #[arg(long, value_name = "DIR", env = "ROLECALL_JOURNAL")]
    pub journal: Option<PathBuf>,
}

/// What a leader does when it loses the connection to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnSuspend {
    /// It leads on while its term is valid.
    Hold,
    /// It stops at once.
    StepDown,
}

/// `rolecall status`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  rolecall status --store zookeeper://127.0.0.1:2181\n  rolecall status --store \
                        zookeeper://127.0.0.1:2181 --cluster docs --json")]
pub struct Status {
    /// Where the cluster meets.
    #[command(flatten)]
    pub store: StoreAt,

    /// Answer in JSON
    #[arg(long)]
    pub json: bool,
}

/// `rolecall resign`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  rolecall resign --store zookeeper://127.0.0.1:2181")]
pub struct Resign {
    /// Where the cluster meets.
    #[command(flatten)]
    pub store: StoreAt,
}

/// `rolecall handover`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  rolecall handover --to b --store zookeeper://127.0.0.1:2181")]
pub struct Handover {
    /// Where the cluster meets.
    #[command(flatten)]
    pub store: StoreAt,

    /// The node that is to lead
    #[arg(long, value_name = "ID")]
    pub to: Name,
}

/// `rolecall sim`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  rolecall sim --seeds 1..100 --nodes 5 --minutes 10\n  rolecall sim --application search \
                        --seeds 0..99 --nodes 5\n\nExit codes: 0 every run was as promised, 1 one was not, 3 the memory was \
                        full before the end."
)]
pub struct Sim {
    /// What the nodes serve: a sum that is shared out, which is quick, the document search itself, or a register
    #[arg(long, value_name = "NAME", default_value = "sums")]
    pub application: Application,

    /// One seed, or the first and the last of several
    #[arg(long, value_name = "A..B")]
    pub seeds: Option<Seeds>,

    /// How many nodes and which faults.
    #[command(flatten)]
    pub world: World,

    /// For how long, where minutes are too coarse
    #[arg(long, value_name = "LENGTH", value_parser = duration, conflicts_with = "minutes")]
    pub length: Option<Duration>,

    /// Which faults of a plan come to pass, by their places in it, with commas between [default: all]
    #[arg(long, value_name = "PLACES", value_delimiter = ',')]
    pub only: Vec<usize>,

    /// Write a report of the first run, or of one that failed, for a browser
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// What simulated nodes serve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Application {
    /// A sum whose parts the workers add: as small as an application can be that shares its work out.
    #[default]
    Sums,
    /// The document search over a few dozen short texts; each answer is compared with that of one node alone.
    Search,
    /// A register whose clients' history has to be linearizable.
    Register,
}

impl fmt::Display for Application {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Sums => "sums",
            Self::Search => "search",
            Self::Register => "register",
        })
    }
}

/// `rolecall check`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  rolecall check --nodes 2 --faults cut,crash\n  rolecall check --nodes 2 --timed \
                        --faults pause,server\n  rolecall check --minutes 60 --memory 8GiB\n\nExit codes: 0 every state was \
                        explored and every promise holds, 1 a promise is broken, 3 the time was up or the memory full \
                        before the end.")]
pub struct Check {
    /// How many nodes and which faults.
    #[command(flatten)]
    pub world: World,

    /// Explore worlds in which time passes, on clocks that go wrong by as much as they may
    #[arg(long)]
    pub timed: bool,

    /// How the clock of each node goes, slow, exact or fast, with commas between [default: every way is tried]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "timed")]
    pub clocks: Vec<String>,
}

/// What a simulation or a model consists of.
#[derive(Args, Clone, Debug)]
pub struct World {
    /// How many nodes
    #[arg(long, value_name = "N", env = "ROLECALL_NODES", default_value = "3", value_parser = clap::value_parser!(u16).range(1..=20))]
    pub nodes: u16,

    /// Which faults happen, with commas between [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub faults: Vec<String>,

    /// For how long
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..))]
    pub minutes: Option<u64>,

    /// Stop before more memory than this is taken, such as 4GiB [default: half of what is available]
    #[arg(long, value_name = "SIZE", env = "ROLECALL_MEMORY")]
    pub memory: Option<Memory>,
}

/// `rolecall replay`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  rolecall replay /var/lib/rolecall/journal/a.jsonl")]
pub struct Replay {
    /// A file, or the folder, that a node wrote with --journal
    #[arg(value_name = "JOURNAL")]
    pub journal: PathBuf,
}

/// `rolecall exec`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Example:\n  rolecall exec --store zookeeper://127.0.0.1:2181 --cluster cron --leader ./run-jobs"
)]
pub struct Exec {
    /// Where the cluster meets.
    #[command(flatten)]
    pub store: StoreAt,

    /// What runs while this node leads
    #[arg(long, value_name = "CMD")]
    pub leader: String,

    /// What runs while this node is a worker
    #[arg(long, value_name = "CMD")]
    pub worker: Option<String>,
}
