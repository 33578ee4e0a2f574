//! Deliberately wrong builds. Each mutant breaks one rule, right where that rule stands, and a judge has to notice.
//!
//! Built with `--cfg rolecall_mutants`, the core breaks the rule that the variable `ROLECALL_MUTANT` names, and
//! `.ci/mutants` shows which judge catches it. Unknown names are left to other crates; `.ci/mutants` makes sure that
//! each name exists in one. In every other build [`Mutant::lives`] is the constant `false`, and nothing of this is
//! left.

macro_rules! mutants {
    ($($(#[$meaning:meta])* $name:ident,)*) => {
        /// Rules that a mutant can break.
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
    /// An answer counts for any operation pending in its slot, even if it belongs to an earlier attempt, session or
    /// connection.
    StaleAnswerAccepted,
    /// A late answer to a create of an earlier session counts as one of this session (CURATOR-498).
    FormerCreateAdopted,
    /// A candidate with this node's guid counts as its own, whichever session owns it (CURATOR-696).
    OwnerNotCompared,
    /// A session that replaces the one before is taken for the same (ClickHouse#116690).
    SessionChangeUnnoticed,
    /// A node leads when its predecessor goes, although others may stand before it (Netflix/curator#115).
    PredecessorGoneLeads,
    /// A node whose predecessor is gone gives up its own place and enters anew (CURATOR-645).
    PredecessorGoneEntersAnew,
    /// Every waiter watches the head of the queue, and all of them wake when it goes.
    HeadWatched,
    /// The validity of a term counts from the answer to its last write, not from before the call.
    DeadlineFromAnswer,
    /// A write proves the session from its call on, whatever the other servers have been told.
    SilenceForgotten,
    /// An answered read proves that the session lives.
    ReadExtendsTerm,
    /// An answered sync proves that the session lives.
    SyncExtendsTerm,
    /// A term goes on until its end is announced (CURATOR-460, kazoo PR 407).
    TermOutlivesValidity,
    /// The service of a term that is over may drain.
    ServiceOutlivesTerm,
    /// The gate of a term that is over stays open until its time ends.
    GateLeftOpen,
    /// The epoch is that of the candidate, so that a term resumed on the same candidate gets no new one.
    EpochOfCandidate,
    /// Any fence that is shown is believed, without reading the record.
    ForgedFenceBelieved,
    /// The floor follows the record even backwards.
    FloorGoesBack,
    /// A create or a claim is sent again when its answer is overdue (Netflix/curator#3).
    TimedOutCreateRetried,
    /// A write of unknown outcome is looked for without a sync (the look-up of Curator and kazoo).
    DoubtListedWithoutSync,
    /// A candidate that no session owns counts like any other.
    OwnerlessStands,
    /// A node stands for leadership before the settings are agreed upon.
    SettingsNotAwaited,
    /// Settings that someone deletes under a leader stay missing.
    SettingsNotKept,
    /// Garbage in the place of the term record keeps every node from leading.
    GarbageStandsInTheWay,
    /// A waiter watches nobody.
    WaitsUnwatched,
    /// A leader does not learn that its candidate was deleted (CURATOR-171).
    OwnDeletionUnnoticed,
    /// Of several own candidates the highest is kept (Accumulo PR 1866).
    HighestOwnKept,
    /// Candidates of an earlier session are not deleted (CURATOR-202).
    FormerNotSwept,
    /// A notice that overtakes the answer which armed its watch is lost.
    EarlyNoticeIgnored,
    /// A node that was asked to end stands on (CURATOR-3).
    StandsWhileEnding,
    /// The registries' mirrors go on after a reconnect without a new reading (helix#3005, FLINK-19557).
    RegistryNotReread,
    /// After a reconnect an entry is made again instead of read (dolphinscheduler PR 5211).
    EntryMadeAgain,
    /// An entry counts as gone although nobody confirmed its deletion (CURATOR-617).
    UnconfirmedLeaveDone,
    /// A leader starts while its entry still says that it is a worker.
    LeaderStartsAsWorker,
    /// A member whose entry changes is not announced (CURATOR-146).
    ChangeNotAnnounced,
    /// The validity of a lease counts from the answer to its last renewal, not from before the call.
    LeaseFromAnswer,
    /// The validity of a lease leaves out that the store's clock may step.
    ClockStepsForgotten,
    /// A refused renewal does not end the term.
    RefusedRenewalIgnored,
    /// A leader that sees another holder leads on until its validity ends (kubernetes#23731).
    ForeignHolderIgnored,
    /// Every attempt of a connection has the same token.
    TokenUsedTwice,
    /// An acquisition of unknown outcome is not given back.
    UnknownAcquireLeft,
    /// The lease of a term that is over is given up while its service still stops (kubernetes PR 139991).
    LeaseReleasedUnstopped,
    /// A waiter trusts that it will be told of a lease's end (redis#2632).
    EndNotAwaited,
    /// After a loss of data the store keeps the incarnation that it is offered from before.
    OldIncarnationOffered,
    /// The store gives up a lease whoever asks (redis-py PR 1031).
    ReleaseUnchecked,
    /// The store's clock follows every step of its server's.
    StoreClockSteps,
    /// A store that may have lost its last writes grants leases at once.
    NewLifeOpensAtOnce,
    /// A lease does not raise the epoch.
    EpochNotRaised,
    /// A node stands although its application does not want to lead.
    UnwillingStands,
    /// A leader obeys a wish that concerns another term.
    WishOfAnotherTermObeyed,
    /// A leader answers that it obeys, and leads on.
    ObeyedInWordsOnly,
    /// A leader that resigns gives up its claim before its service has stopped.
    ClaimGivenUpUnstopped,
    /// An observer stands and serves.
    ObserverStands,
}

impl Mutant {
    /// True if this mutant is active.
    #[cfg(not(rolecall_mutants))]
    pub(crate) const fn lives(self) -> bool {
        false
    }

    /// True if this mutant is active.
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
