//! Driver of the supervisor: it holds the membership and the term, and does what the supervisor orders.

use core::future::{Future, pending};
use core::pin::Pin;
use core::time::Duration;
use std::collections::VecDeque;
use std::io;

use rolecall::{
    Clock as _, Config, Election, Entropy as _, Fence, Hold, LeadError, OsEntropy, Outcome, SystemClock, Term, Time,
};
use rustix::process::Signal;
use tokio::signal::unix::{Signal as Children, SignalKind, signal};
use tokio::sync::mpsc;

use super::descendants;
use super::end::{Cause, End};
use super::files::{Files, incarnation};
use super::run::{Run, Told, Variable};
use super::script::{Assignment, Role};
use super::supervisor::{Action, Event, Supervisor, Verdict};
use super::wire::Order;
use super::words::CANNOT_RUN;
use super::{Limits, Roles};
use crate::cli::LogFormat;

/// Member of an election, with what it runs.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) election: Election,
    pub(crate) roles: Roles,
    pub(crate) limits: Limits,
    /// Session timeout that was asked for.
    pub(crate) session_timeout: Duration,
    /// True if the end of the leader's program ends the command.
    pub(crate) is_once: bool,
    /// Format of the guards' logs.
    pub(crate) format: LogFormat,
}

/// End of the command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    /// With this exit code.
    Code(u8),
    /// With the exit code that says that the lead was lost.
    Lost(u8),
    /// With that of a node that has ended in this way; `None` if it crashed.
    Ended(Option<Outcome>),
}

/// Runs programs according to the role of `member`, until a signal ends the command or its program has run once.
///
/// # Errors
/// If the files, the listeners for signals or the adoption of descendants cannot be set up.
pub(crate) async fn supervise(member: Member, signals: &mut mpsc::UnboundedReceiver<u8>) -> io::Result<Finish> {
    descendants::adopt()?;
    let mut children = signal(SignalKind::child())?;
    let files = Files::new()?;
    let mut driver = Driver::new(&member, files);
    let verdict = driver.run(signals, &mut children).await;
    drop(driver);
    let code = verdict.code(member.is_once);
    let outcome = match verdict {
        Verdict::Left => member.election.observer().ended().await,
        Verdict::Ended(_) | Verdict::Lost | Verdict::Signaled(_) => tokio::select! {
            outcome = member.election.leave() => Some(outcome),
            // The session ends by its timeout.
            () = hurried(signals) => Some(Outcome::Exited),
        },
    };
    Ok(match (outcome, verdict) {
        (Some(Outcome::Exited), Verdict::Lost) => Finish::Lost(code),
        (Some(Outcome::Exited), Verdict::Ended(_) | Verdict::Signaled(_) | Verdict::Left) => Finish::Code(code),
        (outcome @ (Some(Outcome::Refused(_) | Outcome::Halted(_)) | None), _) => Finish::Ended(outcome),
    })
}

/// Waits for a signal that asks the command to end.
async fn hurried(signals: &mut mpsc::UnboundedReceiver<u8>) {
    while let Some(number) = signals.recv().await {
        if is_end(number) {
            return;
        }
    }
}

/// True for the signals that end the command. The others are passed on.
fn is_end(number: u8) -> bool {
    [Signal::TERM, Signal::INT].map(Signal::as_raw).contains(&i32::from(number))
}

type Waiting<'a> = Pin<Box<dyn Future<Output = Result<Term, LeadError>> + 'a>>;

struct Driver<'a> {
    member: &'a Member,
    clock: SystemClock,
    supervisor: Supervisor,
    files: Files,
    run: Option<Run>,
    /// Wait for a term, while this member is a candidate.
    waiting: Option<Waiting<'a>>,
    held: Option<Held>,
    crush: Option<Crush>,
    /// True once a signal has asked the command to end.
    is_ending: bool,
    /// True once the membership has ended by itself.
    has_left: bool,
    /// Events that followed from actions.
    events: VecDeque<Event>,
    verdict: Option<Verdict>,
}

/// Term that this member holds.
struct Held {
    term: Term,
    /// Keeps others from leading until the run under the term is gone.
    _hold: Option<Hold>,
    until: Time,
    must_end: bool,
    is_over: bool,
}

/// Run that is killed without its guard: again and again until nothing is left, since a kill may miss a process that was just made.
struct Crush {
    again: Time,
    pause: Duration,
    cause: Cause,
}

/// Pause before what is left is killed again, at first.
const PAUSE: Duration = Duration::from_millis(2);
/// Longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

