//! `rolecall exec`: a member of an election, and a command that runs according to its role.

use core::time::Duration;
use std::ffi::OsString;

use rolecall::Election;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::{block_on, launch, narrator};
use crate::cli::{Exec, Failure, LogFormat, Name};
use crate::exec::{Finish, Limits, Member, Roles, Script, Words, supervise};
use crate::service_manager::ServiceManager;

/// Time within which the store must answer at the start.
const JOIN_LIMIT: Duration = Duration::from_secs(10);

/// Keeps a command running where its role is, until a signal or the end of a command that runs once.
///
/// # Errors
/// If the options contradict each other, a command cannot be found, or the store refuses this member; and with the exit code that
/// the command decides.
pub fn exec(options: &Exec, format: LogFormat) -> Result<(), Failure> {
    options.store.require_built()?;
    let roles = roles(options)?;
    let id = options.id.clone().unwrap_or_else(|| Name(rolecall::generated_id()));
    let timeout = options.session_timeout;
    let mut config = launch::timed(&id.0, &options.store.store, timeout, options.store_tick, options.clock_error)?;
    let has_leave = roles.leader.leave.is_some();
    let limits = Limits::new(&config, timeout, options.grace, options.hook_timeout, has_leave)?;
    for words in [Some(&roles.leader), roles.worker.as_ref()].into_iter().flatten().flat_map(Script::programs) {
        words.find()?;
    }
    // The guard is to be done first.
    config.drain = limits.total(has_leave);
    config.follows_workers = true;
    let mut builder = Election::at(options.store.store.clone(), options.store.cluster.to_string())
        .session_timeout(timeout)
        .join_limit(JOIN_LIMIT)
        .configure(|defaults| *defaults = config);
    if let Some(address) = &options.advertise {
        builder = builder.address(address.to_string());
    }
    block_on(async {
        let mut signals = listen()?;
        let manager = ServiceManager::find()?;
        let election = tokio::select! {
            joined = builder.join() => joined.map_err(|error| Failure::Failed(error.to_string()))?,
            Some(number) = signals.recv() => {
                let code = if options.once { 128_u8.saturating_add(number) } else { 0 };
                return if code == 0 { Ok(()) } else { Err(Failure::Exit { code, told: String::new() }) };
            }
        };
        tracing::info!("{} is a member of cluster {}, {}", election.id(), options.store.cluster, options.store.store);
        if let Some(manager) = manager {
            let observer = election.observer().clone();
            tokio::spawn(async move { manager.follow(&observer).await });
        }
        let member = Member { election, roles, limits, session_timeout: timeout, is_once: options.once, format };
        let finish = supervise(member, &mut signals).await;
        end(finish.map_err(|error| Failure::Failed(format!("cannot keep a command: {error}")))?)
    })
}

fn roles(options: &Exec) -> Result<Roles, Failure> {
    let words = |option, given: &[OsString]| {
        if given.is_empty() { Ok(None) } else { Words::parse(option, given).map(Some) }
    };
    let leader = match Words::exact(options.command.clone()) {
        Some(words) => Some(words),
        None => words("--leader", &options.leader)?,
    };
    let worker = Script {
        enter: words("--on-follow", &options.on_follow)?,
        main: words("--worker", &options.worker)?,
        leave: None,
    };
    let has_worker = worker.programs().next().is_some();
    Ok(Roles {
        leader: Script {
            enter: words("--on-lead", &options.on_lead)?,
            main: leader,
            leave: words("--on-end", &options.on_end)?,
        },
        worker: has_worker.then_some(worker),
    })
}

/// Listens for the signals that end this command and for those that are passed on.
fn listen() -> Result<mpsc::UnboundedReceiver<u8>, Failure> {
    let (numbers, received) = mpsc::unbounded_channel();
    for kind in [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
        SignalKind::quit(),
        SignalKind::user_defined1(),
        SignalKind::user_defined2(),
        SignalKind::window_change(),
    ] {
        let failed = |error| Failure::Failed(format!("cannot listen for signals: {error}"));
        let mut signals = signal(kind).map_err(failed)?;
        let (numbers, number) = (numbers.clone(), u8::try_from(kind.as_raw_value()).unwrap_or_default());
        tokio::spawn(async move { while signals.recv().await.is_some() && numbers.send(number).is_ok() {} });
    }
    Ok(received)
}

fn end(finish: Finish) -> Result<(), Failure> {
    match finish {
        Finish::Code(0) => Ok(()),
        Finish::Code(code) => Err(Failure::Exit { code, told: String::new() }),
        Finish::Lost(code) => {
            let told =
                "the lead was lost before the command had ended; without --once it would be waited for".to_owned();
            Err(Failure::Exit { code, told })
        }
        Finish::Ended(Some(outcome)) => narrator::end(&outcome),
        Finish::Ended(None) => Err(Failure::Failed("the membership has crashed".to_owned())),
    }
}
