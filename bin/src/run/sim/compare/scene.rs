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
            faults: scenario::kinds(&options.world.faults, FaultKind::ALL)?,
            length: options.length.or(minutes).unwrap_or(usual.length),
            ..usual
        };
        Ok(Self { setting, seeds: options.seeds.as_ref().map_or(SEEDS, |seeds| seeds.0.clone()) })
    }

    /// Names of the faults, as on the command line.
    pub(super) fn faults(&self) -> String {
        scenario::names(&self.setting.faults, FaultKind::ALL)
    }

    /// Command that repeats the runs of one election under one seed.
    pub(super) fn command(&self, election: Election, seed: u64) -> String {
        let sim = scenario::program();
        let Setting { nodes, length, .. } = &self.setting;
        let length = scenario::length(*length);
        let faults = self.faults();
        format!(
            "{sim} --compare --election {election} --seeds {seed} --nodes {nodes} --faults {faults} --length {length}"
        )
    }
}
