//! Participant in a cluster, with its names.

use core::time::Duration;

use rolecall_core::Metadata;

/// Longest id of a node and longest name of a cluster, in bytes.
pub const MAX_NAME_BYTES: usize = 128;

/// Most bytes of metadata, names and values together: everybody who follows the members reads it.
pub const MAX_METADATA_BYTES: usize = 16 * 1024;

/// Identity of a node, as an adapter writes it into the store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Participant {
    /// Name of the cluster.
    pub cluster: String,
    /// Id of the node.
    pub id: String,
    /// Address at which the node answers, `host:port`; `None` if it answers nowhere.
    pub address: Option<String>,
    /// Session timeout to ask for.
    pub session_timeout: Duration,
    /// Contents of the node's entries in the directories.
    pub registration: Registration,
}

/// Contents of a node's entries in the directories, in addition to its id and address.
///
/// A node that makes no entries ([`Config::registers`](rolecall_core::Config::registers)) writes none of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Registration {
    /// Path at which a worker answers, such as `/task`. It is for clients of other kinds that read the store: on ZooKeeper,
    /// it is part of the `uriSpec` of Curator's service discovery.
    pub worker_path: Option<String>,
    /// Path at which a leader answers, such as `/search`.
    pub leader_path: Option<String>,
    /// Names and values that every [`Member`](rolecall_core::Member) shows.
    pub metadata: Metadata,
}

/// Reason why a node cannot take part under the names given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParticipantError {
    /// A name cannot be the name of a znode.
    #[error(
        "{what} `{}`: {fault}; accepted: 1 to {MAX_NAME_BYTES} bytes of UTF-8 without `/` and without control or private \
         characters", name.escape_debug()
    )]
    Name {
        /// Kind of name: `id`, `cluster` or `election`.
        what: &'static str,
        /// The name as given.
        name: String,
        /// Fault of the name.
        fault: &'static str,
    },
    /// The address has no form to which others can connect.
    #[error("address `{}` is malformed; accepted: host:port, [IPv6]:port", address.escape_debug())]
    Address {
        /// The address as given.
        address: String,
    },
    /// A path is no path.
    #[error("path `{}` is malformed; accepted: `/` and then letters, digits and -._~/", path.escape_debug())]
    Path {
        /// The path as given.
        path: String,
    },
    /// There is too much metadata.
    #[error("{bytes} bytes of metadata; accepted: {MAX_METADATA_BYTES} bytes of names and values")]
    Metadata {
        /// Size of what was given.
        bytes: usize,
    },
}

impl Participant {
    /// A node of `cluster` that answers nowhere and shows nothing but its id.
    #[must_use]
    pub fn new(cluster: impl Into<String>, id: impl Into<String>, session_timeout: Duration) -> Self {
        let (cluster, id) = (cluster.into(), id.into());
        Self { cluster, id, address: None, session_timeout, registration: Registration::default() }
    }

    /// Sets the address at which the node answers.
    #[must_use]
    pub fn at(self, address: impl Into<String>) -> Self {
        Self { address: Some(address.into()), ..self }
    }

    /// Sets the contents of the node's entries in the directories.
    #[must_use]
    pub fn registered(self, registration: Registration) -> Self {
        Self { registration, ..self }
    }

    /// Checks that every store can keep the names and the address, so that a program that runs on one store runs on all.
    ///
    /// # Errors
    /// The first value that cannot be kept, with what is accepted.
    pub fn check(&self) -> Result<(), ParticipantError> {
        let Self { cluster, id, address, session_timeout: _, registration } = self;
        check_name("cluster", cluster)?;
        check_name("id", id)?;
        if let Some(address) = address.as_ref().filter(|address| split(address).is_none()) {
            return Err(ParticipantError::Address { address: address.clone() });
        }
        registration.check()
    }
}

impl Registration {
    /// Registration with the paths at which a worker and a leader answer.
    #[must_use]
    pub fn at_paths(worker: impl Into<String>, leader: impl Into<String>) -> Self {
        Self { worker_path: Some(worker.into()), leader_path: Some(leader.into()), ..Self::default() }
    }

    /// Sets the names and values that every member sees.
    #[must_use]
    pub fn metadata(self, metadata: Metadata) -> Self {
        Self { metadata, ..self }
    }

