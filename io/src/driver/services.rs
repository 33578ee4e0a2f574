//! Runs of the application's service, from start to end.

use core::task::{Context, Poll};
use std::sync::Arc;

use rolecall_core::{Event, Run, Time};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinError, JoinSet};

use crate::mutant::Mutant;
use crate::service::{ErasedRunning, ErasedService, StartFailure};
use crate::{Assignment, Clock, Drain, Stop};

/// Starts and stops the application's service as the core orders, one run at a time. All of the application's code runs on
/// the application's runtime.
#[derive(Debug)]
pub(super) struct Services {
    clock: Arc<dyn Clock>,
    service: Arc<dyn ErasedService>,
    runtime: Handle,
    run: Option<(Run, Phase)>,
    tasks: JoinSet<Report>,
    /// Reason why the last run failed to start; `None` once one has started.
    failure: Option<Arc<str>>,
}

#[derive(Debug)]
enum Phase {
    Starting { stop: Stop, task: AbortHandle },
    Running { stop: Stop, running: Box<dyn ErasedRunning> },
    Stopping { drain: watch::Sender<Time> },
}

/// Result of a task that starts or stops a run.
enum Report {
    Started(Result<Box<dyn ErasedRunning>, StartFailure>),
    Stopped,
}

impl Services {
    pub(super) fn new(clock: Arc<dyn Clock>, service: Arc<dyn ErasedService>, runtime: Handle) -> Self {
        Self { clock, service, runtime, run: None, tasks: JoinSet::new(), failure: None }
    }

    /// Reason why the last run failed to start, if it did.
    pub(super) fn failure(&self) -> Option<Arc<str>> {
        self.failure.clone()
    }

    pub(super) fn start(&mut self, run: Run, assignment: Assignment, stop: Stop) {
        assert!(self.run.is_none(), "the core starts a service only when no other runs");
        let service = Arc::clone(&self.service);
        let start = async move { Report::Started(service.start(assignment).await) };
        let task = self.tasks.spawn_on(start, &self.runtime);
        self.run = Some((run, Phase::Starting { stop, task }));
    }

    /// Tells the run to stop. A second call can only move the end of the drain closer.
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
            Phase::Running { stop, running } => {
                stop.signal();
                let drain = watch::Sender::new(drain_until);
                self.end(running, &drain);
                drain
            }
            Phase::Stopping { drain } => {
                drain.send_modify(|until| *until = drain_until.min(*until));
                drain
            }
        };
        self.run = Some((current, Phase::Stopping { drain }));
    }

    fn end(&mut self, running: Box<dyn ErasedRunning>, drain: &watch::Sender<Time>) {
        let drain = Drain::new(Arc::clone(&self.clock), drain.subscribe());
        let stop = async move {
            running.stop(drain).await;
            Report::Stopped
        };
        self.tasks.spawn_on(stop, &self.runtime);
    }

    /// Polls for the next event of the run. The caller must poll again after each order.
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
            (Ok(Report::Started(Ok(running))), Phase::Starting { stop, .. }) => {
                self.failure = None;
                self.run = Some((run, Phase::Running { stop, running }));
                Some(Event::ServiceStarted { run })
            }
            // The order to stop arrived when the run had just started.
            (Ok(Report::Started(Ok(running))), Phase::Stopping { drain }) => {
                self.end(running, &drain);
                self.run = Some((run, Phase::Stopping { drain }));
                None
            }
            (Ok(Report::Started(Err(_))), Phase::Starting { stop, .. }) if Mutant::FailedStartServes.lives() => {
                self.run = Some((run, Phase::Running { stop, running: Box::new(()) }));
                Some(Event::ServiceStarted { run })
            }
            (Ok(Report::Started(Err(error))), Phase::Starting { .. }) => {
                tracing::warn!(run = run.0, %error, "the application failed to start; trying again later");
                self.failure = Some(error.to_string().into());
                Some(Event::ServiceFailed { run })
            }
            (Err(error), Phase::Starting { .. }) => {
                tracing::error!(run = run.0, %error, "the application panicked while it started");
                self.failure = Some("it panicked".into());
                Some(Event::ServiceFailed { run })
            }
            (Err(error), Phase::Stopping { .. }) if error.is_panic() => {
                tracing::error!(run = run.0, %error, "the application panicked while it stopped");
                Some(Event::ServiceStopped { run })
            }
            (Ok(Report::Stopped) | Ok(Report::Started(_)) | Err(_), _) => Some(Event::ServiceStopped { run }),
        }
    }
}

/// Without a driver, nothing can stop the run in good order, so it is cut off.
impl Drop for Services {
    fn drop(&mut self) {
        // Values that the application drops may need its runtime.
        let _inside = self.runtime.enter();
        match self.run.take() {
            Some((_, Phase::Starting { stop, .. })) => stop.signal(),
            Some((_, Phase::Running { stop, running })) => {
                stop.signal();
                drop(running);
            }
            Some((_, Phase::Stopping { .. })) | None => {}
        }
        self.tasks.abort_all();
    }
}
