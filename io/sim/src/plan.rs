//! The faults of one run, and their times.

use core::time::Duration;

use super::fault::{End, Fault, FaultKind};
use rolecall::{Entropy, SeededEntropy};

/// Faults with the times at which they begin, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    faults: Vec<(Duration, Fault)>,
}

impl Plan {
    /// No faults.
    #[must_use]
    pub fn calm() -> Self {
        Self::default()
    }

    /// Adds `fault`, which begins at `at`.
    #[must_use]
    pub fn then(mut self, at: Duration, fault: Fault) -> Self {
        self.faults.push((at, fault));
        self.faults.sort_by_key(|(at, _)| *at);
        self
    }

    /// Random faults of these kinds until `length`, after a few seconds in which the cluster starts up. A seed gives
    /// the same plan whatever the number of nodes.
    #[must_use]
    pub fn random(seed: u64, kinds: &[FaultKind], length: Duration) -> Self {
        let mut plan = Self::default();
        let mut dice = Dice(SeededEntropy::new(seed ^ 0x706c_616e));
        let mut at = Duration::from_secs(3) + dice.up_to(Duration::from_secs(3));
        while at < length && !kinds.is_empty() {
            let kind = kinds[dice.below(kinds.len())];
            plan.faults.push((at, dice.fault(kind)));
            let pause = [20, 300, 2_000, 8_000, 20_000][dice.below(5)];
            at += dice.up_to(Duration::from_millis(pause));
        }
        plan
    }

    /// Keeps only the faults at these places of the plan.
    #[must_use]
    pub fn only(&self, places: &[usize]) -> Self {
        Self { faults: places.iter().filter_map(|place| self.faults.get(*place)).copied().collect() }
    }

    /// Keeps only the faults that begin before `end`.
    #[must_use]
    pub fn until(&self, end: Duration) -> Self {
        Self { faults: self.faults.iter().copied().filter(|(at, _)| *at < end).collect() }
    }

    /// The faults, in the order of their times.
    #[must_use]
    pub fn faults(&self) -> &[(Duration, Fault)] {
        &self.faults
    }
}

struct Dice(SeededEntropy);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.0.bits() % bound).unwrap_or(0)
    }

    fn up_to(&mut self, longest: Duration) -> Duration {
        let longest = u64::try_from(longest.as_millis()).unwrap_or(u64::MAX).max(1);
        Duration::from_millis(self.0.bits() % longest + 1)
    }

    /// A length far shorter than a session, about as long, or longer.
    fn length(&mut self) -> Duration {
        let longest = [50, 500, 4_000, 6_000, 15_000][self.below(5)];
        self.up_to(Duration::from_millis(longest))
    }

    fn node(&mut self) -> u8 {
        u8::try_from(self.below(60)).unwrap_or(0)
    }

    fn server(&mut self) -> u8 {
        u8::try_from(self.below(60)).unwrap_or(0)
    }

    fn ends(&mut self) -> (End, End) {
        let (node, other) = (End::Node(self.node()), End::Node(self.node()));
        match self.below(6) {
            0 => (node, End::Store),
            1 => (End::Store, node),
            2 => (node, End::Server(self.server())),
            3 => (End::Server(self.server()), node),
            _ => (node, other),
        }
    }

    fn fault(&mut self, kind: FaultKind) -> Fault {
        let (node, length) = (self.node(), self.length());
        match kind {
            FaultKind::Crash => Fault::Crash { node, down: length },
            FaultKind::PowerLoss => Fault::PowerLoss { node, down: length },
            FaultKind::Pause => Fault::Pause { node, length },
            FaultKind::ClockRate => Fault::ClockRate { node, ppm: [-9_900, -1_000, 0, 1_000, 9_900][self.below(5)] },
            FaultKind::Partition => {
                let (from, to) = self.ends();
                Fault::Partition { from, to, length }
            }
            FaultKind::OneWay => {
                let (from, to) = self.ends();
                Fault::OneWay { from, to, length }
            }
            FaultKind::Stall => {
                let (from, to) = self.ends();
                Fault::Stall { from, to, length }
            }
            FaultKind::SlowLink => {
                let latency = self.up_to(Duration::from_millis(1_500));
                Fault::SlowLink { node, latency, length }
            }
            FaultKind::LostAnswers => Fault::LostAnswers { node, writes_only: self.below(2) == 0, length },
            FaultKind::LateAnswers => Fault::LateAnswers { node, by: self.up_to(Duration::from_secs(3)), length },
            FaultKind::Lag => Fault::Lag { server: self.server(), length },
            FaultKind::Expire => Fault::Expire { node },
            FaultKind::NewSession => Fault::NewSession { node },
            FaultKind::SessionGivenUp => Fault::SessionGivenUp { node },
            FaultKind::Move => Fault::Move { node },
            FaultKind::Cut => Fault::Cut { server: self.server(), length, deliver: self.below(2) == 0 },
            FaultKind::StoreRestart => Fault::StoreRestart,
            FaultKind::DataLoss => Fault::DataLoss,
            FaultKind::DeleteCandidate => Fault::DeleteCandidate { node },
            FaultKind::DeleteMember => Fault::DeleteMember { node },
            FaultKind::FailStarts => Fault::FailStarts { node, times: u8::try_from(1 + self.below(4)).unwrap_or(1) },
            FaultKind::SlowStop => Fault::SlowStop { node, takes: self.up_to(Duration::from_secs(2)), length },
            FaultKind::Shutdown => Fault::Shutdown { node, down: length },
            FaultKind::Resign => Fault::Resign { node },
            FaultKind::Clock => {
                let steps = [500, 2_000, 3_600_000, -500, -2_000, -3_600_000];
                Fault::Clock { millis: steps[self.below(steps.len())] }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_its_plan_again_and_another_seed_another() {
        let plan = |seed| Plan::random(seed, FaultKind::ALL, Duration::from_secs(600));

        assert_eq!(plan(7), plan(7));
        assert_ne!(plan(7), plan(8));
        assert!(plan(7).faults().is_sorted_by_key(|(at, _)| *at));
        assert!(plan(7).faults().len() > 50);
    }

    #[test]
    fn a_plan_can_be_thinned_out() {
        let plan = Plan::random(7, &[FaultKind::Crash], Duration::from_secs(600));

        assert_eq!(plan.only(&[0, 2]).faults(), [plan.faults()[0], plan.faults()[2]]);
        assert!(plan.until(Duration::from_secs(60)).faults().iter().all(|(at, _)| at.as_secs() < 60));
        assert!(Plan::random(7, &[], Duration::from_secs(600)).faults().is_empty());
    }
}
