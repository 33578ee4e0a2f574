//! HTTP client that keeps connections and puts a deadline on every request.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::HOST;
use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rolecall_core::Time;
use thiserror::Error;

use super::pool::{Heard, Line, Pool};
use super::token::{ClusterToken, Nonces};
use crate::mutant::Mutant;
use crate::{Clock, Entropy, Net};

/// Limits of a client. To change one, set its field in [`ClientLimits::default`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientLimits {
    /// Size of the largest response body, in bytes. Default: 16 MiB.
    pub response_bytes: usize,
    /// Largest number of idle connections kept in all. Default: 256.
    pub idle: usize,
    /// Largest number of idle connections kept to one address. Default: 8.
    pub idle_per_address: usize,
    /// Time for which an idle connection is kept. Default: 5 s. Servers should keep theirs for longer, so that few
    /// connections turn out to be dead.
    pub idle_time: Duration,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self { response_bytes: 16 * 1024 * 1024, idle: 256, idle_per_address: 8, idle_time: Duration::from_secs(5) }
    }
}

/// Request extension that marks a request as safe to send twice although its method is not idempotent.
#[derive(Clone, Copy, Debug)]
pub struct Idempotent;

/// Client that sends requests to nodes. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    net: Arc<dyn Net>,
    clock: Arc<dyn Clock>,
    limits: Arc<ClientLimits>,
    pool: Arc<Mutex<Pool>>,
    token: Option<(ClusterToken, Arc<Nonces>)>,
}

impl Client {
    /// Makes a client without connections.
    #[must_use]
    pub fn new(net: Arc<dyn Net>, clock: Arc<dyn Clock>, limits: ClientLimits) -> Self {
        Self { net, clock, limits: Arc::new(limits), pool: Arc::default(), token: None }
    }

    /// Proves with every request that this client knows `token`, and demands the same of every response.
    #[must_use]
    pub fn with_token(mut self, token: ClusterToken, entropy: &mut dyn Entropy) -> Self {
        self.token = Some((token, Arc::new(Nonces::new(entropy))));
        self
    }

    /// Sends `request` to the server at `address` (`host:port`) and reads the whole response. Only the path and the query of
    /// the request's URI count. Redirects are not followed but returned.
    ///
    /// If a kept connection turns out to be dead, the client connects once more, provided that no part of a response has
    /// arrived, and that the request was not sent or is safe to send twice: by its method, or because it is marked
    /// [`Idempotent`].
    ///
    /// # Errors
    /// If there is no connection, no whole response by `deadline`, a response that is too large, one that is not HTTP, or
    /// one that does not prove the cluster's token.
    pub async fn send(
        &self,
        address: &str,
        request: Request<Bytes>,
        deadline: Time,
    ) -> Result<Response<Bytes>, ClientError> {
        let mut request = prepare(address, request)?;
        let exchange = self.token.as_ref().map(|(token, nonces)| token.sign(nonces.next(), &mut request));
        let sent = AtomicBool::new(false);
        let response = tokio::select! {
            biased;
            answered = self.exchange(address, request, &sent) => answered,
            () = self.clock.sleep_until(deadline), if !Mutant::AnswerAwaitedForever.lives() => {
                Err(ClientError::TimedOut { address: address.to_owned(), sent: sent.load(Ordering::Relaxed) })
            }
        }?;
        match exchange {
            Some(exchange) if !exchange.proves(&response) => {
                Err(ClientError::Unproven { address: address.to_owned(), status: response.status() })
            }
            Some(_) | None => Ok(response),
        }
    }

    async fn exchange(
        &self,
        address: &str,
        request: Request<Bytes>,
        sent: &AtomicBool,
    ) -> Result<Response<Bytes>, ClientError> {
        let again = request.clone();
        let harmless = Mutant::SentRequestRepeated.lives()
            || request.method().is_idempotent()
            || request.extensions().get::<Idempotent>().is_some();
        let kept = self.pool().take(address, self.clock.now(), &self.limits);
        let line = match kept {
            Some(line) => line,
            None => self.connect(address).await?,
        };
        let reused = line.reused;
        match self.exchange_on(line, address, request, sent).await {
            Err(ClientError::Broken { sent, heard: false, .. }) if reused && (harmless || !sent) => {}
            answered => return answered,
        }
        let line = self.connect(address).await?;
        self.exchange_on(line, address, again, sent).await
    }

