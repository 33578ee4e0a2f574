//! Search service that a node runs in each role.
//!
//! ```text
//! worker   POST /task    its share of a search, for the leader of the newest term
//!          GET /search   307 to the leader
//! leader   GET /search   the whole search
//!          POST /task    409 wrong_role
//! ```
//! In both roles, the node keeps its shards up to date in the background. A worker holds the shards that the leader tells it to
//! hold ([`shares`](super::shares)). The leader of at most two workers holds everything, so that in a cluster of up to three nodes
//! the last one answers at once. The leader of more workers holds nothing, after a while.

mod parameters;
mod refresh;
mod respond;
mod status;
mod tasks;
mod telling;

use core::error::Error;
use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use rolecall::http::{Application, Client, ClientLimits, ClusterToken, Handler, error};
use rolecall::{Assignment, Clock, Following, LeaderTerm, Net, OsEntropy};
use tokio::task::JoinSet;

use super::coordinator::{Coordinator, Pace};
use super::documents::{FolderError, Source};
use super::holdings::{Holdings, HoldingsReport};
use super::index::IndexStorage;
use super::settings::Settings;
use super::shares::Shares;
use super::{SEARCH_PATH, TASK_PATH};
use refresh::{Refreshing, workers};
use status::Leading;
pub use status::SearchStatus;
use tasks::HttpTasks;
use telling::Telling;

/// Parts and settings of a search service.
#[derive(Clone)]
pub struct SearchOptions {
    /// Id of the node.
    pub node: Arc<str>,
    /// Source of the documents: a folder, by its path, or another source.
    pub documents: Arc<dyn Source>,
    /// Storage of the indexes.
    pub storage: IndexStorage,
    /// Settings of the cluster.
    pub settings: Settings,
    /// Interval at which the documents are scanned.
    pub rescan: Duration,
    /// Time limits of searches.
    pub pace: Pace,
    /// Place where work is done.
    pub work: Work,
    /// Secret that the cluster's nodes share, if they have one.
    pub token: Option<ClusterToken>,
    /// Network through which tasks are sent.
    pub net: Arc<dyn Net>,
    /// Clock.
    pub clock: Arc<dyn Clock>,
}

/// Place where a node does work that takes long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// On the runtime's threads for blocking work.
    OnThreads,
    /// On the calling thread. On a simulated machine computing takes no time, so building a shard is given some.
    Here {
        /// Time that building a shard takes.
        build: Duration,
    },
}

impl Work {
    fn on_threads(self) -> bool {
        self == Self::OnThreads
    }
}

/// Default interval at which the documents are scanned: 2 s.
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

/// Search service for every role. Its shards outlive changes of role. Clones are handles to the same service.
#[derive(Clone, Debug)]
pub struct SearchService {
    options: SearchOptions,
    holdings: Arc<Holdings>,
    client: Client,
    leading: Leading,
}

impl SearchService {
    /// Makes a service that holds no shards yet.
    ///
    /// # Errors
    /// If the documents cannot be listed, for example because the folder does not exist.
    pub fn open(options: SearchOptions) -> Result<Self, FolderError> {
        let SearchOptions { documents, settings, storage, clock, net, token, .. } = &options;
        let holdings = Arc::new(Holdings::of(Arc::clone(documents), *settings, storage.clone(), clock.wall())?);
        let mut client = Client::new(Arc::clone(net), Arc::clone(clock), ClientLimits::default());
        if let Some(token) = token {
            client = client.with_token(token.clone(), &mut OsEntropy);
        }
        Ok(Self { options, holdings, client, leading: Leading::default() })
    }

    /// Numbers about the shards of this node.
    #[must_use]
    pub fn report(&self) -> HoldingsReport {
        self.holdings.report()
    }

    fn refreshing(&self) -> Refreshing {
        let SearchOptions { rescan, work, clock, .. } = &self.options;
        Refreshing { holdings: Arc::clone(&self.holdings), clock: Arc::clone(clock), rescan: *rescan, work: *work }
    }

    /// Begins to divide the shards among the workers. Once this returns, the node's own share is known.
    fn telling(&self, term: &LeaderTerm, shares: &Arc<Shares>) -> Telling<HttpTasks> {
        let SearchOptions { node, clock, .. } = &self.options;
        let telling = Telling {
            shares: Arc::clone(shares),
            here: Arc::clone(&self.holdings),
            client: self.tasks(term, shares),
            node: Arc::clone(node),
            clock: Arc::clone(clock),
        };
        telling.plan(&workers(&term.members().now(), node));
        telling
    }

    fn tasks(&self, term: &LeaderTerm, shares: &Arc<Shares>) -> HttpTasks {
        let (client, term, shares) = (self.client.clone(), term.clone(), Arc::clone(shares));
        HttpTasks { client, term, settings: self.options.settings, shares }
    }
}

impl Application for SearchService {
    type Handler = SearchHandler;

    async fn serve(&self, assignment: Assignment) -> Result<SearchHandler, Box<dyn Error + Send + Sync>> {
        let SearchOptions { node, pace, work, clock, settings, .. } = &self.options;
        let threads = work.on_threads();
        let mut background = JoinSet::new();
        let serving = match assignment {
            Assignment::Follow(following) => {
                self.leading.end();
                self.holdings.await_orders();
                background.spawn(self.refreshing().run_with_stored());
                Serving::Worker { following, holdings: Arc::clone(&self.holdings), threads, clock: Arc::clone(clock) }
            }
            Assignment::Lead(term) => {
                let shares = Arc::new(Shares::new(settings.shards.count()));
                self.leading.begin(&shares);
                let telling = self.telling(&term, &shares);
                background.spawn(telling.run(term.members()));
                background.spawn(self.refreshing().run());
                let (here, tasks) = (Arc::clone(&self.holdings), self.tasks(&term, &shares));
                let coordinator = Coordinator::new(tasks, here, shares, Arc::clone(clock), *pace, threads);
                Serving::Leader { term, coordinator: Box::new(coordinator), node: Arc::clone(node) }
            }
        };
        Ok(SearchHandler { serving, background: std::sync::Mutex::new(background) })
    }
}

/// Handler of the requests in one role.
pub struct SearchHandler {
    serving: Serving,
    /// Background tasks, which end with the handler.
    background: std::sync::Mutex<JoinSet<()>>,
}

enum Serving {
    Worker { following: Following, holdings: Arc<Holdings>, threads: bool, clock: Arc<dyn Clock> },
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
            (TASK_PATH, Serving::Worker { following, holdings, threads, .. }) => {
                respond::task(following, holdings, *threads, &request).await
            }
            (TASK_PATH, Serving::Leader { .. }) => {
                error(StatusCode::CONFLICT, "wrong_role", "this node leads; send tasks to workers")
            }
            (SEARCH_PATH, Serving::Worker { following, clock, .. }) => {
                respond::redirect(following, clock, &request).await
            }
            (SEARCH_PATH, Serving::Leader { term, coordinator, node }) => {
                respond::search(term, coordinator, node, &request).await
            }
            (path, _) => {
                let message = format!("there is nothing at {path}; search at /search?q=…");
                error(StatusCode::NOT_FOUND, "not_found", &message)
            }
        }
    }

    async fn stop(&self) {
        self.background.lock().unwrap_or_else(std::sync::PoisonError::into_inner).abort_all();
    }
}
