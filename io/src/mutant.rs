//! Deliberately wrong builds: each mutant breaks one rule, at the place where that rule stands, and a judge has to notice.
//!
//! Built with `--cfg rolecall_mutants`, this crate breaks the rule that the variable `ROLECALL_MUTANT` names, if it is one of
//! these; the core has its own. In every other build [`Mutant::lives`] is the constant `false`, and nothing of this is left.

macro_rules! mutants {
    ($($(#[$meaning:meta])* $name:ident,)*) => {
        /// What can be made wrong.
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
    /// The gate is only in the driver task: a term holds until the driver has heard of its end, whatever the clock says.
    GateOnlyInDriver,
    /// Whoever receives a leader's request does not compare its epoch.
    EpochNotChecked,
    /// What was read first of the term record stays the floor.
    FloorNotRaised,
    /// A request that may have been done is sent again, whatever it does.
    SentRequestRepeated,
    /// Members that leave stay on the list that services see.
    LeaversStayListed,
    /// An application that could not start is taken for one that runs.
    FailedStartServes,
    /// A request waits for its answer without a limit.
    AnswerAwaitedForever,
    /// An alarm that is set is not brought forward.
    AlarmNotMoved,
}

impl Mutant {
    /// Whether this is the rule that is broken.
    #[cfg(not(rolecall_mutants))]
    pub(crate) const fn lives(self) -> bool {
        false
    }

    /// Whether this is the rule that is broken.
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
