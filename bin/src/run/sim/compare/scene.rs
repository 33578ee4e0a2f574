//! Parameters of a comparison.

use core::ops::RangeInclusive;

use rolecall_core::testing::comparison::{Election, FaultKind, Setting};

use super::super::{SEEDS, scenario};
use crate::cli::{Failure, Sim};

/// Parameters that all elections of a comparison share.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) setting: Setting,
    pub(super) seeds: RangeInclusive<u64>,
}

impl Scene {
    pub(super) fn new(options: &Sim) -> Result<Self, Failure> {
        let usual = Setting::default();
        let minutes = options.world.minutes.map(|minutes| core::time::Duration::from_secs(minutes.saturating_mul(60)));
        let setting = Setting {
            nodes: u8::try_from(options.world.nodes).unwrap_or(u8::MAX),
            faults: kinds(&options.world.faults)?,
            length: options.length.or(minutes).unwrap_or(usual.length),
            ..usual
        };
        Ok(Self { setting, seeds: options.seeds.as_ref().map_or(SEEDS, |seeds| seeds.0.clone()) })
    }

    /// Names of the faults, as on the command line.
    pub(super) fn faults(&self) -> String {
        match self.setting.faults.as_slice() {
            [] => "none".to_owned(),
            kinds if kinds == FaultKind::ALL => "all".to_owned(),
            kinds => kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(","),
        }
    }

    /// Command that repeats the runs of one election under one seed.
    pub(super) fn command(&self, election: Election, seed: u64) -> String {
        let sim = if scenario::is_in_repository() { "cargo sim" } else { "rolecall sim" };
        let Setting { nodes, length, .. } = &self.setting;
        let length = scenario::length(*length);
        let faults = self.faults();
        format!(
            "{sim} --compare --election {election} --seeds {seed} --nodes {nodes} --faults {faults} --length {length}"
        )
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
        .map_err(|error| Failure::Usage(format!("--faults: with --compare, {error}, none")))?;
    kinds.sort_unstable();
    kinds.dedup();
    Ok(kinds)
}
