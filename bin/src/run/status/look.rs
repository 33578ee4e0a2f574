//! Reads the state of a cluster from its store, in a session that registers nothing.

use core::time::Duration;
use std::sync::Arc;

use rolecall::store::{
    DirectoryReply, DirectoryRequest, LeaseReply, LeaseRequest, QueueReply, QueueRequest, Reply, Request, Store,
    TermRecord, TermRequest,
};
use rolecall::{Candidate, Directory, Family, Leader, Member, Session, Snapshot};

use super::super::reader::{ReadError, Reader};

/// State of a cluster as found in its store.
#[derive(Clone, Debug, Default)]
pub(in crate::run) struct Look {
    /// The leader, if there is one.
    pub(in crate::run) leader: Option<Leader>,
    /// Record of the latest term, whether or not its leader still leads.
    pub(in crate::run) term: Option<TermRecord>,
    /// The workers.
    pub(in crate::run) workers: Vec<Member>,
    /// The lease, where the store keeps one instead of a queue.
    pub(in crate::run) lease: Option<Lease>,
    /// Number of candidates in the queue.
    pub(in crate::run) candidates: usize,
    /// Number of names in the queue that are not candidates, and of candidates in front of the leader's that no session owns.
    pub(in crate::run) skipped_candidates: u32,
    /// Number of entries in the directories that cannot be read.
    pub(in crate::run) skipped_members: u32,
}

/// The lease, as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::run) enum Lease {
    /// Nobody holds it.
    Free,
    /// A node holds it.
    Held {
        /// Id of the node.
        id: Arc<str>,
        /// Time until it ends, unless it is renewed.
        left: Duration,
    },
    /// Nobody may hold it for this long: the store is new or has restarted, and a lease of before may still live.
    Closed(Duration),
}

/// Pause before a request is repeated.
const PAUSE: Duration = Duration::from_millis(200);

/// Reads the state of the cluster. Tries until the store can be reached.
///
/// # Errors
/// If the store denies reading.
pub(super) async fn look(store: &mut dyn Store) -> Result<Look, &'static str> {
    let mut reader = Reader::new(store);
    reader.connected().await;
    loop {
        match reader.look().await {
            Ok(seen) => {
                reader.close().await;
                return Ok(seen);
            }
            Err(ReadError::Denied) => return Err("no permission to read the cluster's entries"),
            Err(ReadError::Again) => tokio::time::sleep(PAUSE).await,
            Err(ReadError::Disconnected) => reader.connected().await,
        }
    }
}

impl Reader<'_> {
    /// Reads the state of the cluster once.
    pub(in crate::run) async fn look(&mut self) -> Result<Look, ReadError> {
        let term = match self.ask(Request::Term(TermRequest::Read)).await {
            // If reading is denied altogether, the next request shows it.
            Err(ReadError::Denied) => None,
            reply => reply?,
        };
        let term = term.and_then(|reply| if let Reply::Term(record) = reply { Some(record) } else { None });
        let standing = match self.store.family() {
            Family::Queue => self.queue().await?,
            Family::Lease => Look { lease: Some(self.lease().await?), ..Look::default() },
        };
        let coordinators = self.members(Directory::Coordinators).await?;
        let workers = self.members(Directory::Workers).await?;
        Ok(Look {
            leader: standing.leader.or_else(|| newest(&coordinators.members)),
            term,
            skipped_members: coordinators.skipped.saturating_add(workers.skipped),
            workers: workers.members,
            ..standing
        })
    }

    /// Reads the queue, and who stands first in it if that is another kind of client.
    async fn queue(&mut self) -> Result<Look, ReadError> {
        let Some(Reply::Queue(QueueReply::Candidates { candidates: queue, skipped })) =
            self.ask(Request::Queue(QueueRequest::List)).await?
        else {
            return Err(ReadError::Again);
        };
        let (nobodys, foreign) = self.head(&queue).await?;
        Ok(Look {
            leader: foreign,
            candidates: queue.len().saturating_sub(nobodys),
            skipped_candidates: skipped.saturating_add(u32::try_from(nobodys).unwrap_or(u32::MAX)),
            ..Look::default()
        })
    }

    async fn lease(&mut self) -> Result<Lease, ReadError> {
        match self.ask(Request::Lease(LeaseRequest::Peek { watch: false })).await? {
            Some(Reply::Lease(LeaseReply::Free)) => Ok(Lease::Free),
            Some(Reply::Lease(LeaseReply::Held(holding))) => Ok(Lease::Held { id: holding.id, left: holding.left }),
            Some(Reply::Lease(LeaseReply::Closed { left })) => Ok(Lease::Closed(left)),
            Some(_) | None => Err(ReadError::Again),
        }
    }

    async fn members(&mut self, directory: Directory) -> Result<Snapshot, ReadError> {
        let reply = self.ask(Request::Directory(DirectoryRequest::Members { directory, watch: false })).await?;
        if let Some(Reply::Directory(DirectoryReply::Members(snapshot))) = reply {
            Ok(snapshot)
        } else {
            Err(ReadError::Again)
        }
    }

    /// Returns the number of candidates in front that no session owns, and the first of the others if another kind of client
    /// made it.
    async fn head(&mut self, queue: &[Candidate]) -> Result<(usize, Option<Leader>), ReadError> {
        for (nobodys, candidate) in queue.iter().enumerate() {
            let reply = self.ask(Request::Queue(QueueRequest::Inspect { candidate: *candidate, watch: false })).await?;
            match reply {
                Some(Reply::Queue(QueueReply::Candidate { owner: Session::NOBODY, .. })) => {}
                Some(Reply::Queue(QueueReply::Candidate { participant, .. })) if candidate.is_foreign() => {
                    return Ok((nobodys, Some(Leader::Foreign { id: participant })));
                }
                Some(_) | None => return Ok((nobodys, None)),
            }
        }
        Ok((queue.len(), None))
    }
}

