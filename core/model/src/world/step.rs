//! The steps of an untimed world.

use core::time::Duration;

use rolecall_core::rename::{Rename, Renamer, TimeKind};
use rolecall_core::store::{self, Act, Answer, Contender, Server};
use rolecall_core::{Directory, Event, Session, Time, Violation};

use super::deliver::{Happened, Road};
use super::{Breach, News, Process, Sent, Service, World};
use crate::Options;
use crate::explore::Explored;
use crate::faults::Fault;

/// One step of a world. Hosts are named by their places. Orphans, candidates and entries are named by their places in
/// the store's order, so that a step means the same in a world with other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    /// A client connects to the store, with its old session or for a new one.
    Connect(usize),
    /// The store takes the next request of a host.
    Take(usize),
    /// The next answer, notice, news of the session, or answer of an earlier link arrives.
    Answer(usize),
    Notice(usize),
    News(usize),
    LateAnswer(usize),
    /// A starting service serves; a stopping one is gone.
    Serve(usize),
    /// A node's clock jumps to its next deadline, and the node wakes.
    Wake(usize),
    /// All clocks advance to the first deadline of any node.
    Pass,
    /// A crashed process starts again.
    Restart(usize),
    /// The store ends a session that nobody uses.
    EndOrphan(usize),
    /// The time of a lease passes whose holder does nothing.
    EndLease,
    /// Faults.
    Crash(usize),
    Expire(usize),
    Lapse,
    Cut(usize),
    CutLate(usize),
    Lose(usize),
    GiveUp(usize),
    Renew(usize),
    DeleteCandidate(usize),
    DeleteMember(Directory, usize),
    Resign(usize),
    Shutdown(usize),
    WakeOverdue(usize),
    WakeEarly(usize),
    ConnectEarly(usize),
    Fail(usize),
}

impl Step {
    /// The fault that this step spends.
    fn fault(self) -> Option<Fault> {
        match self {
            Self::Crash(_) => Some(Fault::Crash),
            Self::Expire(_) => Some(Fault::Expiry),
            Self::Lapse => Some(Fault::Lapse),
            Self::Cut(_) | Self::CutLate(_) => Some(Fault::Cut),
            Self::Lose(_) | Self::GiveUp(_) => Some(Fault::Lost),
            Self::Renew(_) => Some(Fault::Renewal),
            Self::DeleteCandidate(_) => Some(Fault::Candidate),
            Self::DeleteMember(..) => Some(Fault::Member),
            Self::Resign(_) => Some(Fault::Resign),
            Self::Shutdown(_) => Some(Fault::Shutdown),
            Self::WakeOverdue(_) => Some(Fault::Overdue),
            Self::WakeEarly(_) | Self::ConnectEarly(_) => Some(Fault::Haste),
            Self::Fail(_) => Some(Fault::Failure),
            Self::Connect(_)
            | Self::Take(_)
            | Self::Answer(_)
            | Self::Notice(_)
            | Self::News(_)
            | Self::LateAnswer(_)
            | Self::Serve(_)
            | Self::Wake(_)
            | Self::Pass
            | Self::Restart(_)
            | Self::EndOrphan(_)
            | Self::EndLease => None,
        }
    }
}

impl Step {
    /// The host of this step.
    pub(crate) fn place(self) -> Option<usize> {
        match self {
            Self::Connect(place)
            | Self::Take(place)
            | Self::Answer(place)
            | Self::Notice(place)
            | Self::News(place)
            | Self::LateAnswer(place)
            | Self::Serve(place)
            | Self::Wake(place)
            | Self::Restart(place)
            | Self::Crash(place)
            | Self::Expire(place)
            | Self::Cut(place)
            | Self::CutLate(place)
            | Self::Lose(place)
            | Self::GiveUp(place)
            | Self::Renew(place)
            | Self::Resign(place)
            | Self::Shutdown(place)
            | Self::WakeOverdue(place)
            | Self::WakeEarly(place)
            | Self::ConnectEarly(place)
            | Self::Fail(place) => Some(place),
            Self::Pass
            | Self::EndOrphan(_)
            | Self::EndLease
            | Self::Lapse
            | Self::DeleteCandidate(_)
            | Self::DeleteMember(..) => None,
        }
    }

