//! Task that opens one session after another until it is told to close.

use core::hash::{BuildHasher, Hasher};
use core::time::Duration;
use std::hash::RandomState;
use std::sync::Arc;

use rolecall_core::Session as SessionNumber;
use rolecall_core::store::{Answer, Refusal};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, sleep};
use tracing::{info, warn};
use zookeeper_client::Client;

use super::Command;
use super::access::Access;
use super::identity::Identity;
use super::layout::Layout;
use super::request::SessionHandle;
use super::session::{End, Session};
use crate::store::StoreEvent;
use crate::store::denials::Denials;

const FIRST_DELAY: Duration = Duration::from_millis(100);
const LAST_DELAY: Duration = Duration::from_secs(5);

/// Everything needed to open sessions.
#[derive(Debug)]
pub(super) struct Driver {
    /// Servers, in the client's format. Names are resolved again for each connection.
    pub(super) servers: String,
    pub(super) session_timeout: Duration,
    pub(super) layout: Arc<Layout>,
    pub(super) identity: Arc<Identity>,
    pub(super) denials: Arc<Denials<Access>>,
    pub(super) commands: UnboundedReceiver<Command>,
    pub(super) events: UnboundedSender<StoreEvent>,
}

impl Driver {
    /// Keeps a session open until it is told to close.
    pub(super) async fn run(mut self) {
        let mut delay = Duration::ZERO;
        let end = loop {
            let handle = match self.open(&mut delay).await {
                Ok(handle) => handle,
                Err(end) => break end,
            };
            let (begin, timeout) = (Instant::now(), handle.timeout);
            match Session::new(handle, &mut self.commands, &self.events).serve().await {
                End::Lost => {
                    let _ = self.events.send(StoreEvent::Lost);
                    // If sessions are lost as soon as they open, do not open the next ones at full speed.
                    delay = if begin.elapsed() > timeout { Duration::ZERO } else { next_delay(delay) };
                }
                end @ (End::Closed | End::Abandoned) => break end,
            }
        };
        if end == End::Closed {
            let _ = self.events.send(StoreEvent::Closed);
        }
    }

    /// Tries until a session opens. Meanwhile, every request is refused.
    async fn open(&mut self, delay: &mut Duration) -> Result<SessionHandle, End> {
        loop {
            self.meanwhile(sleep(jittered(*delay))).await?;
            let connector = Client::connector().with_session_timeout(self.session_timeout).with_fail_eagerly();
            let servers = self.servers.clone();
            match self.meanwhile(async move { connector.connect(&servers).await }).await? {
                Ok(client) => return Ok(self.handle(client)),
                Err(error) => {
                    *delay = next_delay(*delay);
                    warn!(servers = self.servers, %error, "cannot open a session with ZooKeeper; trying again in about {delay:?}");
                }
            }
        }
    }

    fn handle(&self, client: Client) -> SessionHandle {
        let (session, timeout) = (client.session_id(), client.session_timeout());
        // A new session asks for everything again.
        self.denials.retain(|_| false);
        info!(servers = self.servers, %session, ?timeout, "opened a session with ZooKeeper");
        SessionHandle {
            session: SessionNumber(session.0.cast_unsigned()),
            timeout,
            layout: Arc::clone(&self.layout),
            identity: Arc::clone(&self.identity),
            denials: Arc::clone(&self.denials),
            client,
        }
    }

    /// Waits for `work`. Meanwhile, answers commands as a store without a session does.
    async fn meanwhile<T>(&mut self, work: impl Future<Output = T>) -> Result<T, End> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    Some(Command::Send(id, _)) => {
                        let answer = Answer::Refused(Refusal::Disconnected);
                        let _ = self.events.send(StoreEvent::Answered { id, answer });
                    }
                    // A new session is already being opened.
                    Some(Command::Renew) => {}
                    Some(Command::Close) => return Err(End::Closed),
                    None => return Err(End::Abandoned),
                },
                done = &mut work => return Ok(done),
            }
        }
    }
}

fn next_delay(delay: Duration) -> Duration {
    (delay * 2).clamp(FIRST_DELAY, LAST_DELAY)
}

/// Lengthens a delay by up to half at random, so that nodes that lost the store together do not come back together.
fn jittered(delay: Duration) -> Duration {
    let random = RandomState::new().build_hasher().finish() % 512;
    delay + delay * u32::try_from(random).expect("less than 512") / 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_double_up_to_a_limit() {
        let mut delay = Duration::ZERO;
        let mut seen = Vec::new();
        for _ in 0..8 {
            delay = next_delay(delay);
            seen.push(delay.as_millis());
        }
        assert_eq!(seen, [100, 200, 400, 800, 1600, 3200, 5000, 5000]);
        assert_eq!(jittered(Duration::ZERO), Duration::ZERO);
        let jittered = jittered(LAST_DELAY);
        assert!(jittered >= LAST_DELAY && jittered <= LAST_DELAY * 3 / 2, "{jittered:?}");
    }
}
