//! Starts a node from options.

use core::error::Error;
use core::time::Duration;
use std::path::PathBuf;
use std::sync::Arc;

use rolecall::http::{Guarded, HttpNode, HttpNodeBuilder};
use rolecall::journal::{Journal, JournalLimits};
use rolecall::store::{Participant, Store, StoreUrl};
use rolecall::{Config, Family, OnSuspend, QueueTiming, Registration, Timing};

use super::application::Application;
use crate::cli::{self, ClockError, Failure, Tuning};
use crate::console::Console;
use crate::front::{Identity, NodeFront};
use crate::origin::Sharing;
use crate::search::{SEARCH_PATH, TASK_PATH};

/// Parameters of one node.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) cluster: String,
    pub(super) config: Config,
    pub(super) session_timeout: Duration,
    pub(super) listen: String,
    pub(super) advertise: Option<String>,
    /// Further hosts for which the node answers.
    pub(super) allowed_hosts: Vec<String>,
    pub(super) journal: Option<PathBuf>,
    /// Kind of store: the scheme of its URL.
    pub(super) store: &'static str,
    /// Console, in a demo.
    pub(super) console: Option<Arc<Console>>,
}

/// Makes the configuration of the core for this store, and checks that the numbers leave some validity in a session.
pub(super) fn config(id: &str, store: &StoreUrl, tuning: &Tuning) -> Result<Config, Failure> {
    let mut config = timed(id, store, tuning.session_timeout, tuning.store_tick, tuning.clock_error)?;
    config.drain = tuning.drain_timeout;
    config.shutdown_limit = tuning.drain_timeout + config.stop_grace + Duration::from_secs(5);
    config.on_suspend = match tuning.on_suspend {
        cli::OnSuspend::Hold => OnSuspend::Hold,
        cli::OnSuspend::StepDown => OnSuspend::StepDown,
    };
    Ok(config)
}

/// Makes a configuration with the times of this store, and checks that the numbers leave some validity in a session.
pub(super) fn timed(
    id: &str,
    store: &StoreUrl,
    timeout: Duration,
    store_tick: Option<Duration>,
    clock_error: ClockError,
) -> Result<Config, Failure> {
    let mut config = Config::new(id);
    let tick = store_tick.or_else(|| store.tick());
    config.election = match (store.family(), store_tick) {
        (Family::Queue, _) => Timing::Queue(QueueTiming::new(tick)),
        (Family::Lease, None) => store.timing(),
        (Family::Lease, Some(_)) => {
            return Err(Failure::Usage(format!(
                "--store-tick: {store} elects by a lease, which no tick rounds; leave it out"
            )));
        }
    };
    config.clock_error_ppm = clock_error.ppm;
    if config.validity(timeout).is_some() {
        return Ok(config);
    }
    Err(Failure::Usage(format!(
        "--session-timeout {} ms is too short: {} ms of it are reserved (a heartbeat, {}, the clock's error, and closing the \
         gate), and more than another heartbeat of {} ms must be left; expected at least {} ms",
        timeout.as_millis(),
        config.margin(timeout).as_millis(),
        match (store.family(), tick) {
            (Family::Queue, Some(_)) => "half a tick of the store",
            (Family::Queue, None) => "a quarter for the unknown tick of the store",
            (Family::Lease, _) => "a quarter for a step of the store's clock",
        },
        Config::heartbeat(timeout).as_millis(),
        least(&config).as_millis(),
    )))
}

/// Shortest session timeout, to the millisecond, that leaves some validity.
fn least(config: &Config) -> Duration {
    let (mut too_short, mut enough) = (0, 86_400_000);
    while enough - too_short > 1 {
        let middle = too_short + (enough - too_short) / 2;
        match config.validity(Duration::from_millis(middle)) {
            Some(_) => enough = middle,
            None => too_short = middle,
        }
    }
    Duration::from_millis(enough)
}

/// Starts a node that serves `application`.
pub(super) async fn launch<E>(
    plan: Plan,
    application: Application,
    open_store: impl FnOnce(Participant) -> Result<Box<dyn Store>, E> + Send + 'static,
) -> Result<HttpNode, Failure>
where
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let (cluster, id, store) = (plan.cluster.clone(), plan.config.id.to_string(), plan.store);
    let console = plan.console;
    let view = application.view();
    let always = console.iter().flat_map(|console| console.addresses()).map(str::to_owned).collect();
    let guarded = Guarded::new(application.clone(), application.token(), &[TASK_PATH]);
    let mut builder = HttpNodeBuilder::new(plan.config, Sharing::new(guarded, always), open_store)
        .cluster(plan.cluster)
        .session_timeout(plan.session_timeout)
        .registration(Registration::at_paths(TASK_PATH, SEARCH_PATH))
        .settings(application.settings().to_string())
        .listen(plan.listen)
        .front(move |observer, address| {
            let identity = Identity { cluster, id, address: address.into(), store };
            Arc::new(NodeFront::new(identity, observer, view, console))
        });
    if let Some(advertise) = plan.advertise {
        builder = builder.advertise(advertise);
    }
    builder = plan.allowed_hosts.into_iter().fold(builder, HttpNodeBuilder::allow_host);
    if let Some(folder) = plan.journal {
        let journal = Journal::in_folder(&folder, JournalLimits::default()).map_err(|error| {
            Failure::Usage(format!("--journal {}: {error}; expected a folder that can be written", folder.display()))
        })?;
        builder = builder.journal(journal);
    }
    builder.start().await.map_err(|error| Failure::Failed(error.to_string()))
}
