//! Own entries of a node in the registries, as the store reported them.

use crate::store::{Answer, DirectoryReply, DirectoryRequest, Refusal, Reply};
use crate::{Directory, Node, OpId, Session, Violation};

/// Entries of the current session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Entries {
    workers: Own,
    coordinators: Own,
}

/// Knowledge about one entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Own {
    /// True if it was requested, and nothing has shown since that it does not exist.
    may_exist: bool,
    asked: Option<(OpId, Asked)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Asked {
    Join,
    Leave,
    Verify,
}

impl Entries {
    /// Judges a request that is sent.
    ///
    /// # Errors
    /// It creates an entry that may exist.
    pub(super) fn asked(&mut self, id: OpId, request: &DirectoryRequest, after: &Node) -> Result<(), Violation> {
        let (directory, session, asked) = match request {
            DirectoryRequest::Join { directory, session, .. } => (*directory, *session, Asked::Join),
            DirectoryRequest::Leave { directory, session } => (*directory, *session, Asked::Leave),
            DirectoryRequest::Verify { directory, session } => (*directory, *session, Asked::Verify),
            DirectoryRequest::Members { .. } => return Ok(()),
        };
        if !is_of(session, after) {
            return Ok(());
        }
        let entry = self.of(directory);
        entry.asked = Some((id, asked));
        let judged = if asked == Asked::Join && entry.may_exist { Err(Violation::CreatedTwice) } else { Ok(()) };
        entry.may_exist |= asked == Asked::Join;
        judged
    }

    /// Notes an answer that the node waited for.
    pub(super) fn answered(&mut self, id: OpId, answer: &Answer) {
        for entry in [&mut self.workers, &mut self.coordinators] {
            let Some((_, asked)) = entry.asked.take_if(|(other, _)| *other == id) else { continue };
            entry.may_exist = match (asked, answer) {
                (
                    Asked::Join,
                    Answer::Done(Reply::Directory(DirectoryReply::Joined))
                    | Answer::Refused(Refusal::Exists)
                    | Answer::Unknown,
                ) => true,
                (Asked::Join, Answer::Done(_) | Answer::Refused(_)) => false,
                (
                    Asked::Leave,
                    Answer::Done(Reply::Directory(DirectoryReply::Left)) | Answer::Refused(Refusal::Missing),
                ) => false,
                (Asked::Verify, Answer::Refused(Refusal::Missing)) => false,
                (Asked::Verify, Answer::Done(Reply::Directory(DirectoryReply::Registered { .. }))) => true,
                (Asked::Leave | Asked::Verify, Answer::Done(_) | Answer::Refused(_) | Answer::Unknown) => {
                    entry.may_exist
                }
            };
        }
    }

    /// True if this node may be listed as a worker.
    pub(super) fn may_be_worker(&self) -> bool {
        self.workers.may_exist
    }

    fn of(&mut self, directory: Directory) -> &mut Own {
        match directory {
            Directory::Workers => &mut self.workers,
            Directory::Coordinators => &mut self.coordinators,
        }
    }
}

fn is_of(session: Session, node: &Node) -> bool {
    node.session().is_some_and(|(own, _)| own == session)
}
