//! Driver of the supervisor: it holds the membership and the term, and does what the supervisor orders.

use core::future::pending;
use std::collections::VecDeque;

use rolecall::{Clock as _, Config, Entropy as _, Fence, LeadError, OsEntropy, Outcome, SystemClock, Term, Time};
use rustix::process::Signal;
use tokio::signal::unix::Signal as Children;
use tokio::sync::mpsc;

use super::command::{Member, is_end};
use super::descendants;
use super::end::{Cause, End};
use super::files::{Files, incarnation};
use super::held::{Held, Waiting, changed, led};
use super::kills::Kills;
use super::run::{Run, Told, Variable};
use super::script::{Assignment, Role};
use super::supervisor::{Action, Event, Supervisor, Verdict};
use super::wire::Order;
use super::words::CANNOT_RUN;

pub(super) struct Driver<'a> {
    member: &'a Member,
    clock: SystemClock,
    supervisor: Supervisor,
    run: Option<Run>,
    /// Files of the run.
    files: Option<Files>,
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

/// Run that is killed without its guard.
struct Crush {
    kills: Kills,
    cause: Cause,
}

impl<'a> Driver<'a> {
    pub(super) fn new(member: &'a Member) -> Self {
        let has_leave = member.roles.leader.leave.is_some();
        let supervisor = Supervisor::new(member.roles.worker.is_some(), member.is_once, has_leave, member.limits);
        Self {
            member,
            clock: SystemClock::new(),
            supervisor,
            run: None,
            files: None,
            waiting: None,
            held: None,
            crush: None,
            is_ending: false,
            has_left: false,
            events: VecDeque::new(),
            verdict: None,
        }
    }

    /// Works until the command has its verdict.
    pub(super) async fn run(&mut self, signals: &mut mpsc::UnboundedReceiver<u8>, children: &mut Children) -> Verdict {
        let election = &self.member.election;
        let (mut leader, mut members) = (election.leader(), election.members());
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
            let deadline =
                self.supervisor.next_deadline(now).into_iter().chain(self.crush.as_ref().map(|crush| crush.kills.next));
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
                Ok(()) = leader.changed() => self.show_members(),
                Ok(()) = members.changed() => self.show_members(),
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
                self.order(Order::Until(until.as_nanos()));
                if let Some(files) = &self.files {
                    files.write_term(Role::Leader, Some(held.term.fence()), Some(until));
                }
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
        let started = Files::new().and_then(|files| {
            files.write_term(role, fence, until);
            let until = until.map(Time::as_nanos);
            let assignment = Assignment { script, limits, until, folder: files.folder().to_owned() };
            self.run = Some(Run::start(assignment, environment(role, fence, &files), self.member.format)?);
            Ok(files)
        });
        match started {
            Ok(files) => self.files = Some(files),
            Err(error) => {
                tracing::error!("no guard can be started for the command: {error}");
                self.events.push_back(gone(Cause::Itself, Some(End::Exited(CANNOT_RUN))));
            }
        }
        self.show_members();
    }

    /// Writes who leads, and who is a member, if a program runs that may read it. This is no event.
    fn show_members(&self) -> Option<Event> {
        let files = self.files.as_ref()?;
        let election = &self.member.election;
        files.write_members(election.id(), election.leader().borrow().as_ref(), &election.members().borrow());
        None
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
                tracing::info!("leads, epoch {}", term.fence().epoch.0);
                let held = self.held.insert(Held::new(term));
                Event::Leads(held.until)
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
                (self.run, self.files) = (None, None);
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
        self.crush = Some(Crush { kills: Kills::from(self.clock.now()), cause });
    }

    fn wake(&mut self) -> Option<Event> {
        let now = self.clock.now();
        if let Some(crush) = self.crush.as_mut().filter(|crush| crush.kills.next <= now) {
            descendants::signal(Signal::KILL);
            crush.kills = crush.kills.after(now);
        }
        self.reap().or(Some(Event::Wake))
    }

    /// Waits for the children that have ended: guards, and orphans that this process has adopted.
    fn reap(&mut self) -> Option<Event> {
        let none_left = descendants::reap().none_left;
        let crush = self.crush.take_if(|_| none_left)?;
        (self.run, self.files) = (None, None);
        Some(gone(crush.cause, Some(End::Signaled(KILLED))))
    }
}

/// Variables that tell a program of its role.
fn environment(role: Role, fence: Option<Fence>, files: &Files) -> Vec<Variable> {
    vec![
        ("ROLECALL_ROLE", Some(role.name().into())),
        ("ROLECALL_EPOCH", fence.map(|fence| fence.epoch.0.to_string().into())),
        ("ROLECALL_INCARNATION", fence.map(|fence| incarnation(fence).into())),
        ("ROLECALL_TERM_FILE", Some(files.term().into())),
        ("ROLECALL_MEMBERS_FILE", Some(files.members().into())),
    ]
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