    /// A note for the trace, beside the event and the actions of a node.
    pub(crate) fn note(self) -> Option<String> {
        let text = match self {
            Self::Restart(_) => "starts again",
            Self::EndOrphan(_) => "a session that nobody uses ends",
            Self::Crash(_) => "crashes",
            Self::Expire(_) => "its session ends",
            Self::EndLease | Self::Lapse => "the time of the lease passes",
            Self::Cut(_) => "is cut off",
            Self::CutLate(_) => "is cut off; what was under way to it will be late",
            Self::Lose(_) => "an answer to it is lost",
            Self::GiveUp(_) => "an answer to it is given up",
            Self::Renew(_) => "its client drops the session",
            Self::DeleteCandidate(nth) => return Some(format!("an operator deletes candidate {nth} of the queue")),
            Self::DeleteMember(directory, nth) => return Some(format!("an operator deletes {directory:?} {nth}")),
            Self::WakeOverdue(_) => "loses patience",
            Self::WakeEarly(_) => "a timer runs out early",
            Self::Connect(_) | Self::ConnectEarly(_) => "its client connects",
            Self::Take(_) => "the store takes what it sent",
            Self::Answer(_)
            | Self::Notice(_)
            | Self::News(_)
            | Self::LateAnswer(_)
            | Self::Serve(_)
            | Self::Wake(_)
            | Self::Pass
            | Self::Resign(_)
            | Self::Shutdown(_)
            | Self::Fail(_) => return None,
        };
        Some(text.to_owned())
    }
}

impl Explored for World {
    type Step = Step;

    fn beginnings(options: &Options) -> Vec<Self> {
        vec![Self::new(options)]
    }

    fn steps(&self, steps: &mut Vec<Step>) {
        self.options(steps);
    }

    fn take(&mut self, step: Step, seen: &mut Vec<Happened>) {
        self.apply(step, seen);
    }

    fn rename(&mut self) {
        Self::rename(self);
    }

    fn world(&self) -> &World {
        self
    }

    fn is_at_rest(&self) -> bool {
        Self::is_at_rest(self)
    }

    fn fair_step(&self) -> Option<Step> {
        Self::fair_step(self)
    }

    fn note(&self, step: Option<Step>) -> Option<(String, String)> {
        let step = step?;
        Some((step.place().map_or_else(|| "--".into(), super::name), step.note()?))
    }

    fn remark(&self, _: &Happened, _: &Self) -> Option<String> {
        None
    }
}

impl World {
    /// Takes a possible step and adds to `seen` what the nodes did.
    pub(super) fn apply(&mut self, step: Step, seen: &mut Vec<Happened>) {
        if let Some(fault) = step.fault() {
            self.faults.spend(fault);
        }
        match step {
            Step::Connect(place) | Step::ConnectEarly(place) => self.connect(place, Server(0)),
            Step::Take(place) => self.take_sent(place),
            Step::Answer(place) => self.bring(place, Road::Answers, seen),
            Step::Notice(place) => self.bring(place, Road::Notices, seen),
            Step::News(place) => self.bring(place, Road::News, seen),
            Step::LateAnswer(place) => self.bring(place, Road::Late, seen),
            Step::Serve(place) => self.serve(place, seen),
            Step::Wake(place) | Step::WakeOverdue(place) | Step::WakeEarly(place) => {
                if let Some(left) = self.time_left(place) {
                    self.pass(place, left);
                    self.deliver(place, Event::Wake, seen);
                }
            }
            Step::Pass => {
                let places = 0..self.hosts.len();
                if let Some(left) = places.clone().filter_map(|place| self.time_left(place)).min() {
                    places.for_each(|place| self.pass(place, left));
                }
            }
            Step::Restart(place) => self.hosts[place].process = Process::start(place, &self.scale),
            Step::EndOrphan(nth) => {
                if let Some((place, session)) = self.orphans().get(nth).copied() {
                    self.tell_store(place, store::Event::Fault(store::Fault::Expire(session)));
                }
            }
            Step::Crash(place) => self.hosts[place].end(Process::Crashed),
            Step::Expire(place) => {
                if let Some(session) = self.hosts[place].session {
                    self.tell_store(place, store::Event::Fault(store::Fault::Expire(session)));
                }
            }
            Step::EndLease | Step::Lapse => self.tell_store(0, store::Event::Fault(store::Fault::Lapse)),
            Step::Cut(place) => self.unlink(place),
            Step::CutLate(place) => {
                self.faults.spend(Fault::Late);
                let answers = self.hosts[place].answers.split_off(0);
                self.hosts[place].late.extend(answers);
                self.unlink(place);
            }
            Step::Lose(place) => {
                self.hosts[place].answers.pop_front();
            }
            Step::GiveUp(place) => {
                if let Some((_, answer)) = self.hosts[place].answers.front_mut() {
                    *answer = Answer::Unknown;
                }
            }
            Step::Renew(place) => {
                let host = &mut self.hosts[place];
                (host.session, host.linked) = (None, false);
            }
            Step::DeleteCandidate(nth) => self.delete_candidate(nth),
            Step::DeleteMember(directory, nth) => self.delete_member(directory, nth),
            Step::Resign(place) => self.deliver(place, Event::Resign, seen),
            Step::Shutdown(place) => {
                self.hosts[place].stopping = true;
                self.deliver(place, Event::Shutdown, seen);
            }
            Step::Fail(place) => {
                if let Some(Service::Starting(run)) = self.hosts[place].service.take() {
                    self.deliver(place, Event::ServiceFailed { run }, seen);
                }
            }
        }
        self.hurry(seen);
        self.ping();
        if self.leaders() > 1 {
            self.breach.get_or_insert(Breach::Promise(Violation::TwoLeaders));
        }
    }

