//! Random faults for five nodes whose store elects by a lease, followed by a quiet time in which everything must come to
//! rest. A seed repeats its world; the promises are judged on every step, two leaders in true time among them.

mod common;

use std::time::Duration;

use common::{FAULTS, NODES, come_to_rest, forge, play, start, wish};
use rolecall_core::store::{Act, DirectoryRequest, Fault, LeaseRequest, Request, Server};
use rolecall_core::testing::{Cluster, Dice, Outcome, TIMEOUT};
use rolecall_core::{Directory, Event, MemberKey, Time};

/// The store's only server.
const SERVER: Server = Server(0);

#[test]
fn after_any_faults_the_cluster_comes_to_rest_seeds_0_to_119() {
    (0..120).for_each(|seed| play(seed, world));
}

#[test]
fn after_any_faults_the_cluster_comes_to_rest_seeds_120_to_239() {
    (120..240).for_each(|seed| play(seed, world));
}

fn world(seed: u64, is_traced: bool) {
    World::new(seed, is_traced).play();
}

struct World {
    seed: u64,
    cluster: Cluster,
    dice: Dice,
    /// True time from which the server's clock may step forward again: one step within a lease is what nodes allow for.
    next_step: Time,
}

impl World {
    fn new(seed: u64, is_traced: bool) -> Self {
        let mut cluster = Cluster::with_lease();
        cluster.is_traced = is_traced;
        cluster.jitter = Some(Dice::new(!seed));
        Self { seed, cluster, dice: Dice::new(seed), next_step: Time::ZERO }
    }

    fn play(&mut self) {
        for name in NODES {
            start(&mut self.cluster, name, &mut self.dice);
            self.cluster.host(name).clock_ppm = self.dice.pick(&[-9_000, 0, 0, 9_000]);
            let pause = self.dice.millis(0, 500);
            self.cluster.run(pause);
        }
        for _ in 0..FAULTS {
            self.inject();
            let longest = self.dice.pick(&[3, 20, 300, 2_500]);
            let pause = self.dice.millis(0, longest);
            self.cluster.run(pause);
        }
        self.mend();
        come_to_rest(&mut self.cluster, self.seed);
    }

    fn inject(&mut self) {
        let name = self.dice.pick(&NODES);
        let runs = self.cluster.host(name).outcome == Outcome::Runs;
        match self.dice.below(29) {
            0 | 1 if runs => self.cluster.crash(name),
            0..=2 if !runs => start(&mut self.cluster, name, &mut self.dice),
            3 | 4 => self.cluster.cut(name),
            5 | 6 => self.cluster.heal(name),
            7 => self.cluster.pause(name),
            8 => self.cluster.resume(name),
            9 => self.cluster.expire(name),
            10 => self.cluster.replace_session(name),
            11 => self.cluster.give_session_up(name),
            12 | 13 => self.step_clock(),
            14 => self.cluster.fault(Fault::Lag(SERVER)),
            15 => self.cluster.fault(Fault::CatchUp(SERVER)),
            16 if self.dice.one_in(2) => {
                let keep_data = !self.dice.one_in(3);
                self.cluster.fault(Fault::Restart { keep_data });
            }
            17 => self.lose_answers(name),
            18 => self.meddle(),
            19 => self.cluster.deliver(name, Event::Resign),
            20 => self.cluster.host(name).failing_starts = u32::try_from(self.dice.below(4)).expect("a small number"),
            21 => self.cluster.host(name).stop_takes = self.dice.millis(0, 4_000),
            22 => forge(&mut self.cluster, name, &mut self.dice),
            // Some answers come after they are overdue, or after the connection on which they were sent.
            23 => self.cluster.host(name).answers_take = self.dice.millis(0, 1_500),
            24 => self.cluster.deliver(name, Event::Shutdown),
            25 => {
                let willing = self.dice.one_in(3);
                self.cluster.stand(name, willing);
            }
            26..=28 => wish(&mut self.cluster, &mut self.dice),
            _ => {}
        }
    }

    fn step_clock(&mut self) {
        let millis = self.dice.pick(&[500, 2_000, 3_600_000, -500, -2_000, -3_600_000]);
        if millis < 0 || self.next_step <= self.cluster.now {
            self.cluster.fault(Fault::Step { millis });
        }
        if millis > 0 {
            self.next_step = self.cluster.now + TIMEOUT;
        }
    }

    fn lose_answers(&mut self, name: &'static str) {
        self.cluster.host(name).loses = match self.dice.below(8) {
            0 => Some(|request| matches!(request, Request::Lease(LeaseRequest::Acquire { .. }))),
            1 => Some(|request| matches!(request, Request::Lease(LeaseRequest::Renew { .. }))),
            2 => Some(|request| matches!(request, Request::Lease(LeaseRequest::Release { .. }))),
            3 => Some(|request| matches!(request, Request::Directory(DirectoryRequest::Join { .. }))),
            4 => Some(|request| matches!(request, Request::Directory(DirectoryRequest::Leave { .. }))),
            5 => Some(|_| true),
            6 => Some(|request| matches!(request, Request::Wish(_))),
            _ => None,
        };
    }

    /// An operator does something that can be undone.
    fn meddle(&mut self) {
        let directory = self.dice.pick(&[Directory::Workers, Directory::Coordinators]);
        match self.dice.below(5) {
            0 => self.cluster.operator(Act::DeleteTerm),
            1 => self.cluster.operator(Act::SpoilTerm),
            2 => self.cluster.operator(Act::DeleteSettings),
            3 => {
                let keys: Vec<MemberKey> =
                    self.cluster.members(directory).into_iter().map(|member| member.key).collect();
                if let Some(key) = keys.first() {
                    self.cluster.operator(Act::DeleteMember { directory, key: key.clone() });
                }
            }
            _ => self.cluster.operator(Act::LitterDirectory(directory)),
        }
    }

    /// Ends all faults.
    fn mend(&mut self) {
        self.cluster.fault(Fault::CatchUp(SERVER));
        for name in NODES {
            let host = self.cluster.host(name);
            (host.loses, host.failing_starts, host.answers_take) = (None, 0, Duration::ZERO);
            if host.outcome == Outcome::Runs {
                self.cluster.resume(name);
                self.cluster.heal(name);
            }
            // A pause may have kept a service from stopping in time; its node then ends as soon as it goes on.
            if self.cluster.host(name).outcome != Outcome::Runs {
                start(&mut self.cluster, name, &mut self.dice);
            }
            self.cluster.stand(name, name != NODES[4] || self.seed.is_multiple_of(2));
        }
    }
}
