//! Web page at `/`, with a search box and the state of the cluster. It consists of three files that need no build step and
//! load nothing from elsewhere.

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, Response};

const HTML: &str = include_str!("index.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Allows only files that this node serves. Requests may go to other nodes, because a worker redirects a search to its
/// leader.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; connect-src 'self' http: https:; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Page as one node serves it.
#[derive(Clone, Debug)]
pub struct Page {
    html: Bytes,
}

impl Page {
    /// Makes the page of a node. That of a demo has buttons to kill and start nodes.
    #[must_use]
    pub fn new(is_demo: bool) -> Self {
        let html = if is_demo {
            Bytes::from(HTML.replacen("data-mode=\"node\"", "data-mode=\"demo\"", 1))
        } else {
            Bytes::from_static(HTML.as_bytes())
        };
        Self { html }
    }

    /// Response with the file at `path`, or `None` if the page has no such file.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<Response<Bytes>> {
        let (kind, body) = match path {
            "/" => ("text/html; charset=utf-8", self.html.clone()),
            "/page.css" => ("text/css; charset=utf-8", Bytes::from_static(STYLE.as_bytes())),
            "/page.js" => ("text/javascript; charset=utf-8", Bytes::from_static(SCRIPT.as_bytes())),
            _ => return None,
        };
        let mut response = Response::new(body);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        // A node of another version may replace this one at the same address.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        Some(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_loads_nothing_from_elsewhere() {
        let page = Page::new(false);
        for reference in
            HTML.split("src=\"").chain(HTML.split("href=\"")).skip(1).filter_map(|rest| rest.split('"').next())
        {
            let is_own = page.file(reference).is_some() || reference.starts_with('#') || reference.starts_with("data:");
            assert!(is_own || reference.starts_with("<!doctype"), "{reference}");
        }
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
        assert!(page.file("/page.cs").is_none());
    }

    #[test]
    fn only_a_demo_has_buttons_to_kill_nodes() {
        let html = |is_demo| Page::new(is_demo).file("/").map(|response| response.into_body());
        assert!(html(true).is_some_and(|html| html.windows(16).any(|part| part == b"data-mode=\"demo\"")));
        assert!(html(false).is_some_and(|html| html.windows(16).any(|part| part == b"data-mode=\"node\"")));
    }

    #[test]
    fn every_element_that_the_script_looks_up_exists() {
        let wanted = SCRIPT.split("at(\"").skip(1).filter_map(|rest| rest.split('"').next());
        for id in wanted {
            assert!(HTML.contains(&format!("id=\"{id}\"")), "{id}");
        }
    }
}
