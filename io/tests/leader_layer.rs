//! The tower layer in front of a service, on the embedded store.

use core::convert::Infallible;
use core::error::Error;
use core::time::Duration;
use std::sync::Arc;

use http::header::{LOCATION, RETRY_AFTER};
use http::{Request, Response, StatusCode};
use rolecall::store::{MemoryStore, Participant, Store};
use rolecall::{Assignment, Config, Fence, LeaderLayer, NodeBuilder, Observer, RunningNode, Service, SystemClock};
use tower::{Layer, ServiceExt, service_fn};

/// An application that does nothing: the layer is what is tried.
struct Idle;

impl Service for Idle {
    type Running = ();

    async fn start(&self, _assignment: Assignment) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(())
    }
}

struct Cluster(MemoryStore);

impl Cluster {
    fn new() -> Self {
        Self(MemoryStore::new(Arc::new(SystemClock::new())))
    }

    async fn start(&self, config: Config) -> RunningNode {
        let (store, address) = (self.0.clone(), format!("{}.example:80", config.id));
        let open = move |who: Participant| Ok::<Box<dyn Store>, Infallible>(Box::new(store.connect(who)));
        let builder = NodeBuilder::new(config, Idle, open).session_timeout(Duration::from_secs(2)).address(address);
        builder.start().await.expect("it is in this process")
    }

    async fn leader(&self, id: &str) -> RunningNode {
        let node = self.start(Config::new(id)).await;
        node.observer().until(|status| status.leader.is_some()).await.expect("it runs");
        node
    }
}

/// Sends a request through the layer to a handler that answers with the epoch that it was handed.
async fn ask(observer: &Observer, uri: &str) -> Response<String> {
    let handler = service_fn(async |request: Request<()>| {
        let fence = request.extensions().get::<Fence>().expect("the layer hands it over");
        Ok::<_, Infallible>(Response::new(fence.epoch.0.to_string()))
    });
    let request = Request::get(uri).body(()).expect("a good request");
    let layer = LeaderLayer::new(observer.clone()).retry_after(Duration::from_secs(3));
    layer.layer(handler).oneshot(request).await.expect("neither layer nor handler fails")
}

#[tokio::test]
async fn on_the_leader_the_handler_is_handed_the_fence_of_the_term() {
    let node = Cluster::new().leader("a").await;
    let (fence, _) = node.observer().term().expect("it leads");

    let answer = ask(node.observer(), "/").await;

    assert_eq!((answer.status(), answer.body()), (StatusCode::OK, &fence.epoch.0.to_string()));
}

#[tokio::test]
async fn a_follower_redirects_to_the_same_path_at_the_leader() {
    let cluster = Cluster::new();
    let _leader = cluster.leader("a").await;
    let follower = cluster.leader("b").await;

    let answer = ask(follower.observer(), "http://b.example:80/orders/7?full=1").await;

    assert_eq!((answer.status(), answer.body().as_str()), (StatusCode::TEMPORARY_REDIRECT, ""));
    assert_eq!(answer.headers()[LOCATION], "http://a.example:80/orders/7?full=1");
}

#[tokio::test]
async fn without_a_leader_the_client_is_told_when_to_ask_again() {
    let mut config = Config::new("o");
    config.observes = true;
    let node = Cluster::new().start(config).await;

    let answer = ask(node.observer(), "/").await;

    assert_eq!(
        (answer.status(), &answer.headers()[RETRY_AFTER]),
        (StatusCode::SERVICE_UNAVAILABLE, &"3".parse().expect("3"))
    );
}

#[tokio::test]
async fn a_leader_that_is_cut_off_calls_no_handler_once_its_term_is_over_nor_sends_anybody_to_itself() {
    let cluster = Cluster::new();
    let node = cluster.leader("a").await;
    assert_eq!(ask(node.observer(), "/").await.status(), StatusCode::OK);

    cluster.0.suspend("a");
    while node.observer().term().is_some() {
        assert_ne!(ask(node.observer(), "/").await.status(), StatusCode::TEMPORARY_REDIRECT);
        tokio::task::yield_now().await;
    }

    assert_eq!(ask(node.observer(), "/").await.status(), StatusCode::SERVICE_UNAVAILABLE);
}
