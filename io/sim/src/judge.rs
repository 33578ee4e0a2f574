//! The judge: compares nodes with each other and with the true time, and records the run.

use core::hash::{Hash, Hasher};
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use rolecall_core::observe::ClusterJudge;
use rolecall_core::{Action, Announcement, Epoch, Event, Fence, Incarnation, OpId, Time, Trace, Violation};

use super::acts::{Act, ActKind};
use super::clock::SimClock;
use super::evidence::ErasedEvidence;
use super::notebook::Step;
use super::run::{Broken, Finding, HostState, Moment, MomentKind, Run};
use super::world::VISITOR;

/// The judge's view of a node.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) name: Arc<str>,
    pub(super) clock: SimClock,
    /// True if it could act now: it is up and not paused.
    is_awake: bool,
    /// Its gate, on its own clock.
    gate: Option<(Fence, Time)>,
}

impl Seen {
    pub(super) fn new(name: Arc<str>, clock: SimClock) -> Self {
        Self { name, clock, is_awake: true, gate: None }
    }

    fn open(&self, at: Time) -> Option<Fence> {
        let (fence, until) = self.gate.filter(|_| self.is_awake)?;
        (self.clock.at(at) < until).then_some(fence)
    }
}

/// The judge of one run.
#[derive(Debug)]
pub(super) struct Judge {
    nodes: Vec<Seen>,
    pub(super) run: Run,
    cluster: ClusterJudge,
    /// Time spans in which two may lead at once, because an outsider has taken a leader's candidate or session away:
    /// only epochs help there.
    excused: Vec<(Time, Time)>,
    begun: BTreeMap<Incarnation, Epoch>,
    accepted: BTreeMap<(usize, u32), Fence>,
    print: Fingerprint,
    trace: Option<Trace>,
    /// Beginning of the trace; earlier events are left out.
    trace_from: Option<Time>,
    keeps_history: bool,
    /// Renders the history's lines. It remembers pending requests.
    lines: Trace,
    /// Time and text of each pending request.
    asked: BTreeMap<(usize, OpId), (Time, String)>,
}

impl Judge {
    pub(super) fn new(nodes: Vec<Seen>, seed: u64, trace_from: Option<Time>, keeps_history: bool) -> Self {
        Self {
            nodes,
            run: Run { seed, ..Run::default() },
            cluster: ClusterJudge::new(),
            excused: Vec::new(),
            begun: BTreeMap::new(),
            accepted: BTreeMap::new(),
            print: Fingerprint::default(),
            trace: trace_from.map(|_| Trace::new()),
            trace_from,
            keeps_history,
            lines: Trace::new(),
            asked: BTreeMap::new(),
        }
    }

    /// Allows two leaders at once in this time span.
    pub(super) fn excuse(&mut self, from: Time, until: Time) {
        self.excused.push((from, until));
    }

    /// Notes something that happened to the world.
    pub(super) fn note(&mut self, at: Time, place: &str, kind: MomentKind, text: &str) {
        (at, place, text).hash(&mut self.print);
        if let Some(trace) = self.trace(at) {
            trace.note(at, place, text);
        }
        self.moment(at, place, kind, || text.to_owned());
    }

    fn trace(&mut self, at: Time) -> Option<&mut Trace> {
        if self.trace_from.take_if(|from| *from <= at).is_some()
            && let Some(trace) = &mut self.trace
        {
            trace.restart();
        }
        self.trace.as_mut()
    }

    fn moment(&mut self, at: Time, place: &str, kind: MomentKind, text: impl FnOnce() -> String) {
        if self.keeps_history {
            self.run.history.push(Moment { at, place: place.to_owned(), kind, text: text() });
        }
    }

    pub(super) fn find(&mut self, at: Time, place: &str, what: Broken) {
        if self.run.finding.is_none() {
            let finding = Finding { at, place: place.to_owned(), what };
            if let Some(trace) = &mut self.trace {
                trace.note(at, place, &finding.to_string());
            }
            self.run.finding = Some(finding);
        }
    }

