//! Commands and their options.

use core::fmt;
use core::time::Duration;
use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};
use clap_complete::aot::Shell;

use rolecall::store::StoreUrl;

use super::Failure;
use super::value::{Address, ClockError, Host, Memory, Name, Seeds, duration};
use crate::search::{Ranking, Shards};

/// A search over a folder of documents, divided among equal nodes. One of them leads, and the cluster heals by itself.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "rolecall",
    version,
    propagate_version = true,
    after_help = "Options can also be given in a TOML file (--config) under their long names, and in the environment as \
                  ROLECALL_ and the name in capitals (ROLECALL_STORE). Flags override the environment, and the \
                  environment overrides the file.\n\nExit codes: 0 done, 1 failed at run time, 2 wrong usage or configuration, 3 \
                  stopped before the end (sim, check), 70 a promise about leadership was violated.\n\nExamples:\n  rolecall demo\n  rolecall node --store \
                  zookeeper://127.0.0.1:2181 --documents ~/notes\n  rolecall status --store zookeeper://127.0.0.1:2181"
)]
pub struct Cli {
    /// Read options from this TOML file
    #[arg(long, value_name = "FILE", env = "ROLECALL_CONFIG", global = true)]
    pub config: Option<PathBuf>,

    /// Format of the logs on standard error; RUST_LOG selects what is logged
    #[arg(long, value_name = "FORMAT", env = "ROLECALL_LOG_FORMAT", global = true, default_value = "text")]
    pub log_format: LogFormat,

    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Format of the logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Plain lines.
    Text,
    /// One JSON object per line.
    Json,
}

/// Command with its options.
#[derive(Clone, Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one value of it in a process")]
pub enum Command {
    /// Run a whole cluster in this process, to try it out
    Demo(Demo),
    /// Run one node of a cluster
    Node(Node),
    /// Show the leader, since when it leads, and the workers
    Status(Status),
    /// Ask the leader to give up its term
    Resign(Resign),
    /// Ask the leader to hand over to a given node
    Handover(Handover),
    /// Run deterministic simulations
    Sim(Sim),
    /// Explore every reachable state (model checker)
    Check(Check),
    /// Run a recorded journal through the core again and compare every action
    Replay(Replay),
    /// Keep a command running that depends on the node's role
    Exec(Exec),
    /// Print the completions for a shell
    Completions(Completions),
    /// Write the manual pages
    #[command(name = "man")]
    Manual(Manual),
}

/// Options of `rolecall demo`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Commands on its terminal: kill 1, start 1, help, quit.\n\nExamples:\n  \
                        rolecall demo\n  rolecall demo --documents ~/notes --nodes 5 --port 9000\n  rolecall demo --store \
                        'memory:?election=lease'")]
pub struct Demo {
    /// Folder of documents [default: the Rust documentation of this machine's toolchain, else Rolecall's own guide]
    #[arg(long, value_name = "DIR", env = "ROLECALL_DOCUMENTS")]
    pub documents: Option<PathBuf>,

    /// Number of nodes
    #[arg(long, value_name = "N", env = "ROLECALL_NODES", default_value = "3", value_parser = clap::value_parser!(u16).range(1..=20))]
    pub nodes: u16,

    /// Port of the first node; the others get the next ports. Ports in use are skipped
    #[arg(long, value_name = "PORT", env = "ROLECALL_PORT", default_value = "8080", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,

    /// Store inside the demo: memory: elects by a queue, memory:?election=lease by a lease, as on Redis
    #[arg(long, value_name = "URL", default_value = "memory:")]
    pub store: StoreUrl,

    /// Options shared with `node`. Here the session timeout defaults to 2 s, so that healing can be watched.
    #[command(flatten)]
    pub tuning: Tuning,
}

/// Options of `rolecall node`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  rolecall node --store zookeeper://127.0.0.1:2181 --documents ~/notes
  rolecall node --store zookeeper://zk1,zk2,zk3/apps --documents /srv/docs --id a \\
      --listen 0.0.0.0:8080 --advertise a.example:8080 --cluster-token /etc/rolecall.token
  rolecall node --config /etc/rolecall.toml")]
