//! Translates errors of the client and the server into what they say about a request.

use redis::{ErrorKind, RedisError, ServerErrorKind};
use rolecall_core::store::Refusal;

/// Reason why a request was not done, or may not have been.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The request was not done and never will be.
    Refused(Refusal),
    /// The request may have been done, or may still be done.
    Unknown,
    /// The server denied a step of a script, which an operator has to mend. Earlier steps of it may have been done.
    Denied {
        /// The server's words.
        reason: String,
    },
    /// The session is over.
    SessionOver,
    /// The request was not done, and this connection is of no use: a later one was opened, or the server cannot serve.
    Useless {
        /// True if the server refused this node, which an operator has to mend.
        refused: bool,
        /// The server's words.
        reason: String,
    },
    /// The request was not done: another server of the cluster has the keys.
    Moved {
        /// Address of that server, `host:port`.
        address: String,
    },
    /// No answer came, so that the request may have been done or may still be done, and this connection is of no use.
    Silent {
        /// The reason.
        reason: String,
    },
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<RedisError> for Failure {
    fn from(error: RedisError) -> Self {
        let reason = error.to_string();
        let useless = |refused| Self::Useless { refused, reason: reason.clone() };
        match error.kind() {
            // A script is done as a whole or, if it may not write, not at all. See `Server errors` in the module's page.
            ErrorKind::Server(kind) => match kind {
                ServerErrorKind::BusyLoading
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::MasterDown
                | ServerErrorKind::ReadOnly
                | ServerErrorKind::TryAgain => useless(false),
                ServerErrorKind::Moved | ServerErrorKind::Ask => match error.redirect_node() {
                    Some((address, _)) => Self::Moved { address: address.into() },
                    None => useless(false),
                },
                ServerErrorKind::NoPerm => useless(true),
                ServerErrorKind::ResponseError if is_denial(&reason) => Self::Denied { reason },
                ServerErrorKind::NoScript => Self::Refused(Refusal::Denied),
                ServerErrorKind::CrossSlot
                | ServerErrorKind::ExecAbort
                | ServerErrorKind::NoSub
                | ServerErrorKind::NotBusy
                | ServerErrorKind::ResponseError => Self::Unknown,
                // Kinds that a later version of the client adds.
                _ => Self::Unknown,
            },
            ErrorKind::AuthenticationFailed => useless(true),
            ErrorKind::RESP3NotSupported => Self::Useless {
                refused: true,
                reason: format!("it does not speak RESP3, so it is older than Redis 6.2, which is needed ({reason})"),
            },
            ErrorKind::Extension => match error.code() {
                Some("NOAUTH" | "WRONGPASS") => useless(true),
                // The server's memory is full, its disk is, a script is running, or replicas are missing: it does nothing.
                Some("OOM" | "MISCONF" | "BUSY" | "NOREPLICAS") => Self::Refused(Refusal::Denied),
                Some(_) | None if is_denial(&reason) => Self::Denied { reason },
                Some(_) | None => Self::Unknown,
            },
            ErrorKind::Io
            | ErrorKind::Parse
            | ErrorKind::UnexpectedReturnType
            | ErrorKind::InvalidClientConfig
            | ErrorKind::Client => Self::Silent { reason },
            // The client's own clusters and sentinels are not used here.
            ErrorKind::ClusterConnectionNotFound
            | ErrorKind::EmptySentinelList
            | ErrorKind::MasterNameNotFoundBySentinel
            | ErrorKind::NoValidReplicasFoundBySentinel
            // Kinds that a later version of the client adds.
            | _ => Self::Silent { reason },
        }
    }
}

/// True for the words in which a server says that the user of a script may not take one of its steps: those of Redis 6.2 and
/// 7.0, and those since 7.2. They have no code of their own.
fn is_denial(reason: &str) -> bool {
    reason.contains("The user executing the script can't") || reason.contains("ACL failure in script")
}
