//! Secret that the nodes of a cluster share, by which they know each other.

use core::error::Error;
use core::fmt;
use std::sync::Arc;

use bytes::Bytes;
use hmac::{Hmac, KeyInit, Mac};
use http::header::{HOST, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use sha2::Sha256;
use thiserror::Error;

use super::answer::error;
use super::{Application, Handler};
use crate::{Assignment, Entropy};

/// Header of a request, `v1 <nonce> <code>`, and of its response, `v1 <code>`; nonce and code are hexadecimal.
const HEADER: HeaderName = HeaderName::from_static("rolecall-auth");
/// Shortest secret, in bytes.
const SHORTEST: usize = 16;

/// Secret of a cluster. A node that knows it proves that with every request and every response between nodes, and never
/// sends it: each carries an HMAC-SHA-256 (RFC 2104) of its contents. The code of a response covers the nonce of its request, so
/// it cannot be used for another.
///
/// This keeps strangers out who can connect to nodes. Whoever can read or change what is sent on the network still sees it,
/// and may repeat a request to the node that it was meant for.
#[derive(Clone)]
pub struct ClusterToken(Arc<Hmac<Sha256>>);

impl fmt::Debug for ClusterToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ClusterToken")
    }
}

/// Secret that is too short to keep anyone out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the secret has {length} bytes; expected at least {SHORTEST} that nobody can guess")]
pub struct WeakSecret {
    /// Length of the secret, in bytes.
    pub length: usize,
}

impl ClusterToken {
    /// Makes the token from a secret, of which blanks and line ends at either end do not count.
    ///
    /// # Errors
    /// If the secret is shorter than 16 bytes.
    pub fn new(secret: &[u8]) -> Result<Self, WeakSecret> {
        let secret = secret.trim_ascii();
        if secret.len() < SHORTEST {
            return Err(WeakSecret { length: secret.len() });
        }
        Ok(Self(Arc::new(Hmac::new_from_slice(secret).expect("HMAC takes keys of any length"))))
    }

    /// Signs a request whose `Host` field is set. No two requests may have the same nonce.
    pub(super) fn sign(&self, nonce: u128, request: &mut Request<Bytes>) -> Exchange {
        let exchange = Exchange { token: self.clone(), nonce };
        let code = exchange.of_request(request).finalize().into_bytes();
        request.headers_mut().insert(HEADER, text(&format!("v1 {nonce:032x} {}", Hex(&code))));
        exchange
    }

    /// Checks the proof of a request. Returns what its response must be signed with, or `None` if the request is not from
    /// a node that knows the secret.
    fn check(&self, request: &Request<Bytes>) -> Option<Exchange> {
        let rest = proof(request.headers())?;
        let (nonce, code) = rest.split_once(' ')?;
        let exchange = Exchange { token: self.clone(), nonce: u128::from_str_radix(nonce, 16).ok()? };
        exchange.of_request(request).verify_slice(&bytes(code)?).ok()?;
        Some(exchange)
    }
}

/// A request and its response.
pub(super) struct Exchange {
    token: ClusterToken,
    nonce: u128,
}

impl Exchange {
    fn of_request(&self, request: &Request<Bytes>) -> Hmac<Sha256> {
        let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
        let host = request.headers().get(HOST).map_or(&[][..], HeaderValue::as_bytes);
        self.over(b"request", &[request.method().as_str().as_bytes(), host, target.as_bytes(), request.body()])
    }

    fn of_response(&self, response: &Response<Bytes>) -> Hmac<Sha256> {
        self.over(b"response", &[response.status().as_str().as_bytes(), response.body()])
    }

    /// Begins a code over `parts`, each with its length, so that no two lists of parts give the same text.
    fn over(&self, kind: &[u8], parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut code = (*self.token.0).clone();
        code.update(b"rolecall v1 ");
        code.update(kind);
        code.update(&self.nonce.to_be_bytes());
        for part in parts {
            code.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            code.update(part);
        }
        code
    }

    fn sign(&self, response: &mut Response<Bytes>) {
        let code = self.of_response(response).finalize().into_bytes();
        response.headers_mut().insert(HEADER, text(&format!("v1 {}", Hex(&code))));
    }

    /// True if the response is from a node that knows the secret, and belongs to this request.
    pub(super) fn proves(&self, response: &Response<Bytes>) -> bool {
        let code = proof(response.headers()).and_then(bytes);
        code.is_some_and(|code| self.of_response(response).verify_slice(&code).is_ok())
    }
}

/// What follows the version in the header, if there is exactly one of this version.
fn proof(headers: &HeaderMap) -> Option<&str> {
    let mut fields = headers.get_all(HEADER).iter();
    let field = fields.next()?;
    fields.next().is_none().then_some(())?;
    field.to_str().ok()?.strip_prefix("v1 ")
}

fn text(value: &str) -> HeaderValue {
    HeaderValue::from_str(value).expect("digits and blanks can stand in a header")
}

struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> =
        hex.chars().map(|digit| digit.to_digit(16).and_then(|digit| u8::try_from(digit).ok())).collect();
    let pairs = digits?;
    (pairs.len() % 2 == 0).then(|| pairs.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// [`Application`] some of whose paths are only for nodes that know the cluster's secret. Anyone else gets `401 unproven`.
#[derive(Clone, Debug)]
pub struct Guarded<A> {
    application: A,
    guard: Guard,
}

#[derive(Clone, Debug)]
struct Guard {
    token: Option<ClusterToken>,
    paths: &'static [&'static str],
}

impl<A> Guarded<A> {
    /// Guards `paths` of `application`. Without a token nothing is guarded.
    pub fn new(application: A, token: Option<ClusterToken>, paths: &'static [&'static str]) -> Self {
        Self { application, guard: Guard { token, paths } }
    }
}

