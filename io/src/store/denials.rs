//! Denials of a store, each kept until it is granted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedSender;
use tracing::{info, warn};

use super::{Denial, StoreEvent};

/// Everything that the store denies at present. A change is logged and told to the driver, a repetition is not.
#[derive(Debug)]
pub(crate) struct Denials<K> {
    user: Arc<str>,
    events: UnboundedSender<StoreEvent>,
    current: Mutex<BTreeMap<K, Denial>>,
}

impl<K: Ord> Denials<K> {
    pub(crate) fn new(user: impl Into<Arc<str>>, events: UnboundedSender<StoreEvent>) -> Self {
        Self { user: user.into(), events, current: Mutex::default() }
    }

    /// Notes that something is denied.
    pub(crate) fn deny(&self, key: K, path: &str, need: &str) {
        let mut current = self.current();
        if current.get(&key).is_some_and(|known| *known.path == *path && *known.need == *need) {
            return;
        }
        let denial = Denial { user: Arc::clone(&self.user), path: path.into(), need: need.into() };
        warn!("{denial}");
        current.insert(key, denial);
        self.tell(&current);
    }

    /// Notes that something is granted.
    pub(crate) fn grant(&self, key: &K) {
        let mut current = self.current();
        if let Some(denial) = current.remove(key) {
            info!(path = &*denial.path, user = &*denial.user, "the store grants access that it had denied");
            self.tell(&current);
        }
    }

    /// Forgets the denials whose key `is_of_interest` does not accept: what they were about is gone.
    #[cfg(any(feature = "zookeeper", test))]
    pub(crate) fn retain(&self, is_of_interest: impl Fn(&K) -> bool) {
        let mut current = self.current();
        let before = current.len();
        current.retain(|key, _| is_of_interest(key));
        if current.len() < before {
            self.tell(&current);
        }
    }

    fn tell(&self, current: &BTreeMap<K, Denial>) {
        // This fails only if the store was dropped, so that nobody is interested.
        let _ = self.events.send(StoreEvent::Denied(current.values().cloned().collect()));
    }

    fn current(&self) -> MutexGuard<'_, BTreeMap<K, Denial>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;

    use super::*;

    #[test]
    fn only_changes_are_told() {
        let (events, mut told) = unbounded_channel();
        let denials = Denials::new("world:anyone", events);
        let mut told = || {
            let Ok(StoreEvent::Denied(denied)) = told.try_recv() else { return None };
            Some(denied.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        let [settings, term] =
            ["settings", "term"].map(|path| format!("the store denies world:anyone access to {path}: it needs READ"));
        denials.grant(&1);
        assert_eq!(told(), None);
        denials.deny(1, "settings", "it needs READ");
        denials.deny(1, "settings", "it needs READ");
        assert_eq!((told(), told()), (Some(vec![settings.clone()]), None));
        denials.deny(2, "term", "it needs READ");
        assert_eq!(told(), Some(vec![settings, term.clone()]));
        denials.grant(&1);
        assert_eq!(told(), Some(vec![term]));
        denials.retain(|key| *key != 2);
        assert_eq!((told(), told()), (Some(vec![]), None));
    }
}
