//! The possible steps of a timed world.

use rolecall_core::Role;
use rolecall_core::store::Server;

use super::step::TimedStep;
use super::{LONGEST, Timed, may_end};
use crate::faults::Fault;
use crate::world::{Process, Road, Service};

impl Timed {
    pub(super) fn possible(&self, steps: &mut Vec<TimedStep>) {
        let due = self.due();
        if due.is_empty() {
            steps.extend(self.recoveries());
            steps.push(TimedStep::Pass);
        } else {
            // The untimed worlds try every order of the events of one instant.
            let tried = if self.lean { 1 } else { due.len() };
            steps.extend(due.into_iter().take(tried));
        }
        for place in 0..self.clients.len().min(usize::from(self.struck)) {
            self.faults_of(place, steps);
        }
        if self.left(Fault::Server) && self.isolated.is_none() {
            let struck = self.world.scale.servers.min(self.struck);
            steps.extend((0..struck).map(|server| TimedStep::Isolate(Server(server))));
        }
        if self.struck > 0 {
            self.faults_of_a_lease(steps);
        }
    }

    /// Steps that must happen before time advances.
    fn due(&self) -> Vec<TimedStep> {
        let mut due = Vec::new();
        if self.isolated.is_some_and(|(_, since)| since >= LONGEST) {
            due.push(TimedStep::Heal { deliver: false });
        }
        if self.lagging.is_some_and(|since| since >= LONGEST) {
            due.push(TimedStep::CatchUp);
        }
        for place in 0..self.clients.len() {
            let host = &self.world.hosts[place];
            match self.clients[place].paused {
                Some(since) if since >= LONGEST => due.push(TimedStep::Resume(place)),
                Some(_) => continue,
                None => {}
            }
            let mut offer = |possible: bool, step: TimedStep| due.extend(possible.then_some(step));
            offer(!host.news.is_empty(), TimedStep::Bring(place, Road::News));
            offer(!host.notices.is_empty(), TimedStep::Bring(place, Road::Notices));
            offer(!host.answers.is_empty(), TimedStep::Bring(place, Road::Answers));
            let moves = matches!(host.service, Some(Service::Starting(_) | Service::Stopping(_)));
            offer(moves, TimedStep::Serve(place));
            offer(self.is_due(place), TimedStep::Wake(place));
        }
        due
    }

    pub(super) fn next_due(&self) -> Option<TimedStep> {
        self.due().first().copied()
    }

    /// Steps that may happen by themselves, now or later, the likeliest first.
    pub(super) fn recoveries(&self) -> Vec<TimedStep> {
        let mut steps = Vec::new();
        if self.isolated.is_some_and(|(_, since)| may_end(since)) {
            steps.extend([TimedStep::Heal { deliver: true }, TimedStep::Heal { deliver: false }]);
        }
        if self.lagging.is_some_and(may_end) {
            steps.push(TimedStep::CatchUp);
        }
        for place in 0..self.clients.len() {
            let (host, client) = (&self.world.hosts[place], &self.clients[place]);
            let mut offer = |possible: bool, step: TimedStep| steps.extend(possible.then_some(step));
            offer(host.process == Process::Crashed, TimedStep::Restart(place));
            offer(client.paused.is_some_and(may_end), TimedStep::Resume(place));
            if client.paused.is_some() || host.node().is_none() {
                continue;
            }
            offer(!host.late.is_empty(), TimedStep::Bring(place, Road::Late));
            offer(host.linked && self.may_leave(client.server), TimedStep::Leave(place));
            for server in self.servers(client.server).filter(|_| !host.linked && may_end(client.away)) {
                offer(true, TimedStep::Connect(place, server));
            }
        }
        steps
    }

    /// The servers to which a client may connect: its last one and, where it makes a difference, the others.
    fn servers(&self, before: Server) -> impl Iterator<Item = Server> {
        let differ = self.left(Fault::Server) || self.is_isolated(before);
        let others = (0..self.world.scale.servers).map(Server).filter(move |other| differ && *other != before);
        let isolated = self.isolated.map(|(server, _)| server);
        [before].into_iter().chain(others).filter(move |server| Some(*server) != isolated)
    }

    fn may_leave(&self, server: Server) -> bool {
        self.isolated.is_some_and(|(isolated, since)| isolated == server && may_end(since))
    }

    fn is_isolated(&self, server: Server) -> bool {
        self.isolated.is_some_and(|(isolated, _)| isolated == server)
    }

    fn faults_of(&self, place: usize, steps: &mut Vec<TimedStep>) {
        let (host, client) = (&self.world.hosts[place], &self.clients[place]);
        let Some(node) = host.node() else { return };
        let mut offer = |fault: Fault, possible: bool, step: TimedStep| {
            steps.extend((possible && self.left(fault)).then_some(step));
        };
        let alive = host.linked && client.unaware.is_none();
        let hears = !host.answers.is_empty() && client.paused.is_none();
        offer(Fault::Crash, true, TimedStep::Crash(place));
        offer(Fault::Cut, alive, TimedStep::Cut(place));
        offer(Fault::Cut, alive, TimedStep::CutSilently(place));
        offer(Fault::Pause, client.paused.is_none(), TimedStep::Pause(place));
        offer(Fault::Late, hears, TimedStep::Delay(place));
        offer(Fault::Lost, hears, TimedStep::Lose(place));
        offer(Fault::Lost, hears, TimedStep::GiveUp(place));
        offer(Fault::Resign, node.role() == Role::Leader && client.paused.is_none(), TimedStep::Resign(place));
        offer(Fault::Shutdown, !host.stopping && client.paused.is_none(), TimedStep::Shutdown(place));
    }

    /// Faults of a store that keeps a lease.
    fn faults_of_a_lease(&self, steps: &mut Vec<TimedStep>) {
        let mut offer = |fault: Fault, possible: bool, step: TimedStep| {
            steps.extend((possible && self.left(fault)).then_some(step));
        };
        offer(Fault::Clock, self.stepped.is_none(), TimedStep::StepClock { forward: true });
        offer(Fault::Clock, true, TimedStep::StepClock { forward: false });
        offer(Fault::Restart, true, TimedStep::Reboot { keep_data: true });
        offer(Fault::Restart, true, TimedStep::Reboot { keep_data: false });
        offer(Fault::Lag, self.lagging.is_none(), TimedStep::FallBehind);
    }

    fn left(&self, fault: Fault) -> bool {
        self.world.faults.left(fault) > 0
    }
}
