//! Service: the seam to the application, which a node starts and stops as its role changes.

use core::error::Error;
use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use rolecall_core::{Role, Time};
use tokio::sync::watch;

use crate::{BoxFuture, Clock, Following, LeaderTerm};

/// Application that runs in each role that its node takes.
///
/// The node calls [`start`](Self::start) each time it takes a role. It stops one run before it starts the next, so two never
/// overlap. Everything runs on the runtime on which the node was started.
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
    /// Run of the application in one role.
    type Running: Running;

    /// Starts the application in the assigned role. It must return within the start limit of the configuration. Tasks that
    /// it spawns should end with [`LeaderTerm::ended`], [`LeaderTerm::stopping`] or [`Following::stopping`].
    ///
    /// # Errors
    /// Any error that prevents the start. The node tries again later; a leader that fails repeatedly resigns.
    fn start(
        &self,
        assignment: Assignment,
    ) -> impl Future<Output = Result<Self::Running, Box<dyn Error + Send + Sync>>> + Send;
}

/// Run of a [`Service`]. If it is dropped without a stop, its node has crashed or was dropped, and the run is cut off.
pub trait Running: Send + 'static {
    /// Stops the run. It accepts no new work, lets the work in progress finish until `drain` is over, cuts off the rest, and
    /// returns once nothing of this run is left. The next leader may start after that. It must return within the stop grace
    /// of the configuration after the drain, or the node halts, because no other run may begin while this one goes on.
    fn stop(self, drain: Drain) -> impl Future<Output = ()> + Send;
}

/// Run that has nothing to stop.
impl Running for () {
    async fn stop(self, _drain: Drain) {}
}

/// Role assigned to a node, with everything that the role needs.
#[derive(Clone, Debug)]
pub enum Assignment {
    /// The node leads, for one term.
    Lead(LeaderTerm),
    /// The node works for the leader.
    Follow(Following),
}

impl Assignment {
    /// Assigned role.
    #[must_use]
    pub fn role(&self) -> Role {
        match self {
            Self::Lead(_) => Role::Leader,
            Self::Follow(_) => Role::Worker,
        }
    }

    /// Waits until this run must stop.
    pub async fn stopping(&self) {
        match self {
            Self::Lead(term) => term.stopping().await,
            Self::Follow(following) => following.stopping().await,
        }
    }
}

/// Time that a stop leaves for the work in progress.
#[derive(Clone, Debug)]
pub struct Drain {
    clock: Arc<dyn Clock>,
    until: watch::Receiver<Time>,
}

impl Drain {
    /// Makes a drain that lasts until `until`. The end may move closer while the stop goes on.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>, until: watch::Receiver<Time>) -> Self {
        Self { clock, until }
    }

    /// Time left. Zero: cut off the work in progress now.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.until.borrow().since(self.clock.now())
    }

    /// Waits until no time is left.
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

/// Reason why a service could not be started.
pub(crate) type StartFailure = Box<dyn Error + Send + Sync>;

/// Object-safe form of [`Running`].
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

/// Object-safe form of [`Service`].
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
