//! Pool of idle connections that wait for their next request.

use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll};
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper::client::conn::http1::SendRequest;
use rolecall_core::Time;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::JoinHandle;

use super::ClientLimits;
use crate::Stream;

/// Connection to a server. Dropping it closes the connection.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) sender: SendRequest<Full<Bytes>>,
    /// True if any data has arrived since this flag was last cleared.
    pub(super) heard: Arc<AtomicBool>,
    pub(super) reused: bool,
    pub(super) driving: JoinHandle<()>,
}

impl Drop for Line {
    fn drop(&mut self) {
        self.driving.abort();
    }
}

/// Idle connections by address, the most recently used one last.
#[derive(Debug, Default)]
pub(super) struct Pool(BTreeMap<String, Vec<(Line, Time)>>);

impl Pool {
    pub(super) fn take(&mut self, address: &str, now: Time, limits: &ClientLimits) -> Option<Line> {
        self.sweep(now, limits);
        let lines = self.0.get_mut(address)?;
        let line = lines.pop().map(|(line, _)| line);
        if lines.is_empty() {
            self.0.remove(address);
        }
        line
    }

    pub(super) fn put(&mut self, address: &str, mut line: Line, now: Time, limits: &ClientLimits) {
        self.sweep(now, limits);
        if self.0.values().map(Vec::len).sum::<usize>() >= limits.idle {
            return;
        }
        let lines = self.0.entry(address.to_owned()).or_default();
        if lines.len() < limits.idle_per_address {
            line.reused = true;
            lines.push((line, now));
        }
    }

    fn sweep(&mut self, now: Time, limits: &ClientLimits) {
        self.0.retain(|_, lines| {
            lines.retain(|(line, since)| now.since(*since) < limits.idle_time && !line.sender.is_closed());
            !lines.is_empty()
        });
    }
}

/// Stream that records whether any data has arrived.
pub(super) struct Heard {
    pub(super) stream: Box<dyn Stream>,
    pub(super) heard: Arc<AtomicBool>,
}

impl AsyncRead for Heard {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, buf);
        if buf.filled().len() > before {
            self.heard.store(true, Ordering::Release);
        }
        polled
    }
}

impl AsyncWrite for Heard {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
