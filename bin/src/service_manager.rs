//! Service manager that started this process, such as systemd: it is told when the node is ready, alive and stopping
//! (sd_notify(3)).

use core::time::Duration;
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

use rolecall::Observer;
use tokio::time::{MissedTickBehavior, interval};

use crate::cli::Failure;

/// Variables that a service manager sets for the process that it starts, and for no other.
pub(crate) const VARIABLES: [&str; 3] = ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"];

/// Connection to the service manager.
#[derive(Debug)]
pub(crate) struct ServiceManager {
    socket: UnixDatagram,
    /// Longest silence before it takes the process for dead.
    patience: Option<Duration>,
}

impl ServiceManager {
    /// Finds the manager in the environment; `None` if no manager waits for messages.
    pub(crate) fn find() -> Result<Option<Self>, Failure> {
        let Some(path) = std::env::var_os("NOTIFY_SOCKET").filter(|path| !path.is_empty()) else { return Ok(None) };
        let socket = connect(path.as_bytes())
            .map_err(|error| Failure::Usage(format!("NOTIFY_SOCKET={}: {error}", path.display())))?;
        Ok(Some(Self { socket, patience: patience() }))
    }

    /// Tells that the node is ready once it serves a role, and that it is alive for as long as it is. A node whose driver is
    /// stuck is not, so that the manager restarts it.
    pub(crate) async fn follow(&self, observer: &Observer) {
        let ready = async {
            if observer.until(|status| status.ready().is_ok()).await.is_some() {
                self.tell("READY=1");
            }
        };
        tokio::join!(ready, self.feed(|| observer.is_alive()));
    }

    /// Tells that the process ends in good order.
    pub(crate) fn stopping(&self) {
        self.tell("STOPPING=1");
    }

    /// Tells twice in the time that the manager waits that the process is alive, whenever `is_alive` says so.
    async fn feed(&self, is_alive: impl Fn() -> bool) {
        let Some(patience) = self.patience else { return };
        let mut beats = interval(patience / 2);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beats.tick().await;
            if is_alive() {
                self.tell("WATCHDOG=1");
            }
        }
    }

    fn tell(&self, message: &str) {
        if let Err(error) = self.socket.send(message.as_bytes()) {
            tracing::warn!("the service manager takes no {message}: {error}");
        }
    }
}

/// Connects to a path, or to a name without a file if it begins with `@`. Nothing waits for a manager that does not read.
fn connect(path: &[u8]) -> io::Result<UnixDatagram> {
    let address = match path {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(std::ffi::OsStr::from_bytes(path))?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    socket.set_nonblocking(true)?;
    Ok(socket)
}

/// Time that the manager waits for a sign of life, if it waits for this process.
fn patience() -> Option<Duration> {
    let is_for_another = std::env::var("WATCHDOG_PID").is_ok_and(|id| id != std::process::id().to_string());
    let micros: u64 = std::env::var("WATCHDOG_USEC").ok()?.parse().ok()?;
    (micros > 0 && !is_for_another).then_some(Duration::from_micros(micros))
}

#[cfg(test)]
mod tests {
    use core::future::Future;
    use core::pin::pin;
    use core::task::{Context, Poll, Waker};
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_process_that_is_not_alive_is_left_to_the_watchdog() {
        let (socket, manager) = UnixDatagram::pair().expect("a socket");
        manager.set_nonblocking(true).expect("a socket");
        let heard = || {
            let mut message = [0; 32];
            core::iter::from_fn(|| manager.recv(&mut message).ok()).count()
        };
        let is_alive = AtomicBool::new(true);
        let told = ServiceManager { socket, patience: Some(Duration::from_secs(10)) };
        let mut feeding = pin!(told.feed(|| is_alive.load(Ordering::Relaxed)));
        let mut pass = async |time| {
            tokio::select! {
                () = &mut feeding => unreachable!("it goes on"),
                () = tokio::time::sleep(time) => {}
            }
        };

        pass(Duration::from_secs(21)).await;
        assert_eq!(heard(), 5, "at once, and every five seconds");
        is_alive.store(false, Ordering::Relaxed);
        pass(Duration::from_secs(60)).await;
        assert_eq!(heard(), 0);
        is_alive.store(true, Ordering::Relaxed);
        pass(Duration::from_secs(10)).await;
        assert_eq!(heard(), 2);
    }

    #[test]
    fn nobody_is_fed_who_does_not_wait() {
        let (socket, _manager) = UnixDatagram::pair().expect("a socket");
        let told = ServiceManager { socket, patience: None };
        let feeding = pin!(told.feed(|| true));
        assert_eq!(feeding.poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(()));
    }
}
