//! Place where a driver runs: its own thread, or the caller's runtime.

use core::any::Any;
use core::panic::AssertUnwindSafe;
use std::io;
use std::panic::{catch_unwind, resume_unwind};
use std::thread;

use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::{Driver, Outcome};

/// Place where a node's machine, store client and gate run. The application always runs on the runtime on which the node is
/// started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunOn {
    /// A separate thread, named `rolecall`, with its own runtime. An application that blocks or starves its runtime keeps its
    /// term.
    #[default]
    OwnThread,
    /// The runtime on which the node is started. For simulations, which must not start threads.
    CallersRuntime,
}

/// Running driver. Dropping it has the effect of a crash, shortly afterwards.
#[derive(Debug)]
pub(crate) struct Driving {
    task: Task,
    outcome: Option<Outcome>,
    is_detached: bool,
}

/// Message to a thread: nobody will cut it off.
#[derive(Debug)]
struct Detached;

#[derive(Debug)]
enum Task {
    Thread {
        /// Dropping this ends the thread.
        alive: Option<oneshot::Sender<Detached>>,
        ended: oneshot::Receiver<Ended>,
    },
    Task(JoinHandle<Outcome>),
}

/// End of a thread: with an outcome, with none if it was cut off, or with a panic.
type Ended = Result<Option<Outcome>, Box<dyn Any + Send>>;

impl Driving {
    /// Makes a driver with `make`, in the place where it runs, and runs it.
    ///
    /// # Errors
    /// The error of `make`, or that of `no_thread` if the thread cannot be started.
    pub(crate) async fn start<E: Send + 'static>(
        place: RunOn,
        make: impl FnOnce() -> Result<Driver, E> + Send + 'static,
        no_thread: fn(io::Error) -> E,
    ) -> Result<Self, E> {
        let task = match place {
            RunOn::CallersRuntime => Task::Task(tokio::spawn(make()?.run())),
            RunOn::OwnThread => on_thread(make, no_thread).await?,
        };
        Ok(Self { task, outcome: None, is_detached: false })
    }

    /// Waits for the end. The future may be dropped and `wait` called again.
    ///
    /// # Panics
    /// If the driver panicked, with the same message.
    pub(crate) async fn wait(&mut self) -> Outcome {
        if let Some(outcome) = &self.outcome {
            return outcome.clone();
        }
        let outcome = match &mut self.task {
            Task::Thread { ended, .. } => match ended.await {
                Ok(Ok(Some(outcome))) => outcome,
                Ok(Err(panic)) => resume_unwind(panic),
                Ok(Ok(None)) | Err(_) => unreachable!("only dropping this cuts the thread off"),
            },
            Task::Task(task) => match task.await {
                Ok(outcome) => outcome,
                Err(error) => resume_unwind(error.into_panic()),
            },
        };
        self.outcome.insert(outcome).clone()
    }

    /// Ends the driver as a crash would. Nothing of it is left once this returns.
    pub(crate) async fn crash(mut self) {
        self.cut_off();
        if self.outcome.is_none() {
            match &mut self.task {
                Task::Thread { ended, .. } => drop(ended.await),
                Task::Task(task) => drop(task.await),
            }
        }
    }

    /// Lets it go on to its own end when this is dropped.
    pub(crate) fn detach(&mut self) {
        match &mut self.task {
            // Where nobody receives that it has ended already.
            Task::Thread { alive, .. } => drop(alive.take().map(|alive| alive.send(Detached))),
            Task::Task(_) => {}
        }
        self.is_detached = true;
    }

    fn cut_off(&mut self) {
        match &mut self.task {
            Task::Thread { alive, .. } => drop(alive.take()),
            Task::Task(task) => task.abort(),
        }
    }
}

impl Drop for Driving {
    fn drop(&mut self) {
        if !self.is_detached {
            self.cut_off();
        }
    }
}

async fn on_thread<E: Send + 'static>(
    make: impl FnOnce() -> Result<Driver, E> + Send + 'static,
    no_thread: fn(io::Error) -> E,
) -> Result<Task, E> {
    let (alive, gone) = oneshot::channel();
    let (begin, begun) = oneshot::channel();
    let (end, ended) = oneshot::channel();
    let body = move || {
        let drive = || {
            let runtime = match Builder::new_current_thread().enable_all().build() {
                Ok(runtime) => runtime,
                Err(error) => {
                    drop(begin.send(Err(no_thread(error))));
                    return None;
                }
            };
            // The rest of the store's client is dropped with the runtime, before the end is reported.
            runtime.block_on(async {
                let driver = match make() {
                    Ok(driver) => driver,
                    Err(error) => {
                        drop(begin.send(Err(error)));
                        return None;
                    }
                };
                drop(begin.send(Ok(())));
                let cut_off = async {
                    if gone.await.is_ok() {
                        core::future::pending::<()>().await;
                    }
                };
                tokio::select! {
                    biased;
                    () = cut_off => None,
                    outcome = driver.run() => Some(outcome),
                }
            })
        };
        // This fails only if the node was dropped.
        drop(end.send(catch_unwind(AssertUnwindSafe(drive))));
    };
    thread::Builder::new().name("rolecall".into()).spawn(body).map_err(no_thread)?;
    match begun.await {
        Ok(begun) => begun.map(|()| Task::Thread { alive: Some(alive), ended }),
        Err(_) => match ended.await {
            Ok(Err(panic)) => resume_unwind(panic),
            Ok(Ok(_)) | Err(_) => unreachable!("a thread that does not panic reports that it has begun"),
        },
    }
}