    /// Notes that a host started, paused or stopped. A host that is down has no gate; the gate of a paused one counts
    /// again before any of its tasks has run.
    pub(super) fn host(&mut self, at: Time, node: usize, state: HostState) {
        let seen = &mut self.nodes[node];
        seen.is_awake = state == HostState::Up;
        if state == HostState::Down {
            seen.gate = None;
        }
        let name = Arc::clone(&seen.name);
        self.moment(at, &name, MomentKind::Host(state), String::new);
        self.gates(at);
    }

    /// Judges everything that happened in one step of the simulation, in the order of true time.
    pub(super) fn judge(&mut self, now: Time, steps: Vec<Step>, mut acts: Vec<Act>, seen: Vec<(Time, String)>) {
        acts.sort_by_key(|act| act.at);
        let mut acts = acts.into_iter().peekable();
        let mut seen = seen.into_iter().peekable();
        for step in steps {
            while let Some((at, what)) = seen.next_if(|(at, _)| *at < step.at) {
                self.note(at, VISITOR, MomentKind::Visit, &what);
            }
            while let Some(act) = acts.next_if(|act| act.at < step.at) {
                self.act(act);
            }
            self.step(step);
        }
        acts.for_each(|act| self.act(act));
        seen.for_each(|(at, what)| self.note(at, VISITOR, MomentKind::Visit, &what));
        self.gates(now);
    }

    fn step(&mut self, step: Step) {
        self.run.steps += 1;
        (step.at, step.node, &step.event, &step.actions).hash(&mut self.print);
        let name = Arc::clone(&self.nodes[step.node].name);
        if let Some(trace) = self.trace(step.at) {
            trace.record(step.at, &name, &step.event, &step.actions);
        }
        if self.keeps_history {
            self.remember(&name, &step);
        }
        // A service that does not stop is the application's fault, and the node halts as it should.
        if let Err(violation) = step.judged
            && violation != Violation::StopOverran
        {
            self.find(step.at, &name, Broken::Promise(violation));
        }
        self.move_gate(step.node, step.at, &step.actions);
    }

    fn remember(&mut self, name: &str, step: &Step) {
        if let Some(words) = self.words(step) {
            self.moment(step.at, name, MomentKind::Step, || words);
        }
        self.remember_exchange(name, step);
        for action in &step.actions {
            match action {
                Action::Announce(Announcement::Role(role)) => {
                    self.moment(step.at, name, MomentKind::Role(*role), String::new);
                }
                Action::Store { id, request } => {
                    self.asked.insert((step.node, *id), (step.at, format!("{request:?}")));
                }
                Action::OpenGate { .. }
                | Action::CloseGate
                | Action::Floor(_)
                | Action::StartService { .. }
                | Action::StopService { .. }
                | Action::Announce(_)
                | Action::RenewSession
                | Action::CloseSession
                | Action::Exit
                | Action::Refuse(_)
                | Action::StartAfresh(_)
                | Action::Halt(_) => {}
            }
        }
    }

    /// Notes an exchange between a node and the store.
    fn remember_exchange(&mut self, name: &str, step: &Step) {
        match &step.event {
            Event::Answered { id, answer } => {
                if let Some((asked, request)) = self.asked.remove(&(step.node, *id)) {
                    let text = format!("{request}: {answer:?}");
                    self.moment(asked, name, MomentKind::Exchange { until: step.at }, || text);
                }
            }
            Event::Noticed { notice, .. } => {
                self.moment(step.at, name, MomentKind::Notice, || format!("{notice:?}"));
            }
            Event::SessionUp { .. }
            | Event::Suspended
            | Event::SessionLost
            | Event::ServiceStarted { .. }
            | Event::ServiceFailed { .. }
            | Event::ServiceStopped { .. }
            | Event::FenceSeen { .. }
            | Event::Resign
            | Event::Stand { .. }
            | Event::Shutdown
            | Event::Wake => {}
        }
    }

