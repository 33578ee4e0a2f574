//! Builder of a membership in an election.

use core::time::Duration;
use std::sync::Arc;

use rolecall_core::election::Timing;
use rolecall_core::{Config, Health, Metadata, Time};

use super::candidacy::{Candidacy, CandidacyService};
use super::{Election, JoinError};
use crate::driver::Orders;
use crate::store::{Participant, Registration, StoreUrl};
use crate::{Clock, NodeBuilder, Status, SystemClock, generated_id};

/// Builder of a membership: see [`Election::builder`].
#[derive(Clone, Debug)]
#[must_use = "nothing is joined before `join`"]
pub struct ElectionBuilder {
    store: Place,
    name: String,
    address: Option<String>,
    registration: Registration,
    session_timeout: Duration,
    join_limit: Duration,
    config: Config,
}

/// Store of an election, as it was given.
#[derive(Clone, Debug)]
pub(super) enum Place {
    Text(String),
    Url(StoreUrl),
}

impl ElectionBuilder {
    pub(super) fn new(store: Place, name: String) -> Self {
        let mut config = Config::new(generated_id());
        config.follows_workers = true;
        Self {
            store,
            name,
            address: None,
            registration: Registration::default(),
            session_timeout: Duration::from_secs(10),
            join_limit: Duration::from_secs(10),
            config,
        }
    }

    /// Id of the member, unique in the election. Default: [`generated_id`].
    pub fn id(mut self, id: impl Into<Arc<str>>) -> Self {
        self.config.id = id.into();
        self
    }

    /// Address at which others reach this member, `host:port`. They see it in the list of members, and as the leader's while
    /// this member leads. Default: none.
    pub fn address(mut self, address: impl Into<String>) -> Self {
        self.address = Some(address.into());
        self
    }

    /// Names and values that every member sees in [`Election::members`], such as a zone or a version. Default: none.
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.registration.metadata = metadata;
        self
    }

    /// Makes the member an observer: it follows the leader and the members, never leads, and is not listed.
    pub fn observer(mut self) -> Self {
        self.config.observes = true;
        self
    }

    /// Session timeout to ask the store for. The others notice a crash after this time. Default: 10 s.
    pub fn session_timeout(mut self, timeout: Duration) -> Self {
        self.session_timeout = timeout;
        self
    }

    /// Time for which work may go on when its term ends in good order. Default: 5 s.
    pub fn drain(mut self, drain: Duration) -> Self {
        self.config.drain = drain;
        self
    }

    /// Time within which the store must answer. Default: 10 s.
    pub fn join_limit(mut self, limit: Duration) -> Self {
        self.join_limit = limit;
        self
    }

    /// Changes the configuration of the core, for settings that have no method here.
    pub fn configure(mut self, change: impl FnOnce(&mut Config)) -> Self {
        change(&mut self.config);
        self
    }

    /// Joins: returns once the store is connected and this member is listed.
    ///
    /// # Errors
    /// - A malformed URL, an unknown scheme, a store without an adapter in this build, or a name that stores cannot keep: at
    ///   once.
    /// - A store that refuses this member: a wrong password, a version that is too old, a missing permission: at once.
    /// - A store that cannot be reached: after the join limit, or twice that if it accepts connections and is silent.
    /// - An id that a live member has: once that member's session would be over if it were dead, which takes at most one and a
    ///   half of its session timeouts.
    /// - A store that answers but does not give this member its place: after the join limit and three session timeouts.
    ///
    /// # Panics
    /// Outside a tokio runtime with time and I/O (`enable_all`).
    pub async fn join(self) -> Result<Election, JoinError> {
        let (reach, place) = (self.join_limit, self.join_limit + 3 * self.session_timeout);
        let (election, store) = self.begin().await?;
        let clock = SystemClock::new();
        if !election.reaches(clock.now() + reach, is_connected).await? {
            return Err(JoinError::Unreachable { store, limit: reach });
        }
        if !election.reaches(clock.now() + place, has_place).await? {
            let reason = election.observer().status().ready().err();
            let reason = reason.unwrap_or_else(|| "the member is not registered yet".into());
            return Err(JoinError::NoPlace { store, limit: place, reason });
        }
        Ok(election)
    }

    async fn begin(mut self) -> Result<(Election, String), JoinError> {
        let url = match self.store {
            Place::Text(text) => text.parse()?,
            Place::Url(url) => url,
        };
        url.require_built()?;
        if self.config.election == Timing::default() {
            self.config.election = url.timing();
        }
        let participant = Participant {
            cluster: self.name.clone(),
            id: self.config.id.to_string(),
            address: self.address.clone(),
            session_timeout: self.session_timeout,
            registration: self.registration.clone(),
        };
        participant.check().map_err(JoinError::refused)?;
        url.check(&participant, self.join_limit).await.map_err(|error| JoinError::Store(error.into()))?;
        let grace = self.config.stop_grace + Duration::from_secs(5);
        self.config.shutdown_limit = self.config.shutdown_limit.max(self.config.drain + grace);
        let (id, observes, told) = (Arc::clone(&self.config.id), self.config.observes, url.to_string());
        let (orders, ordered) = Orders::channel();
        let candidacy = Arc::new(Candidacy::new(orders.clone()));
        let open = move |participant| url.open(participant);
        let mut builder = NodeBuilder::new(self.config, CandidacyService(Arc::clone(&candidacy)), open)
            .cluster(self.name)
            .session_timeout(self.session_timeout)
            .registration(self.registration)
            .at_home((orders, ordered));
        if let Some(address) = self.address {
            builder = builder.address(address);
        }
        let prepared = builder.prepare();
        let (leader, members) = (prepared.leader(), prepared.members());
        let node = prepared.start().await.map_err(JoinError::start)?;
        Ok((Election { id, observes, candidacy, node, leader, members }, told))
    }
}

impl Election {
    /// Waits until `wanted` accepts the status. False if `deadline` passes first.
    async fn reaches(&self, deadline: Time, wanted: fn(&Status) -> bool) -> Result<bool, JoinError> {
        let observer = self.observer();
        tokio::select! {
            biased;
            Some(_) = observer.until(wanted) => Ok(true),
            outcome = observer.ended() => Err(JoinError::ended(&self.id, outcome)),
            () = SystemClock::new().sleep_until(deadline) => Ok(false),
        }
    }
}

/// True once the store has given the member a session.
fn is_connected(status: &Status) -> bool {
    status.session.is_some()
}

/// True once the member is listed, or observes.
fn has_place(status: &Status) -> bool {
    matches!(status.health, Health::Serving | Health::Observing)
}
