//! Search as the service that a node runs in each role.
//!
//! ```text
//! worker   POST /task    its share of a search, for the leader of the newest term
//!          GET /search   307 to the leader
//! leader   GET /search   the whole search
//!          POST /task    409 wrong_role
//! ```
//! In both roles the shards that the node is to hold are kept up to date in the background. A worker holds those of which
//! it is the first or second choice. A leader of up to [`COPIES`] workers holds everything, so that in a cluster of up to
//! three nodes whoever is left alone answers at once; the leader of more holds nothing, after a while.

mod parameters;
mod refresh;
mod respond;
mod tasks;

use core::error::Error;
use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use rolecall::http::{Application, Client, ClientLimits, Handler, error};
use rolecall::{Assignment, Clock, Following, LeaderTerm, Members, Net};
use tokio::task::JoinSet;

use super::coordinator::{Coordinator, Pace};
use super::documents::{FolderError, Source};
use super::holdings::{Holdings, HoldingsReport};
use super::index::Storage;
use super::placement::COPIES;
use super::settings::Settings;
use super::{SEARCH_PATH, TASK_PATH};
use refresh::{Assignment as Share, Refreshing};
use tasks::HttpTasks;

/// What a search service is made of.
#[derive(Clone)]
pub struct SearchOptions {
    /// The node's id.
    pub node: Arc<str>,
    /// The documents: a folder, by its path, or another source.
    pub documents: Arc<dyn Source>,
    /// Where indexes are kept.
    pub storage: Storage,
    /// The settings of the cluster.
    pub settings: Settings,
    /// How often the documents are looked at.
    pub rescan: Duration,
    /// How long searches take at most.
    pub pace: Pace,
    /// Where work is done.
    pub work: Work,
    /// By which tasks are sent.
    pub net: Arc<dyn Net>,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// Where a node does what takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// On threads of the runtime's that may block.
    OnThreads,
    /// On the calling one. On a simulated machine computing takes no time, so the building of a shard is given some.
    Here {
        /// How long a shard is being built.
        build: Duration,
    },
}

impl Work {
    fn on_threads(self) -> bool {
        self == Self::OnThreads
    }
}

/// How often the documents are looked at unless told otherwise.
pub const RESCAN: Duration = Duration::from_secs(2);

impl fmt::Debug for SearchOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SearchOptions")
            .field("node", &self.node)
            .field("documents", &self.documents)
            .field("storage", &self.storage)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// Search, in whichever role. What it holds outlives changes of role. Clones are the same service.
#[derive(Clone, Debug)]
pub struct SearchService {
    options: SearchOptions,
    holdings: Arc<Holdings>,
    client: Client,
}

impl SearchService {
    /// A service that holds nothing yet.
    ///
    /// # Errors
    /// If the documents cannot be listed, as where there is no such folder.
    pub fn open(options: SearchOptions) -> Result<Self, FolderError> {
        let SearchOptions { documents, settings, storage, clock, net, .. } = &options;
        let holdings = Arc::new(Holdings::of(Arc::clone(documents), *settings, storage.clone(), clock.wall())?);
        let client = Client::new(Arc::clone(net), Arc::clone(clock), ClientLimits::default());
        Ok(Self { options, holdings, client })
    }

    /// What this node holds, in numbers.
    #[must_use]
    pub fn report(&self) -> HoldingsReport {
        self.holdings.report()
    }

    fn refresh(&self, assignment: Share, members: Members) -> JoinSet<()> {
        let SearchOptions { node, settings, rescan, work, clock, .. } = &self.options;
        let refreshing = Refreshing {
            holdings: Arc::clone(&self.holdings),
            assignment,
            node: Arc::clone(node),
            shards: settings.shards.count(),
            clock: Arc::clone(clock),
            rescan: *rescan,
            work: *work,
        };
        // Before the first request: what is wanted and not there yet is waited for.
        refreshing.want(&members);
        let mut task = JoinSet::new();
        task.spawn(refreshing.run(members));
        task
    }
}

impl Application for SearchService {
    type Handler = SearchHandler;

    async fn serve(&self, assignment: Assignment) -> Result<SearchHandler, Box<dyn Error + Send + Sync>> {
        let SearchOptions { node, pace, work, clock, settings, .. } = &self.options;
        let threads = work.on_threads();
        let (share, members, serving) = match assignment {
            Assignment::Follow(following) => {
                let (holdings, members) = (Arc::clone(&self.holdings), following.workers_as_read());
                (Share::Worker, members, Serving::Worker { following, holdings, threads })
            }
            Assignment::Lead(term) => {
                let tasks = HttpTasks { client: self.client.clone(), term: term.clone(), settings: *settings };
                let here = Arc::clone(&self.holdings);
                let coordinator = Coordinator::new(tasks, here, Arc::clone(clock), *pace, threads);
                let (members, node) = (term.members(), Arc::clone(node));
                (Share::Leader, members, Serving::Leader { term, coordinator: Box::new(coordinator), node })
            }
        };
        let refreshing = std::sync::Mutex::new(self.refresh(share, members));
        Ok(SearchHandler { serving, refreshing })
    }
}

/// Answers for one run in one role.
pub struct SearchHandler {
    serving: Serving,
    /// Ends with the handler.
    refreshing: std::sync::Mutex<JoinSet<()>>,
}

enum Serving {
    Worker { following: Following, holdings: Arc<Holdings>, threads: bool },
    Leader { term: LeaderTerm, coordinator: Box<Coordinator<HttpTasks>>, node: Arc<str> },
}

impl fmt::Debug for SearchHandler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let role = match &self.serving {
            Serving::Worker { .. } => "worker",
            Serving::Leader { .. } => "leader",
        };
        formatter.debug_struct("SearchHandler").field("role", &role).finish_non_exhaustive()
    }
}

impl Handler for SearchHandler {
    async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        match (request.uri().path(), &self.serving) {
            (TASK_PATH, Serving::Worker { following, holdings, threads }) => {
                respond::task(following, holdings, *threads, &request).await
            }
            (TASK_PATH, Serving::Leader { .. }) => {
                error(StatusCode::CONFLICT, "wrong_role", "this node leads: tasks are for workers")
            }
            (SEARCH_PATH, Serving::Worker { following, .. }) => respond::redirect(following.leader(), &request),
            (SEARCH_PATH, Serving::Leader { term, coordinator, node }) => {
                respond::search(term, coordinator, node, &request).await
            }
            (path, _) => {
                let message = format!("there is nothing at {path}: search is at /search?q=…");
                error(StatusCode::NOT_FOUND, "not_found", &message)
            }
        }
    }

    async fn stop(&self) {
        self.refreshing.lock().unwrap_or_else(std::sync::PoisonError::into_inner).abort_all();
    }
}

/// Whether the leader of so many workers holds everything itself.
const fn leader_holds_everything(workers: usize) -> bool {
    workers <= COPIES
}
