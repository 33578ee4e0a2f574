//! Access to znodes: the client's operations, with a note of each permission that the server denies or grants.

use futures_util::future::join_all;
use tracing::warn;
use zookeeper_client::{CreateOptions, CreateSequence, Error, OneshotWatcher, SessionState, Stat};

use super::failure::Failure;
use super::request::{ATTEMPTS, PERSISTENT, SessionHandle};
use super::watches::Watch;
use rolecall_core::store::Refusal;

/// Permission of an ACL. For `Create` and `Delete`, the ACL is that of the parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Permission {
    Read,
    Write,
    Create,
    Delete,
}

/// Permission on a znode, as the key of a denial.
pub(super) type Access = (String, Permission);

impl Permission {
    fn need(self) -> &'static str {
        match self {
            Self::Read => "it needs the permission READ",
            Self::Write => "it needs the permission WRITE",
            Self::Create => "it needs the permission CREATE, to create children",
            Self::Delete => "it needs the permission DELETE, to delete children",
        }
    }
}

impl SessionHandle {
    /// Creates a znode, and its parents if they are missing, including the chroot.
    pub(super) async fn create(
        &self,
        path: &str,
        data: &[u8],
        options: &CreateOptions<'_>,
    ) -> Result<(Stat, CreateSequence), Failure> {
        for _ in 0..ATTEMPTS {
            let outcome = self.client.create(path, data, options).await;
            match self.noted(parent(path), Permission::Create, outcome) {
                Err(Error::NoNode) => self.create_directory(parent(path)).await?,
                outcome => {
                    let created = outcome?;
                    self.forget_above(path);
                    return Ok(created);
                }
            }
        }
        warn!(path, "cannot create this znode: something keeps deleting its parents");
        Err(Refusal::Denied.into())
    }

    pub(super) async fn create_directory(&self, path: &str) -> Result<(), Failure> {
        self.still_connected()?;
        let outcome = self.client.mkdir(path, &PERSISTENT).await;
        if matches!(outcome, Err(Error::NoAuth)) {
            // Anybody may ask whether a znode exists.
            let existing = join_all(ancestors(path).map(|path| self.client.check_stat(path))).await;
            let missing = existing.into_iter().take_while(|stat| matches!(stat, Ok(None))).count();
            let denying = ancestors(path).nth(missing).unwrap_or("/");
            self.noted(denying, Permission::Create, outcome)?;
        } else {
            outcome?;
            self.forget_above(path);
        }
        self.still_connected()
    }

    pub(super) async fn delete(&self, path: &str) -> Result<(), Failure> {
        let outcome = self.client.delete(path, None).await;
        Ok(self.noted(parent(path), Permission::Delete, outcome)?)
    }

    pub(super) async fn set_data(&self, path: &str, data: &[u8], version: Option<i32>) -> Result<Stat, Error> {
        let outcome = self.client.set_data(path, data, version).await;
        self.noted(path, Permission::Write, outcome)
    }

    /// Data of a znode. The request goes to the client when this is called.
    pub(super) fn get_data(&self, path: &str) -> impl Future<Output = Result<(Vec<u8>, Stat), Error>> {
        let read = self.client.get_data(path);
        async move { self.noted(path, Permission::Read, read.await) }
    }

    /// Data of a znode, with a watch on it if one is wanted.
    pub(super) async fn read(&self, path: String, watch: bool) -> Result<(Vec<u8>, Stat, Option<Watch>), Failure> {
        if watch {
            let outcome = self.client.get_and_watch_data(&path).await;
            let (data, stat, watcher) = self.noted(&path, Permission::Read, outcome)?;
            Ok((data, stat, Some(Watch { path, children: false, watcher })))
        } else {
            let (data, stat) = self.get_data(&path).await?;
            Ok((data, stat, None))
        }
    }

    /// Names of a znode's children; none if it does not exist.
    pub(super) async fn children(&self, path: &str) -> Result<Vec<String>, Failure> {
        let outcome = self.client.list_children(path).await;
        match self.noted(path, Permission::Read, outcome) {
            Err(Error::NoNode) => Ok(Vec::new()),
            outcome => Ok(outcome?),
        }
    }

    /// Names of a znode's children, with a watch. The znode is created if it does not exist.
    pub(super) async fn watch_children(&self, path: &str) -> Result<(Vec<String>, OneshotWatcher), Failure> {
        for _ in 0..ATTEMPTS {
            let outcome = self.client.get_and_watch_children(path).await;
            match self.noted(path, Permission::Read, outcome) {
                Err(Error::NoNode) => self.create_directory(path).await?,
                outcome => {
                    let (names, _, watcher) = outcome?;
                    return Ok((names, watcher));
                }
            }
        }
        warn!(path, "cannot watch this znode: something keeps deleting it");
        Err(Refusal::Denied.into())
    }

    /// Notes what the outcome of a request says about the permission that it needs.
    pub(super) fn noted<T>(&self, path: &str, permission: Permission, outcome: Result<T, Error>) -> Result<T, Error> {
        match outcome {
            Ok(value) => {
                self.granted(path, permission);
                Ok(value)
            }
            Err(error) => Err(self.failed(path, permission, error)),
        }
    }

    /// Notes that a permission was used.
    pub(super) fn granted(&self, path: &str, permission: Permission) {
        self.denials.grant(&(path.to_owned(), permission));
    }

    /// Notes what an error says about a permission, and returns the error.
    pub(super) fn failed(&self, path: &str, permission: Permission, error: Error) -> Error {
        // Access to a missing znode is nobody's to deny, and the rest is told only to those who have access.
        let is_permitted = matches!(error, Error::NoNode | Error::NodeExists | Error::BadVersion | Error::NotEmpty);
        if is_permitted {
            self.granted(path, permission);
        } else if error == Error::NoAuth {
            self.denials.deny((path.to_owned(), permission), path, permission.need());
        }
        error
    }

    /// Forgets what was denied on children of `path` that no longer exist.
    pub(super) fn forget_gone(&self, path: &str, names: &[String]) {
        self.denials.retain(|(denied, _)| match denied.rsplit_once('/') {
            Some((parent, name)) if parent == path => names.iter().any(|existing| existing == name),
            Some(_) | None => true,
        });
    }

    /// Forgets that nothing could be created above `path`, which exists.
    fn forget_above(&self, path: &str) {
        self.denials.retain(|(denied, permission)| {
            let is_above =
                denied == "/" || path.strip_prefix(denied.as_str()).is_some_and(|rest| rest.starts_with('/'));
            *permission != Permission::Create || !is_above
        });
    }

    /// Checks that the connection was not lost. A request of several steps must not go on after a loss: the client would
    /// keep the next step and send it in whatever session comes next.
    pub(super) fn still_connected(&self) -> Result<(), Failure> {
        match self.client.state() {
            SessionState::SyncConnected | SessionState::ConnectedReadOnly => Ok(()),
            SessionState::Disconnected | SessionState::AuthFailed | SessionState::Expired | SessionState::Closed => {
                Err(Failure::Unknown)
            }
        }
    }
}

/// Parent of a znode other than the root.
pub(super) fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((parent, _)) => parent,
    }
}

/// A znode and those above it, without the root.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    core::iter::successors(Some(path), |path| Some(parent(path))).take_while(|path| *path != "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_up_to_the_root() {
        assert_eq!(ancestors("/a/b/c").collect::<Vec<_>>(), ["/a/b/c", "/a/b", "/a"]);
        assert_eq!(parent("/a"), "/");
    }
}
