//! Translates errors of the client into what they say about a request.

use rolecall_core::store::Refusal;
use zookeeper_client::Error;

/// Reason why a request was not done, or may not have been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The request was not done and never will be.
    Refused(Refusal),
    /// The request may have been done, or may still be done.
    Unknown,
    /// The request may have been done, and the session cannot be trusted: another one answered, or the client has failed.
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
            // The client returns this when its own task is gone, and when the server violated the protocol.
            Error::UnexpectedError(_) => Self::SessionInDoubt,
            Error::ConnectionLoss
            | Error::Custom(_)
            | Error::NoHosts
            | Error::RuntimeInconsistent
            | Error::Timeout
            | Error::UnexpectedErrorCode(_)
            | Error::UnmarshalError { .. } => Self::Unknown,
            // Errors that a later version of the client adds.
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_that_leaves_it_open_whether_the_request_was_done_is_unknown() {
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
    fn an_error_that_proves_the_request_was_not_done_is_a_refusal() {
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
