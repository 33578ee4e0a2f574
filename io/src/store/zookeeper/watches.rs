//! Active watches, each with a task that waits for it.

use std::collections::BTreeMap;

use rolecall_core::store::Notice;
use rolecall_core::{OpId, Slot};
use tokio::task::{AbortHandle, JoinSet};
use zookeeper_client::{EventType, OneshotWatcher};

/// Watch set by a request.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) path: String,
    /// True if the watch is on the children of `path`. The deletion of `path` is then only a change, because a missing
    /// directory counts as an empty one.
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
    /// Waits for `watch`, which the request `id` has set. An older watch with the same path and slot is dropped: the newer
    /// reading has already seen any change that it would report. (The client asks the server to remove a dropped watch only
    /// if it was the last one of its path, which the older one is not.)
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
                    // The end of the session says nothing about the znode.
                    EventType::Session => None,
                };
                Fired { key, id, notice }
            }
        });
        if let Some((_, older)) = self.live.insert(key, (id, task)) {
            older.abort();
        }
    }

    /// Next notice; `None` if there are no watches.
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
