//! Parameters of a campaign's runs: the nodes, the faults and the length.

use core::time::Duration;

use rolecall_sim::{FaultKind, Plan, Simulation, adder};

use crate::cli::{Application, Failure, Sim};
use crate::{register, search};

/// Parameters that all runs of a campaign share. Only the seed differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scenario {
    pub(super) application: Application,
    pub(super) nodes: u8,
    pub(super) kinds: Vec<FaultKind>,
    pub(super) length: Duration,
    /// Indexes of the plan's faults that are injected. `None`: all of them.
    pub(super) only: Option<Vec<usize>>,
}

/// Default time during which faults are injected in a run.
const LENGTH: Duration = Duration::from_secs(120);

impl Scenario {
    pub(super) fn new(options: &Sim) -> Result<Self, Failure> {
        let minutes = options.world.minutes.map(|minutes| Duration::from_secs(minutes.saturating_mul(60)));
        Ok(Self {
            application: options.application,
            nodes: u8::try_from(options.world.nodes).unwrap_or(u8::MAX),
            kinds: kinds(&options.world.faults)?,
            length: options.length.or(minutes).unwrap_or(LENGTH),
            only: (!options.only.is_empty()).then(|| options.only.clone()),
        })
    }

    /// Simulation of one seed.
    pub(super) fn simulation(&self, seed: u64) -> Simulation {
        let served = match self.application {
            Application::Sums => Simulation::new(adder::node).visitor(adder::visit),
            Application::Search => Simulation::new(search::sim::node).visitor(search::sim::visit),
            Application::Register => register::sim::simulation(),
        };
        served.nodes(self.nodes).seed(seed).length(self.length).plan(self.plan(seed))
    }

    pub(super) fn plan(&self, seed: u64) -> Plan {
        let plan = Plan::random(seed, &self.kinds, self.length);
        match &self.only {
            Some(places) => plan.only(places),
            None => plan,
        }
    }

    /// Indexes of the plan's faults that are injected.
    pub(super) fn places(&self, seed: u64) -> Vec<usize> {
        let count = Plan::random(seed, &self.kinds, self.length).faults().len();
        match &self.only {
            Some(places) => places.iter().copied().filter(|place| *place < count).collect(),
            None => (0..count).collect(),
        }
    }

    /// Command that repeats the run of one seed.
    pub(super) fn command(&self, seed: u64) -> String {
        let faults = if self.kinds == FaultKind::ALL {
            "all".to_owned()
        } else {
            let names: Vec<_> = self.kinds.iter().map(|kind| kind.name()).collect();
            names.join(",")
        };
        let length = length(self.length);
        let only = self.only.as_ref().map(|places| {
            let places: Vec<_> = places.iter().map(usize::to_string).collect();
            format!(" --only {}", places.join(","))
        });
        let only = only.unwrap_or_default();
        let application = match self.application {
            usual if usual == Application::default() => String::new(),
            other => format!(" --application {other}"),
        };
        let nodes = self.nodes;
        let sim = if is_in_repository() { "cargo sim" } else { "rolecall sim" };
        format!("{sim}{application} --seeds {seed} --nodes {nodes} --faults {faults} --length {length}{only}")
    }
}

/// True if cargo started this program. The user then has the alias `cargo sim`, and probably no `rolecall` in the path.
pub(super) fn is_in_repository() -> bool {
    std::env::var_os("CARGO").is_some()
}

/// A length as an option takes it.
pub(super) fn length(length: Duration) -> String {
    match (length.as_secs(), length.subsec_millis()) {
        (seconds, 0) => format!("{seconds}s"),
        (seconds, millis) => format!("{}ms", seconds * 1_000 + u64::from(millis)),
    }
}

fn kinds(names: &[String]) -> Result<Vec<FaultKind>, Failure> {
    if names.is_empty() || names.iter().any(|name| name == "all") {
        return Ok(FaultKind::ALL.to_vec());
    }
    if names == ["none"] {
        return Ok(Vec::new());
    }
    let mut kinds = names
        .iter()
        .map(|name| name.parse())
        .collect::<Result<Vec<FaultKind>, String>>()
        .map_err(|error| Failure::Usage(format!("--faults: {error}, none")))?;
    kinds.sort_unstable();
    kinds.dedup();
    Ok(kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario() -> Scenario {
        let (application, length) = (Application::Sums, Duration::from_secs(60));
        Scenario { application, nodes: 3, kinds: FaultKind::ALL.to_vec(), length, only: None }
    }

    #[test]
    fn the_command_repeats_the_run() {
        assert_eq!(scenario().command(7), "cargo sim --seeds 7 --nodes 3 --faults all --length 60s");
        let smaller = Scenario {
            application: Application::Search,
            kinds: vec![FaultKind::Crash, FaultKind::Cut],
            length: Duration::from_millis(1_500),
            only: Some(vec![2, 5]),
            ..scenario()
        };
        let command =
            "cargo sim --application search --seeds 7 --nodes 3 --faults crash,cut --length 1500ms --only 2,5";
        assert_eq!(smaller.command(7), command);
    }

    #[test]
    fn a_shorter_length_keeps_the_places_of_the_faults() {
        let (long, short) = (scenario(), Scenario { length: Duration::from_secs(30), ..scenario() });
        let count = short.plan(7).faults().len();

        assert!(count > 1 && count < long.plan(7).faults().len());
        assert_eq!(short.plan(7).faults(), &long.plan(7).faults()[..count]);
        let only = Scenario { only: Some(vec![1]), ..short };
        assert_eq!(only.plan(7).faults(), &long.plan(7).faults()[1..2]);
        assert_eq!((only.places(7), long.places(7).len()), (vec![1], long.plan(7).faults().len()));
    }
}
