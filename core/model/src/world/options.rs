//! The possible steps of an untimed world.

use rolecall_core::{Directory, Role, Time, Timer};

use super::{Host, News, Process, Service, Step, World};
use crate::faults::Fault;

impl World {
    /// Lists every step that is possible now, in a fixed order.
    pub(crate) fn options(&self, steps: &mut Vec<Step>) {
        if self.breach.is_some() {
            return;
        }
        for place in 0..self.hosts.len() {
            self.deliveries(place, steps);
            self.time(place, steps);
        }
        steps.extend((0..self.orphans().len()).map(Step::EndOrphan));
        match (self.may_lapse(), self.lease_is_idle()) {
            (true, true) => steps.push(Step::EndLease),
            (true, false) if self.left(Fault::Lapse) => steps.push(Step::Lapse),
            (true | false, _) => {}
        }
        for place in 0..self.hosts.len() {
            self.faults_of(place, steps);
        }
        self.operator(steps);
    }

    /// Steps that happen by themselves: arrivals, connections, services that start and stop.
    pub(crate) fn deliveries(&self, place: usize, steps: &mut Vec<Step>) {
        let host = &self.hosts[place];
        let mut offer = |possible: bool, step: Step| steps.extend(possible.then_some(step));
        offer(!host.news.is_empty(), Step::News(place));
        offer(!host.notices.is_empty(), Step::Notice(place));
        offer(!host.answers.is_empty(), Step::Answer(place));
        offer(!host.late.is_empty(), Step::LateAnswer(place));
        offer(matches!(host.service, Some(Service::Starting(_) | Service::Stopping(_))), Step::Serve(place));
        offer(!host.sent.is_empty(), Step::Take(place));
        offer(host.may_connect() && !host.hears_of_a_session(), Step::Connect(place));
    }

    fn time(&self, place: usize, steps: &mut Vec<Step>) {
        let host = &self.hosts[place];
        if host.process == Process::Crashed {
            steps.push(Step::Restart(place));
        }
        let still = self.hosts.iter().all(Host::is_quiet) || !self.lean;
        match host.wake() {
            Some(Wake::Free) if host.linked && !still => {}
            Some(Wake::Free) => steps.push(Step::Wake(place)),
            Some(Wake::Costs(Fault::Overdue)) if self.left(Fault::Overdue) => steps.push(Step::WakeOverdue(place)),
            Some(Wake::Costs(Fault::Haste)) if self.left(Fault::Haste) => steps.push(Step::WakeEarly(place)),
            Some(Wake::Costs(_)) | None => {}
        }
    }

    fn faults_of(&self, place: usize, steps: &mut Vec<Step>) {
        let host = &self.hosts[place];
        let Some(node) = host.node() else { return };
        let mut offer = |fault: Fault, possible: bool, step: Step| {
            steps.extend((possible && self.left(fault)).then_some(step));
        };
        offer(Fault::Crash, true, Step::Crash(place));
        offer(Fault::Expiry, host.session.is_some_and(|session| host.may_lose(session)), Step::Expire(place));
        offer(Fault::Cut, host.linked, Step::Cut(place));
        let any_late = host.linked && self.left(Fault::Late) && !host.answers.is_empty();
        offer(Fault::Cut, any_late, Step::CutLate(place));
        offer(Fault::Haste, host.may_connect() && host.hears_of_a_session(), Step::ConnectEarly(place));
        offer(Fault::Lost, !host.answers.is_empty(), Step::Lose(place));
        offer(Fault::Lost, !host.answers.is_empty(), Step::GiveUp(place));
        offer(Fault::Renewal, host.session.is_some(), Step::Renew(place));
        offer(Fault::Resign, node.role() == Role::Leader, Step::Resign(place));
        offer(Fault::Shutdown, !host.stopping, Step::Shutdown(place));
        offer(Fault::Failure, matches!(host.service, Some(Service::Starting(_))), Step::Fail(place));
    }

    fn operator(&self, steps: &mut Vec<Step>) {
        if self.left(Fault::Candidate) {
            steps.extend((0..self.store.contenders().len()).map(Step::DeleteCandidate));
        }
        for directory in [Directory::Workers, Directory::Coordinators] {
            if self.left(Fault::Member) {
                let count = self.store.members(directory).count();
                steps.extend((0..count).map(|nth| Step::DeleteMember(directory, nth)));
            }
        }
    }

    fn left(&self, fault: Fault) -> bool {
        self.faults.left(fault) > 0
    }
}

/// The price of letting time pass for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wake {
    Free,
    Costs(Fault),
}

impl Host {
    fn may_connect(&self) -> bool {
        !self.linked && self.node().is_some()
    }

    /// True while news of an earlier connection is still under way. A client hardly ever has its next connection before
    /// that news arrives.
    fn hears_of_a_session(&self) -> bool {
        self.news.iter().any(|news| matches!(news, News::Up(_)))
    }

    fn wake(&self) -> Option<Wake> {
        let (_, timer) = self.node()?.next_deadline().filter(|(at, _)| *at < Time::MAX)?;
        let quiet_or = |fault| if self.is_quiet() { Wake::Free } else { Wake::Costs(fault) };
        match timer {
            Timer::Retry | Timer::Beat | Timer::Look | Timer::HoldOff | Timer::Identity => Some(quiet_or(Fault::Haste)),
            Timer::Answer => Some(quiet_or(Fault::Overdue)),
            Timer::Validity if self.linked => Some(quiet_or(Fault::Haste)),
            Timer::Validity => Some(Wake::Free),
            Timer::Shutdown => (!self.linked).then_some(Wake::Free),
            // Services always start and stop in time, nothing is relisted by itself, a fresh start is a finding, and settings
            // are never denied.
            Timer::Service | Timer::Relist | Timer::FreshStart | Timer::Settings => None,
        }
    }
}
