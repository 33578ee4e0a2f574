//! What an error of the client says about the request that it ended.

use rolecall_core::store::Refusal;
use zookeeper_client::Error;

/// Why a request was not done, or is not known to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// It was not done and never will be.
    Refused(Refusal),
    /// It may have been done, or may still be.
    Unknown,
    /// The same, and the session can't be relied on: another one answered, or the client no longer works.
    SessionInDoubt,
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::NoNode => Self::Refused(Refusal::Missing),
            Error::NodeExists => Self::Refused(Refusal::Exists),
            Error::SessionExpired | Error::AuthFailed | Error::ClientClosed => Self::Refused(Refusal::SessionOver),
            Error::BadArguments(_)
            | Error::BadVersion
            | Error::InvalidAcl
            | Error::MarshallingError
            | Error::NoAuth
            | Error::NoChildrenForEphemerals
            | Error::NotEmpty
            | Error::NotReadOnly
            | Error::NoWatcher
            | Error::QuotaExceeded
            | Error::ReconfigDisabled
            | Error::SessionMoved
            | Error::Throttled
            | Error::Unimplemented => Self::Refused(Refusal::Denied),
            // The client answers so when its own task is gone, and when the server spoke out of turn.
            Error::UnexpectedError(_) => Self::SessionInDoubt,
            Error::ConnectionLoss
            | Error::Custom(_)
            | Error::NoHosts
            | Error::RuntimeInconsistent
            | Error::Timeout
            | Error::UnexpectedErrorCode(_)
            | Error::UnmarshalError { .. } => Self::Unknown,
            // What a later version of the client adds.
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_tell_whether_it_was_done_is_unknown() {
        for error in [Error::ConnectionLoss, Error::Timeout, Error::UnexpectedErrorCode(-7), Error::RuntimeInconsistent]
        {
            assert_eq!(Failure::from(error.clone()), Failure::Unknown, "{error}");
        }
    }

    #[test]
    fn a_client_that_no_longer_works_ends_its_session() {
        assert_eq!(Failure::from(Error::UnexpectedError("BUG".into())), Failure::SessionInDoubt);
    }

    #[test]
    fn what_was_definitely_not_done_is_refused() {
        for (error, refusal) in [
            (Error::NoNode, Refusal::Missing),
            (Error::NodeExists, Refusal::Exists),
            (Error::SessionExpired, Refusal::SessionOver),
            (Error::NoAuth, Refusal::Denied),
            (Error::Throttled, Refusal::Denied),
        ] {
            assert_eq!(Failure::from(error), Failure::Refused(refusal));
        }
    }
}
