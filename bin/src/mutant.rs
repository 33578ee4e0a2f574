//! Deliberately wrong builds: each mutant breaks one rule, at the place where that rule stands, and a judge has to notice.
//!
//! Built with `--cfg rolecall_mutants`, this crate breaks the rule that the variable `ROLECALL_MUTANT` names, if it is one of
//! these; the core and the library have their own. In every other build [`Mutant::lives`] is the constant `false`, and nothing
//! of this is left.

macro_rules! mutants {
    ($($(#[$meaning:meta])* $name:ident,)*) => {
        /// A rule that can be broken.
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
    /// A worker keeps the first share that it was told of, whatever the leader says later.
    FirstShareKept,
    /// A leader divides the shards among the workers that it saw first.
    FirstWorkersKept,
    /// A worker never lets go of a shard.
    NothingLetGo,
}

impl Mutant {
    /// True if this is the rule that is broken.
    #[cfg(not(rolecall_mutants))]
    pub(crate) const fn lives(self) -> bool {
        false
    }

    /// True if this is the rule that is broken.
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
