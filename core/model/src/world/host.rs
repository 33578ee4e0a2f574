//! One node and its surroundings.

use std::collections::VecDeque;
use std::time::Duration;

use rolecall_core::rename::{Canonical, ORIGIN};
use rolecall_core::store::{Answer, LeaseReply, Notice, QueueReply, Reply, Request};
use rolecall_core::{Config, Event, Fence, Node, OpId, Run, Session, Time};

use super::Scale;

/// A process, its client of the store, and everything under way to and from it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Host {
    pub(crate) process: Process,
    /// The time on this host's own clock.
    pub(crate) clock: Time,
    /// The gate's last orders: the open term, and its end on the host's own clock.
    pub(crate) gate: Option<(Fence, Time)>,
    /// The client's session.
    pub(crate) session: Option<Session>,
    /// True while the client is connected.
    pub(crate) linked: bool,
    /// Requests under way to the store, in order. They arrive even if the link is cut meanwhile, until there is a new
    /// link.
    pub(crate) sent: VecDeque<(Session, Sent)>,
    /// Answers, notices and news of the session come by separate roads, each in order.
    pub(crate) answers: VecDeque<(OpId, Answer)>,
    pub(crate) notices: VecDeque<(OpId, Notice)>,
    pub(crate) news: VecDeque<News>,
    /// Answers from earlier links.
    pub(crate) late: VecDeque<(OpId, Answer)>,
    pub(crate) service: Option<Service>,
    /// True if an outsider deleted the candidate on which the term stands.
    pub(crate) deposed: bool,
    /// True once the node was asked to stop.
    pub(crate) stopping: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Process {
    Runs(Box<Node>),
    Crashed,
    /// It ended in good order.
    Ended,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sent {
    Request(OpId, Request),
    Close,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum News {
    Up(Session),
    Suspended,
    Lost,
}

/// One life of a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Service {
    Starting(Run),
    Serving(Run),
    Stopping(Run),
}

impl Service {
    pub(crate) fn run(&mut self) -> &mut Run {
        match self {
            Self::Starting(run) | Self::Serving(run) | Self::Stopping(run) => run,
        }
    }
}

/// The id of the node at this place: a, b, c, …
pub(crate) fn name(place: usize) -> String {
    let letter = u8::try_from(place).unwrap_or(25).min(25);
    char::from(b'a' + letter).to_string()
}

impl Host {
    pub(super) fn new(place: usize, scale: &Scale) -> Self {
        Self {
            process: Process::start(place, scale),
            clock: ORIGIN,
            gate: None,
            session: None,
            linked: false,
            sent: VecDeque::new(),
            answers: VecDeque::new(),
            notices: VecDeque::new(),
            news: VecDeque::new(),
            late: VecDeque::new(),
            service: None,
            deposed: false,
            stopping: false,
        }
    }

    pub(crate) fn node(&self) -> Option<&Node> {
        match &self.process {
            Process::Runs(node) => Some(node),
            Process::Crashed | Process::Ended => None,
        }
    }

    pub(crate) fn leads(&self) -> bool {
        self.node().is_some_and(|node| node.term().is_some())
    }

    /// True if a leader-only act could begin now: the gate is asked at the point of use, by the host's clock.
    pub(crate) fn gate_is_open(&self) -> bool {
        self.gate.is_some_and(|(_, until)| self.clock < until)
    }

    /// True if the node leads, or an answer is under way that will make it lead.
    pub(crate) fn is_about_to_lead(&self) -> bool {
        let Some(node) = self.node() else { return false };
        let claimed = |(_, answer): &&(OpId, Answer)| {
            let Answer::Done(reply) = answer else { return false };
            matches!(reply, Reply::Queue(QueueReply::Claimed(_)) | Reply::Lease(LeaseReply::Acquired(_)))
        };
        let mut claims = self.answers.iter().chain(&self.late).filter(claimed).peekable();
        if self.leads() || claims.peek().is_none() {
            return self.leads();
        }
        let canonical = Canonical::new(self.clock, node, &mut []);
        claims.any(|(id, _)| canonical.knows(*id))
    }

    /// True if this session can end. A leader's session never does, as deadlines guarantee in a world with time.
    pub(super) fn may_lose(&self, session: Session) -> bool {
        let believes = self.node().and_then(Node::session).is_some_and(|(believed, _)| believed == session);
        !believes || !self.is_about_to_lead()
    }

    /// True if nothing is under way to this node, nor will be unless it acts.
    pub(crate) fn is_quiet(&self) -> bool {
        let waits = match self.service {
            Some(Service::Starting(_) | Service::Stopping(_)) => true,
            Some(Service::Serving(_)) | None => false,
        };
        self.sent.is_empty() && self.answers.is_empty() && self.notices.is_empty() && self.news.is_empty() && !waits
    }

    /// Removes an answer or a notice under way that the node does not wait for. A candidate that was created
    /// nevertheless still matters.
    pub(crate) fn unawaited(&mut self) -> Option<Event> {
        let canonical = Canonical::new(self.clock, self.node()?, &mut []);
        let made = |answer: &Answer| matches!(answer, Answer::Done(Reply::Queue(QueueReply::Entered(_))));
        let idle = |(id, answer): &(OpId, Answer)| !canonical.knows(*id) && !made(answer);
        if let Some(at) = self.notices.iter().position(|(id, _)| !canonical.knows(*id)) {
            return self.notices.remove(at).map(|(id, notice)| Event::Noticed { id, notice });
        }
        let at = self.answers.iter().position(idle)?;
        self.answers.remove(at).map(|(id, answer)| Event::Answered { id, answer })
    }

    /// Ends the process and drops everything on its way to it.
    pub(crate) fn end(&mut self, how: Process) {
        self.process = how;
        self.clock = ORIGIN;
        self.gate = None;
        (self.session, self.linked) = (None, false);
        self.answers.clear();
        self.notices.clear();
        self.news.clear();
        self.late.clear();
        self.service = None;
        self.deposed = false;
        self.stopping = false;
    }
}

impl Process {
    pub(crate) fn start(place: usize, scale: &Scale) -> Self {
        let mut config = Config::new(name(place));
        config.election = scale.election();
        config.clock_error_ppm = scale.clock_error_ppm;
        // A service always stops in time, unless its process pauses, and no pause is as long as this.
        config.stop_grace = Duration::from_secs(20);
        // A periodic listing would only hide what the node misses without it.
        config.relist = Duration::MAX;
        // Nobody wishes anything in this world.
        config.heeds_wishes = false;
        config.observes = place >= usize::from(scale.first_observer);
        Self::Runs(Box::new(Node::new(config)))
    }
}
