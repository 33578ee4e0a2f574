//! A session: an identity that this adapter makes up and keeps alive, over one connection after the other.

use core::ops::ControlFlow;
use core::pin::Pin;
use core::time::Duration;
use std::sync::Arc;

use futures_util::future::FutureExt;
use futures_util::stream::{FuturesUnordered, StreamExt};
use rolecall_core::store::{Answer, Refusal, Reply, Request};
use rolecall_core::{OpId, Session as SessionNumber, Slot};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep, sleep_until};
use tracing::{info, warn};

use super::Command;
use super::connection::{Push, Pushes};
use super::failure::Failure;
use super::request::{SessionHandle, perform};
use super::target::Target;
use super::watches::Watches;
use crate::store::denials::Denials;
use crate::store::{Participant, StoreEvent};

const FIRST_DELAY: Duration = Duration::from_millis(50);
const LAST_DELAY: Duration = Duration::from_secs(5);

/// Reason why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The session is over or in doubt: open a new one.
    Lost,
    /// The session was closed on request.
    Closed,
    /// The store was dropped, so there is nobody left to serve.
    Abandoned,
}

/// Use of the server that it may deny.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    /// To connect, and to open the session.
    Connect,
    /// To keep the session alive.
    Keep,
    /// A request of this kind.
    Request(Slot),
}

/// Piece of work that has ended.
enum Completed {
    Request(OpId, Result<Reply, Failure>),
    Kept(Result<(), Failure>),
}

type Running = Pin<Box<dyn Future<Output = Completed> + Send>>;

/// A session, and all that it needs to come back to its server.
pub(super) struct Session<'a> {
    pub(super) number: SessionNumber,
    pub(super) participant: &'a Arc<Participant>,
    pub(super) denials: &'a Denials<Use>,
    pub(super) target: &'a mut Target,
    pub(super) commands: &'a mut UnboundedReceiver<Command>,
    pub(super) events: &'a UnboundedSender<StoreEvent>,
    /// Number of connections so far.
    link: u64,
    /// True once the server has opened it.
    is_open: bool,
    /// Last time at which the server answered.
    heard: Instant,
}