    async fn exchange_on(
        &self,
        mut line: Line,
        address: &str,
        request: Request<Bytes>,
        sent: &AtomicBool,
    ) -> Result<Response<Bytes>, ClientError> {
        line.heard.store(false, Ordering::Release);
        let broken = |line: &Line, sent, source| ClientError::Broken {
            address: address.to_owned(),
            sent,
            heard: line.heard.load(Ordering::Acquire),
            source,
        };
        if let Err(error) = line.sender.ready().await {
            return Err(broken(&line, false, error.into()));
        }
        sent.store(true, Ordering::Relaxed);
        let response = match line.sender.try_send_request(request.map(Full::new)).await {
            Ok(response) => response,
            Err(mut error) => {
                let sent = error.take_message().is_none();
                return Err(broken(&line, sent, error.into_error().into()));
            }
        };
        let (head, body) = response.into_parts();
        let body = match Limited::new(body, self.limits.response_bytes).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                return Err(ClientError::TooLarge { address: address.to_owned(), limit: self.limits.response_bytes });
            }
            Err(error) => return Err(broken(&line, true, error)),
        };
        self.pool().put(address, line, self.clock.now(), &self.limits);
        Ok(Response::from_parts(head, body))
    }

    async fn connect(&self, address: &str) -> Result<Line, ClientError> {
        let failed = |source| ClientError::Connect { address: address.to_owned(), source };
        let stream = self.net.connect(address).await.map_err(failed)?;
        let heard = Arc::new(AtomicBool::new(false));
        let stream = TokioIo::new(Heard { stream, heard: Arc::clone(&heard) });
        let (sender, connection) = http1::handshake(stream).await.map_err(|error| failed(io::Error::other(error)))?;
        let driving = tokio::spawn(async move {
            // Whoever waits for a response gets the error too. On an idle connection the error does not matter.
            drop(connection.await);
        });
        Ok(Line { sender, heard, reused: false, driving })
    }

    fn pool(&self) -> std::sync::MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Brings a request into the form that servers expect: path and query only, and a `Host` header.
fn prepare(address: &str, mut request: Request<Bytes>) -> Result<Request<Bytes>, ClientError> {
    let host = HeaderValue::from_str(address).map_err(|_| ClientError::Connect {
        address: address.to_owned(),
        source: io::Error::new(io::ErrorKind::InvalidInput, "not an address; accepted: host:port"),
    })?;
    request.headers_mut().entry(HOST).or_insert(host);
    let target = request.uri().path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
    *request.uri_mut() = Uri::from(target);
    Ok(request)
}

/// Reason why there is no response.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClientError {
    /// Connecting failed, so nothing was sent.
    #[error("cannot connect to {address}: {source}")]
    Connect {
        /// The server.
        address: String,
        /// Error from the network.
        source: io::Error,
    },
    /// The deadline passed first.
    #[error("{address} did not answer in time")]
    TimedOut {
        /// The server.
        address: String,
        /// True if the request may have reached the server.
        sent: bool,
    },
    /// The response body is larger than the limit.
    #[error("the response of {address} is larger than {limit} bytes")]
    TooLarge {
        /// The server.
        address: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The response does not prove that its sender knows the cluster's token.
    #[error(
        "{address} answers {status} and does not prove that it knows the cluster's token; give all nodes the same one"
    )]
    Unproven {
        /// The server.
        address: String,
        /// Status of the response.
        status: StatusCode,
    },
    /// The connection ended before the whole response had arrived, or the response is not HTTP.
    #[error("the connection to {address} broke: {source}")]
    Broken {
        /// The server.
        address: String,
        /// True if the request may have reached the server.
        sent: bool,
        /// True if some part of a response had arrived.
        heard: bool,
        /// Error from the connection.
        source: Box<dyn core::error::Error + Send + Sync>,
    },
}

impl ClientError {
    /// True if the request may have reached the server.
    #[must_use]
    pub fn may_have_been_sent(&self) -> bool {
        match self {
            Self::Connect { .. } => false,
            Self::TimedOut { sent, .. } | Self::Broken { sent, .. } => *sent,
            Self::TooLarge { .. } | Self::Unproven { .. } => true,
        }
    }
}
