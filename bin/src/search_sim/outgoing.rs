//! Requests that a host sends to others, watched as they go out: only a leader may send a task.

use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::io;
use std::sync::Arc;

use rolecall::{BoxFuture, Listener, Net, Stream};
use rolecall_sim::Acts;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::watched::Sender;

/// Sockets of a host whose outgoing requests are watched.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    net: Arc<dyn Net>,
    acts: Acts,
}

impl Outgoing {
    pub(super) fn new(net: Arc<dyn Net>, acts: Acts) -> Self {
        Self { net, acts }
    }
}

impl Net for Outgoing {
    fn connect<'a>(&'a self, address: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Stream>>> {
        Box::pin(async move {
            let stream = self.net.connect(address).await?;
            Ok(Box::new(Sending { stream, acts: self.acts.clone(), sent: Vec::new() }) as Box<dyn Stream>)
        })
    }

    fn bind<'a>(&'a self, address: &'a str) -> BoxFuture<'a, io::Result<Box<dyn Listener>>> {
        self.net.bind(address)
    }
}

/// Connection on which tasks are sent.
struct Sending {
    stream: Box<dyn Stream>,
    acts: Acts,
    /// Bytes sent of a request that is not complete yet.
    sent: Vec<u8>,
}

impl Sending {
    fn note(&mut self, bytes: &[u8]) {
        self.sent.extend_from_slice(bytes);
        while let Some((body, end)) = request(&self.sent) {
            if let Ok(Sender { fence }) = serde_json::from_slice(&self.sent[body..end]) {
                self.acts.begin(fence);
            }
            self.sent.drain(..end);
        }
    }
}

/// Beginning and end of the first request's body, once the request is complete (RFC 9112; with a length, as our client
/// sends it).
fn request(bytes: &[u8]) -> Option<(usize, usize)> {
    let body = bytes.windows(4).position(|window| window == b"\r\n\r\n")? + 4;
    let head = core::str::from_utf8(&bytes[..body]).ok()?;
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let end = body + length.unwrap_or(0);
    (end <= bytes.len()).then_some((body, end))
}

impl AsyncRead for Sending {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buf)
    }
}

impl AsyncWrite for Sending {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, buf))?;
        self.note(&buf[..written]);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::request;

    #[test]
    fn a_request_is_found_once_it_is_complete() {
        let text = b"POST /task HTTP/1.1\r\nHost: b:80\r\nContent-Length: 4\r\n\r\n{\"a\"GET";
        let whole = text.len() - 3;

        assert_eq!(request(text), Some((whole - 4, whole)));
        assert_eq!(request(&text[..whole - 1]), None);
        assert_eq!(request(&text[..30]), None);
        assert_eq!(request(b"GET / HTTP/1.1\r\n\r\n"), Some((18, 18)));
    }
}
