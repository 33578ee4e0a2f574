//! The promises, each with its name.

use core::fmt;

/// A broken promise of the design. It is a fault of this code, as opposed to a fault of the world, which is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Violation {
    /// P1: two nodes could begin a leader-only act at the same time.
    TwoLeaders,
    /// P2: a leader does not own the first candidate in its current session, or does not hold the lease under its token.
    LeaderWithoutCandidate,
    /// P3: a service was started while another ran, or ended twice.
    ServicesOverlap,
    /// P3: a service outlasted its drain and its grace.
    StopOverran,
    /// P4: an entry was created after a stop was asked for.
    CreateAfterStop,
    /// P4: the session was closed while a create could still happen, before the limit.
    ClosedTooEarly,
    /// P5: at rest a session owns more than one candidate.
    SpareCandidate,
    /// P6: a healthy cluster has no leader.
    NoLeader,
    /// P7: a waiter at rest does not watch exactly its direct predecessor, or has no time to look at the lease again.
    WrongWatch,
    /// P8: an answer or notice of an earlier attempt, session or connection changed the node's beliefs.
    StaleBelieved,
    /// P9: at rest, the registries do not say what the node does, or a leader is listed as a worker.
    RegistryDisagrees,
    /// P10: a difference does not lead from one snapshot to the next.
    DifferenceBroken,
    /// P11: more writes than a disturbance may cause: [`WRITES_PER_DISTURBANCE`](crate::observe::NodeJudge::WRITES_PER_DISTURBANCE).
    WriteStorm,
    /// A write was sent while another of its kind could still happen.
    WriteInDoubt,
    /// An entry was created that existed, or may have existed.
    CreatedTwice,
    /// A node gave up a place in the queue that it should have kept.
    PlaceGivenUp,
    /// A candidate of an earlier session, or an attempt at a lease that is no term, is not being given back.
    FormerLeft,
    /// P15: a leader answered a wish and did otherwise, answered one that was not its own, or ended its term for none.
    WishMishandled,
    /// The claim of a term was given up before its service had stopped.
    ReleasedTooEarly,
    /// P12: an epoch did not rise.
    EpochNotRising,
    /// P13: a term outlived its validity.
    OutlivedValidity,
    /// P14: a request of a stale term was accepted.
    StaleAccepted,
    /// P14: a node believed a newer fence that neither the term record nor its own claim has shown.
    ForgedBelieved,
    /// An observer stands, serves or registers, or a node registers that should not be listed.
    PartNotGiven,
    /// A node took a role before the settings of the cluster were agreed upon.
    Unsettled,
    /// A machine waits for nothing although it is not where it should be.
    Stuck,
}

/// Classes of violations, by a node's reaction to one of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Two nodes could lead, or two services run at once. The node halts.
    Safety,
    /// The node is stuck, or leaves something untidy. It ends its session and starts afresh, since the same mistake on
    /// every node at once must not take a cluster down.
    Tidiness,
}

impl Violation {
    /// The class of this violation.
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
            | Self::ForgedBelieved
            | Self::ReleasedTooEarly => Class::Safety,
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
            | Self::WishMishandled
            | Self::PartNotGiven
            | Self::Unsettled
            | Self::Stuck => Class::Tidiness,
        }
    }

    /// Number of the promise in the design, and its text.
    #[must_use]
    pub const fn promise(self) -> &'static str {
        match self {
            Self::TwoLeaders => "P1: no two nodes begin a leader-only act in overlapping terms",
            Self::LeaderWithoutCandidate => {
                "P2: a leader owns the first candidate, or the lease, in its current session"
            }
            Self::ServicesOverlap => {
                "P3: every start of a service is followed by exactly one end before another starts"
            }
            Self::StopOverran => "P3: a stop ends within its drain and a grace",
            Self::CreateAfterStop => "P4: nothing is created after a stop was asked for",
            Self::ClosedTooEarly => "P4: the session is closed only after its creates have ended, or at the limit",
            Self::SpareCandidate => "P5: at rest a session owns at most one candidate",
            Self::NoLeader => "P6: with a healthy store and a healthy candidate there is a leader in bounded time",
            Self::WrongWatch => {
                "P7: at rest a waiter watches exactly its direct predecessor, or has a time to look at the lease"
            }
            Self::StaleBelieved => {
                "P8: no answer of an earlier attempt, session or connection changes what a node believes"
            }
            Self::RegistryDisagrees => "P9: at rest the registries say what the node does",
            Self::DifferenceBroken => "P10: the differences applied to the previous snapshot give the new one",
            Self::WriteStorm => "P11: at most six writes for each disturbance",
            Self::WriteInDoubt => {
                "no write follows one of its kind with an unknown outcome before a sync and then a listing"
            }
            Self::CreatedTwice => "an entry that may exist is read before it is created",
            Self::PlaceGivenUp => "the lowest of a node's candidates is kept until the node withdraws",
            Self::FormerLeft => "candidates of earlier sessions, and attempts that are no term, are given back",
            Self::ReleasedTooEarly => "the claim of a term is given up only after its service has stopped",
            Self::EpochNotRising => "P12: the epoch rises strictly from one term to the next",
            Self::OutlivedValidity => "P13: stepping down needs no answer from anyone",
            Self::StaleAccepted => "P14: requests of an older epoch or another incarnation are refused",
            Self::WishMishandled => "P15: a wish is obeyed or reported",
            Self::ForgedBelieved => "P14: a newer epoch is not believed until the term record shows it",
            Self::PartNotGiven => "an observer takes no role, and a node that should not be listed is not",
            Self::Unsettled => "nothing is created before the settings of the cluster are agreed upon",
            Self::Stuck => "a quiet machine has a reason to be quiet",
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.promise())
    }
}

impl core::error::Error for Violation {}