    /// In a lean world, requests reach the store at once, and messages that nobody waits for arrive at once.
    fn hurry(&mut self, seen: &mut Vec<Happened>) {
        for place in 0..self.hosts.len() {
            while self.lean && !self.hosts[place].sent.is_empty() {
                self.take_sent(place);
            }
        }
        for place in 0..self.hosts.len() {
            while let Some(event) = self.hosts[place].unawaited().filter(|_| self.lean) {
                self.deliver(place, event, seen);
            }
        }
    }

    pub(crate) fn connect(&mut self, place: usize, server: Server) {
        let host = &mut self.hosts[place];
        host.sent.clear();
        host.answers.clear();
        host.notices.clear();
        let previous = host.session;
        if let Some(session) = previous {
            self.tell_store(place, store::Event::Disconnect { session });
        }
        let client = Self::client(place);
        let connect = store::Event::Connect { server, client, previous, timeout: self.scale.timeout };
        self.tell_store(place, connect);
    }

    pub(crate) fn take_sent(&mut self, place: usize) {
        let Some((session, sent)) = self.hosts[place].sent.pop_front() else { return };
        self.tell_store(
            place,
            match sent {
                Sent::Request(id, request) => store::Event::Request { session, id, request },
                Sent::Close => store::Event::Close { session },
            },
        );
    }

    pub(crate) fn serve(&mut self, place: usize, seen: &mut Vec<Happened>) {
        let host = &mut self.hosts[place];
        match host.service {
            Some(Service::Starting(run)) => {
                host.service = Some(Service::Serving(run));
                self.deliver(place, Event::ServiceStarted { run }, seen);
            }
            Some(Service::Stopping(run)) => {
                host.service = None;
                self.deliver(place, Event::ServiceStopped { run }, seen);
            }
            Some(Service::Serving(_)) | None => {}
        }
    }

    /// Time until a node's next deadline.
    pub(crate) fn time_left(&self, place: usize) -> Option<Duration> {
        let host = &self.hosts[place];
        let (at, _) = host.node()?.next_deadline().filter(|(at, _)| *at < Time::MAX)?;
        Some(at.since(host.clock))
    }

    /// Advances a node's clock. Limits that wake nobody move along: without a common time they never pass.
    fn pass(&mut self, place: usize, length: Duration) {
        let host = &mut self.hosts[place];
        if let Process::Runs(node) = &mut host.process {
            host.clock = host.clock + length;
            node.rename(&mut Later(length));
        }
    }

    /// A link breaks, and the client knows.
    pub(crate) fn unlink(&mut self, place: usize) {
        let host = &mut self.hosts[place];
        host.linked = false;
        host.answers.clear();
        host.notices.clear();
        host.news.push_back(News::Suspended);
    }

    fn delete_candidate(&mut self, nth: usize) {
        let Some(Contender { candidate, owner, .. }) = self.store.contenders().get(nth).cloned() else { return };
        if let Some(place) = self.owners.get(&owner) {
            let host = &mut self.hosts[*place];
            host.deposed = host.is_about_to_lead();
        }
        self.tell_store(0, store::Event::Operator(Act::DeleteCandidate(candidate)));
    }

    fn delete_member(&mut self, directory: Directory, nth: usize) {
        let Some(key) = self.store.members(directory).nth(nth).map(|member| member.key.clone()) else { return };
        self.tell_store(0, store::Event::Operator(Act::DeleteMember { directory, key }));
    }

    /// Shows connected clients the newest commit, as pings do.
    fn ping(&mut self) {
        let connected: Vec<Session> =
            self.hosts.iter().filter(|host| host.linked).filter_map(|host| host.session).collect();
        for session in connected {
            self.store.handle(self.now, store::Event::Ping { session }, &mut Vec::new());
        }
    }
}

/// Moves limits that wake nobody later.
struct Later(Duration);

impl Renamer for Later {
    fn time(&mut self, moment: TimeKind, at: &mut Time) {
        match moment {
            TimeKind::Limit => *at = *at + self.0,
            TimeKind::Deadline(_) | TimeKind::Past => {}
        }
    }
}