/// One connection of a session.
struct Line {
    handle: SessionHandle,
    pushes: Pushes,
    running: FuturesUnordered<Running>,
    /// Requests that are under way.
    pending: Vec<OpId>,
    watches: Watches,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        number: SessionNumber,
        participant: &'a Arc<Participant>,
        denials: &'a Denials<Use>,
        target: &'a mut Target,
        commands: &'a mut UnboundedReceiver<Command>,
        events: &'a UnboundedSender<StoreEvent>,
    ) -> Self {
        let heard = Instant::now();
        Self { number, participant, denials, target, commands, events, link: 0, is_open: false, heard }
    }

    /// Serves this session until it ends. Returns whether it was ever open.
    pub(super) async fn serve(&mut self) -> (End, bool) {
        let end = loop {
            let line = match self.connect().await {
                Ok(line) => line,
                Err(end) => break end,
            };
            self.is_open = true;
            self.tell(StoreEvent::Up { session: self.number, timeout: self.timeout() });
            if let ControlFlow::Break(end) = self.hold(line).await {
                break end;
            }
        };
        (end, self.is_open)
    }

    fn timeout(&self) -> Duration {
        self.participant.session_timeout
    }

    /// Time that an attempt may take: well below the time after which the session, or a lease, is over.
    fn patience(&self) -> Duration {
        (self.timeout() / 4).max(Duration::from_millis(1))
    }

    /// Interval at which the session is kept alive: each call moves the store's clock by a quarter of a lease at most.
    fn interval(&self) -> Duration {
        (self.timeout() / 6).max(Duration::from_millis(1))
    }

    /// Tries until the session is open on a connection. Meanwhile, every request is refused.
    async fn connect(&mut self) -> Result<Line, End> {
        let mut delay = Duration::ZERO;
        loop {
            self.link += 1;
            let (target, participant) = (self.target.clone(), Arc::clone(self.participant));
            let (session, link, is_new) = (self.number, self.link, !self.is_open);
            let (timeout, patience) = (self.timeout(), self.patience().min(LAST_DELAY));
            let attempt = async move {
                let begin = Instant::now();
                let (connection, pushes) = target.connect(begin + patience).await?;
                let connection = Arc::new(connection);
                let handle = SessionHandle { session, link, timeout, participant, connection };
                handle.open(is_new, begin + patience).await?;
                Ok((handle, pushes))
            };
            match self.meanwhile(attempt).await? {
                Ok((handle, pushes)) => {
                    self.heard = Instant::now();
                    self.denials.grant(&Use::Connect);
                    info!(url = %self.target.url, session = handle.session.0, link, "connected to Redis");
                    return Ok(Line::new(handle, pushes));
                }
                Err(failure) => self.failed(&failure)?,
            }
            delay = next_delay(delay).min(self.interval());
            self.meanwhile(sleep(delay)).await?;
        }
    }

    /// Notes that an attempt to connect failed. Ends the session if it is over, or must be by now.
    fn failed(&mut self, failure: &Failure) -> Result<(), End> {
        match failure {
            Failure::SessionOver => return Err(End::Lost),
            Failure::Moved { address } => {
                info!(address, "another server of the cluster has the keys");
                self.target.refer(address);
            }
            Failure::Useless { refused: true, reason } | Failure::Denied { reason } => {
                self.target.turn();
                self.deny(Use::Connect, reason);
            }
            Failure::Useless { refused: false, reason } | Failure::Silent { reason } => {
                self.target.turn();
                warn!(url = %self.target.url, reason, "cannot open a session with Redis; trying again");
            }
            Failure::Refused(_) | Failure::Unknown => {
                warn!(url = %self.target.url, ?failure, "cannot open a session with Redis; trying again");
            }
        }
        // The server ended it by now, unless it stood still; it may also have been replaced.
        let is_over = self.is_open && self.heard.elapsed() > self.timeout() + self.timeout() / 2;
        if is_over { Err(End::Lost) } else { Ok(()) }
    }

    /// Waits for `work`. Meanwhile, answers commands as a store without a connection does.
    async fn meanwhile<T>(&mut self, work: impl Future<Output = T>) -> Result<T, End> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    Some(Command::Send(id, _)) => self.answer(id, Answer::Refused(Refusal::Disconnected)),
                    // One that was never open is as good as a new one.
                    Some(Command::Renew) if !self.is_open => {}
                    Some(Command::Renew) => return Err(End::Lost),
                    Some(Command::Close) => return Err(End::Closed),
                    None => return Err(End::Abandoned),
                },
                done = &mut work => return Ok(done),
            }
        }
    }

    /// Serves the session over a connection until that is lost.
    async fn hold(&mut self, mut line: Line) -> ControlFlow<End> {
        let mut keeping = interval_at(Instant::now() + self.interval(), self.interval());
        keeping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let flow = loop {
            let flow = tokio::select! {
                biased;
                push = line.pushes.next() => self.on_push(&mut line, push),
                Some(completed) = line.running.next() => self.on_completed(&mut line, completed),
                command = self.commands.recv() => match command {
                    Some(Command::Send(id, request)) => {
                        let deadline = Instant::now() + self.patience();
                        line.start(id, request, deadline);
                        ControlFlow::Continue(())
                    }
                    Some(Command::Renew) => ControlFlow::Break(Some(End::Lost)),
                    Some(Command::Close) => {
                        self.close(&mut line).await;
                        ControlFlow::Break(Some(End::Closed))
                    }
                    None => {
                        self.close(&mut line).await;
                        ControlFlow::Break(Some(End::Abandoned))
                    }
                },
                _ = keeping.tick() => {
                    line.keep(Instant::now() + self.patience());
                    ControlFlow::Continue(())
                }
            };
            if let ControlFlow::Break(end) = flow {
                break end;
            }
        };
        if flow.is_none() {
            self.tell(StoreEvent::Suspended);
        }
        for id in line.pending {
            self.answer(id, Answer::Unknown);
        }
        flow.map_or(ControlFlow::Continue(()), ControlFlow::Break)
    }

    /// Breaks with the end of the session, or with nothing if only the connection is lost.
    fn on_push(&self, line: &mut Line, push: Push) -> ControlFlow<Option<End>> {
        match push {
            Push::Change(change) => {
                for (id, notice) in line.watches.fire(&change) {
                    self.tell(StoreEvent::Noticed { id, notice });
                }
                ControlFlow::Continue(())
            }
            Push::Lost => {
                info!(url = %self.target.url, "the connection to Redis is lost");
                ControlFlow::Break(None)
            }
        }
    }

    fn on_completed(&mut self, line: &mut Line, completed: Completed) -> ControlFlow<Option<End>> {
        self.note(&completed);
        let failure = match completed {
            Completed::Kept(Ok(())) => {
                self.heard = Instant::now();
                return ControlFlow::Continue(());
            }
            Completed::Kept(Err(failure)) => failure,
            Completed::Request(id, outcome) => {
                line.pending.retain(|pending| *pending != id);
                let (answer, failure) = match outcome {
                    Ok(reply) => (Answer::Done(reply), None),
                    Err(Failure::Refused(refusal)) => (Answer::Refused(refusal), None),
                    Err(Failure::SessionOver) => (Answer::Refused(Refusal::SessionOver), Some(Failure::SessionOver)),
                    Err(failure @ (Failure::Moved { .. } | Failure::Useless { .. })) => {
                        (Answer::Refused(Refusal::Denied), Some(failure))
                    }
                    Err(failure @ (Failure::Unknown | Failure::Denied { .. } | Failure::Silent { .. })) => {
                        (Answer::Unknown, Some(failure))
                    }
                };
                if matches!(answer, Answer::Done(_)) {
                    self.heard = Instant::now();
                } else {
                    line.watches.unset(id);
                }
                self.answer(id, answer);
                match failure {
                    Some(failure) => failure,
                    None => return ControlFlow::Continue(()),
                }
            }
        };
        self.on_failure(failure)
    }

    /// Notes what the server denies and grants.
    fn note(&self, completed: &Completed) {
        let (denied, granted) = match completed {
            Completed::Kept(outcome) => (outcome.as_ref().err(), Use::Keep),
            Completed::Request(id, outcome) => (outcome.as_ref().err(), Use::Request(id.slot)),
        };
        match denied {
            None => self.denials.grant(&granted),
            Some(Failure::Useless { refused: true, reason } | Failure::Denied { reason }) => self.deny(granted, reason),
            Some(_) => {}
        }
    }

    fn deny(&self, denied: Use, reason: &str) {
        self.denials.deny(denied, &self.target.layout.pattern, reason);
    }

    fn on_failure(&mut self, failure: Failure) -> ControlFlow<Option<End>> {
        match failure {
            Failure::Refused(_) | Failure::Unknown | Failure::Denied { .. } => ControlFlow::Continue(()),
            Failure::SessionOver => {
                info!(session = self.number.0, "the session with Redis is over");
                ControlFlow::Break(Some(End::Lost))
            }
            Failure::Moved { address } => {
                self.target.refer(&address);
                ControlFlow::Break(None)
            }
            // It is noted already. The connection is not at fault, but a later one may have the rights.
            Failure::Useless { refused: true, .. } => ControlFlow::Break(None),
            Failure::Useless { refused: false, reason } | Failure::Silent { reason } => {
                warn!(url = %self.target.url, reason, "the connection to Redis is of no use; opening another");
                ControlFlow::Break(None)
            }
        }
    }

    /// Ends the session in good order: waits for the work that has begun, and then lets the server delete what is left.
    async fn close(&mut self, line: &mut Line) {
        let deadline = Instant::now() + self.patience();
        loop {
            tokio::select! {
                biased;
                completed = line.running.next() => match completed {
                    Some(completed) => {
                        if self.on_completed(line, completed).is_break() {
                            return;
                        }
                    }
                    None => break,
                },
                () = sleep_until(deadline) => break,
            }
        }
        if let Err(failure) = line.handle.close(deadline + self.patience()).await {
            warn!(session = self.number.0, ?failure, "the session did not close; the server ends it after its timeout");
        }
    }

    fn answer(&self, id: OpId, answer: Answer) {
        self.tell(StoreEvent::Answered { id, answer });
    }

    fn tell(&self, event: StoreEvent) {
        // This fails only if the store was dropped, which the channel of commands reports.
        let _ = self.events.send(event);
    }
}

impl Line {
    fn new(handle: SessionHandle, pushes: Pushes) -> Self {
        Self { handle, pushes, running: FuturesUnordered::new(), pending: Vec::new(), watches: Watches::default() }
    }

    /// Sends a request. What is sent first arrives first.
    fn start(&mut self, id: OpId, request: Request, deadline: Instant) {
        self.watches.set(id, &request);
        self.pending.push(id);
        let work = perform(self.handle.clone(), request, deadline);
        self.begin(Box::pin(work.map(move |outcome| Completed::Request(id, outcome))));
    }

    fn keep(&mut self, deadline: Instant) {
        let handle = self.handle.clone();
        self.begin(Box::pin(async move { Completed::Kept(handle.keep(deadline).await) }));
    }

    fn begin(&mut self, mut work: Running) {
        // Polled once here, it gives its command to the client before any later one.
        match work.as_mut().now_or_never() {
            Some(completed) => self.running.push(Box::pin(core::future::ready(completed))),
            None => self.running.push(work),
        }
    }
}

fn next_delay(delay: Duration) -> Duration {
    (delay * 2).clamp(FIRST_DELAY, LAST_DELAY)
}
