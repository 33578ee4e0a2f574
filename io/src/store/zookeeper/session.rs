//! Session with ZooKeeper, from its first connection to its end.

use core::ops::ControlFlow;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;

use futures_util::future::{FutureExt, pending};
use futures_util::stream::{FuturesUnordered, StreamExt};
use rolecall_core::OpId;
use rolecall_core::store::{Answer, Notice, Refusal, Request};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::{Instant, timeout_at};
use tracing::{info, warn};
use zookeeper_client::{SessionState, StateWatcher};

use super::Command;
use super::failure::Failure;
use super::names::Names;
use super::proof::{Proof, prove, tidy};
use super::request::{Done, SessionHandle, perform};
use super::watches::Watches;
use crate::store::StoreEvent;

/// Limit for closing a session, unless its timeout is shorter.
const CLOSE_LIMIT: Duration = Duration::from_secs(5);

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

/// State of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Link {
    /// Connected, and known to serve this session.
    Up,
    /// Not connected.
    Suspended,
    /// Connected again, but not yet known to serve this session.
    Proving,
}

/// Piece of work that has ended.
enum Completed {
    Request(OpId, Result<Done, Failure>),
    Tidied,
}

type Running<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Owner of one session's client. When it ends, nothing of the client is left.
pub(super) struct Session<'a> {
    handle: SessionHandle,
    state: StateWatcher,
    link: Link,
    proof: Option<Running<Proof>>,
    running: FuturesUnordered<Running<Completed>>,
    watches: Watches,
    names: Arc<Names>,
    commands: &'a mut UnboundedReceiver<Command>,
    events: &'a UnboundedSender<StoreEvent>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        handle: SessionHandle,
        commands: &'a mut UnboundedReceiver<Command>,
        events: &'a UnboundedSender<StoreEvent>,
    ) -> Self {
        let state = handle.client.state_watcher();
        Self {
            handle,
            state,
            link: Link::Up,
            proof: None,
            running: FuturesUnordered::new(),
            watches: Watches::default(),
            names: Arc::default(),
            commands,
            events,
        }
    }

    /// Serves this session until it ends.
    pub(super) async fn serve(mut self) -> End {
        self.tell_up();
        let mut flow = match self.state.peek_state() {
            SessionState::SyncConnected | SessionState::ConnectedReadOnly => ControlFlow::Continue(()),
            // The connection was lost before its state could be watched.
            state @ (SessionState::Disconnected
            | SessionState::AuthFailed
            | SessionState::Expired
            | SessionState::Closed) => self.on_state(state),
        };
        loop {
            match flow {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(End::Closed) => return self.close().await,
                ControlFlow::Break(end) => return end,
            }
            flow = tokio::select! {
                biased;
                state = self.state.changed() => self.on_state(state),
                proof = running(&mut self.proof) => self.on_proof(proof),
                Some(completed) = self.running.next() => self.on_completed(completed),
                Some((id, notice)) = self.watches.next() => self.on_notice(id, notice),
                command = self.commands.recv() => self.on_command(command),
            };
        }
    }

    /// Handles a new state of the client. The watcher reports only the latest state, so after a short loss of the connection
    /// it reports the same state as before. Therefore any state that is not the end counts as a new connection.
    fn on_state(&mut self, state: SessionState) -> ControlFlow<End> {
        if self.link == Link::Up {
            self.tell(StoreEvent::Suspended);
        }
        self.proof = None;
        match state {
            SessionState::SyncConnected | SessionState::ConnectedReadOnly => {
                self.link = Link::Proving;
                self.proof = Some(Box::pin(prove(self.handle.clone())));
                ControlFlow::Continue(())
            }
            SessionState::Disconnected => {
                self.link = Link::Suspended;
                ControlFlow::Continue(())
            }
            SessionState::AuthFailed | SessionState::Expired | SessionState::Closed => {
                info!(session = %self.handle.client.session_id(), %state, "the session with ZooKeeper is over");
                ControlFlow::Break(End::Lost)
            }
        }
    }

    fn on_proof(&mut self, proof: Proof) -> ControlFlow<End> {
        self.proof = None;
        if self.observe()? {
            return ControlFlow::Continue(());
        }
        match proof {
            Proof::Same => {
                self.link = Link::Up;
                self.tell_up();
                let handle = self.handle.clone();
                self.running.push(Box::pin(tidy(handle).map(|()| Completed::Tidied)));
                ControlFlow::Continue(())
            }
            Proof::Other => {
                warn!(session = %self.handle.client.session_id(), "the server answered a reconnect with another session; opening a new one");
                ControlFlow::Break(End::Lost)
            }
            Proof::Unclear(failure) => {
                warn!(session = %self.handle.client.session_id(), ?failure, "cannot find out which session the server serves; opening a new one");
                ControlFlow::Break(End::Lost)
            }
        }
    }

    fn on_completed(&mut self, completed: Completed) -> ControlFlow<End> {
        self.observe()?;
        let Completed::Request(id, outcome) = completed else { return ControlFlow::Continue(()) };
        let answer = match outcome {
            Ok(Done { reply, watch, names }) => {
                if let Some(names) = names {
                    self.names = Arc::new(names);
                }
                if let Some(watch) = watch {
                    self.watches.arm(id, watch);
                }
                Answer::Done(reply)
            }
            Err(Failure::Refused(refusal)) => Answer::Refused(refusal),
            Err(Failure::Unknown) => Answer::Unknown,
            Err(Failure::SessionInDoubt) => {
                warn!(session = %self.handle.client.session_id(), "an answer casts doubt on the session; opening a new one");
                self.tell(StoreEvent::Answered { id, answer: Answer::Unknown });
                return ControlFlow::Break(End::Lost);
            }
        };
        self.tell(StoreEvent::Answered { id, answer });
        ControlFlow::Continue(())
    }

    fn on_notice(&mut self, id: OpId, notice: Notice) -> ControlFlow<End> {
        self.observe()?;
        self.tell(StoreEvent::Noticed { id, notice });
        ControlFlow::Continue(())
    }

    fn on_command(&mut self, command: Option<Command>) -> ControlFlow<End> {
        match command {
            Some(Command::Send(id, request)) => self.start(id, request),
            Some(Command::Renew) => ControlFlow::Break(End::Lost),
            Some(Command::Close) => ControlFlow::Break(End::Closed),
            None => ControlFlow::Break(End::Abandoned),
        }
    }

    /// Gives a request to the client at once, so that requests arrive in the order in which they were sent.
    fn start(&mut self, id: OpId, request: Request) -> ControlFlow<End> {
        let connected = self.handle.client.state() == SessionState::SyncConnected;
        if self.link != Link::Up || !connected {
            let answer = Answer::Refused(Refusal::Disconnected);
            self.tell(StoreEvent::Answered { id, answer });
            return ControlFlow::Continue(());
        }
        let work = perform(self.handle.clone(), request, Arc::clone(&self.names));
        let mut work: Running<Completed> = Box::pin(work.map(move |outcome| Completed::Request(id, outcome)));
        match work.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(completed) => self.on_completed(completed),
            Poll::Pending => {
                self.running.push(work);
                ControlFlow::Continue(())
            }
        }
    }

    /// Handles changes of the connection before an answer is passed on: an answer from a later connection must not overtake
    /// the news of that connection. Returns true if there was a change.
    fn observe(&mut self) -> ControlFlow<End, bool> {
        let mut any = false;
        while let Some(state) = self.state.changed().now_or_never() {
            any = true;
            self.on_state(state)?;
        }
        ControlFlow::Continue(any)
    }

    /// Ends the session in good order: waits for the work that has begun, drops the client, which then tells the server, and
    /// waits for the session's end.
    async fn close(mut self) -> End {
        let begin = Instant::now();
        let limit = self.handle.timeout.min(CLOSE_LIMIT);
        let _ = timeout_at(begin + limit / 2, async {
            while let Some(completed) = self.running.next().await {
                if self.on_completed(completed).is_break() {
                    break;
                }
            }
        })
        .await;
        let Self { handle, mut state, proof, running, watches, .. } = self;
        let session = handle.client.session_id();
        // Drop the client first: the watches then have nobody to ask for their removal.
        drop((handle, running, proof, watches));
        let closed = timeout_at(begin + limit, async { while !state.changed().await.is_terminated() {} }).await;
        if closed.is_err() {
            warn!(%session, "the session did not close within {limit:?}; the server ends it after its timeout");
        }
        End::Closed
    }

    fn tell_up(&self) {
        self.tell(StoreEvent::Up { session: self.handle.session, timeout: self.handle.timeout });
    }

    fn tell(&self, event: StoreEvent) {
        // This fails only if the store was dropped, which the channel of commands reports.
        let _ = self.events.send(event);
    }
}

async fn running<T>(work: &mut Option<Running<T>>) -> T {
    match work {
        Some(work) => work.await,
        None => pending().await,
    }
}
