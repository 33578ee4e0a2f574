//! The embedded store: [`rolecall_core::store::Machine`], shared by the nodes of one process.

mod connections;
#[cfg(test)]
mod tests;

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rolecall_core::store::{Act, Client, Event, Fault, Machine, Request, Server, Timing};
use rolecall_core::{Family, OpId, Time};

use self::connections::{ConnectionId, Connections};
use super::{Participant, Store, StoreEvent};
use crate::{Clock, SystemClock};

/// The only server of the store, to which every connection goes.
const SERVER: Server = Server(0);

/// Coordination store in this process, for one cluster. It ignores the cluster's name in a [`Participant`].
///
/// Clones are handles to the same store. A session lives as long as its connection is polled. A node that hangs, or whose
/// connection is dropped without [`Store::close`], loses its session after the timeout, as in a crash. The store has no
/// task of its own: sessions are ended in time by whoever polls a connection.
#[derive(Clone, Debug)]
pub struct MemoryStore(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    clock: Arc<dyn Clock>,
    connections: Mutex<Connections>,
}

impl MemoryStore {
    /// Tick of a store made by [`new`](Self::new): the longest delay with which a session ends.
    pub const TICK: Duration = Duration::from_millis(100);

    /// Makes an empty store that grants every session timeout.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self::with_timing(clock, Timing::unbounded(Self::TICK))
    }

    /// Makes an empty store that grants every session timeout, of this family.
    #[must_use]
    pub fn of(election: Family, clock: Arc<dyn Clock>) -> Self {
        match election {
            Family::Lease => Self::around(clock, Machine::with_lease(Timing::unbounded(Duration::ZERO))),
            Family::Queue => Self::new(clock),
        }
    }

    /// The store of this process for `cluster` and a family, the same for everybody who asks: what `memory:` names. It lives
    /// as long as the process, so that epochs rise also when all members have left and come back.
    #[must_use]
    pub fn embedded(cluster: &str, election: Family) -> Self {
        static EMBEDDED: Mutex<BTreeMap<(String, Family), MemoryStore>> = Mutex::new(BTreeMap::new());
        // No code that holds the lock leaves the map half changed.
        let mut stores = EMBEDDED.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (cluster.to_owned(), election);
        stores.entry(key).or_insert_with(|| Self::of(election, Arc::new(SystemClock::new()))).clone()
    }

    /// Makes an empty store with the given rules for session timeouts.
    #[must_use]
    pub fn with_timing(clock: Arc<dyn Clock>, timing: Timing) -> Self {
        Self::around(clock, Machine::new(timing, 1))
    }

    fn around(clock: Arc<dyn Clock>, machine: Machine) -> Self {
        Self(Arc::new(Shared { clock, connections: Mutex::new(Connections::new(machine)) }))
    }

    /// Makes a connection for one node. Its session opens when it is first polled.
    #[must_use]
    pub fn connect(&self, participant: Participant) -> MemoryConnection {
        let Participant { cluster: _, id, address, session_timeout, registration } = participant;
        let address = address.unwrap_or_default().into();
        let client = Client { id: id.into(), address, metadata: registration.metadata };
        let connection = self.0.lock().add(client, session_timeout);
        MemoryConnection { shared: self.0.clone(), connection, alarm: None }
    }

    /// Breaks the connections of the node `id` until [`resume`](Self::resume) is called. If that takes longer than the
    /// session timeout, the session ends.
    pub fn suspend(&self, id: &str) {
        self.0.lock().suspend(self.0.clock.now(), id);
    }

    /// Restores the connections of the node `id`.
    pub fn resume(&self, id: &str) {
        self.0.lock().resume(id);
    }

    /// Ends the sessions of the node `id` as if they had timed out, whether or not they are connected.
    pub fn expire(&self, id: &str) {
        let now = self.0.clock.now();
        let mut connections = self.0.lock();
        for session in connections.sessions_of(id) {
            connections.handle(now, Event::Fault(Fault::Expire(session)));
        }
    }

    /// Performs an operator's act, such as deleting a candidate.
    pub fn operate(&self, act: Act) {
        self.0.lock().handle(self.0.clock.now(), Event::Operator(act));
    }

    /// Restarts the store, with its data or empty.
    pub fn restart(&self, keep_data: bool) {
        self.0.lock().handle(self.0.clock.now(), Event::Fault(Fault::Restart { keep_data }));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Connections> {
        // No code that holds the lock panics halfway through a change, so a poisoned lock is safe to use.
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Connection of one node to a [`MemoryStore`]. Dropping it has the same effect as a crash of the node.
pub struct MemoryConnection {
    shared: Arc<Shared>,
    connection: ConnectionId,
    alarm: Option<Alarm>,
}

struct Alarm {
    time: Time,
    sleep: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl MemoryConnection {
    /// Waits until `time`.
    fn poll_alarm(&mut self, time: Time, context: &mut Context<'_>) -> Poll<()> {
        let alarm = match self.alarm.take() {
            Some(alarm) if alarm.time == time => alarm,
            Some(_) | None => Alarm { time, sleep: self.shared.clock.sleep_until(time) },
        };
        let sleep = self.alarm.insert(alarm).sleep.as_mut();
        ready!(sleep.poll(context));
        self.alarm = None;
        Poll::Ready(())
    }
}

impl Store for MemoryConnection {
    fn family(&self) -> Family {
        self.shared.lock().family()
    }

    fn send(&mut self, id: OpId, request: Request) {
        self.shared.lock().send(self.shared.clock.now(), self.connection, id, request);
    }

    fn renew(&mut self) {
        self.shared.lock().renew(self.shared.clock.now(), self.connection);
    }

    fn close(&mut self) {
        self.shared.lock().close(self.shared.clock.now(), self.connection);
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<StoreEvent> {
        loop {
            let now = self.shared.clock.now();
            let wake_at = {
                let mut connections = self.shared.lock();
                connections.attend(now, self.connection);
                match connections.next_event(self.connection, context.waker()) {
                    Some(event) => return Poll::Ready(event),
                    None => connections.wake_at(self.connection),
                }
            };
            match wake_at {
                Some(time) => ready!(self.poll_alarm(time, context)),
                None => return Poll::Pending,
            }
        }
    }
}

impl Drop for MemoryConnection {
    fn drop(&mut self) {
        self.shared.lock().remove(self.shared.clock.now(), self.connection);
    }
}

impl fmt::Debug for MemoryConnection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("MemoryConnection").field("connection", &self.connection).finish_non_exhaustive()
    }
}
