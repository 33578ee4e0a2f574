//! Transactions that are done only if a candidate exists.

use rolecall_core::store::Refusal;
use zookeeper_client::{Error, MultiWriteError, MultiWriteResult, MultiWriter};

use super::access::{Access, Permission, parent};
use super::failure::Failure;
use super::request::{PERSISTENT, SessionHandle};

/// Transaction whose first step checks a candidate.
pub(super) struct Transaction<'a> {
    handle: &'a SessionHandle,
    writer: MultiWriter<'a>,
    /// Permission that each step needs.
    steps: Vec<Access>,
}

impl SessionHandle {
    /// Starts a transaction that is done only if `candidate` exists.
    pub(super) fn checked(&self, candidate: String) -> Result<Transaction<'_>, Failure> {
        const ANY_VERSION: i32 = -1;
        let mut writer = self.client.new_multi_writer();
        writer.add_check_version(&candidate, ANY_VERSION)?;
        Ok(Transaction { handle: self, writer, steps: vec![(candidate, Permission::Read)] })
    }
}

impl Transaction<'_> {
    pub(super) fn create(&mut self, path: &str, data: &[u8]) -> Result<(), Failure> {
        self.steps.push((parent(path).to_owned(), Permission::Create));
        Ok(self.writer.add_create(path, data, &PERSISTENT)?)
    }

    pub(super) fn set_data(&mut self, path: &str, data: &[u8]) -> Result<(), Failure> {
        self.steps.push((path.to_owned(), Permission::Write));
        Ok(self.writer.add_set_data(path, data, None)?)
    }

    pub(super) async fn commit(mut self) -> Result<Vec<MultiWriteResult>, Failure> {
        let outcome = self.writer.commit().await;
        let failed = match &outcome {
            Ok(_) => Some(self.steps.len()),
            Err(MultiWriteError::OperationFailed { index, .. }) => Some(*index),
            Err(MultiWriteError::RequestFailed { .. }) => None,
        };
        for (path, permission) in self.steps.iter().take(failed.unwrap_or(0)) {
            self.handle.granted(path, *permission);
        }
        outcome.map_err(|error| match error {
            MultiWriteError::OperationFailed { index: 0, source: Error::NoNode } => Refusal::CandidateGone.into(),
            MultiWriteError::OperationFailed { index, source } => match self.steps.get(index) {
                Some((path, permission)) => self.handle.failed(path, *permission, source).into(),
                None => source.into(),
            },
            MultiWriteError::RequestFailed { source } => source.into(),
        })
    }
}
