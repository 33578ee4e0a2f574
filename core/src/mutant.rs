//! Deliberately wrong builds: each mutant breaks one rule, at the place where that rule stands, and a judge has to notice.
//!
//! Built with `--cfg rolecall_mutants`, the core breaks the rule that the variable `ROLECALL_MUTANT` names, and `.ci/mutants`
//! shows which judge catches it. A name that is none of these is left to other crates; that there is one by it, `.ci/mutants`
//! sees to. In every other build [`Mutant::lives`] is the constant `false`, and nothing of this is left.

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
    /// An answer counts for whatever is pending in its slot, also one of an earlier attempt, session or connection.
    StaleAnswerAccepted,
    /// A create of an earlier session that is answered late counts as one of this session (CURATOR-498).
    FormerCreateAdopted,
    /// A candidate by the own name is the own one, whichever session owns it (CURATOR-696).
    OwnerNotCompared,
    /// A session that takes the place of the one before is taken for the same (ClickHouse#116690).
    SessionChangeUnnoticed,
    /// Whose predecessor goes leads, though others may stand before it (Netflix/curator#115).
    PredecessorGoneLeads,
    /// Whose predecessor is not there any more gives its own place up and enters anew (CURATOR-645).
    PredecessorGoneEntersAnew,
    /// Everyone who waits watches the head of the queue, and all of them wake when it goes.
    HeadWatched,
    /// The validity of a term is counted from the answer to its last write, not from before the call.
    DeadlineFromAnswer,
    /// A write proves the session from its call on, whatever the other servers have been told.
    SilenceForgotten,
    /// A read that is answered proves that the session lives.
    ReadExtendsTerm,
    /// A sync that is answered proves that the session lives.
    SyncExtendsTerm,
    /// A term goes on until its end is announced (CURATOR-460, kazoo PR 407).
    TermOutlivesValidity,
    /// The service of a term that is over may drain.
    ServiceOutlivesTerm,
    /// The gate of a term that is over is left to close by its time.
    GateLeftOpen,
    /// The epoch is that of the candidate, so that a term resumed on it has none of its own.
    EpochOfCandidate,
    /// Whatever fence is shown is believed, without reading the record.
    ForgedFenceBelieved,
    /// The floor follows the record, also back.
    FloorGoesBack,
    /// A create, or a claim, whose answer is overdue is sent again (Netflix/curator#3).
    TimedOutCreateRetried,
    /// A write of unknown outcome is looked for without a sync (the look-up of Curator and kazoo).
    DoubtListedWithoutSync,
    /// A candidate that no session owns stands like any other.
    OwnerlessStands,
    /// A node stands for leadership before the settings are agreed upon.
    SettingsNotAwaited,
    /// Settings that somebody deletes under a leader stay missing.
    SettingsNotKept,
    /// Garbage in the place of the term record keeps everybody from leading.
    GarbageStandsInTheWay,
    /// Whoever waits watches nobody.
    WaitsUnwatched,
    /// A leader does not learn that its candidate was deleted (CURATOR-171).
    OwnDeletionUnnoticed,
    /// Of several own candidates the highest is kept (Accumulo PR 1866).
    HighestOwnKept,
    /// What an earlier session left in the queue is not deleted (CURATOR-202).
    FormerNotSwept,
    /// A notice that overtakes the answer which armed its watch is lost.
    EarlyNoticeIgnored,
    /// After an end was asked for the node stands on (CURATOR-3).
    StandsWhileEnding,
    /// The mirrors of the registries count on after a reconnect (helix#3005, FLINK-19557).
    RegistryNotReread,
    /// After a reconnect an entry is made again instead of read (dolphinscheduler PR 5211).
    EntryMadeAgain,
    /// An entry whose deletion nobody confirmed is taken for gone (CURATOR-617).
    UnconfirmedLeaveDone,
    /// A leader starts while its entry still says that it is a worker.
    LeaderStartsAsWorker,
    /// A member whose entry says something else than before is not announced (CURATOR-146).
    ChangeNotAnnounced,
    /// A node whose application does not want to lead stands all the same.
    UnwillingStands,
    /// A node that is to look on stands and serves.
    ObserverStands,
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
        Self::ALL.iter().copied().find(|mutant| std::format!("{mutant:?}") == name)
    }
}