    /// A step in the words of a trace, without its time and place.
    fn words(&mut self, step: &Step) -> Option<String> {
        let name = Arc::clone(&self.nodes[step.node].name);
        self.lines.restart();
        self.lines.record(step.at, &name, &step.event, &step.actions);
        let line = self.lines.text().lines().next()?;
        line.split_once(&format!("  {name}  ")).map(|(_, words)| words.to_owned())
    }

    fn move_gate(&mut self, node: usize, at: Time, actions: &[Action]) {
        for action in actions {
            if let Action::OpenGate { fence, until } = action {
                let seen = &mut self.nodes[node];
                let is_new = seen.gate.is_none_or(|(open, _)| open != *fence);
                seen.gate = Some((*fence, *until));
                if is_new {
                    self.run.terms += 1;
                    let name = Arc::clone(&self.nodes[node].name);
                    self.moment(at, &name, MomentKind::Term(*fence), String::new);
                }
                self.gates(at);
            } else if action.closes_gate() {
                self.nodes[node].gate = None;
                let name = Arc::clone(&self.nodes[node].name);
                self.moment(at, &name, MomentKind::TermOver, String::new);
                self.gates(at);
            }
        }
    }

    /// Judges all gates at this true time (P1, P12).
    fn gates(&mut self, at: Time) {
        for node in 0..self.nodes.len() {
            let seen = &self.nodes[node];
            let (name, open) = (Arc::clone(&seen.name), seen.open(at));
            let judged = self.cluster.gate(at, &name, open);
            if let Err(violation) = judged
                && !(self.is_excused(at) && matches!(violation, Violation::TwoLeaders | Violation::EpochNotRising))
            {
                self.find(at, &name, Broken::Promise(violation));
            }
        }
        if let Some(since) = self.cluster.leaderless_since() {
            self.run.leaderless = self.run.leaderless.max(at.since(since));
        }
    }

    fn is_excused(&self, at: Time) -> bool {
        self.excused.iter().any(|(from, until)| (*from..*until).contains(&at))
    }

    /// Judges an act of an application. No act is for an older term than an earlier act (P1), and no worker works for
    /// an older term than before (P14).
    fn act(&mut self, act: Act) {
        (act.at, act.node, act.fence).hash(&mut self.print);
        let Fence { incarnation, epoch } = act.fence;
        let broken = match act.what {
            ActKind::Begin => {
                let newest = self.begun.entry(incarnation).or_insert(epoch);
                let overtaken = *newest > epoch;
                *newest = epoch.max(*newest);
                (overtaken && !self.is_excused(act.at)).then_some(Violation::TwoLeaders)
            }
            ActKind::Accept => {
                let newest = self.accepted.insert((act.node, act.life), act.fence);
                let stale = newest.is_some_and(|newest| newest.incarnation == incarnation && newest.epoch > epoch);
                stale.then_some(Violation::StaleAccepted)
            }
        };
        if let Some(violation) = broken {
            let name = Arc::clone(&self.nodes[act.node].name);
            self.find(act.at, &name, Broken::Promise(violation));
        }
    }

    /// Asks for the application's own verdict on the evidence that its visitors gathered.
    pub(super) fn weigh(&mut self, evidence: &dyn ErasedEvidence) {
        evidence.digest(&mut self.print);
        if let Err(wrong) = evidence.verdict(&self.excused) {
            self.find(wrong.at, VISITOR, Broken::Evidence(wrong.text));
        }
    }

    /// The node that leads at this true time.
    pub(super) fn leader(&self, at: Time) -> Option<usize> {
        self.nodes.iter().position(|seen| seen.open(at).is_some())
    }

    pub(super) fn finish(mut self, simulated: Duration) -> Run {
        self.run.simulated = simulated;
        self.run.fingerprint = self.print.finish();
        self.run.trace = self.trace.map(|trace| trace.text().to_owned()).unwrap_or_default();
        self.run
    }
}

/// FNV-1a, which is the same in every process.
#[derive(Clone, Copy, Debug)]
struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Fingerprint {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
