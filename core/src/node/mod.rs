//! The machine of one node, which owns one of each other machine and routes between them in one pass.

mod afresh;
mod candidacy;
mod canonical;
mod check;
mod events;
mod query;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::election::{Election, Position, Will};
use crate::floor::Floor;
use crate::identity::{Identity, Sight};
use crate::membership::{Entry, Membership};
use crate::mutant::Mutant;
use crate::pass::{Issuer, Pass, Standing};
use crate::registry::{Interest, Registry};
use crate::role::{Conditions, Duty, Services};
use crate::settings::Settings;
use crate::wishes::Wishes;
use crate::{
    Action, Announcement, Config, Directory, Event, Fence, Leader, Objection, Role, Session, Sink, Time, Violation,
};

use afresh::FreshStart;
use candidacy::Candidacy;
pub use query::Health;

/// One node of a cluster. It knows who leads, what this node has to do now, and who else is here.
///
/// ```
/// use core::time::Duration;
/// use rolecall_core::{Action, Config, Event, Node, Session, Time};
///
/// let mut node = Node::new(Config::new("node-a"));
/// let mut actions = Vec::new();
/// let up = Event::SessionUp { session: Session(7), timeout: Duration::from_secs(10), entropy: 42 };
/// node.handle(Time::ZERO, up, &mut actions);
/// // It reads the term record and the directories before it takes any role.
/// assert!(actions.iter().all(|action| matches!(action, Action::Store { .. })));
/// assert!(node.next_deadline().is_some());
/// assert_eq!(node.check(), Ok(()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    config: Config,
    issuer: Issuer,
    standing: Option<Standing>,
    /// Earlier sessions of this process. Their entries are not another node's.
    former: Vec<Session>,
    election: Election,
    floor: Floor,
    /// Boxed, since it matters only at a node's start.
    settings: Box<Settings>,
    /// Boxed, since only a leader has any.
    wishes: Box<Wishes>,
    /// Boxed, like the settings.
    identity: Box<Identity>,
    duty: Duty,
    services: Services,
    membership: Both<Membership>,
    registry: Both<Registry>,
    hold_off: HoldOff,
    candidacy: Candidacy,
    stop: Stop,
    fresh_start: FreshStart,
    shown: Shown,
}

/// One value for each directory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Both<T> {
    workers: T,
    coordinators: T,
}

impl<T> Both<T> {
    fn of(&mut self, directory: Directory) -> &mut T {
        match directory {
            Directory::Workers => &mut self.workers,
            Directory::Coordinators => &mut self.coordinators,
        }
    }

    fn each(&mut self) -> [&mut T; 2] {
        [&mut self.workers, &mut self.coordinators]
    }

    fn both(&self) -> [&T; 2] {
        [&self.workers, &self.coordinators]
    }
}

/// Time in which a leader that resigned does not stand again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct HoldOff {
    phase: HoldOffPhase,
    /// Number of resignations in a row; each doubles the next hold-off.
    times: u8,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum HoldOffPhase {
    #[default]
    Over,
    /// The service still stops. That may take longer than the hold-off, which therefore counts from the end of it.
    Resigning,
    Until(Time),
}

impl HoldOff {
    const FIRST: Duration = Duration::from_secs(2);
    const LIMIT: Duration = Duration::from_secs(60);

    fn is_over(&self) -> bool {
        self.phase == HoldOffPhase::Over
    }

    fn begin(&mut self) {
        self.times = self.times.saturating_add(1).min(6);
        self.phase = HoldOffPhase::Resigning;
    }

    /// Notes that the term's service is gone.
    fn resigned(&mut self, now: Time) {
        if self.phase == HoldOffPhase::Resigning {
            let length = Self::FIRST.saturating_mul(1 << self.times.saturating_sub(1)).min(Self::LIMIT);
            self.phase = HoldOffPhase::Until(now + length);
        }
    }

    fn expire(&mut self, now: Time) {
        if self.deadline().is_some_and(|until| until <= now) {
            self.phase = HoldOffPhase::Over;
        }
    }

    fn deadline(&self) -> Option<Time> {
        match self.phase {
            HoldOffPhase::Until(until) => Some(until),
            HoldOffPhase::Over | HoldOffPhase::Resigning => None,
        }
    }
}

/// Progress of this node's shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Stop {
    /// No shutdown was asked for.
    No,
    /// Registries are left, requests drained, the candidate deleted, all within the limit.
    Asked { limit: Time },
    /// Nothing more will be done.
    Over,
}