impl<'a> Driver<'a> {
    fn new(member: &'a Member, files: Files) -> Self {
        let has_leave = member.roles.leader.leave.is_some();
        let supervisor = Supervisor::new(member.roles.worker.is_some(), member.is_once, has_leave, member.limits);
        Self {
            member,
            clock: SystemClock::new(),
            supervisor,
            files,
            run: None,
            waiting: None,
            held: None,
            crush: None,
            is_ending: false,
            has_left: false,
            events: VecDeque::new(),
            verdict: None,
        }
    }

    async fn run(&mut self, signals: &mut mpsc::UnboundedReceiver<u8>, children: &mut Children) -> Verdict {
        let election = &self.member.election;
        let (mut leader, mut members) = (election.leader(), election.members());
        let mut is_news = true;
        self.handle(Event::Wake);
        loop {
            if let Some(verdict) = self.verdict {
                return verdict;
            }
            let now = self.clock.now();
            if !self.supervisor.stands(now) {
                self.waiting = None;
            } else if self.waiting.is_none() {
                self.waiting = Some(Box::pin(election.lead()));
            }
            if core::mem::take(&mut is_news) {
                let (leader, members) = (leader.borrow_and_update(), members.borrow_and_update());
                self.files.write_members(election.id(), leader.as_ref(), &members);
            }
            let deadline =
                self.supervisor.next_deadline(now).into_iter().chain(self.crush.as_ref().map(|crush| crush.again));
            let deadline = deadline.min().unwrap_or(Time::MAX);
            let event = tokio::select! {
                biased;
                Some(number) = signals.recv() => self.signaled(number),
                _ = children.recv() => self.reap(),
                () = self.clock.sleep_until(deadline) => self.wake(),
                told = ended(&mut self.run), if self.crush.is_none() => self.told(told),
                change = changed(&mut self.held) => Some(change),
                led = led(&mut self.waiting) => Some(self.leads(led)),
                outcome = election.observer().ended(), if !self.has_left => Some(self.left(outcome)),
                // The senders live as long as the election.
                Ok(()) = leader.changed() => { is_news = true; None }
                Ok(()) = members.changed() => { is_news = true; None }
            };
            if let Some(event) = event {
                self.handle(event);
            }
        }
    }