pub struct Node {
    /// Store and name of the cluster.
    #[command(flatten)]
    pub store: StoreAt,

    /// Folder of documents, the same for all nodes
    #[arg(long, value_name = "DIR", env = "ROLECALL_DOCUMENTS")]
    pub documents: PathBuf,

    /// Name of this node, unique in the cluster; set it to keep the index between starts [default: host name, -, six random letters]
    #[arg(long, value_name = "NAME", env = "ROLECALL_ID")]
    pub id: Option<Name>,

    /// Address to listen on; with port 0 the system chooses one
    #[arg(long, value_name = "HOST:PORT", env = "ROLECALL_LISTEN", default_value = "127.0.0.1:8080")]
    pub listen: Address,

    /// Address at which others reach this node [default: the address listened on]
    #[arg(long, value_name = "HOST:PORT", env = "ROLECALL_ADVERTISE")]
    pub advertise: Option<Address>,

    /// File with a secret that all nodes of the cluster share, at least 16 bytes; whoever does not know it can give no node
    /// a task, nor answer one
    #[arg(long, value_name = "FILE", env = "ROLECALL_CLUSTER_TOKEN")]
    pub cluster_token: Option<PathBuf>,

    /// Listen beyond this machine without a cluster token
    #[arg(long, value_name = "BOOL", env = "ROLECALL_INSECURE", num_args = 0..=1, require_equals = true,
          default_value = "false", default_missing_value = "true", hide_default_value = true, action = ArgAction::Set)]
    pub insecure: bool,

    /// Further hosts for which this node answers requests, such as the name of a proxy in front of it, as a comma-separated
    /// list. It always answers for localhost, and for the addresses that it listens on and advertises
    #[arg(long, value_name = "HOST", env = "ROLECALL_ALLOWED_HOST", value_delimiter = ',')]
    pub allowed_host: Vec<Host>,

    /// Options shared with `demo`.
    #[command(flatten)]
    pub tuning: Tuning,
}

/// Store and name of a cluster.
#[derive(Args, Clone, Debug)]
pub struct StoreAt {
    /// Coordination store, such as zookeeper://zk1:2181,zk2:2181/apps, or memory: for one in this process
    #[arg(long, value_name = "URL", env = "ROLECALL_STORE", hide_env_values = true)]
    pub store: StoreUrl,

    /// Name of the cluster
    #[arg(long, value_name = "NAME", env = "ROLECALL_CLUSTER", default_value = "default")]
    pub cluster: Name,
}

impl StoreAt {
    /// Refuses a store that is known but has no adapter in this build.
    ///
    /// # Errors
    /// [`Failure::Usage`] if this build has no adapter for the store.
    pub fn require_built(&self) -> Result<(), Failure> {
        self.store.require_built().map_err(|error| Failure::Usage(format!("--store {}: {error}", self.store)))
    }
}

/// Options that tune a node.
#[derive(Args, Clone, Debug)]
pub struct Tuning {
    /// Time for which the store keeps the session of a node that is silent
    #[arg(long, value_name = "DURATION", env = "ROLECALL_SESSION_TIMEOUT", default_value = "10s", value_parser = duration)]
    pub session_timeout: Duration,

    /// Time that requests in flight get to finish when a service stops
    #[arg(long, value_name = "DURATION", env = "ROLECALL_DRAIN_TIMEOUT", default_value = "5s", value_parser = duration)]
    pub drain_timeout: Duration,

    /// Tick of the store's servers [default: unknown; a quarter of the session timeout is then reserved]
    #[arg(long, value_name = "DURATION", env = "ROLECALL_STORE_TICK", value_parser = duration)]
    pub store_tick: Option<Duration>,

    /// Largest error in the rate of this machine's clock
    #[arg(long, value_name = "PERCENT", env = "ROLECALL_CLOCK_ERROR", default_value = "1%")]
    pub clock_error: ClockError,

