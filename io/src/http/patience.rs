//! Stream that gives up on a peer that stops reading.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::io;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use crate::Stream;

/// Stream that fails a write after a time without progress, so that a client that reads nothing does not keep its
/// connection for ever.
pub(super) struct Patient {
    stream: Box<dyn Stream>,
    patience: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    pub(super) fn new(stream: Box<dyn Stream>, patience: Duration) -> Self {
        Self { stream, patience, stalled: None }
    }

    fn bounded<T>(
        &mut self,
        context: &mut Context<'_>,
        write: impl FnOnce(Pin<&mut Box<dyn Stream>>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if let Poll::Ready(written) = write(Pin::new(&mut self.stream), context) {
            self.stalled = None;
            return Poll::Ready(written);
        }
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the peer does not read what is sent to it")))
    }
}

impl AsyncRead for Patient {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buf)
    }
}

impl AsyncWrite for Patient {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.bounded(context, |stream, context| stream.poll_write(context, buf))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.bounded(context, |stream, context| stream.poll_write_vectored(context, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.bounded(context, |stream, context| stream.poll_flush(context))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.bounded(context, |stream, context| stream.poll_shutdown(context))
    }
}
