//! What a node answers whatever its role: the page, `/status`, `/health/*` and `/metrics`.

mod health;
mod origin;
mod rfc3339;
mod status;

use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, Method, Request, Response};
use rolecall::http::{Front, only};
use rolecall::{BoxFuture, Observer};
use rolecall_core::Leader;

pub use origin::Sharing;
pub(crate) use origin::is_same as is_same_origin;

use crate::page::Page;
use crate::run::Desk;

/// Who a node is, as it tells others.
#[derive(Clone, Debug)]
pub struct Identity {
    /// The cluster's name.
    pub cluster: String,
    /// The node's id.
    pub id: String,
    /// Where others reach it.
    pub address: String,
    /// The kind of its store, a URL's scheme.
    pub store: &'static str,
}

/// The routes of a node that do not depend on its role.
#[derive(Debug)]
pub struct NodeFront {
    identity: Identity,
    observer: Observer,
    page: Page,
    desk: Option<Arc<Desk>>,
}

impl NodeFront {
    /// The routes of one node; with a `desk`, those of a demo too.
    #[must_use]
    pub fn new(identity: Identity, observer: Observer, desk: Option<Arc<Desk>>) -> Self {
        Self { identity, observer, page: Page::new(desk.is_some()), desk }
    }

    async fn route(&self, head: &Request<()>) -> Option<Response<Bytes>> {
        let path = head.uri().path();
        let get = |answer: &dyn Fn() -> Response<Bytes>| only(&[Method::GET], head).unwrap_or_else(answer);
        match path {
            "/status" => Some(self.shared(head, get(&|| status::answer(&self.identity, &self.observer)))),
            "/health/live" => Some(get(&|| health::live(&self.observer))),
            "/health/ready" => Some(get(&|| health::ready(&self.observer))),
            "/metrics" => Some(get(&|| self.metrics())),
            _ => match &self.desk {
                Some(desk) if path.starts_with("/demo/") => Some(self.shared(head, desk.answer(head).await)),
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
        let demo = self.desk.iter().flat_map(|desk| desk.addresses());
        origin::share(head.headers(), &mut response, members.chain(leader).chain(demo));
        response
    }
}

impl Front for NodeFront {
    fn answer<'a>(&'a self, head: &'a Request<()>) -> BoxFuture<'a, Option<Response<Bytes>>> {
        Box::pin(self.route(head))
    }
}