    /// Policy of a leader that loses its connection to the store: keep leading while its term is valid, or stop at once
    #[arg(long, value_name = "POLICY", env = "ROLECALL_ON_SUSPEND", default_value = "hold")]
    pub on_suspend: OnSuspend,

    /// Number of shards into which the documents are divided; the same for the whole cluster
    #[arg(long, value_name = "N", env = "ROLECALL_SHARDS", default_value = "64")]
    pub shards: Shards,

    /// Formula that ranks documents, bm25 or tfidf; the same for the whole cluster
    #[arg(long, value_name = "FORMULA", env = "ROLECALL_RANKING", default_value = "bm25")]
    pub ranking: Ranking,

    /// Folder of the index [default: a folder of its own under the user's cache]
    #[arg(long, value_name = "DIR", env = "ROLECALL_DATA")]
    pub data: Option<PathBuf>,

    /// Record every event and action in this folder, for `rolecall replay` [default: none]
    #[arg(long, value_name = "DIR", env = "ROLECALL_JOURNAL")]
    pub journal: Option<PathBuf>,
}

/// Policy of a leader that loses its connection to the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OnSuspend {
    /// Keep leading while the term is valid.
    Hold,
    /// Stop at once.
    StepDown,
}

/// Options of `rolecall status`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  rolecall status --store zookeeper://127.0.0.1:2181\n  rolecall status --store \
                        zookeeper://127.0.0.1:2181 --cluster docs --json")]
pub struct Status {
    /// Store and name of the cluster.
    #[command(flatten)]
    pub store: StoreAt,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `rolecall resign`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  rolecall resign --store zookeeper://127.0.0.1:2181\n  rolecall resign --store \
                        redis://127.0.0.1 --cluster docs --timeout 10s\n  rolecall resign --own --id a --store \
                        zookeeper://127.0.0.1:2181\n\nExit codes: 0 another leads, or the same node in a \
                        new term; 1 the leader refused, or there was no new leader in time.")]
pub struct Resign {
    /// Store and name of the cluster.
    #[command(flatten)]
    pub store: StoreAt,

    /// Time to wait for the next leader; a wish that has no answer by then is withdrawn
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = duration)]
    pub timeout: Duration,

    /// Ask only if this node leads, the one that --id names: for a hook that runs before a node is stopped
    #[arg(long)]
    pub own: bool,

    /// Name of this node, for --own
    #[arg(long, value_name = "NAME", env = "ROLECALL_ID")]
    pub id: Option<Name>,
}

/// Options of `rolecall handover`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  rolecall handover --to b --store zookeeper://127.0.0.1:2181")]
pub struct Handover {
    /// Store and name of the cluster.
    #[command(flatten)]
    pub store: StoreAt,

    /// Node that is to lead
    #[arg(long, value_name = "ID")]
    pub to: Name,
}

/// Options of `rolecall sim`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  rolecall sim --seeds 1..100 --nodes 5 --minutes 10\n  rolecall sim --application search \
                        --seeds 0..99 --nodes 5\n  rolecall sim --election lease --faults clock,pause\n  \
                        rolecall sim --compare --nodes 5\n  rolecall sim --compare \
                        --election bully --faults pause --report bully.html\n\nFaults with --compare: crash, restart, \
                        pause, partition, clock, loss, late.\n\nExit codes: 0 every run kept every promise, 1 one did not, 3 the memory \
                        was full before the end."
)]
pub struct Sim {
    /// Application of the nodes: sums divided among the workers (quick), the document search, or a register
    #[arg(long, value_name = "NAME", default_value = "sums")]
    pub application: Application,

    /// Compare Rolecall's elections with the textbook's (bully, ring, raft, naive-lease) under the same faults, in one table
    #[arg(long, conflicts_with_all = ["application", "only"])]
    pub compare: bool,

    /// Election of the nodes: queue or lease [default: queue]; with --compare this one alone, or one of the textbook's, and
    /// --report draws the first seed at which two of its nodes lead
    #[arg(long, value_name = "NAME")]
    pub election: Option<String>,

