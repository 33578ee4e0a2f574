//! Run of a role, from the side of `rolecall exec`: the connection to its guard.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use clap::ValueEnum as _;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::mpsc;

use super::end::{Cause, End};
use super::script::Assignment;
use super::wire::{self, Order, Report};
use super::{GUARD, own_program};
use crate::cli::LogFormat;

/// Run under way. Dropping it ends the run: the guard sees the end of the connection.
#[derive(Debug)]
pub(super) struct Run {
    orders: mpsc::UnboundedSender<Order>,
    reports: Lines<BufReader<OwnedReadHalf>>,
}

/// End of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// The guard says that nothing is left.
    Gone(Cause, Option<End>),
    /// The guard has died before it said so.
    GuardDied,
}

/// Variable of a program's environment; without a value it is removed.
pub(super) type Variable = (&'static str, Option<OsString>);

impl Run {
    /// Starts a guard for the run that `assignment` describes. Its programs have `environment` beside that of this process.
    pub(super) fn start(assignment: Assignment, environment: Vec<Variable>, format: LogFormat) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        wire::send_descriptor(&ours, io::stdin().as_fd())?;
        let mut command = own_program();
        command.arg(GUARD).stdin(Stdio::from(OwnedFd::from(theirs)));
        command.args(format.to_possible_value().map(|value| value.get_name().to_owned()));
        for (name, value) in environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        // It is waited for with all other children.
        command.spawn()?;
        drop(command);
        ours.set_nonblocking(true)?;
        let (reading, mut writing) = tokio::net::UnixStream::from_std(ours)?.into_split();
        let (orders, mut ordered) = mpsc::unbounded_channel();
        orders.send(Order::Begin(Box::new(assignment))).ok();
        tokio::spawn(async move {
            while let Some(order) = ordered.recv().await {
                if writing.write_all(&wire::line(&order)).await.is_err() {
                    // The guard has died, which its other half shows.
                    return;
                }
            }
        });
        Ok(Self { orders, reports: BufReader::new(reading).lines() })
    }

    /// Sends an order. A guard that has died needs none.
    pub(super) fn order(&self, order: Order) {
        self.orders.send(order).ok();
    }

    /// Waits for the end of the run. The future may be dropped and this called again.
    pub(super) async fn ended(&mut self) -> Told {
        match self.reports.next_line().await {
            Ok(Some(line)) => match wire::message(&line) {
                Ok(Report::Gone { cause, end }) => Told::Gone(cause, end),
                Err(error) => {
                    tracing::error!("the guard says {line:?}: {error}");
                    Told::GuardDied
                }
            },
            Ok(None) | Err(_) => Told::GuardDied,
        }
    }
}
