//! Search as the application of a node, also where the documents can't be read yet.

use core::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rolecall::http::ClusterToken;
use rolecall::{Assignment, SystemClock, TokioNet, http};
use tokio::sync::OnceCell;

use crate::cli::Tuning;
use crate::front::SearchView;
use crate::search::coordinator::Pace;
use crate::search::documents::Folder;
use crate::search::index::IndexStorage;
use crate::search::{RESCAN, SearchHandler, SearchOptions, SearchService, Settings, Work};

/// The search of one node. A folder that can't be read is reported, and tried again each time a role is to be served.
#[derive(Clone, Debug)]
pub(super) struct Application {
    options: SearchOptions,
    documents: PathBuf,
    opened: Arc<OnceCell<SearchService>>,
}

impl Application {
    pub(super) fn new(id: &str, documents: &Path, data: &Path, tuning: &Tuning, token: Option<ClusterToken>) -> Self {
        let options = SearchOptions {
            node: id.into(),
            documents: Arc::new(Folder::new(documents)),
            storage: IndexStorage::Disk(data.to_owned()),
            settings: Settings { shards: tuning.shards, ranking: tuning.ranking },
            rescan: RESCAN,
            pace: Pace::default(),
            work: Work::OnThreads,
            token,
            net: Arc::new(TokioNet),
            clock: Arc::new(SystemClock::new()),
        };
        Self { options, documents: documents.to_owned(), opened: Arc::default() }
    }

    /// Settings on which the whole cluster must agree.
    pub(super) fn settings(&self) -> Settings {
        self.options.settings
    }

    /// Secret that the cluster's nodes share, if they have one.
    pub(super) fn token(&self) -> Option<ClusterToken> {
        self.options.token.clone()
    }

    /// View of the search, which shows nothing before the documents can be read.
    pub(super) fn view(&self) -> SearchView {
        let opened = Arc::clone(&self.opened);
        SearchView::new(move || opened.get().map(SearchService::status))
    }

    /// Folder of the documents.
    pub(super) fn documents(&self) -> &PathBuf {
        &self.documents
    }
}

impl http::Application for Application {
    type Handler = SearchHandler;

    async fn serve(&self, assignment: Assignment) -> Result<SearchHandler, Box<dyn Error + Send + Sync>> {
        let options = &self.options;
        let open = || async move {
            // Opening reads the whole folder.
            let options = options.clone();
            let opened = tokio::task::spawn_blocking(move || SearchService::open(options)).await?;
            opened.map_err(Box::<dyn Error + Send + Sync>::from)
        };
        self.opened.get_or_try_init(open).await?.serve(assignment).await
    }
}