/// Coordinator of the newest term.
fn newest(coordinators: &[Member]) -> Option<Leader> {
    let entries = coordinators.iter().filter_map(|member| member.epoch.map(|epoch| (member, epoch)));
    entries.max_by_key(|(_, epoch)| *epoch).map(|(member, epoch)| Leader::Node {
        id: Arc::clone(&member.key.id),
        address: Arc::clone(&member.address),
        epoch,
    })
}

#[cfg(test)]
mod tests {
    use core::convert::Infallible;
    use core::error::Error;
    use core::task::{Context, Poll};

    use rolecall::store::{Answer, MemoryStore, Participant, Refusal, StoreEvent};
    use rolecall::{Assignment, Config, NodeBuilder, OpId, Role, RunningNode, Service, SystemClock};

    use super::*;

    struct Nothing;

    impl Service for Nothing {
        type Running = ();

        async fn start(&self, _assignment: Assignment) -> Result<(), Box<dyn Error + Send + Sync>> {
            Ok(())
        }
    }

    async fn node(store: &MemoryStore, id: &str) -> RunningNode {
        let store = store.clone();
        let open = move |participant| Ok::<Box<dyn Store>, Infallible>(Box::new(store.connect(participant)));
        NodeBuilder::new(Config::new(id), Nothing, open)
            .address(format!("{id}.example:80"))
            .start()
            .await
            .expect("a thread can be started")
    }

    fn participant() -> Participant {
        Participant::new("default", "status", Duration::from_secs(10))
    }

    async fn seen(store: &MemoryStore) -> Look {
        look(&mut store.connect(participant())).await.expect("the embedded store denies nothing")
    }

    /// Store whose record of the term is malformed.
    #[derive(Debug)]
    struct Malformed<S> {
        store: S,
        denied: Option<OpId>,
    }

    impl<S: Store> Store for Malformed<S> {
        fn family(&self) -> Family {
            self.store.family()
        }

        fn send(&mut self, id: OpId, request: Request) {
            if request == Request::Term(TermRequest::Read) {
                self.denied = Some(id);
            } else {
                self.store.send(id, request);
            }
        }

        fn renew(&mut self) {
            self.store.renew();
        }

        fn close(&mut self) {
            self.store.close();
        }

        fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<StoreEvent> {
            match self.denied.take() {
                Some(id) => Poll::Ready(StoreEvent::Answered { id, answer: Answer::Refused(Refusal::Denied) }),
                None => self.store.poll_event(context),
            }
        }
    }

    #[tokio::test]
    async fn a_malformed_record_of_the_term_hides_nothing_else() {
        let store = MemoryStore::new(Arc::new(SystemClock::new()));
        let first = node(&store, "a").await;
        first.observer().until(|status| status.leader.is_some()).await.expect("a leads");

        let mut malformed = Malformed { store: store.connect(participant()), denied: None };
        let found = look(&mut malformed).await.expect("the rest can be read");

        assert!(matches!(&found.leader, Some(Leader::Node { id, .. }) if &**id == "a"));
        assert_eq!(found.term, None);
    }

    #[tokio::test]
    async fn a_look_finds_the_leader_and_the_workers_and_leaves_nothing_behind() {
        let store = MemoryStore::new(Arc::new(SystemClock::new()));
        assert!(seen(&store).await.leader.is_none());

        let first = node(&store, "a").await;
        first.observer().until(|status| status.role == Role::Leader).await.expect("a leads");
        let second = node(&store, "b").await;
        first.observer().until(|status| status.workers.members.len() == 1).await.expect("a leads");
        let found = loop {
            let found = seen(&store).await;
            if found.leader.is_some() {
                break found;
            }
        };

        assert!(
            matches!(&found.leader, Some(Leader::Node { id, address, .. }) if &**id == "a" && Some(&**address) == first.address())
        );
        assert_eq!(found.term.map(|record| record.leader), Some("a".into()));
        assert_eq!(found.workers.iter().map(|member| Some(&*member.address)).collect::<Vec<_>>(), [second.address()]);
        assert_eq!(found.candidates, 2, "the session that reads is not a candidate");
    }
}
