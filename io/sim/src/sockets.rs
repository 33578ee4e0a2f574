//! The connections of one host, in the order in which they were made.
//!
//! A crashing host drops its tasks in an order that depends on numbers which tokio counts for the whole process. To
//! make a crash the same each time, the first connection dropped closes all of them, in their own order.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use turmoil::net::TcpStream;

/// The connections of one host. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Sockets(Arc<Mutex<Open>>);

#[derive(Debug, Default)]
struct Open {
    streams: BTreeMap<u64, TcpStream>,
    newest: u64,
    is_crashing: bool,
}

impl Sockets {
    pub(super) fn add(&self, stream: TcpStream) -> Socket {
        let mut open = self.lock();
        open.newest += 1;
        let number = open.newest;
        open.streams.insert(number, stream);
        Socket { sockets: self.clone(), number }
    }

    /// Prepares a crash of the host, in which its connections are closed together.
    pub(super) fn crash(&self) {
        self.lock().is_crashing = true;
    }

    /// Prepares a new life of the host.
    pub(super) fn reset(&self) {
        self.lock().is_crashing = false;
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One connection. Closed when dropped.
#[derive(Debug)]
pub(super) struct Socket {
    sockets: Sockets,
    number: u64,
}

impl Socket {
    /// Does something with the stream.
    pub(super) fn with<T>(&self, act: impl FnOnce(&mut TcpStream) -> T) -> io::Result<T> {
        let mut open = self.sockets.lock();
        open.streams.get_mut(&self.number).map(act).ok_or_else(|| io::ErrorKind::ConnectionReset.into())
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        let mut open = self.sockets.lock();
        let closed = if open.is_crashing {
            core::mem::take(&mut open.streams)
        } else {
            open.streams.remove_entry(&self.number).into_iter().collect()
        };
        drop(open);
        closed.into_values().for_each(drop);
    }
}
