//! Opens the store that a URL names.

use core::future::poll_fn;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use rolecall_core::store::Request;
use rolecall_core::{Family, OpId};

#[cfg(feature = "redis")]
use super::redis::{self, RedisStore};
#[cfg(feature = "zookeeper")]
use super::zookeeper::ZooKeeperStore;
use super::{Denial, MemoryStore, Participant, ParticipantError, Store, StoreEvent, StoreUrl, StoreUrlError};

/// Error of opening the store that a [`StoreUrl`] names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// This build has no adapter for the store.
    #[error(transparent)]
    Url(#[from] StoreUrlError),
    /// The participant has a name or an address that stores cannot keep.
    #[error(transparent)]
    Participant(#[from] ParticipantError),
    /// The store was reached and cannot be used: it is too old, or denies what a node has to do.
    #[error("{url}: {reason}")]
    Unusable {
        /// URL of the store, with its password masked.
        url: String,
        /// The store's words, or what it lacks.
        reason: String,
    },
    /// No session was granted in time.
    #[error("no session with {url} within {} ms; check the address, and that the store is running", limit.as_millis())]
    Unreachable {
        /// URL of the store, with its password masked.
        url: String,
        /// Time that the store was given.
        limit: Duration,
    },
}

impl StoreUrl {
    /// Opens the store for `participant`. It connects in the background, and tries until it succeeds.
    ///
    /// `memory:` is [`MemoryStore::embedded`]: all users in this process that open it under the same cluster name share one
    /// store.
    ///
    /// # Errors
    /// If this build has no adapter for the store, or the store cannot keep the participant's names.
    ///
    /// # Panics
    /// Outside a tokio runtime, except for `memory:`.
    pub fn open(&self, participant: Participant) -> Result<Box<dyn Store>, OpenError> {
        self.require_built()?;
        participant.check()?;
        match self {
            Self::Memory { election } => {
                Ok(Box::new(MemoryStore::embedded(&participant.cluster, *election).connect(participant)))
            }
            #[cfg(feature = "zookeeper")]
            Self::ZooKeeper { servers, chroot } => Ok(Box::new(ZooKeeperStore::open(servers, chroot, &participant)?)),
            #[cfg(not(feature = "zookeeper"))]
            Self::ZooKeeper { .. } => Err(StoreUrlError::NotBuilt { scheme: self.scheme() }.into()),
            #[cfg(feature = "redis")]
            Self::Redis(url) => Ok(Box::new(RedisStore::open(url, &participant)?)),
            #[cfg(not(feature = "redis"))]
            Self::Redis(_) => Err(StoreUrlError::NotBuilt { scheme: self.scheme() }.into()),
            Self::Etcd { .. } => Err(StoreUrlError::NotBuilt { scheme: self.scheme() }.into()),
        }
    }

    /// Tries the store out for `participant`, for at most `limit`. A store that cannot be reached may come later, so that is
    /// no error.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and [`OpenError::Unusable`]: a wrong password, a version that is too old, or a missing
    /// permission.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[cfg_attr(not(feature = "redis"), expect(unused_variables, reason = "only Redis is tried out"))]
    pub async fn check(&self, participant: &Participant, limit: Duration) -> Result<(), OpenError> {
        self.require_built()?;
        participant.check()?;
        match self {
            #[cfg(feature = "redis")]
            Self::Redis(url) => match redis::check(url, participant, limit).await {
                Some(reason) => Err(OpenError::Unusable { url: self.to_string(), reason }),
                None => Ok(()),
            },
            #[cfg(not(feature = "redis"))]
            Self::Redis(_) => Err(StoreUrlError::NotBuilt { scheme: self.scheme() }.into()),
            Self::Memory { .. } | Self::ZooKeeper { .. } | Self::Etcd { .. } => Ok(()),
        }
    }

    /// Opens the store and waits for a first session, for at most `limit`.
    ///
    /// # Errors
    /// Those of [`open`](Self::open), and [`OpenError::Unreachable`] if there is no session in time. The attempt is then
    /// dropped.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn connect(&self, participant: Participant, limit: Duration) -> Result<Box<dyn Store>, OpenError> {
        self.check(&participant, limit).await?;
        let mut store = self.open(participant)?;
        let mut denied: Arc<[Denial]> = Arc::default();
        let session = async {
            loop {
                let event = poll_fn(|context| store.poll_event(context)).await;
                let StoreEvent::Denied(now) = event else { return event };
                denied = now;
            }
        };
        let first = tokio::time::timeout(limit, session).await;
        match (first, denied.first()) {
            (Ok(first), _) => Ok(Box::new(Connected { first: Some(first), store })),
            (Err(_), Some(denial)) => Err(OpenError::Unusable { url: self.to_string(), reason: denial.to_string() }),
            (Err(_), None) => Err(OpenError::Unreachable { url: self.to_string(), limit }),
        }
    }
}

/// Store whose first event was already taken, and is returned again.
#[derive(Debug)]
struct Connected {
    first: Option<StoreEvent>,
    store: Box<dyn Store>,
}

impl Store for Connected {
    fn family(&self) -> Family {
        self.store.family()
    }

    fn send(&mut self, id: OpId, request: Request) {
        self.store.send(id, request);
    }

    fn renew(&mut self) {
        self.store.renew();
    }

    fn close(&mut self) {
        self.store.close();
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<StoreEvent> {
        match self.first.take() {
            Some(first) => Poll::Ready(first),
            None => self.store.poll_event(context),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn participant(cluster: &str, id: &str) -> Participant {
        Participant::new(cluster, id, Duration::from_secs(10))
    }

    #[tokio::test]
    async fn all_who_open_the_memory_store_of_a_cluster_share_it() {
        let connect = async |cluster: &str, id: &str| {
            let store = StoreUrl::MEMORY.connect(participant(cluster, id), Duration::from_secs(60)).await;
            let mut store = store.expect("it is in this process");
            let first = poll_fn(|context| store.poll_event(context)).await;
            let StoreEvent::Up { session, .. } = first else { panic!("the first event is a session: {first:?}") };
            (store, session)
        };
        let (_a, first) = connect("shared", "a").await;
        let (_b, second) = connect("shared", "b").await;
        let (_c, of_another) = connect("not shared", "a").await;
        assert_ne!(first, second, "one store gives no session twice");
        assert_eq!(first, of_another, "another store counts from the beginning");
    }

    #[tokio::test]
    async fn a_store_that_is_not_there_is_an_error_within_the_limit() {
        let url: StoreUrl = "zookeeper://127.0.0.1:1".parse().expect("a good URL");
        let error = url.connect(participant("x", "a"), Duration::from_millis(50)).await.expect_err("nobody listens");
        #[cfg(feature = "zookeeper")]
        assert_eq!(
            error.to_string(),
            "no session with zookeeper://127.0.0.1:1 within 50 ms; check the address, and that the store is running"
        );
        #[cfg(not(feature = "zookeeper"))]
        assert_eq!(error.to_string(), "store `zookeeper`: not built in this version");
    }

    #[test]
    fn stores_without_an_adapter_and_bad_names_are_refused() {
        let url: StoreUrl = "etcd://a:1".parse().expect("a good URL");
        let error = url.open(participant("x", "a")).expect_err("no adapter");
        assert_eq!(error.to_string(), "store `etcd`: not built in this version");
        let error = StoreUrl::MEMORY.open(participant("x", "a/b")).expect_err("a slash");
        assert!(error.to_string().contains("it contains a slash"), "{error}");
    }
}
