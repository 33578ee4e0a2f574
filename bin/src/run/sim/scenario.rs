//! Parameters of a campaign's runs: the nodes, the faults and the length.

use core::fmt::Display;
use core::str::FromStr;
use core::time::Duration;

use rolecall::Family;
use rolecall_sim::{FaultKind, Plan, Simulation, adder};

use crate::cli::{Application, Failure, Sim};
use crate::{register, search_sim};

/// Parameters that all runs of a campaign share. Only the seed differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scenario {
    pub(super) application: Application,
    pub(super) election: Family,
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
        let election = election(options.election.as_deref())?;
        Ok(Self {
            application: options.application,
            election,
            nodes: u8::try_from(options.world.nodes).unwrap_or(u8::MAX),
            kinds: of_family(kinds(&options.world.faults, &FaultKind::of(election))?, election)?,
            length: options.length.or(minutes).unwrap_or(LENGTH),
            only: (!options.only.is_empty()).then(|| options.only.clone()),
        })
    }

    /// Simulation of one seed.
    pub(super) fn simulation(&self, seed: u64) -> Simulation {
        let served = match self.application {
            Application::Sums => Simulation::new(adder::node).visitor(adder::visit),
            Application::Search => Simulation::new(search_sim::node).visitor(search_sim::visit),
            Application::Register => register::sim::simulation(),
        };
        served.election(self.election).nodes(self.nodes).seed(seed).length(self.length).plan(self.plan(seed))
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
        format!("{} {}", program(), self.arguments(seed))
    }

    fn arguments(&self, seed: u64) -> String {
        let faults = names(&self.kinds, &FaultKind::of(self.election));
        let length = length(self.length);
        let only = self.only.as_ref().map(|places| {
            let places: Vec<_> = places.iter().map(usize::to_string).collect();
            format!(" --only {}", places.join(","))
        });
        let only = only.unwrap_or_default();
        let application = match self.application {
            usual if usual == Application::default() => String::new(),
            other => format!("--application {other} "),
        };
        let election = match self.election {
            Family::Queue => "",
            Family::Lease => "--election lease ",
        };
        let nodes = self.nodes;
        format!("{application}{election}--seeds {seed} --nodes {nodes} --faults {faults} --length {length}{only}")
    }
}

/// Command that a user types before the arguments. If cargo started this program, that is the alias `cargo sim`, since
/// there is probably no `rolecall` in the path.
pub(super) fn program() -> &'static str {
    if std::env::var_os("CARGO").is_some() { "cargo sim" } else { "rolecall sim" }
}

/// A length as an option takes it.
pub(super) fn length(length: Duration) -> String {
    match (length.as_secs(), length.subsec_millis()) {
        (seconds, 0) => format!("{seconds}s"),
        (seconds, millis) => format!("{}ms", seconds * 1_000 + u64::from(millis)),
    }
}

/// Family of the election by its name.
fn election(name: Option<&str>) -> Result<Family, Failure> {
    match name {
        None | Some("queue") => Ok(Family::Queue),
        Some("lease") => Ok(Family::Lease),
        Some(other) => Err(Failure::Usage(format!(
            "--election: nodes elect by `queue` or `lease`, not `{other}`; with --compare the textbook's elections are accepted too"
        ))),
    }
}

/// Refuses kinds of faults that a store of this family does not have.
fn of_family(kinds: Vec<FaultKind>, election: Family) -> Result<Vec<FaultKind>, Failure> {
    match kinds.iter().find(|kind| !kind.can_happen_on(election)) {
        None => Ok(kinds),
        Some(kind) => {
            let accepted: Vec<_> = FaultKind::of(election).into_iter().map(FaultKind::name).collect();
            let accepted = accepted.join(", ");
            Err(Failure::Usage(format!(
                "--faults: `{kind}` does not happen with --election {election}; accepted: all, {accepted}, none"
            )))
        }
    }
}

/// Names of kinds of faults, as on the command line.
pub(super) fn names<K: Display + PartialEq>(kinds: &[K], all: &[K]) -> String {
    match kinds {
        [] => "none".to_owned(),
        kinds if kinds == all => "all".to_owned(),
        kinds => kinds.iter().map(K::to_string).collect::<Vec<_>>().join(","),
    }
}

/// Kinds of faults by their `names`; without names, or with `all`, every kind.
pub(super) fn kinds<K>(names: &[String], all: &[K]) -> Result<Vec<K>, Failure>
where
    K: Clone + Ord + FromStr<Err = String>,
{
    if names.is_empty() || names.iter().any(|name| name == "all") {
        return Ok(all.to_vec());
    }
    if names == ["none"] {
        return Ok(Vec::new());
    }
    let mut kinds = names
        .iter()
        .map(|name| name.parse())
        .collect::<Result<Vec<K>, String>>()
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
        let (election, kinds) = (Family::Queue, FaultKind::of(Family::Queue));
        Scenario { application, election, nodes: 3, kinds, length, only: None }
    }

    #[test]
    fn the_arguments_repeat_the_run() {
        assert_eq!(scenario().arguments(7), "--seeds 7 --nodes 3 --faults all --length 60s");
        let calm = Scenario { kinds: Vec::new(), ..scenario() };
        assert_eq!(calm.arguments(7), "--seeds 7 --nodes 3 --faults none --length 60s");
        let smaller = Scenario {
            application: Application::Search,
            kinds: vec![FaultKind::Crash, FaultKind::Cut],
            length: Duration::from_millis(1_500),
            only: Some(vec![2, 5]),
            ..scenario()
        };
        let arguments = "--application search --seeds 7 --nodes 3 --faults crash,cut --length 1500ms --only 2,5";
        assert_eq!(smaller.arguments(7), arguments);
        let on_lease = Scenario { election: Family::Lease, kinds: FaultKind::of(Family::Lease), ..scenario() };
        assert_eq!(on_lease.arguments(7), "--election lease --seeds 7 --nodes 3 --faults all --length 60s");
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
