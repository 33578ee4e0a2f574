//! Node of the search on a simulated machine.

use core::time::Duration;
use std::sync::Arc;

use rolecall::http::{Front, HttpNodeBuilder};
use rolecall_sim::Host;

use super::collection::Collection;
use super::outgoing::Outgoing;
use super::watched::Watched;
use crate::front::{Identity, NodeFront, SearchView};
use crate::origin::Sharing;
use crate::search::coordinator::Pace;
use crate::search::index::IndexStorage;
use crate::search::{RESCAN, Ranking, SearchOptions, SearchService, Settings, Work};

/// Number of shards: few, so that the missing ones can be deduced from an answer.
pub(super) const SHARDS: u16 = 8;

/// Upper bound of the time to build a shard, in milliseconds. The actual time differs in each life of a node.
const SLOWEST_BUILD_MS: u64 = 400;

pub(super) fn settings() -> Settings {
    Settings { shards: SHARDS.try_into().expect("the number of shards is in range"), ranking: Ranking::Bm25 }
}

/// Builds a node of the search as `rolecall node` does, for [`Simulation::new`](rolecall_sim::Simulation::new).
///
/// # Panics
/// Never: documents in memory can be listed.
#[must_use]
pub fn node(host: &Host) -> HttpNodeBuilder {
    let service = SearchService::open(SearchOptions {
        token: None,
        node: host.name().into(),
        documents: Arc::new(Collection),
        storage: IndexStorage::Memory,
        settings: settings(),
        rescan: RESCAN,
        // Half of the nodes ask the workers even when they hold everything themselves.
        pace: Pace { alone: host.entropy(3).bits().is_multiple_of(2), ..Pace::default() },
        work: Work::Here { build: Duration::from_millis(host.entropy(2).bits() % SLOWEST_BUILD_MS) },
        net: Arc::new(Outgoing::new(host.net(), host.acts())),
        clock: host.clock(),
    });
    let service = service.expect("documents in memory can be listed");
    let id = host.name().to_owned();
    let searching = service.clone();
    let view = SearchView::new(move || Some(searching.status()));
    host.node(Sharing::new(Watched::new(service, host.acts()), Vec::new())).settings(settings().to_string()).front(
        move |observer, address| {
            let identity = Identity { cluster: "default".into(), id, address: address.into(), store: "simulated" };
            Arc::new(NodeFront::new(identity, observer, view, None)) as Arc<dyn Front>
        },
    )
}
