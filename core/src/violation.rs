//! The promises, each by its name.

use core::fmt;

/// A promise of the design that does not hold: a fault of ours, as opposed to one of the world, which is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Violation {
    /// P1: two nodes could begin a leader-only act at the same time.
    TwoLeaders,
    /// P2: a leader does not own the first candidate in its current session.
    LeaderWithoutCandidate,
    /// P3: a service was started while another ran, or ended twice.
    ServicesOverlap,
    /// P3: a service outlasted its drain and the grace after it.
    StopOverran,
    /// P4: something was created after a stop was asked for.
    CreateAfterStop,
    /// P4: the session was closed while a create could still happen, before the limit.
    ClosedTooEarly,
    /// P5: at rest a session owns more than one candidate.
    SpareCandidate,
    /// P6: a healthy cluster has no leader.
    NoLeader,
    /// P7: a waiter at rest does not watch exactly its direct predecessor.
    WrongWatch,
    /// P8: something of an earlier attempt, session or connection changed what is believed.
    StaleBelieved,
    /// P9: at rest the registries do not say what the node does, or a leader is listed as a worker.
    RegistryDisagrees,
    /// P10: a difference does not lead from one snapshot to the next.
    DifferenceBroken,
    /// P11: more writes than a disturbance may cause: [`WRITES_PER_DISTURBANCE`](crate::observe::Observer::WRITES_PER_DISTURBANCE).
    WriteStorm,
    /// A write was sent while another of its kind could still happen.
    WriteInDoubt,
    /// Something was created that was there, or may have been.
    CreatedTwice,
    /// A place in the queue was given up that was to be kept.
    PlaceGivenUp,
    /// What an earlier session left in the queue is not being deleted.
    FormerLeft,
    /// P12: an epoch did not rise.
    EpochNotRising,
    /// P13: a term outlived its validity.
    OutlivedValidity,
    /// P14: a request of a stale term was accepted.
    StaleAccepted,
    /// P14: a newer token was believed that neither the term record nor an own claim has shown.
    ForgedBelieved,
    /// A node that is to look on stands, serves or registers, or one registers that is not to be listed.
    PartNotGiven,
    /// A node stood for something before the settings of the cluster were agreed upon.
    Unsettled,
    /// A machine waits for nothing and is not where it should be.
    Stuck,
}

/// Kinds of violations, by what a node does about one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Two nodes could lead, or be served at once: the node halts.
    Safety,
    /// The node gets stuck, or leaves something untidy. It ends its session and starts afresh, since the same slip on every
    /// node at once must not take a cluster down.
    Tidiness,
}

impl Violation {
    /// The kind of this violation.
    #[must_use]
    pub const fn class(self) -> Class {
        match self {
            Self::TwoLeaders
            | Self::LeaderWithoutCandidate
            | Self::ServicesOverlap
            | Self::StopOverran
            | Self::StaleBelieved
            | Self::EpochNotRising
            | Self::OutlivedValidity
            | Self::StaleAccepted
            | Self::ForgedBelieved => Class::Safety,
            Self::CreateAfterStop
            | Self::ClosedTooEarly
            | Self::SpareCandidate
            | Self::NoLeader
            | Self::WrongWatch
            | Self::RegistryDisagrees
            | Self::DifferenceBroken
            | Self::WriteStorm
            | Self::WriteInDoubt
            | Self::CreatedTwice
            | Self::PlaceGivenUp
            | Self::FormerLeft
            | Self::PartNotGiven
            | Self::Unsettled
            | Self::Stuck => Class::Tidiness,
        }
    }

    /// The promise's number in the design, with its text.
    #[must_use]
    pub const fn promise(self) -> &'static str {
        match self {
            Self::TwoLeaders => "P1: no two nodes begin a leader-only act in overlapping terms",
            Self::LeaderWithoutCandidate => "P2: a leader owns the first candidate in its current session",
            Self::ServicesOverlap => {
                "P3: every start of a service is followed by exactly one end before another starts"
            }
            Self::StopOverran => "P3: a stop ends within its drain and a grace",
            Self::CreateAfterStop => "P4: after a stop was asked for no create is emitted",
            Self::ClosedTooEarly => "P4: the session is closed only after its creates have ended, or at the limit",
            Self::SpareCandidate => "P5: at rest a session owns at most one candidate",
            Self::NoLeader => "P6: with a healthy store and a healthy candidate there is a leader in bounded time",
            Self::WrongWatch => "P7: at rest a waiter watches exactly its direct predecessor",
            Self::StaleBelieved => "P8: nothing of an earlier attempt, session or connection changes what is believed",
            Self::RegistryDisagrees => "P9: at rest the registries say what the node does",
            Self::DifferenceBroken => "P10: the differences applied to the previous snapshot give the new one",
            Self::WriteStorm => "P11: at most six writes for each disturbance",
            Self::WriteInDoubt => {
                "a write of unknown outcome is followed by none of its kind before a sync and a listing after it"
            }
            Self::CreatedTwice => "what may be there already is read before it is created",
            Self::PlaceGivenUp => {
                "of several own candidates the lowest is kept, and it goes only when its node withdraws"
            }
            Self::FormerLeft => "what an earlier session left in the queue is deleted by its name",
            Self::EpochNotRising => "P12: the epoch rises strictly from one term to the next",
            Self::OutlivedValidity => "P13: stepping down needs no answer from anyone",
            Self::StaleAccepted => "P14: a request of an older epoch or another incarnation is refused",
            Self::ForgedBelieved => "P14: a newer epoch that is shown is not believed until the term record says so",
            Self::PartNotGiven => "an observer stands for nothing, and who is not to be listed is not",
            Self::Unsettled => "nothing is created before the settings of the cluster are agreed upon",
            Self::Stuck => "a quiet machine has a reason",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.promise())
    }
}

impl core::error::Error for Violation {}
