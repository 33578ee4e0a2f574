//! Routes that a node answers in every role: the page, `/status`, `/health/*` and `/metrics`.

mod health;
mod rfc3339;
mod status;

use core::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response};
use rolecall::http::{Front, only};
use rolecall::{BoxFuture, Leader, Observer};

use crate::console::Console;
use crate::origin;
use crate::page::Page;
use crate::search::SearchStatus;

/// Identity of a node, as others see it.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Name of the cluster.
    pub cluster: String,
    /// Id of the node.
    pub id: String,
    /// Address at which others reach the node.
    pub address: String,
    /// Kind of store: the scheme of its URL.
    pub store: &'static str,
}

/// View of the search on a node; it shows nothing before the documents were read.
#[derive(Clone)]
pub struct SearchView(Arc<dyn Fn() -> Option<SearchStatus> + Send + Sync>);

impl SearchView {
    /// A view that `look` gives.
    pub fn new(look: impl Fn() -> Option<SearchStatus> + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    fn look(&self) -> Option<SearchStatus> {
        (self.0)()
    }
}

impl fmt::Debug for SearchView {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("SearchView").field(&self.look()).finish()
    }
}

/// Routes of a node that do not depend on its role.
#[derive(Debug)]
pub struct NodeFront {
    identity: Identity,
    observer: Observer,
    search: SearchView,
    page: Page,
    console: Option<Arc<Console>>,
}

impl NodeFront {
    /// Makes the routes of one node. With a `console`, those of a demo are included.
    #[must_use]
    pub fn new(identity: Identity, observer: Observer, search: SearchView, console: Option<Arc<Console>>) -> Self {
        Self { identity, observer, search, page: Page::new(console.is_some()), console }
    }

    async fn route(&self, head: &Request<()>) -> Option<Response<Bytes>> {
        let path = head.uri().path();
        let get = |answer: &dyn Fn() -> Response<Bytes>| only(&[Method::GET], head).unwrap_or_else(answer);
        match path {
            "/status" => {
                Some(self.shared(head, get(&|| status::answer(&self.identity, &self.observer, self.search.look()))))
            }
            "/health/live" => Some(get(&|| health::live(&self.observer))),
            "/health/ready" => Some(get(&|| health::ready(&self.observer))),
            "/metrics" => Some(get(&|| self.metrics())),
            _ => match &self.console {
                Some(console) if path.starts_with("/demo/") => Some(self.shared(head, console.answer(head).await)),
                Some(_) | None => self.page.file(path).map(|file| only(&[Method::GET], head).unwrap_or(file)),
            },
        }
    }

    fn metrics(&self) -> Response<Bytes> {
        let mut response = Response::new(Bytes::from(self.observer.metrics()));
        let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        response
    }

    /// Lets the pages of this cluster's nodes read `response`.
    fn shared(&self, head: &Request<()>, mut response: Response<Bytes>) -> Response<Bytes> {
        let status = self.observer.status();
        let leader = match &status.leader {
            Some(Leader::Node { address, .. }) => Some(&**address),
            Some(Leader::Foreign { .. }) | None => None,
        };
        let members = status.workers.members.iter().map(|member| &*member.address);
        let demo = self.console.iter().flat_map(|console| console.addresses());
        origin::share(head.headers(), &mut response, members.chain(leader).chain(demo));
        response
    }
}

impl Front for NodeFront {
    fn answer<'a>(&'a self, head: &'a Request<()>) -> BoxFuture<'a, Option<Response<Bytes>>> {
        Box::pin(self.route(head))
    }
}
