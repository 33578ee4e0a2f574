//! Faults between hosts, and on the links between nodes and the store.

use core::time::Duration;

use turmoil::Sim;

use super::super::fault::End;
use super::super::store::Lost;
use super::super::world::World;
use super::Mend;

impl World<'_> {
    /// Two different ends: the store takes the place of a node's link to itself.
    fn apart(&self, from: End, to: End) -> (End, End) {
        if self.name_of(from) == self.name_of(to) { (from, End::Store) } else { (from, to) }
    }

    fn between(&self, from: End, to: End, change: impl Fn(&Sim<'static>, &str, &str)) {
        for one in self.hosts_of(from) {
            for other in self.hosts_of(to) {
                change(&self.sim, &one, &other);
            }
        }
    }

    pub(super) fn part(&mut self, from: End, to: End, length: Duration) -> bool {
        let (from, to) = self.apart(from, to);
        let (one, other) = (self.name_of(from), self.name_of(to));
        self.between(from, to, |sim, one, other| sim.partition(one, other));
        self.later(length, Mend::Repair(from, to));
        self.note(&one, &format!("and {other} are cut off from each other"))
    }

    pub(super) fn repair(&mut self, from: End, to: End) {
        let (one, other) = (self.name_of(from), self.name_of(to));
        self.between(from, to, |sim, one, other| sim.repair(one, other));
        self.note_mend(&one, &format!("and {other} reach each other again"));
    }

    pub(super) fn deafen(&mut self, from: End, to: End, length: Duration) -> bool {
        let (from, to) = self.apart(from, to);
        let (one, other) = (self.name_of(from), self.name_of(to));
        self.between(from, to, |sim, one, other| sim.partition_oneway(one, other));
        self.later(length, Mend::RepairOneWay(from, to));
        self.note(&one, &format!("is not heard by {other}"))
    }

    pub(super) fn repair_one_way(&mut self, from: End, to: End) {
        let (one, other) = (self.name_of(from), self.name_of(to));
        self.between(from, to, |sim, one, other| sim.repair_oneway(one, other));
        self.note_mend(&one, &format!("is heard by {other} again"));
    }

    pub(super) fn stall(&mut self, from: End, to: End, length: Duration) -> bool {
        let (from, to) = self.apart(from, to);
        let (one, other) = (self.name_of(from), self.name_of(to));
        self.between(from, to, |sim, one, other| sim.hold(one, other));
        self.later(length, Mend::Release(from, to));
        self.note(&one, &format!("and {other}: what is sent between them waits"))
    }

    pub(super) fn release(&mut self, from: End, to: End) {
        let (one, other) = (self.name_of(from), self.name_of(to));
        self.between(from, to, |sim, one, other| sim.release(one, other));
        self.note_mend(&one, &format!("and {other}: what waited comes"));
    }

    pub(super) fn slow_down(&mut self, number: usize, latency: Duration, length: Duration) -> bool {
        let name = self.name(number);
        for server in self.hosts_of(End::Store) {
            self.sim.set_link_latency(&*name, &*server, latency);
        }
        self.later(length, Mend::Quicken(number));
        self.note(&name, &format!("its link to the store takes {} ms", latency.as_millis()))
    }

    pub(super) fn quicken(&mut self, number: usize) {
        let name = self.name(number);
        for server in self.hosts_of(End::Store) {
            self.sim.set_link_latency(&*name, &*server, self.settings.latency.0);
            self.sim.set_link_max_message_latency(&*name, &*server, self.settings.latency.1);
        }
        self.note_mend(&name, "its link to the store is quick again");
    }

    pub(super) fn lose_answers(&mut self, number: usize, writes_only: bool, length: Duration) -> bool {
        let lost = if writes_only { Lost::Writes } else { Lost::All };
        self.hosts[number].link_faults.lose_answers(lost);
        self.later(length, Mend::Hear(number));
        let what =
            if writes_only { "what the store answers to writes is lost" } else { "what the store answers is lost" };
        self.note(&self.name(number), what)
    }

    pub(super) fn hear(&mut self, number: usize) {
        self.hosts[number].link_faults.lose_answers(Lost::Nothing);
        self.note_mend(&self.name(number), "hears the store again");
    }

    pub(super) fn delay_answers(&mut self, number: usize, by: Duration, length: Duration) -> bool {
        self.hosts[number].link_faults.delay(by);
        self.later(length, Mend::InTime(number));
        self.note(&self.name(number), &format!("what the store says comes late, by up to {} ms", by.as_millis()))
    }

    pub(super) fn hear_in_time(&mut self, number: usize) {
        self.hosts[number].link_faults.delay(Duration::ZERO);
        self.note_mend(&self.name(number), "hears the store in time again");
    }

    pub(super) fn replace_session(&mut self, number: usize) -> bool {
        self.hosts[number].link_faults.replace_session();
        self.note(&self.name(number), "gets another session without being told of a loss")
    }

    pub(super) fn give_session_up(&mut self, number: usize) -> bool {
        self.hosts[number].link_faults.give_session_up();
        self.note(&self.name(number), "gives up a session that the store still keeps")
    }

    pub(super) fn move_on(&mut self, number: usize) -> bool {
        self.hosts[number].link_faults.move_on();
        self.note(&self.name(number), "goes to another server")
    }
}
