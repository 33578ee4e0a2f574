//! The seam to the application: what a node starts and stops as its role changes.

use core::error::Error;
use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use rolecall_core::{Role, Time};
use tokio::sync::watch;

use crate::{BoxFuture, Clock, Following, LeaderTerm};

/// An application: runs in each role that its node takes.
///
/// The node calls [`start`](Self::start) each time it takes a role, never twice at once: one run has stopped before the next
/// is started. All of it runs on the runtime on which the node was started.
///
/// An application that counts while it leads:
///
/// ```
/// use core::error::Error;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use rolecall::{Assignment, Drain, Running, Service};
///
/// #[derive(Default)]
/// struct Counter(Arc<AtomicU64>);
/// struct Counting(tokio::task::JoinHandle<()>);
///
/// impl Service for Counter {
///     type Running = Counting;
///
///     async fn start(&self, assignment: Assignment) -> Result<Counting, Box<dyn Error + Send + Sync>> {
///         let count = self.0.clone();
///         Ok(Counting(tokio::spawn(async move {
///             let Assignment::Lead(term) = assignment else { return };
///             // Immediately before each act: the term may have ended since the last one.
///             while term.check().is_ok() {
///                 count.fetch_add(1, Ordering::Relaxed);
///                 tokio::task::yield_now().await;
///             }
///         })))
///     }
/// }
///
/// impl Running for Counting {
///     async fn stop(self, _drain: Drain) {
///         self.0.abort();
///     }
/// }
/// ```
pub trait Service: Send + Sync + 'static {
    /// One run in one role.
    type Running: Running;

    /// Starts what the node is assigned, within the start limit of the configuration. Tasks of its own end with
    /// [`LeaderTerm::ended`], [`LeaderTerm::stopping`] or [`Following::stopping`].
    ///
    /// # Errors
    /// Whatever keeps it from starting; the node tries again later, and a leader that fails again and again resigns.
    fn start(
        &self,
        assignment: Assignment,
    ) -> impl Future<Output = Result<Self::Running, Box<dyn Error + Send + Sync>>> + Send;
}

/// One run of a [`Service`]. Dropped without a stop, it is cut off: its node crashed, or was dropped.
pub trait Running: Send + 'static {
    /// Stops: takes on nothing new, lets what was begun end until the `drain` is over, cuts off the rest, and returns once
    /// nothing of this run goes on. The next leader may start then. It has to return within the grace of the configuration
    /// after the drain, or the node halts: while this run goes on no other may begin.
    fn stop(self, drain: Drain) -> impl Future<Output = ()> + Send;
}

/// A run that has nothing to stop.
impl Running for () {
    async fn stop(self, _drain: Drain) {}
}

/// The part that a node is given.
#[derive(Clone, Debug)]
pub enum Assignment {
    /// It leads, for one term.
    Lead(LeaderTerm),
    /// It works for whoever leads.
    Follow(Following),
}

impl Assignment {
    /// The role that this is.
    #[must_use]
    pub fn role(&self) -> Role {
        match self {
            Self::Lead(_) => Role::Leader,
            Self::Follow(_) => Role::Worker,
        }
    }

    /// Ends when this run is to stop.
    pub async fn stopping(&self) {
        match self {
            Self::Lead(term) => term.stopping().await,
            Self::Follow(following) => following.stopping().await,
        }
    }
}

/// The time that a stop leaves to what was begun.
#[derive(Clone, Debug)]
pub struct Drain {
    clock: Arc<dyn Clock>,
    until: watch::Receiver<Time>,
}

impl Drain {
    /// Time until `until`, which may come closer while the stop goes on.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, until: watch::Receiver<Time>) -> Self {
        Self { clock, until }
    }

    /// Time left; zero where what was begun is to be cut off now.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.until.borrow().since(self.clock.now())
    }

    /// Ends once no time is left.
    pub async fn over(&self) {
        let mut until = self.until.clone();
        loop {
            let time = *until.borrow_and_update();
            tokio::select! {
                biased;
                () = self.clock.sleep_until(time) => return,
                Ok(()) = until.changed() => {}
            }
        }
    }
}

/// Why a service could not be started.
pub(crate) type StartFailure = Box<dyn Error + Send + Sync>;

/// [`Running`] as an object.
pub(crate) trait ErasedRunning: Send {
    fn stop(self: Box<Self>, drain: Drain) -> BoxFuture<'static, ()>;
}

impl<R: Running> ErasedRunning for R {
    fn stop(self: Box<Self>, drain: Drain) -> BoxFuture<'static, ()> {
        Box::pin(Running::stop(*self, drain))
    }
}

impl fmt::Debug for dyn ErasedRunning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Running")
    }
}

/// [`Service`] as an object.
pub(crate) trait ErasedService: Send + Sync {
    fn start(&self, assignment: Assignment) -> BoxFuture<'_, Result<Box<dyn ErasedRunning>, StartFailure>>;
}

impl<S: Service> ErasedService for S {
    fn start(&self, assignment: Assignment) -> BoxFuture<'_, Result<Box<dyn ErasedRunning>, StartFailure>> {
        Box::pin(async move {
            let running = Service::start(self, assignment).await?;
            Ok(Box::new(running) as Box<dyn ErasedRunning>)
        })
    }
}

impl fmt::Debug for dyn ErasedService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Service")
    }
}
