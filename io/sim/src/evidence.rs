//! Evidence that visitors collect, and the application's own verdict on it once a run is over.

use core::any::Any;
use core::fmt;
use core::hash::Hasher;
use std::sync::Arc;

use rolecall_core::Time;

/// Evidence of one run, shared by all its visitors: clones are the same evidence. A simulation that is told of it by
/// [`Simulation::evidence`](super::Simulation::evidence) asks for the verdict at the end of each run.
pub trait Evidence: Any + Clone + Send + Sync {
    /// Says what is wrong, if anything is. In the time spans of `excused` two nodes may have led, since an outsider took a
    /// leader's candidate or session away; only epochs help there.
    ///
    /// # Errors
    /// The first thing that is wrong.
    fn verdict(&self, excused: &[(Time, Time)]) -> Result<(), Wrong>;

    /// Adds all of it to the fingerprint of the run.
    fn digest(&self, hasher: &mut dyn Hasher);
}

/// A verdict against a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// When it went wrong, in true time.
    pub at: Time,
    /// Why it is wrong.
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