    /// One seed, or the first and the last of several
    #[arg(long, value_name = "A..B")]
    pub seeds: Option<Seeds>,

    /// Nodes and faults.
    #[command(flatten)]
    pub world: World,

    /// Length of a run, where minutes are too coarse
    #[arg(long, value_name = "LENGTH", value_parser = duration, conflicts_with = "minutes")]
    pub length: Option<Duration>,

    /// Faults of the plan to inject, as a comma-separated list of their positions [default: all]
    #[arg(long, value_name = "PLACES", value_delimiter = ',')]
    pub only: Vec<usize>,

    /// Write an HTML report of the first run, or of one that failed
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
}

/// Application of simulated nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Application {
    /// Sums whose parts the workers add: the smallest application that divides its work.
    #[default]
    Sums,
    /// The document search over a few dozen short texts; each answer is compared with that of a single node.
    Search,
    /// A register; the history of its clients must be linearizable.
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

/// Options of `rolecall check`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  rolecall check --nodes 2 --faults cut,crash\n  rolecall check --nodes 2 --timed \
                        --faults pause,server\n  rolecall check --election lease --nodes 2 --faults resign,lapse\n  \
                        rolecall check --minutes 60 --memory 8GiB\n\nExit codes: 0 every state was \
                        explored and every promise holds, 1 a promise is broken, 3 the time was up or the memory full \
                        before the end.")]
pub struct Check {
    /// Nodes and faults.
    #[command(flatten)]
    pub world: World,

    /// How the store elects: by a queue, as on ZooKeeper, or by a lease, as on Redis
    #[arg(long, value_name = "NAME", default_value = "queue")]
    pub election: Election,

    /// Explore worlds in which time passes, with clocks that are off by the largest permitted error
    #[arg(long)]
    pub timed: bool,

    /// Rate of each node's clock, slow, exact or fast, as a comma-separated list [default: every combination]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "timed")]
    pub clocks: Vec<String>,
}

/// Election of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Election {
    /// By a queue of candidates.
    #[default]
    Queue,
    /// By a lease with a time to live.
    Lease,
}

/// Options of a simulation or a model.
#[derive(Args, Clone, Debug)]
pub struct World {
    /// Number of nodes
    #[arg(long, value_name = "N", env = "ROLECALL_NODES", default_value = "3", value_parser = clap::value_parser!(u16).range(1..=20))]
    pub nodes: u16,

    /// Kinds of faults to inject, as a comma-separated list [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub faults: Vec<String>,

    /// Length in minutes
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..))]
    pub minutes: Option<u64>,

    /// Memory to stay below, such as 4GiB [default: half of the available memory]
    #[arg(long, value_name = "SIZE", env = "ROLECALL_MEMORY")]
    pub memory: Option<Memory>,
}

/// Options of `rolecall replay`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Example:\n  rolecall replay /var/lib/rolecall/journal/a.jsonl")]
pub struct Replay {
    /// Journal file, or folder of them, that a node wrote with --journal
    #[arg(value_name = "JOURNAL")]
    pub journal: PathBuf,
}

/// Options of `rolecall exec`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "A command is one word, which is split as a shell would split it (nothing is expanded), or several words, \
                        none of which begins with a dash. All words after -- are the leader's command as they stand.

The command finds ROLECALL_ROLE, ROLECALL_EPOCH and ROLECALL_INCARNATION in its environment, ROLECALL_TERM_FILE (JSON, kept \
                        current: until when the term is valid, on CLOCK_BOOTTIME) and ROLECALL_MEMBERS_FILE (JSON, kept \
                        current). It is told to end with SIGTERM and killed after the grace, with all processes that it has \
                        made, before anyone else can lead. SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 and SIGWINCH are passed on to it. \
                        If it ends by itself, the lead is given up at once; it rests for 1 s, doubling up to a minute, before \
                        this member stands again.

Exit codes: 0 asked to end by SIGTERM or SIGINT; with --once that of the leader's command, 128 and its number if a signal ended \
                        it; 75 the lead was lost (--once); 1 the store failed; 2 wrong usage; 126 the command cannot be run, \
                        127 it was not found; 70 a promise about leadership was violated.

