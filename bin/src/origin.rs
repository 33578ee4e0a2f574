//! Cross-origin access: in a browser, the pages of this cluster's nodes may read answers, and no other site may.
//!
//! A page asks the node that served it, which redirects a search to the leader. The leader is another origin, so a browser
//! lets the page read the answer only if the answer allows it.

use core::error::Error;
use std::net::IpAddr;

use bytes::Bytes;
use http::header::{ACCESS_CONTROL_ALLOW_ORIGIN, ORIGIN, VARY};
use http::{HeaderMap, HeaderValue, Request, Response};
use rolecall::http::{Application, Handler};
use rolecall::{Assignment, Leader};

/// Lets the page that sent `request` read `response` if it was served by one of `nodes` (`host:port`).
pub(crate) fn share<'a>(request: &HeaderMap, response: &mut Response<Bytes>, mut nodes: impl Iterator<Item = &'a str>) {
    response.headers_mut().append(VARY, HeaderValue::from_static("Origin"));
    let Some(origin) = request.get(ORIGIN) else { return };
    let is_ours = origin.to_str().is_ok_and(|text| nodes.any(|node| is_same(text, node)));
    if is_ours {
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    }
}

/// True if `origin` is that of a page of the node at `address`. All names of the loopback interface count as the same.
pub(crate) fn is_same(origin: &str, address: &str) -> bool {
    let Some(page) = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) else { return false };
    if page.eq_ignore_ascii_case(address) {
        return true;
    }
    let (Some((page_host, page_port)), Some((host, port))) = (page.rsplit_once(':'), address.rsplit_once(':')) else {
        return false;
    };
    page_port == port && is_loopback(page_host) && is_loopback(host)
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Service whose answers the pages of the cluster's nodes may read.
#[derive(Clone, Debug)]
pub struct Sharing<S> {
    service: S,
    always: Vec<String>,
}

impl<S> Sharing<S> {
    /// Shares `service` with the pages of the workers, and with those of the nodes at `always` (`host:port`).
    pub fn new(service: S, always: Vec<String>) -> Self {
        Self { service, always }
    }
}

impl<S: Application> Application for Sharing<S> {
    type Handler = Shared<S::Handler>;

    async fn serve(&self, assignment: Assignment) -> Result<Self::Handler, Box<dyn Error + Send + Sync>> {
        let handler = self.service.serve(assignment.clone()).await?;
        Ok(Shared { handler, assignment, always: self.always.clone() })
    }
}

/// Handler of a [`Sharing`] service.
#[derive(Debug)]
pub struct Shared<H> {
    handler: H,
    assignment: Assignment,
    always: Vec<String>,
}

impl<H: Handler> Handler for Shared<H> {
    async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        let is_search = request.uri().path() == "/search";
        let mut origin = HeaderMap::new();
        if let Some(value) = request.headers().get(ORIGIN) {
            origin.insert(ORIGIN, value.clone());
        }
        let mut response = self.handler.handle(request).await;
        if is_search {
            let always = self.always.iter().map(String::as_str);
            match &self.assignment {
                Assignment::Lead(term) => {
                    let workers = term.members().now();
                    let workers = workers.members.iter().map(|member| &*member.address);
                    share(&origin, &mut response, workers.chain(always));
                }
                Assignment::Follow(following) => {
                    let leader = match following.leader() {
                        Some(Leader::Node { address, .. }) => Some(address),
                        Some(Leader::Foreign { .. }) | None => None,
                    };
                    share(&origin, &mut response, leader.as_deref().into_iter().chain(always));
                }
            }
        }
        response
    }

    async fn stop(&self) {
        self.handler.stop().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_of_the_cluster_may_read_and_no_other() {
        for (origin, node, expected) in [
            ("http://127.0.0.1:8080", "127.0.0.1:8080", true),
            ("http://localhost:8080", "127.0.0.1:8080", true),
            ("http://[::1]:8080", "localhost:8080", true),
            ("http://A.example:8080", "a.example:8080", true),
            ("http://localhost:8081", "127.0.0.1:8080", false),
            ("http://127.0.0.1.evil.example:8080", "127.0.0.1:8080", false),
            ("http://evil.example:8080", "127.0.0.1:8080", false),
            ("http://localhost", "127.0.0.1:8080", false),
            ("null", "127.0.0.1:8080", false),
            ("", "", false),
        ] {
            assert_eq!(is_same(origin, node), expected, "{origin} and {node}");
        }
    }

    #[test]
    fn the_answer_names_the_origin_that_may_read_it() {
        let mut request = HeaderMap::new();
        request.insert(ORIGIN, HeaderValue::from_static("http://localhost:8081"));

        let mut response = Response::default();
        share(&request, &mut response, ["127.0.0.1:8080", "127.0.0.1:8081"].into_iter());
        assert_eq!(response.headers().get(ACCESS_CONTROL_ALLOW_ORIGIN), request.get(ORIGIN));

        let mut response = Response::default();
        share(&request, &mut response, ["127.0.0.1:8080"].into_iter());
        assert_eq!(response.headers().get(ACCESS_CONTROL_ALLOW_ORIGIN), None);
        assert_eq!(response.headers().get(VARY), Some(&HeaderValue::from_static("Origin")));
    }
}
