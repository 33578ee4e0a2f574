//! The run of a service, from its start to its end.

use core::task::{Context, Poll};
use std::sync::Arc;

use rolecall_core::{Event, Role, Run, Time};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinError, JoinSet};

use crate::http::Slot;
use crate::mutant::Mutant;
use crate::service::{ErasedHandler, ErasedService, ServeError};
use crate::{Clock, Stop, Term};

/// Starts and stops the application's service as the core orders; one run at a time.
#[derive(Debug)]
pub(super) struct Services {
    clock: Arc<dyn Clock>,
    service: Arc<dyn ErasedService>,
    slot: Slot,
    run: Option<(Run, Phase)>,
    tasks: JoinSet<Report>,
    /// Why the last run could not be started; none once one is.
    failure: Option<Arc<str>>,
}

#[derive(Debug)]
enum Phase {
    Starting { stop: Stop, task: AbortHandle },
    Running { stop: Stop },
    Stopping { drain: watch::Sender<Time> },
}

/// How a task of a run ended.
enum Report {
    Served(Result<Arc<dyn ErasedHandler>, ServeError>),
    Stopped,
}

impl Services {
    pub(super) fn new(clock: Arc<dyn Clock>, service: Arc<dyn ErasedService>, slot: Slot) -> Self {
        Self { clock, service, slot, run: None, tasks: JoinSet::new(), failure: None }
    }

    /// Why the last run could not be started, if it could not.
    pub(super) fn failure(&self) -> Option<Arc<str>> {
        self.failure.clone()
    }

    pub(super) fn start(&mut self, run: Run, role: Role, term: Term, stop: Stop) {
        assert!(self.run.is_none(), "the core starts a service only when no other runs");
        let service = Arc::clone(&self.service);
        let task = self.tasks.spawn(async move { Report::Served(service.serve(role, term).await) });
        self.run = Some((run, Phase::Starting { stop, task }));
    }

    /// Takes no new requests from this moment on; a second call can only bring the end closer.
    pub(super) fn stop(&mut self, run: Run, drain_until: Time) {
        let Some((current, phase)) = self.run.take_if(|(current, _)| *current == run) else {
            tracing::debug!(run = run.0, "asked to stop a run that is over");
            return;
        };
        let drain = match phase {
            Phase::Starting { stop, task } => {
                stop.signal();
                task.abort();
                watch::Sender::new(drain_until)
            }
            Phase::Running { stop } => {
                stop.signal();
                let drain = watch::Sender::new(drain_until);
                if let Some(occupant) = self.slot.clear() {
                    let (clock, drain) = (Arc::clone(&self.clock), drain.subscribe());
                    self.tasks.spawn(async move {
                        occupant.stop(&*clock, drain).await;
                        Report::Stopped
                    });
                }
                drain
            }
            Phase::Stopping { drain } => {
                drain.send_modify(|until| *until = drain_until.min(*until));
                drain
            }
        };
        self.run = Some((current, Phase::Stopping { drain }));
    }

    /// What the core has to be told of the run. Pending while there is nothing; the caller polls again after each order.
    pub(super) fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Event> {
        loop {
            match self.tasks.poll_join_next(context) {
                Poll::Ready(Some(ended)) => {
                    if let Some(event) = self.ended(ended) {
                        return Poll::Ready(event);
                    }
                }
                Poll::Ready(None) | Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn ended(&mut self, ended: Result<Report, JoinError>) -> Option<Event> {
        let (run, phase) = self.run.take()?;
        match (ended, phase) {
            (Ok(Report::Served(Ok(handler))), Phase::Starting { stop, .. }) => {
                self.slot.fill(handler);
                self.failure = None;
                self.run = Some((run, Phase::Running { stop }));
                Some(Event::ServiceStarted { run })
            }
            // The order to stop came when it had just started.
            (Ok(Report::Served(Ok(handler))), phase) => {
                self.tasks.spawn(async move {
                    handler.stop().await;
                    Report::Stopped
                });
                self.run = Some((run, phase));
                None
            }
            (Ok(Report::Served(Err(_))), Phase::Starting { stop, .. }) if Mutant::FailedStartServes.lives() => {
                self.run = Some((run, Phase::Running { stop }));
                Some(Event::ServiceStarted { run })
            }
            (Ok(Report::Served(Err(error))), Phase::Starting { .. } | Phase::Running { .. }) => {
                tracing::warn!(run = run.0, %error, "the service could not be started");
                self.failure = Some(error.to_string().into());
                Some(Event::ServiceFailed { run })
            }
            (Err(error), Phase::Starting { .. } | Phase::Running { .. }) => {
                tracing::error!(run = run.0, %error, "the service panicked while it started");
                self.failure = Some("it panicked".into());
                Some(Event::ServiceFailed { run })
            }
            (Ok(Report::Stopped) | Ok(Report::Served(Err(_))) | Err(_), _) => Some(Event::ServiceStopped { run }),
        }
    }
}

/// With its driver gone nothing can stop the run in good order: it is cut off.
impl Drop for Services {
    fn drop(&mut self) {
        if let Some((_, Phase::Starting { stop, .. } | Phase::Running { stop })) = &self.run {
            stop.signal();
        }
        if let Some(occupant) = self.slot.clear() {
            occupant.cut_off();
        }
    }
}