/// The last news to the world, so that only changes are told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Shown {
    gate: Option<(Fence, Time)>,
    role: Role,
    leader: Option<Leader>,
}

impl Node {
    /// Largest number of actions that one event can cause. The fuzzer proves it.
    pub const MAX_ACTIONS: usize = 24;

    /// A node that has not heard from its store yet.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self {
            election: Election::new(config.election),
            config,
            issuer: Issuer::default(),
            standing: None,
            former: Vec::new(),
            floor: Floor::new(),
            settings: Box::default(),
            wishes: Box::default(),
            identity: Box::default(),
            duty: Duty::None,
            services: Services::new(),
            membership: Both {
                workers: Membership::new(Directory::Workers),
                coordinators: Membership::new(Directory::Coordinators),
            },
            registry: Both {
                workers: Registry::new(Directory::Workers),
                coordinators: Registry::new(Directory::Coordinators),
            },
            hold_off: HoldOff::default(),
            candidacy: Candidacy::default(),
            stop: Stop::No,
            fresh_start: FreshStart::default(),
            shown: Shown::default(),
        }
    }

    /// Handles one event at the time `now`, and pushes the actions to `out`, in order. Any event is valid at any time.
    pub fn handle<S: Sink>(&mut self, now: Time, event: Event, out: &mut S) {
        if self.stop == Stop::Over {
            return;
        }
        self.expire(now);
        if let Some(objection) = self.settings.expire(now) {
            return self.refuse(objection, out);
        }
        self.apply(now, event, out);
        if self.stop != Stop::Over {
            self.advance(now, out);
        }
        self.see_to_promises(now, out);
    }

    /// Applies the passing of time.
    fn expire(&mut self, now: Time) {
        if self.election.expire(now, self.standing.as_ref(), &self.config) {
            self.reread_registries();
            self.membership.each().into_iter().for_each(Membership::reread);
            self.floor.reread();
            self.settings.reread();
            self.wishes.reread();
        }
        self.floor.expire(now);
        self.wishes.expire(now);
        self.membership.each().into_iter().for_each(|membership| membership.expire(now));
        self.registry.each().into_iter().for_each(|registry| registry.expire(now));
        self.hold_off.expire(now);
        self.fresh_start.expire(now);
        if self.identity.expire(now) {
            self.reread_registries();
        }
    }

    fn reread_registries(&mut self) {
        self.registry.each().into_iter().for_each(Registry::reread);
    }

    /// Makes one pass: leadership, duty, registries, service, and only then the next requests.
    fn advance<S: Sink>(&mut self, now: Time, out: &mut S) {
        self.look_at_identity(now, out);
        if self.stop == Stop::Over {
            return;
        }
        self.resign_if_wished();
        self.resign_if_failing(now);
        self.settle_candidacy();
        let will = self.settle_leadership();
        self.show_gate(out);
        self.duty = self.wanted_duty();
        let stops_at_once = self.is_term_over();
        if stops_at_once && !self.advance_services(now, out) {
            return;
        }
        self.advance_registries(now, out);
        if !self.advance_services(now, out) {
            return;
        }
        let term = self.term().map(|(fence, _)| fence);
        let mut pass = Pass { now, standing: self.standing, issuer: &mut self.issuer, out };
        self.floor.advance(&mut pass);
        self.settings.advance(&mut pass, &self.config, term.is_some());
        self.wishes.advance(&mut pass, term.filter(|_| self.config.heeds_wishes));
        self.election.advance(&mut pass, will, &self.floor);
        self.show_news(out);
        self.end_if_done(now, out);
    }

    fn look_at_identity<S: Sink>(&mut self, now: Time, out: &mut S) {
        let Some(standing) = self.standing.filter(|_| !self.observes()) else { return };
        if self.membership.both().into_iter().any(Membership::is_present) && self.identity.registered() {
            self.reread_registries();
        }
        if !self.identity.is_open() || !self.registry.both().into_iter().all(Registry::is_fresh) {
            return;
        }
        let sight = Self::sight(&self.registry, &self.former, &self.config.id, standing.session);
        if let Some(address) = self.identity.look(now, &self.config, standing.timeout, &sight) {
            self.refuse(Objection::IdentityTaken { address }, out);
        }
    }

    fn sight<'a>(registry: &'a Both<Registry>, former: &[Session], id: &str, session: Session) -> Sight<'a> {
        let [workers, coordinators] = registry.both();
        let named = workers.members().iter().chain(coordinators.members()).filter(|one| &*one.key.id == id);
        let mut sight = Sight { other: None, own: None };
        for member in named {
            if member.key.session == session {
                sight.own = Some(sight.own.map_or(member.created, |own: u64| own.min(member.created)));
            } else if !former.contains(&member.key.session) {
                sight.other = Some(member);
            }
        }
        sight
    }

    /// Resigns if the record of the wish says that this node's term ends.
    fn resign_if_wished(&mut self) {
        let is_wished = self.term().is_some_and(|(fence, _)| self.wishes.ends(fence));
        if is_wished && self.hold_off.is_over() {
            self.hold_off.begin();
        }
    }

    /// Resigns if this node leads but cannot serve.
    fn resign_if_failing(&mut self, now: Time) {
        if self.hold_off.is_over() && self.services.has_failed_to_lead(now, &self.config) {
            self.hold_off.begin();
        }
        if self.services.serving().role() == Role::Leader && self.hold_off.is_over() {
            self.hold_off.times = 0;
        }
        if self.services.occupied_by().role() != Role::Leader {
            self.hold_off.resigned(now);
        }
    }

    /// Lets a node that gave up its place enter anew, once nothing is left of the old place.
    fn settle_candidacy(&mut self) {
        let leads = self.term().is_some() || self.services.occupied_by().role() == Role::Leader;
        if !leads && self.election.is_withdrawn() {
            self.candidacy.withdrawn();
        }
    }

    /// Applies this node's will, and what it has seen of others, to its term.
    fn settle_leadership(&mut self) -> Will {
        let will = self.will();
        if let Some((fence, _)) = self.term() {
            let floor = self.floor.fence();
            let is_new = floor != Some(fence);
            let is_deposed = floor.is_some_and(|floor| floor.is_newer_than(fence));
            if will == Will::Withdraw || is_deposed || (!is_new && self.floor.is_lost()) {
                self.election.step_down();
            } else if is_new {
                self.floor.claimed(fence);
                self.settings.reread();
            }
        }
        will
    }

    pub(super) fn will(&self) -> Will {
        let leads = self.services.occupied_by().role() == Role::Leader;
        match self.stop {
            Stop::Asked { .. } if Mutant::StandsWhileEnding.lives() => Will::Stand,
            Stop::Asked { .. } if self.services.is_idle() => Will::Withdraw,
            Stop::Asked { .. } => Will::Keep,
            Stop::Over => Will::Withdraw,
            Stop::No if !self.hold_off.is_over() && leads && !Mutant::ClaimGivenUpUnstopped.lives() => Will::Keep,
            Stop::No if !self.candidacy.stands() && leads => Will::Keep,
            Stop::No if self.observes() => Will::Withdraw,
            Stop::No if !self.candidacy.stands() && !Mutant::UnwillingStands.lives() => Will::Withdraw,
            Stop::No if !self.hold_off.is_over() || !self.may_take_part() => Will::Withdraw,
            Stop::No => Will::Stand,
        }
    }

    fn observes(&self) -> bool {
        self.config.observes && !Mutant::ObserverStands.lives()
    }

    /// True if the settings and this node's id let it take a role.
    fn may_take_part(&self) -> bool {
        self.settings.are_agreed(&self.config) && self.identity.is_free()
    }

    fn wanted_duty(&self) -> Duty {
        match (self.stop, self.election.position()) {
            (Stop::Asked { .. } | Stop::Over, _) => Duty::None,
            (Stop::No, _) if self.observes() => Duty::None,
            (Stop::No, _) if !self.hold_off.is_over() => Duty::Worker,
            (Stop::No, _) if !self.candidacy.stands() && self.may_take_part() => Duty::Worker,
            (Stop::No, Position::Leading { fence, .. }) => Duty::Leader(fence),
            (Stop::No, Position::Waiting) => Duty::Worker,
            (Stop::No, Position::Unknown) => match self.duty {
                Duty::Leader(_) | Duty::Worker => Duty::Worker,
                Duty::None => Duty::None,
            },
        }
    }

    fn conditions(&self) -> Conditions {
        let connected = self.standing.is_some_and(|standing| standing.connected);
        let may_start = match self.duty {
            Duty::None => false,
            Duty::Worker => !connected || self.membership.coordinators.is_absent(),
            Duty::Leader(_) => self.membership.workers.is_absent() || Mutant::LeaderStartsAsWorker.lives(),
        };
        Conditions { duty: self.duty, may_start, term_over: self.is_term_over() }
    }

    /// True if a leader's service outlives its term.
    fn is_term_over(&self) -> bool {
        let is_over = |fence| !self.holds(fence) && !Mutant::ServiceOutlivesTerm.lives();
        self.services.occupied_by().fence().is_some_and(is_over)
    }

    fn holds(&self, fence: Fence) -> bool {
        self.term().is_some_and(|(held, _)| held == fence)
    }

    /// Advances the services by one step. Returns false if that ended the node.
    fn advance_services<S: Sink>(&mut self, now: Time, out: &mut S) -> bool {
        match self.services.advance(now, &self.config, self.conditions(), out) {
            Ok(()) => true,
            Err(violation) => {
                self.halt(violation, out);
                false
            }
        }
    }

    fn advance_registries<S: Sink>(&mut self, now: Time, out: &mut S) {
        let (workers, coordinators) = self.wanted_entries();
        let interest = self.interest();
        let mut pass = Pass { now, standing: self.standing, issuer: &mut self.issuer, out };
        self.membership.workers.advance(&mut pass, workers);
        self.membership.coordinators.advance(&mut pass, coordinators);
        self.registry.workers.advance(&mut pass, interest);
        self.registry.coordinators.advance(&mut pass, Interest::Watch);
    }

    /// Wanted entries of this node: they say what it serves and will go on serving.
    fn wanted_entries(&self) -> (Option<Entry>, Option<Entry>) {
        let stays = self.services.serving() == self.duty && self.config.registers;
        match self.duty {
            Duty::Worker if stays => (Some(Entry { epoch: None }), None),
            Duty::Leader(fence) if stays => (None, Some(Entry { epoch: Some(fence.epoch) })),
            Duty::None | Duty::Worker | Duty::Leader(_) => (None, None),
        }
    }

    fn interest(&self) -> Interest {
        if self.duty.role() == Role::Leader || self.config.follows_workers || self.config.observes {
            Interest::Watch
        } else if self.identity.is_open() {
            Interest::Read
        } else {
            Interest::None
        }
    }

    fn show_gate<S: Sink>(&mut self, out: &mut S) {
        let gate = self.term();
        if gate == self.shown.gate {
            return;
        }
        match gate {
            Some((fence, until)) => out.push(Action::OpenGate { fence, until }),
            None if Mutant::GateLeftOpen.lives() => {}
            None => out.push(Action::CloseGate),
        }
        self.shown.gate = gate;
    }

    fn show_news<S: Sink>(&mut self, out: &mut S) {
        let role = self.services.serving().role();
        if role != self.shown.role {
            self.shown.role = role;
            out.push(Action::Announce(Announcement::Role(role)));
        }
        if !self.is_leader_shown() {
            let leader = self.leader();
            out.push(Action::Announce(Announcement::Leader(leader.clone())));
            self.shown.leader = leader;
        }
    }

    /// True if the leader last announced is still the leader. Runs on every event, so it compares without building a
    /// new [`Leader`].
    fn is_leader_shown(&self) -> bool {
        match (self.leader_entry(), self.visible_foreign(), &self.shown.leader) {
            (_, Some(id), Some(Leader::Foreign { id: shown })) => Arc::ptr_eq(id, shown) || id == shown,
            (Some((member, epoch)), None, Some(Leader::Node { id, address, epoch: shown })) => {
                member.key.id == *id && member.address == *address && epoch == *shown
            }
            (None, None, None) => true,
            (_, Some(_), _) | (Some(_), None, _) | (None, None, Some(_)) => false,
        }
    }

    fn end_if_done<S: Sink>(&mut self, now: Time, out: &mut S) {
        let Stop::Asked { limit } = self.stop else { return };
        let gone = self.membership.both().into_iter().all(Membership::is_absent) && self.election.is_withdrawn();
        let done = self.services.is_idle() && (gone || self.standing.is_none());
        if done || limit <= now {
            self.end(out);
            out.push(Action::Exit);
        }
    }

    /// Ends the node: whatever is left of it in the store goes with its session.
    fn end<S: Sink>(&mut self, out: &mut S) {
        self.stop = Stop::Over;
        self.election.step_down();
        self.show_gate(out);
        out.push(Action::CloseSession);
    }

    fn refuse<S: Sink>(&mut self, objection: Objection, out: &mut S) {
        self.end(out);
        out.push(Action::Refuse(objection));
    }

    fn halt<S: Sink>(&mut self, violation: Violation, out: &mut S) {
        if self.shown.gate.take().is_some() {
            out.push(Action::CloseGate);
        }
        self.stop = Stop::Over;
        out.push(Action::Halt(violation));
    }
}