Examples:
  rolecall exec --store zookeeper://127.0.0.1:2181 --cluster cron --leader ./run-jobs
  rolecall exec --store redis://127.0.0.1:6379 --cluster db -- ./serve --port 5432 --primary
  rolecall exec --store zookeeper://zk1,zk2 --leader './serve --primary' --worker './serve --replica'"
)]
pub struct Exec {
    /// Store and name of the cluster.
    #[command(flatten)]
    pub store: StoreAt,

    /// Name of this member, unique in the cluster [default: host name, -, six random letters]
    #[arg(long, value_name = "NAME", env = "ROLECALL_ID")]
    pub id: Option<Name>,

    /// Address at which others reach the command, for the list of members [default: none]
    #[arg(long, value_name = "HOST:PORT", env = "ROLECALL_ADVERTISE")]
    pub advertise: Option<Address>,

    /// Command to run while this member leads
    #[arg(
        long,
        value_name = "CMD",
        num_args = 1..,
        required_unless_present_any = ["command", "on_lead", "on_follow", "on_end"],
        conflicts_with = "command"
    )]
    pub leader: Vec<OsString>,

    /// Command to run while this member does not lead
    #[arg(long, value_name = "CMD", num_args = 1..)]
    pub worker: Vec<OsString>,

    /// Hook to run when this member begins to lead, before the leader's command; if it fails, the lead is given up
    #[arg(long, value_name = "CMD", num_args = 1..)]
    pub on_lead: Vec<OsString>,

    /// Hook to run when this member begins not to lead, before the worker's command
    #[arg(long, value_name = "CMD", num_args = 1..)]
    pub on_follow: Vec<OsString>,

    /// Hook to run when this member ends to lead, once nothing of the leader's command is left and before anyone else can lead
    #[arg(long, value_name = "CMD", num_args = 1..)]
    pub on_end: Vec<OsString>,

    /// Longest time that one hook takes; then it is killed [default: 2s, or less as the session timeout requires]
    #[arg(long, value_name = "DURATION", env = "ROLECALL_HOOK_TIMEOUT", value_parser = duration)]
    pub hook_timeout: Option<Duration>,

    /// Run the leader's command once: its end ends this command, with its exit code, as does the loss of the lead, with 75
    #[arg(long)]
    pub once: bool,

    /// Time that a command has to end after SIGTERM, before it is killed [default: 5s, or less as the session timeout requires]
    #[arg(long, value_name = "DURATION", env = "ROLECALL_GRACE", value_parser = duration)]
    pub grace: Option<Duration>,

    /// Time for which the store keeps the session of a member that is silent
    #[arg(long, value_name = "DURATION", env = "ROLECALL_SESSION_TIMEOUT", default_value = "10s", value_parser = duration)]
    pub session_timeout: Duration,

    /// Tick of the store's servers [default: unknown; a quarter of the session timeout is then reserved]
    #[arg(long, value_name = "DURATION", env = "ROLECALL_STORE_TICK", value_parser = duration)]
    pub store_tick: Option<Duration>,

    /// Largest error in the rate of this machine's clock
    #[arg(long, value_name = "PERCENT", env = "ROLECALL_CLOCK_ERROR", default_value = "1%")]
    pub clock_error: ClockError,

    /// The leader's command, with flags of its own
    #[arg(last = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// Options of `rolecall completions`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  rolecall completions bash > /usr/share/bash-completion/completions/rolecall\n  \
                        rolecall completions zsh > /usr/share/zsh/vendor-completions/_rolecall\n  \
                        rolecall completions fish > /usr/share/fish/vendor_completions.d/rolecall.fish")]
pub struct Completions {
    /// Shell that reads them
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Options of `rolecall man`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  rolecall man /usr/local/share/man/man1\n  rolecall man | man -l -")]
pub struct Manual {
    /// Folder for the pages of all commands [default: none; the page of rolecall itself is printed]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}