impl<A: Application> Application for Guarded<A> {
    type Handler = GuardedHandler<A::Handler>;

    async fn serve(&self, assignment: Assignment) -> Result<Self::Handler, Box<dyn Error + Send + Sync>> {
        Ok(GuardedHandler { handler: self.application.serve(assignment).await?, guard: self.guard.clone() })
    }
}

/// Handler of a [`Guarded`] application.
#[derive(Debug)]
pub struct GuardedHandler<H> {
    handler: H,
    guard: Guard,
}

impl<H: Handler> Handler for GuardedHandler<H> {
    async fn handle(&self, request: Request<Bytes>) -> Response<Bytes> {
        let guarded = self.guard.paths.contains(&request.uri().path());
        match &self.guard.token {
            Some(token) if guarded => match token.check(&request) {
                Some(exchange) => {
                    let mut response = self.handler.handle(request).await;
                    exchange.sign(&mut response);
                    response
                }
                None => unproven(),
            },
            Some(_) | None => self.handler.handle(request).await,
        }
    }

    async fn stop(&self) {
        self.handler.stop().await;
    }
}

fn unproven() -> Response<Bytes> {
    let message =
        "this is only for nodes of the cluster: the request does not prove that its sender knows the cluster's token";
    let mut response = error(StatusCode::UNAUTHORIZED, "unproven", message);
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Rolecall"));
    response
}

/// Nonces for a client's requests: random bits, and a number that rises.
#[derive(Debug)]
pub(super) struct Nonces {
    first: u128,
    next: core::sync::atomic::AtomicU64,
}

impl Nonces {
    pub(super) fn new(entropy: &mut dyn Entropy) -> Self {
        let first = (u128::from(entropy.bits()) << 64) | u128::from(entropy.bits());
        Self { first, next: core::sync::atomic::AtomicU64::new(0) }
    }

    pub(super) fn next(&self) -> u128 {
        self.first.wrapping_add(self.next.fetch_add(1, core::sync::atomic::Ordering::Relaxed).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(secret: &str) -> ClusterToken {
        ClusterToken::new(secret.as_bytes()).expect("a secret of sixteen bytes")
    }

    fn request(path: &str, host: &str, body: &'static str) -> Request<Bytes> {
        let request = Request::post(path).header(HOST, host);
        request.body(body.into()).expect("a well-formed request")
    }

    #[test]
    fn a_request_proves_its_sender_and_nothing_in_it_can_be_changed() {
        let (ours, other) = (token("the secret of this cluster"), token("the secret of another"));
        let mut signed = request("/task?x=1", "a:80", "body");
        ours.sign(7, &mut signed);
        assert!(ours.check(&signed).is_some());
        assert!(other.check(&signed).is_none());

        type Change = fn(&mut Request<Bytes>);
        let changes: [Change; 7] = [
            |request| *request.body_mut() = "bodx".into(),
            |request| *request.uri_mut() = http::Uri::from_static("/task?x=2"),
            |request| *request.method_mut() = http::Method::PUT,
            |request| {
                request.headers_mut().insert(HOST, HeaderValue::from_static("b:80"));
            },
            |request| {
                request.headers_mut().remove(HEADER);
            },
            |request| {
                request.headers_mut().append(HEADER, HeaderValue::from_static("v1 7 00"));
            },
            |request| {
                let proof = request.headers()[HEADER].to_str().map(|text| text.replacen("07 ", "08 ", 1));
                request.headers_mut().insert(HEADER, text(&proof.expect("the proof is text")));
            },
        ];
        for change in changes {
            let mut changed = signed.clone();
            change(&mut changed);
            assert!(ours.check(&changed).is_none(), "{changed:?}");
        }
        for garbage in ["", "v1", "v1 ", "v1 7", "v1 7 ", "v1 x y", "v1 7 abc", "v1 7 zz", "v2 7 ab", "v1 7 é"] {
            let mut changed = signed.clone();
            let Ok(garbage) = HeaderValue::from_bytes(garbage.as_bytes()) else { continue };
            changed.headers_mut().insert(HEADER, garbage);
            assert!(ours.check(&changed).is_none(), "{changed:?}");
        }
    }

    #[test]
    fn a_response_belongs_to_its_request() {
        let token = token("the secret of this cluster");
        let exchange = token.sign(7, &mut request("/task", "a:80", ""));
        let mut response = Response::new(Bytes::from("answer"));
        assert!(!exchange.proves(&response));
        exchange.sign(&mut response);
        assert!(exchange.proves(&response));

        let another = token.sign(8, &mut request("/task", "a:80", ""));
        assert!(!another.proves(&response));
        *response.status_mut() = StatusCode::CONFLICT;
        assert!(!exchange.proves(&response));
        let mut request = request("/task", "a:80", "");
        let exchange = token.sign(9, &mut request);
        let mut reflected = Response::new(Bytes::new());
        reflected.headers_mut().insert(HEADER, request.headers()[HEADER].clone());
        assert!(!exchange.proves(&reflected));
    }

    #[test]
    fn a_secret_that_can_be_guessed_is_refused_and_none_is_shown() {
        assert_eq!(ClusterToken::new(b"  fifteen bytes..\n").err(), Some(WeakSecret { length: 15 }));
        let (bare, with_line_end) = (token("a secret of the cluster"), token(" a secret of the cluster\r\n"));
        let mut signed = request("/", "a:80", "");
        bare.sign(1, &mut signed);
        assert!(with_line_end.check(&signed).is_some());
        assert_eq!(format!("{bare:?}"), "ClusterToken");
    }
}
