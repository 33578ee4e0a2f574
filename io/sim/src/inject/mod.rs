//! The beginning and the end of faults: in `hosts`, in the `network` between them, and in the `store`.

mod hosts;
mod network;
mod store;

use core::time::Duration;
use std::sync::Arc;

use rolecall_core::store::Server;

use super::fault::{End, Fault};
use super::host::Order;
use super::run::MomentKind;
use super::storage;
use super::store::host;
use super::world::{STORE, World};

/// The end of a fault.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mend {
    Start(usize),
    Thaw(usize),
    Repair(End, End),
    RepairOneWay(End, End),
    Release(End, End),
    Quicken(usize),
    Hear(usize),
    InTime(usize),
    CatchUp(Server),
    Heal(Server, bool),
    StopsInTime(usize),
}

impl World<'_> {
    /// Begins a fault, if it makes sense as things stand.
    pub(super) fn inject(&mut self, fault: Fault) {
        if fault.kind().can_happen_on(self.settings.election) && self.begin(fault) {
            *self.judge.run.faults.entry(fault.kind()).or_default() += 1;
            self.disturbed();
        }
    }

    fn begin(&mut self, fault: Fault) -> bool {
        match fault {
            Fault::Crash { node, down } => self.crash(self.number(node), down),
            Fault::PowerLoss { node, down } => self.lose_power(self.number(node), down),
            Fault::Pause { node, length } => self.pause(self.number(node), length),
            Fault::ClockRate { node, ppm } => self.change_clock(self.number(node), ppm),
            Fault::Shutdown { node, down } => self.shut_down(self.number(node), down),
            Fault::Resign { node } => self.order(self.number(node), Order::Resign, "is asked to resign"),
            Fault::FailStarts { node, times } => self.fail_starts(self.number(node), times),
            Fault::SlowStop { node, takes, length } => self.slow_stops(self.number(node), takes, length),
            Fault::Partition { from, to, length } => self.part(from, to, length),
            Fault::OneWay { from, to, length } => self.deafen(from, to, length),
            Fault::Stall { from, to, length } => self.stall(from, to, length),
            Fault::SlowLink { node, latency, length } => self.slow_down(self.number(node), latency, length),
            Fault::LostAnswers { node, writes_only, length } => {
                self.lose_answers(self.number(node), writes_only, length)
            }
            Fault::LateAnswers { node, by, length } => self.delay_answers(self.number(node), by, length),
            Fault::NewSession { node } => self.replace_session(self.number(node)),
            Fault::SessionGivenUp { node } => self.give_session_up(self.number(node)),
            Fault::Move { node } => self.move_on(self.number(node)),
            Fault::Lag { server, length } => self.lag(self.server(server), length),
            Fault::Cut { server, length, deliver } => self.cut(self.server(server), length, deliver),
            Fault::Expire { node } => self.expire(self.number(node)),
            Fault::StoreRestart => self.restart_store(true),
            Fault::DataLoss => self.restart_store(false),
            Fault::DeleteCandidate { node } => self.delete_candidate(self.number(node)),
            Fault::DeleteMember { node } => self.delete_members(self.number(node)),
            Fault::Clock { millis } => self.step_clock(millis),
        }
    }

    /// Ends a fault.
    pub(super) fn mend(&mut self, mend: Mend) {
        match mend {
            Mend::Start(number) => self.start(number),
            Mend::Thaw(number) => self.thaw(number),
            Mend::StopsInTime(number) => self.stop_in_time(number),
            Mend::Repair(from, to) => self.repair(from, to),
            Mend::RepairOneWay(from, to) => self.repair_one_way(from, to),
            Mend::Release(from, to) => self.release(from, to),
            Mend::Quicken(number) => self.quicken(number),
            Mend::Hear(number) => self.hear(number),
            Mend::InTime(number) => self.hear_in_time(number),
            Mend::CatchUp(server) => self.catch_up(server),
            Mend::Heal(server, deliver) => self.heal(server, deliver),
        }
    }

    /// Ends every fault.
    pub(super) fn mend_all(&mut self) {
        for (_, mend) in core::mem::take(&mut self.mends) {
            self.mend(mend);
        }
        for host in &self.hosts {
            host.service_faults.fail_starts(0);
            host.clock.set_rate(0);
        }
        let remaining: Vec<_> = self.remaining().map(|host| host.number).collect();
        for number in remaining {
            self.start(number);
        }
        self.visitor.disturbed(self.truth.now(), false);
        self.note_mend("world", "nothing goes wrong any more");
    }

    /// Lets visitors know that a fault has just begun or ended. A machine that is down is no fault under way.
    pub(super) fn disturbed(&self) {
        let is_under_way = self.mends.values().any(|mend| !matches!(mend, Mend::Start(_)));
        self.visitor.disturbed(self.truth.now(), is_under_way);
    }

    pub(super) fn later(&mut self, delay: Duration, mend: Mend) {
        self.mends_made += 1;
        self.mends.insert((self.now() + delay, self.mends_made), mend);
    }

    fn number(&self, node: u8) -> usize {
        usize::from(node) % self.hosts.len()
    }

    fn server(&self, server: u8) -> Server {
        Server(server % self.settings.store_servers())
    }

    fn name(&self, number: usize) -> Arc<str> {
        Arc::clone(&self.hosts[number].name)
    }

    /// The name of an end in the trace.
    fn name_of(&self, end: End) -> Arc<str> {
        match end {
            End::Node(node) => self.name(self.number(node)),
            End::Store => STORE.into(),
            End::Server(server) => host(self.server(server)).into(),
        }
    }

    /// The machines of an end. The application's storage stands beside the store.
    fn hosts_of(&self, end: End) -> Vec<Arc<str>> {
        match end {
            End::Node(_) | End::Server(_) => vec![self.name_of(end)],
            End::Store => {
                let storage = self.settings.storage.as_ref().map(|_| storage::HOST.into());
                self.servers().map(|server| host(server).into()).chain(storage).collect()
            }
        }
    }

    /// Notes a fault in the trace. Returns true, for callers that report whether their fault happened.
    fn note(&mut self, place: &str, what: &str) -> bool {
        self.judge.note(self.truth.now(), place, MomentKind::Fault, what);
        true
    }

    fn note_mend(&mut self, place: &str, what: &str) {
        self.judge.note(self.truth.now(), place, MomentKind::Mend, what);
    }
}
