//! Faults of machines, processes and applications.

use core::time::Duration;
use std::sync::Arc;

use super::super::fault::{End, Fault};
use super::super::host::Order;
use super::super::run::HostState;
use super::super::world::{RESTART, World, visitor_name};
use super::Mend;

impl World<'_> {
    pub(super) fn crash(&mut self, number: usize, down: Duration) -> bool {
        if !self.up[number] {
            return false;
        }
        let name = self.name(number);
        self.hosts[number].sockets.crash();
        self.sim.crash(&*name);
        let is_for_good = self.go_down(number, down);
        self.note(&name, if is_for_good { "crashes for good" } else { "crashes" })
    }

    /// A dying process cannot send anything once its machine is dark.
    pub(super) fn lose_power(&mut self, number: usize, down: Duration) -> bool {
        if !self.up[number] {
            return false;
        }
        let name = self.name(number);
        let others = self.others(&name);
        for other in &others {
            self.sim.partition(&*name, &**other);
        }
        self.hosts[number].sockets.crash();
        self.sim.crash(&*name);
        for other in &others {
            self.sim.repair(&*name, &**other);
        }
        let is_for_good = self.go_down(number, down);
        self.note(&name, if is_for_good { "loses its power for good" } else { "loses its power" })
    }

    fn others(&self, name: &str) -> Vec<Arc<str>> {
        let visitors = (0..).zip(&self.settings.visits).map(|(number, _)| visitor_name(number).into());
        let nodes = self.hosts.iter().map(|host| Arc::clone(&host.name)).filter(|other| &**other != name);
        nodes.chain(self.hosts_of(End::Store)).chain(visitors).collect()
    }

    /// Takes a host down. Returns true if it stays down for good: not if it is the last one.
    fn go_down(&mut self, number: usize, down: Duration) -> bool {
        self.up[number] = false;
        self.hosts[number].gone();
        self.judge.host(self.truth.now(), number, HostState::Down);
        let is_for_good = down == Fault::FOR_GOOD && self.remaining().any(|other| other.number != number);
        if is_for_good {
            self.lost.insert(number);
        } else {
            self.later(if down == Fault::FOR_GOOD { RESTART } else { down }, Mend::Start(number));
        }
        is_for_good
    }

    pub(super) fn start(&mut self, number: usize) {
        if self.up[number] {
            return;
        }
        let name = self.name(number);
        self.up[number] = true;
        self.judge.host(self.truth.now(), number, HostState::Up);
        self.note_mend(&name, "starts");
        // Closes the remaining connections of a node that ended by itself.
        self.hosts[number].sockets.crash();
        self.sim.bounce(&*name);
    }

    pub(super) fn pause(&mut self, number: usize, length: Duration) -> bool {
        if !self.up[number] || self.hosts[number].freezer.is_frozen() {
            return false;
        }
        self.hosts[number].freezer.freeze();
        self.judge.host(self.truth.now(), number, HostState::Paused);
        self.later(length, Mend::Thaw(number));
        self.note(&self.name(number), "is paused")
    }

    pub(super) fn thaw(&mut self, number: usize) {
        if !self.hosts[number].freezer.is_frozen() || !self.up[number] {
            return;
        }
        self.note_mend(&self.name(number), "goes on");
        self.judge.host(self.truth.now(), number, HostState::Up);
        self.hosts[number].freezer.thaw(&mut self.entropy);
    }

    pub(super) fn change_clock(&mut self, number: usize, ppm: i32) -> bool {
        self.hosts[number].clock.set_rate(ppm);
        let what = match ppm {
            0 => "its clock is right from now on".into(),
            1.. => format!("its clock runs {ppm} ppm too fast from now on"),
            ..0 => format!("its clock runs {} ppm too slow from now on", ppm.unsigned_abs()),
        };
        self.note(&self.name(number), &what)
    }

    pub(super) fn shut_down(&mut self, number: usize, down: Duration) -> bool {
        self.hosts[number].stays_down(down);
        self.order(number, Order::ShutDown, "is asked to end")
    }

    pub(super) fn order(&mut self, number: usize, order: Order, what: &str) -> bool {
        if !self.up[number] {
            return false;
        }
        self.hosts[number].order(order);
        self.note(&self.name(number), what)
    }

    pub(super) fn fail_starts(&mut self, number: usize, times: u8) -> bool {
        self.hosts[number].service_faults.fail_starts(times);
        self.note(&self.name(number), &format!("its application fails to start, {times} times"))
    }

    pub(super) fn slow_stops(&mut self, number: usize, takes: Duration, length: Duration) -> bool {
        self.hosts[number].service_faults.slow_stops(takes);
        self.later(length, Mend::StopsInTime(number));
        self.note(&self.name(number), &format!("its application takes {} ms to stop", takes.as_millis()))
    }

    pub(super) fn stop_in_time(&mut self, number: usize) {
        self.hosts[number].service_faults.slow_stops(Duration::ZERO);
        self.note_mend(&self.name(number), "its application stops at once again");
    }
}
