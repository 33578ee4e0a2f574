//! The watches that are set, each with a task that waits for it.

use std::collections::BTreeMap;

use rolecall_core::store::Notice;
use rolecall_core::{OpId, Slot};
use tokio::task::{AbortHandle, JoinSet};
use zookeeper_client::{EventType, OneshotWatcher};

/// A watch that a request has set.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) path: String,
    /// Whether it is on the children of `path`: if `path` is deleted then, that is but a change, since a directory that does
    /// not exist is an empty one.
    pub(super) children: bool,
    pub(super) watcher: OneshotWatcher,
}

/// All watches of one session, one for each path and slot.
#[derive(Debug, Default)]
pub(super) struct Watches {
    tasks: JoinSet<Fired>,
    live: BTreeMap<(String, Slot), (OpId, AbortHandle)>,
}

#[derive(Debug)]
struct Fired {
    key: (String, Slot),
    id: OpId,
    notice: Option<Notice>,
}

impl Watches {
    /// Waits for `watch`, which the request `id` has set. An older one of the same path and slot is dropped: what it would
    /// have told, the newer reading has seen. (The client asks the server to remove a watch that is dropped only where it was
    /// the last one of its path, which this one is not.)
    pub(super) fn arm(&mut self, id: OpId, watch: Watch) {
        let key = (watch.path, id.slot);
        let task = self.tasks.spawn({
            let key = key.clone();
            async move {
                let notice = match watch.watcher.changed().await.event_type {
                    EventType::NodeDeleted if !watch.children => Some(Notice::Deleted),
                    EventType::NodeDeleted
                    | EventType::NodeCreated
                    | EventType::NodeDataChanged
                    | EventType::NodeChildrenChanged => Some(Notice::Changed),
                    // The end of the session is no news of a znode.
                    EventType::Session => None,
                };
                Fired { key, id, notice }
            }
        });
        if let Some((_, older)) = self.live.insert(key, (id, task)) {
            older.abort();
        }
    }

    /// The next notice; `None` where nothing is watched.
    pub(super) async fn next(&mut self) -> Option<(OpId, Notice)> {
        loop {
            let Ok(Fired { key, id, notice }) = self.tasks.join_next().await? else { continue };
            if self.live.get(&key).is_some_and(|(live, _)| *live == id) {
                self.live.remove(&key);
            }
            if let Some(notice) = notice {
                return Some((id, notice));
            }
        }
    }
}