    fn handle(&mut self, event: Event) {
        self.events.push_back(event);
        while let Some(event) = self.events.pop_front() {
            if let (Event::Renewed(until), Some(held)) = (event, &self.held) {
                self.files.write_term(Role::Leader, Some(held.term.fence()), Some(until));
                self.order(Order::Until(until.as_nanos()));
            }
            let mut actions = Vec::new();
            self.supervisor.handle(self.clock.now(), event, &mut actions);
            for action in actions {
                self.perform(action);
            }
        }
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Start(role) => self.start(role),
            Action::Stop => self.order(Order::Stop),
            Action::Kill => self.order(Order::Kill),
            Action::Crush => {
                tracing::error!("the guard of the command is late: killing it, with all that it guards");
                self.crush(Cause::Time);
            }
            Action::GiveBack => {
                self.held = None;
                tracing::info!("gave the lead back");
            }
            Action::Finish(verdict) => self.verdict = Some(verdict),
        }
    }

    fn order(&self, order: Order) {
        if let Some(run) = &self.run {
            run.order(order);
        }
    }

    fn start(&mut self, role: Role) {
        let (script, fence, until, limits) = match (role, &self.held) {
            (Role::Leader, Some(held)) => {
                let validity = held.until.since(self.clock.now()) + Config::heartbeat(self.member.session_timeout);
                let script = &self.member.roles.leader;
                let limits = self.member.limits.fitted(validity, script.leave.is_some());
                if limits.grace < self.member.limits.grace / 4 * 3 {
                    tracing::warn!(
                        "the store granted a shorter session than was asked for: the grace is {} ms",
                        limits.grace.as_millis()
                    );
                }
                (script.clone(), Some(held.term.fence()), Some(held.until), limits)
            }
            (Role::Leader, None) | (Role::Worker, _) => {
                let script = self.member.roles.worker.clone().unwrap_or_default();
                (script, self.member.election.observer().status().floor, None, self.member.limits)
            }
        };
        self.files.write_term(role, fence, until);
        let until = until.map(Time::as_nanos);
        let assignment = Assignment { script, limits, until, folder: self.files.folder().to_owned() };
        match Run::start(assignment, self.environment(role, fence), self.member.format) {
            Ok(run) => self.run = Some(run),
            Err(error) => {
                tracing::error!("no guard can be started: {error}");
                self.events.push_back(gone(Cause::Itself, Some(End::Exited(CANNOT_RUN))));
            }
        }
    }

    fn environment(&self, role: Role, fence: Option<Fence>) -> Vec<Variable> {
        vec![
            ("ROLECALL_ROLE", Some(role.name().into())),
            ("ROLECALL_EPOCH", fence.map(|fence| fence.epoch.0.to_string().into())),
            ("ROLECALL_INCARNATION", fence.map(|fence| incarnation(fence).into())),
            ("ROLECALL_TERM_FILE", Some(self.files.term().into())),
            ("ROLECALL_MEMBERS_FILE", Some(self.files.members().into())),
        ]
    }

    fn signaled(&mut self, number: u8) -> Option<Event> {
        if !is_end(number) {
            self.order(Order::Signal(i32::from(number)));
            return None;
        }
        Some(if core::mem::replace(&mut self.is_ending, true) {
            tracing::warn!("a second signal: killing the command");
            Event::Hurry
        } else {
            tracing::info!("signal {number}: ending in good order");
            Event::Shutdown { signal: number }
        })
    }

    fn leads(&mut self, led: Result<Term, LeadError>) -> Event {
        self.waiting = None;
        match led {
            Ok(term) => {
                let (until, hold) = (term.valid_until(), term.hold());
                tracing::info!("leads, epoch {}", term.fence().epoch.0);
                self.held = Some(Held { term, _hold: hold, until, must_end: false, is_over: false });
                Event::Leads(until)
            }
            Err(error) => {
                tracing::error!("{error}");
                Event::Left
            }
        }
    }

    fn left(&mut self, outcome: Option<Outcome>) -> Event {
        self.has_left = true;
        let told = outcome.map_or_else(|| "crashed".to_owned(), |outcome| outcome.to_string());
        tracing::error!("the membership has ended: it {told}");
        Event::Left
    }

    fn told(&mut self, told: Told) -> Option<Event> {
        match told {
            Told::Gone(cause, end) => {
                self.run = None;
                match (cause, end) {
                    (Cause::Time, _) => tracing::warn!("the term was not renewed in time, so the command was stopped"),
                    (Cause::Itself, Some(end)) => tracing::warn!("the command {end}"),
                    (Cause::Itself | Cause::Asked | Cause::Orphaned, _) => {}
                }
                Some(gone(cause, end))
            }
            Told::GuardDied => {
                tracing::error!("the guard of the command has died: killing all that it guarded");
                self.crush(Cause::Itself);
                None
            }
        }
    }

    fn crush(&mut self, cause: Cause) {
        self.crush = Some(Crush { again: self.clock.now(), pause: PAUSE, cause });
    }

    fn wake(&mut self) -> Option<Event> {
        let now = self.clock.now();
        if let Some(crush) = self.crush.as_mut().filter(|crush| crush.again <= now) {
            descendants::signal(Signal::KILL);
            crush.again = now + crush.pause;
            crush.pause = (crush.pause * 2).min(LONGEST_PAUSE);
        }
        self.reap().or(Some(Event::Wake))
    }

    /// Waits for the children that have ended: guards, and orphans that this process has adopted.
    fn reap(&mut self) -> Option<Event> {
        let none_left = descendants::reap().none_left;
        let crush = self.crush.take_if(|_| none_left)?;
        self.run = None;
        Some(gone(crush.cause, Some(End::Signaled(KILLED))))
    }
}

/// Number of the signal that kills.
const KILLED: u8 = 9;

fn gone(cause: Cause, end: Option<End>) -> Event {
    Event::Gone { cause, end, bits: OsEntropy.bits() }
}

/// Waits for the end of the run; for ever if there is none.
async fn ended(run: &mut Option<Run>) -> Told {
    match run {
        Some(run) => run.ended().await,
        None => pending().await,
    }
}

/// Waits for a term; for ever if this member is no candidate.
async fn led(waiting: &mut Option<Waiting<'_>>) -> Result<Term, LeadError> {
    match waiting {
        Some(waiting) => waiting.await,
        None => pending().await,
    }
}

/// Waits for the next change of the term; for ever if there is none to come.
async fn changed(held: &mut Option<Held>) -> Event {
    let Some(held) = held.as_mut().filter(|held| !held.is_over) else { return pending().await };
    tokio::select! {
        biased;
        () = held.term.stopping(), if !held.must_end => {
            held.must_end = true;
            Event::MustEnd
        }
        renewed = held.term.renewed(held.until) => match renewed {
            Some(until) => {
                held.until = until;
                Event::Renewed(until)
            }
            None => {
                held.is_over = true;
                Event::Over
            }
        },
    }
}
