//! A tree of znodes, as ZooKeeper's programmer's guide describes it.

use std::collections::BTreeMap;

/// One znode.
#[derive(Clone, Debug)]
pub(super) struct Znode {
    pub(super) data: String,
    /// Session that owns it; 0 for a persistent znode.
    pub(super) owner: u64,
    /// Transaction that created it.
    pub(super) czxid: u64,
    /// Transaction that last wrote its data.
    pub(super) mzxid: u64,
    /// Transaction that last created or deleted a child.
    pub(super) pzxid: u64,
    /// Number of children ever created under it.
    pub(super) cversion: i64,
}

/// A transaction's change to a path, for the watches on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Happened {
    Deleted(String),
    DataChanged(String),
    ChildrenChanged(String),
}

/// All znodes by path. Parents exist from the beginning and are never deleted.
#[derive(Clone, Debug)]
pub(super) struct Znodes {
    pub(super) zxid: u64,
    nodes: BTreeMap<String, Znode>,
}

impl Znodes {
    pub(super) fn new(folders: &[&str]) -> Self {
        let folder = || Znode { data: String::new(), owner: 0, czxid: 0, mzxid: 0, pzxid: 0, cversion: 0 };
        Self { zxid: 0, nodes: folders.iter().map(|path| ((*path).to_owned(), folder())).collect() }
    }

    pub(super) fn find(&self, path: &str) -> Option<&Znode> {
        self.nodes.get(path)
    }

    /// Names under a path, with their znodes.
    pub(super) fn children(&self, path: &str) -> impl Iterator<Item = (&str, &Znode)> {
        let prefix = format!("{path}/");
        self.nodes.iter().filter_map(move |(child, node)| Some((child.strip_prefix(&prefix)?, node)))
    }

    /// Creates a znode that does not exist yet, in a transaction of its own.
    pub(super) fn create(&mut self, path: &str, data: String, owner: u64) -> Vec<Happened> {
        self.zxid += 1;
        let zxid = self.zxid;
        let node = Znode { data, owner, czxid: zxid, mzxid: zxid, pzxid: zxid, cversion: 0 };
        assert!(self.nodes.insert(path.to_owned(), node).is_none(), "{path} is there already");
        let Some(parent) = self.nodes.get_mut(parent(path)) else { return Vec::new() };
        (parent.pzxid, parent.cversion) = (zxid, parent.cversion.wrapping_add(1));
        vec![Happened::ChildrenChanged(self::parent(path).to_owned())]
    }

    /// Creates a znode whose name ends with the number of children ever created under its parent.
    pub(super) fn create_sequential(&mut self, prefix: &str, data: String, owner: u64) -> (i64, Vec<Happened>) {
        let sequence = self.nodes.get(parent(prefix)).map_or(0, |parent| parent.cversion);
        (sequence, self.create(&format!("{prefix}{sequence:010}"), data, owner))
    }

    /// Writes the data of a znode.
    pub(super) fn set(&mut self, path: &str, data: String) -> Option<Vec<Happened>> {
        let node = self.nodes.get_mut(path)?;
        self.zxid += 1;
        (node.data, node.mzxid) = (data, self.zxid);
        Some(vec![Happened::DataChanged(path.to_owned())])
    }

    /// Deletes a znode.
    pub(super) fn delete(&mut self, path: &str) -> Option<Vec<Happened>> {
        self.nodes.contains_key(path).then(|| {
            self.zxid += 1;
            self.take(path)
        })
    }

    /// Deletes everything that a session owns, in one transaction.
    pub(super) fn close(&mut self, session: u64) -> Vec<Happened> {
        let owned: Vec<String> =
            self.nodes.iter().filter(|(_, node)| node.owner == session).map(|(path, _)| path.clone()).collect();
        if !owned.is_empty() {
            self.zxid += 1;
        }
        owned.iter().flat_map(|path| self.take(path)).collect()
    }

    fn take(&mut self, path: &str) -> Vec<Happened> {
        self.nodes.remove(path);
        let mut happened = vec![Happened::Deleted(path.to_owned())];
        if let Some(parent) = self.nodes.get_mut(parent(path)) {
            parent.pzxid = self.zxid;
            happened.push(Happened::ChildrenChanged(self::parent(path).to_owned()));
        }
        happened
    }
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}