    fn check(&self) -> Result<(), ParticipantError> {
        let Self { worker_path, leader_path, metadata } = self;
        let is_malformed = |path: &&String| {
            !path.starts_with('/') || !path.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte))
        };
        if let Some(path) = [worker_path, leader_path].into_iter().flatten().find(is_malformed) {
            return Err(ParticipantError::Path { path: path.clone() });
        }
        let bytes = metadata.iter().map(|(name, value)| name.len() + value.len()).sum();
        if bytes > MAX_METADATA_BYTES { Err(ParticipantError::Metadata { bytes }) } else { Ok(()) }
    }
}

fn check_name(what: &'static str, name: &str) -> Result<(), ParticipantError> {
    let fault = if name.is_empty() {
        "it is empty"
    } else if name.len() > MAX_NAME_BYTES {
        "it is too long"
    } else if name.contains('/') {
        "it contains a slash"
    } else if name.chars().any(is_refused) {
        "it contains a character that ZooKeeper refuses"
    } else if name == "." || name == ".." {
        "it is a relative path"
    } else {
        return Ok(());
    };
    Err(ParticipantError::Name { what, name: name.into(), fault })
}

/// True for the characters that ZooKeeper refuses (`PathUtils.validatePath`).
fn is_refused(letter: char) -> bool {
    matches!(letter, '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{ffff}')
}

/// Splits an address into its host without brackets, and its port.
pub(super) fn split(address: &str) -> Option<(&str, u16)> {
    let (host, port) = address.rsplit_once(':')?;
    let port = port.bytes().all(|byte| byte.is_ascii_digit()).then(|| port.parse().ok()).flatten()?;
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let good = match bare {
        Some(bare) => bare.parse::<core::net::Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)),
    };
    (good && port != 0).then_some((bare.unwrap_or(host), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(cluster: &str, id: &str, address: &str) -> Result<(), ParticipantError> {
        Participant::new(cluster, id, Duration::from_secs(1)).at(address).check()
    }

    #[test]
    fn good_names_are_accepted() {
        for id in ["a", "node-a.example.org", "größe 1", "x".repeat(128).as_str()] {
            assert!(check("default", id, "a:1").is_ok(), "{id}");
        }
        assert_eq!(check("default", "a", "[::1]:80"), Ok(()));
        assert_eq!(split("[::1]:80"), Some(("::1", 80)));
    }

    #[test]
    fn the_error_for_a_bad_name_says_what_is_accepted() {
        for id in ["", "a/b", "a\nb", "\u{85}", "\u{e000}", "\u{fffd}", "..", "x".repeat(129).as_str()] {
            for error in [check("default", id, "a:1"), check(id, "a", "a:1")] {
                let message = error.expect_err(id).to_string();
                assert!(message.contains("accepted: 1 to 128 bytes"), "{message}");
                assert!(!message.chars().any(char::is_control), "{message}");
            }
        }
    }

    #[test]
    fn the_error_for_a_bad_address_says_what_is_accepted() {
        for address in ["", "a", "a:", ":1", "a:0", "a:65536", "a:+1", "::1:80", "[a]:1", "a b:1", "a\n:1"] {
            let message = check("default", "a", address).expect_err(address).to_string();
            assert!(message.contains("accepted: host:port"), "{message}");
        }
    }

    #[test]
    fn the_errors_for_paths_and_metadata_say_what_is_accepted() {
        let check =
            |registration| Participant { registration, ..Participant::new("c", "a", Duration::from_secs(1)) }.check();
        let path = |path: &str| Registration { worker_path: Some(path.into()), ..Registration::default() };
        assert_eq!(check(path("/task/1")), Ok(()));
        for bad in ["", "task", "/a b", "/a?x"] {
            let message = check(path(bad)).expect_err(bad).to_string();
            assert!(message.contains("accepted: `/` and then"), "{message}");
        }
        let metadata = |length| [("name", "x".repeat(length))].into_iter().collect();
        let registration = |length| Registration { metadata: metadata(length), ..Registration::default() };
        assert_eq!(check(registration(MAX_METADATA_BYTES - 4)), Ok(()));
        let message = check(registration(MAX_METADATA_BYTES)).expect_err("4 bytes too many").to_string();
        assert!(message.starts_with("16388 bytes of metadata"), "{message}");
    }
}
