//! Evidence that visitors collect, and the application's own verdict on it at the end of a run.

use core::any::Any;
use core::fmt;
use core::hash::Hasher;
use std::sync::Arc;

use rolecall_core::Time;

/// Evidence of one run. All visitors share it: clones are the same evidence. With
/// [`Simulation::evidence`](super::Simulation::evidence) the simulation asks for the verdict at the end of each run.
pub trait Evidence: Any + Clone + Send + Sync {
    /// Judges the run. In the time spans of `excused` two nodes may have led, because an outsider took a leader's
    /// candidate or session away; only epochs help there.
    ///
    /// # Errors
    /// The first thing that went wrong.
    fn verdict(&self, excused: &[(Time, Time)]) -> Result<(), Wrong>;

    /// Adds all evidence to the fingerprint of the run.
    fn digest(&self, hasher: &mut dyn Hasher);
}

/// A verdict against a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// When it went wrong, in true time.
    pub at: Time,
    /// Reason.
    pub text: String,
}

/// [`Evidence`] as an object.
pub(super) trait ErasedEvidence: Send + Sync {
    fn verdict(&self, excused: &[(Time, Time)]) -> Result<(), Wrong>;
    fn digest(&self, hasher: &mut dyn Hasher);
    fn as_any(&self) -> &dyn Any;
}

impl<E: Evidence> ErasedEvidence for E {
    fn verdict(&self, excused: &[(Time, Time)]) -> Result<(), Wrong> {
        Evidence::verdict(self, excused)
    }

    fn digest(&self, hasher: &mut dyn Hasher) {
        Evidence::digest(self, hasher);
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl fmt::Debug for dyn ErasedEvidence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Evidence")
    }
}

/// The evidence of one run, if its simulation gathers any.
pub(super) type Gathered = Option<Arc<dyn ErasedEvidence>>;
