//! What the store has said of a node's own entries in the registries.

use crate::store::{Answer, DirectoryReply, DirectoryRequest, Refusal, Reply};
use crate::{Directory, Node, OpId, Session, Violation};

/// The entries of the present session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Entries {
    workers: Own,
    coordinators: Own,
}

/// What is known of one of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Own {
    /// It was asked for, and nothing has shown since that it is not there.
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
    /// A request is sent.
    ///
    /// # Errors
    /// An entry is made that may be there.
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

    /// An answer came that the node waited for.
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

    /// Whether this node may be listed as a worker.
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
