//! Keys of everything that belongs to one cluster.

use rolecall_core::Directory;

/// Keys and channel of one cluster. They share a hash tag, so a Redis Cluster keeps them on one server.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// The keys, in the order in which every script expects them.
    pub(super) keys: [String; 9],
    /// Key on which permissions are tried out.
    pub(super) trial: String,
    /// Channel on which changes are published.
    pub(super) channel: String,
    /// Pattern of all keys and of the channel, as Redis's rights name them.
    pub(super) pattern: String,
}

impl Layout {
    pub(super) fn new(cluster: &str) -> Self {
        let root = format!("rolecall:{{{}}}", escaped(cluster));
        let key = |name| format!("{root}:{name}");
        let names = ["store", "lease", "term", "sessions", "links", "workers", "coordinators", "settings", "wish"];
        Self { keys: names.map(key), trial: key("trial"), channel: key("changes"), pattern: key("*") }
    }
}

/// Name of a directory, in keys and in published changes.
#[must_use]
pub const fn directory_name(directory: Directory) -> &'static str {
    match directory {
        Directory::Workers => "workers",
        Directory::Coordinators => "coordinators",
    }
}

/// A brace would end the hash tag too early.
fn escaped(cluster: &str) -> String {
    cluster.replace('%', "%25").replace('{', "%7B").replace('}', "%7D")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_of_a_cluster_share_one_hash_tag_that_no_other_cluster_has() {
        let tag = |cluster: &str| {
            let Layout { keys, trial, channel, pattern } = Layout::new(cluster);
            let tag = |key: &String| {
                let rest = &key[key.find('{').expect("a tag begins")..];
                rest[..=rest.find('}').expect("a tag ends")].to_owned()
            };
            let tags: Vec<_> = keys.iter().chain([&trial, &channel, &pattern]).map(tag).collect();
            assert!(tags.iter().all(|other| *other == tags[0]), "{tags:?}");
            tags[0].clone()
        };
        assert_eq!(Layout::new("books").keys[1], "rolecall:{books}:lease");
        let names = ["a", "}", "{}", "%7D", "a}b", "a%7Db"];
        let tags: std::collections::BTreeSet<_> = names.map(tag).into_iter().collect();
        assert_eq!(tags.len(), names.len(), "{tags:?}");
    }
}
