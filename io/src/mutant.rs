//! Deliberately wrong builds: each mutant breaks one rule where it is implemented, and a judge must notice.
//!
//! Built with `--cfg rolecall_mutants`, this crate breaks the rule named by the variable `ROLECALL_MUTANT`, if it is one of
//! these; the core has its own. In every other build [`Mutant::lives`] is the constant `false`, and no trace of this is left.

macro_rules! mutants {
    ($($(#[$meaning:meta])* $name:ident,)*) => {
        /// Rule that can be broken.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Mutant {
            $($(#[$meaning])* $name,)*
        }

        #[cfg(rolecall_mutants)]
        impl Mutant {
            const ALL: &[Self] = &[$(Self::$name),*];
        }
    };
}

mutants! {
    /// The gate is only in the driver task: a term holds until the driver hears of its end, whatever the clock says.
    GateOnlyInDriver,
    /// The receiver of a leader's request does not compare its epoch.
    EpochNotChecked,
    /// The first fence read from the term record stays the floor.
    FloorNotRaised,
    /// A request that may have been done is sent again, even if it is not idempotent.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "it stands in the HTTP client"))]
    SentRequestRepeated,
    /// Members that leave stay in the list that services see.
    LeaversStayListed,
    /// An application that failed to start counts as running.
    FailedStartServes,
    /// A request waits for its answer without a time limit.
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "it stands in the HTTP client"))]
    AnswerAwaitedForever,
    /// An alarm that is already set is not moved to an earlier time.
    AlarmNotMoved,
}

impl Mutant {
    /// True if this rule is broken in this process.
    #[cfg(not(rolecall_mutants))]
    pub(crate) const fn lives(self) -> bool {
        false
    }

    /// True if this rule is broken in this process.
    #[cfg(rolecall_mutants)]
    pub(crate) fn lives(self) -> bool {
        static LIVING: std::sync::OnceLock<Option<Mutant>> = std::sync::OnceLock::new();
        *LIVING.get_or_init(Self::named) == Some(self)
    }

    #[cfg(rolecall_mutants)]
    fn named() -> Option<Self> {
        let name = std::env::var("ROLECALL_MUTANT").ok()?;
        Self::ALL.iter().copied().find(|mutant| format!("{mutant:?}") == name)
    }
}
