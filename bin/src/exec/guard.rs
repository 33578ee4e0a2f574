//! The process that guards one run: it starts the programs, and sees to it that nothing of them is left at the end.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{ExitCode, Stdio};

use clap::ValueEnum as _;
use rolecall::{Clock as _, SystemClock, Time};
use rustix::process::{Pid, Signal, getpid, kill_process, setsid};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::signal::unix::{SignalKind, signal};

use super::descendants;
use super::end::{Cause, End};
use super::leash::{Action, Event, Leash, Step};
use super::script::Assignment;
use super::wire::{self, Order, Report};
use super::words::CANNOT_RUN;
use super::{PROGRAM, Words, own_program};
use crate::cli::{self, LogFormat};

/// Guards one run, whose orders come over standard input. The first of `arguments` is the format of the logs.
pub(crate) fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let format = arguments.next().and_then(|name| LogFormat::from_str(name.to_str()?, false).ok());
    cli::start_logging(format.unwrap_or(LogFormat::Text), "info");
    match guard() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // If standard error is closed, the exit code is all that is left.
            drop(writeln!(io::stderr(), "rolecall: the guard of a command cannot work: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn guard() -> io::Result<()> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let input = wire::receive_descriptor(&socket)?;
    // Neither a terminal nor a signal to the group of `rolecall exec` is to reach this process.
    setsid()?;
    descendants::adopt()?;
    // One thread: a program is told of the death of the thread that made it, which must live as long as this process.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(guard_over(socket, input))
}

/// Driver of the leash.
#[derive(Debug)]
struct Guard {
    clock: SystemClock,
    assignment: Assignment,
    leash: Leash,
    input: OwnedFd,
    /// Process of the present step, until it was waited for.
    current: Option<Pid>,
    gone: Option<Report>,
}

async fn guard_over(socket: UnixStream, input: OwnedFd) -> io::Result<()> {
    let mut children = signal(SignalKind::child())?;
    socket.set_nonblocking(true)?;
    let (orders, mut reports) = tokio::net::UnixStream::from_std(socket)?.into_split();
    let mut orders = BufReader::new(orders).lines();
    // Without a first line, `rolecall exec` has died, and nothing has begun.
    let Some(first) = orders.next_line().await? else { return Ok(()) };
    let Order::Begin(assignment) = wire::message(&first)? else {
        return Err(io::Error::other("the first order is not the one to begin"));
    };
    let mut guard = Guard::new(*assignment, input);
    guard.settle(Some(Event::Begin));
    let mut is_orphaned = false;
    let report = loop {
        if let Some(report) = guard.gone {
            break report;
        }
        let deadline = guard.leash.next_deadline().unwrap_or(Time::MAX);
        let event = tokio::select! {
            biased;
            _ = children.recv() => None,
            () = guard.clock.sleep_until(deadline) => Some(Event::Wake),
            order = orders.next_line(), if !is_orphaned => match order {
                Ok(Some(line)) => guard.read(&wire::message(&line)?),
                Ok(None) | Err(_) => {
                    is_orphaned = true;
                    Some(Event::Stop(Cause::Orphaned))
                }
            },
        };
        guard.settle(event);
    };
    if is_orphaned {
        // Nobody else is left to remove it, and nobody to tell if that fails.
        std::fs::remove_dir_all(&guard.assignment.folder).ok();
    }
    // This fails only if nobody is left to read it.
    reports.write_all(&wire::line(&report)).await.ok();
    Ok(())
}

impl Guard {
    fn new(assignment: Assignment, input: OwnedFd) -> Self {
        let until = assignment.until.map(Time::from_nanos);
        let leash = Leash::new(&assignment.script, assignment.limits, until);
        Self { clock: SystemClock::new(), assignment, leash, input, current: None, gone: None }
    }

    /// Event that an order is for the leash.
    fn read(&self, order: &Order) -> Option<Event> {
        match order {
            Order::Until(until) => Some(Event::Until(Time::from_nanos(*until))),
            Order::Stop => Some(Event::Stop(Cause::Asked)),
            Order::Kill => Some(Event::Kill),
            Order::Signal(number) => {
                if let (Some(process), Some(signal)) = (self.current, Signal::from_named_raw(*number)) {
                    // This fails only if the process has ended.
                    kill_process(process, signal).ok();
                }
                None
            }
            // The run has begun.
            Order::Begin(_) => None,
        }
    }

    /// Handles `event`, does what the leash orders, and tells it of the processes that have ended, until all is quiet.
    fn settle(&mut self, event: Option<Event>) {
        let mut events: VecDeque<Event> = event.into_iter().collect();
        loop {
            while let Some(event) = events.pop_front() {
                let mut actions = Vec::new();
                self.leash.handle(self.clock.now(), event, &mut actions);
                events.extend(actions.into_iter().filter_map(|action| self.perform(action)));
            }
            let reaped = descendants::reap();
            for (process, end) in reaped.ended {
                if self.current == Some(process) {
                    self.current = None;
                    events.push_back(Event::Ended(end));
                }
            }
            if events.is_empty() && reaped.none_left && self.leash.awaits_the_last() {
                events.push_back(Event::Empty);
            }
            if events.is_empty() {
                return;
            }
        }
    }

    /// Does what the leash orders. A program that cannot be started has ended.
    fn perform(&mut self, action: Action) -> Option<Event> {
        match action {
            Action::Run(step) => match self.start(step) {
                Ok(process) => self.current = process,
                Err(error) => {
                    tracing::error!("no process can be started: {error}");
                    return Some(Event::Ended(End::Exited(CANNOT_RUN)));
                }
            },
            Action::Terminate => {
                descendants::signal(Signal::TERM);
                // A process that was stopped would not see the signal.
                descendants::signal(Signal::CONT);
            }
            Action::Kill => descendants::signal(Signal::KILL),
            Action::Gone { cause, end } => self.gone = Some(Report::Gone { cause, end }),
        }
        None
    }

    fn start(&self, step: Step) -> io::Result<Option<Pid>> {
        let script = &self.assignment.script;
        let (words, input) = match step {
            Step::Enter => (&script.enter, Stdio::null()),
            Step::Main => (&script.main, Stdio::from(self.input.try_clone()?)),
            Step::Leave => (&script.leave, Stdio::null()),
        };
        let Some(Words { program, arguments }) = words else {
            return Err(io::Error::other("the leash starts only what there is"));
        };
        let child =
            own_program().arg(PROGRAM).arg(getpid().to_string()).arg(program).args(arguments).stdin(input).spawn()?;
        Ok(i32::try_from(child.id()).ok().and_then(Pid::from_raw))
    }
}
