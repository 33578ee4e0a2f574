//! Performs each request of the core with requests to ZooKeeper.

use core::time::Duration;
use std::sync::Arc;
use std::time::SystemTime;

use futures_util::future::join_all;
use rolecall_core::store::{
    DirectoryReply, DirectoryRequest, QueueReply, QueueRequest, Refusal, Reply, Request, SettingsRequest, TermRecord,
    TermRequest, Wish, WishReply, WishRequest,
};
use rolecall_core::{Candidate, Directory, Epoch, Fence, Guid, Incarnation, Member, MemberKey, Session, Snapshot};
use tracing::warn;
use zookeeper_client::{
    Acls, Client, CreateMode, CreateOptions, CreateSequence, Error, MultiWriteError, MultiWriteResult, MultiWriter,
    SessionState, Stat,
};

use super::failure::Failure;
use super::identity::Identity;
use super::layout::Layout;
use super::names::Names;
use super::record::{EntryData, OwnEntry, TermData};
use super::watches::Watch;
use super::znode::{candidate_prefix, entry_name, parse_entry};
use crate::store::{parse_wish, wish_to_bytes};

const PERSISTENT: CreateOptions<'static> = CreateMode::Persistent.with_acls(Acls::anyone_all());
pub(super) const EPHEMERAL: CreateOptions<'static> = CreateMode::Ephemeral.with_acls(Acls::anyone_all());
const SEQUENTIAL: CreateOptions<'static> = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());

/// Attempts at a step for which a znode must first be created. More than one helps if somebody else deletes it meanwhile.
const ATTEMPTS: u32 = 4;

/// Everything that a request needs. Dropping the last clone drops the client.
#[derive(Clone, Debug)]
pub(super) struct SessionHandle {
    pub(super) client: Client,
    pub(super) layout: Arc<Layout>,
    pub(super) identity: Arc<Identity>,
    pub(super) session: Session,
    pub(super) timeout: Duration,
}

/// Result of a request that was done.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) reply: Reply,
    pub(super) watch: Option<Watch>,
    pub(super) names: Option<Names>,
}

impl From<Reply> for Done {
    fn from(reply: Reply) -> Self {
        Self { reply, watch: None, names: None }
    }
}

/// Performs one request. Its first message goes to the client when this future is first polled.
pub(super) async fn perform(handle: SessionHandle, request: Request, names: Arc<Names>) -> Result<Done, Failure> {
    match request {
        Request::Sync => Ok(handle.client.sync(handle.layout.root()).await.map(|()| Reply::Synced)?.into()),
        Request::Queue(request) => handle.perform_in_queue(request, &names).await,
        Request::Lease(_) => Err(Refusal::OtherFamily.into()),
        Request::Term(TermRequest::Read) => handle.read_term().await,
        Request::Directory(request) => handle.perform_in_directory(request).await,
        Request::Settings(SettingsRequest::Settle { settings }) => handle.settle(settings).await,
        Request::Wish(WishRequest::Read { watch }) => handle.read_wish(watch).await,
        Request::Wish(WishRequest::Write { wish, over }) => handle.write_wish(&wish, over).await,
    }
}

impl SessionHandle {
    async fn perform_in_queue(&self, request: QueueRequest, names: &Names) -> Result<Done, Failure> {
        let named = |candidate| names.of(candidate).map(|name| self.layout.candidate(&name));
        match request {
            QueueRequest::Enter { guid } => self.enter(guid).await,
            QueueRequest::List => self.list().await,
            QueueRequest::Inspect { candidate, watch } => {
                self.inspect(named(candidate).ok_or(Refusal::Missing)?, watch).await
            }
            QueueRequest::Delete { candidate } => {
                let path = named(candidate).ok_or(Refusal::Missing)?;
                Ok(self.client.delete(&path, None).await.map(|()| Reply::Queue(QueueReply::Deleted))?.into())
            }
            QueueRequest::Claim { candidate, incarnation, create } => {
                self.claim(named(candidate).ok_or(Refusal::CandidateGone)?, incarnation, create).await
            }
            QueueRequest::Beat { candidate } => self.beat(named(candidate).ok_or(Refusal::CandidateGone)?).await,
        }
    }

    async fn perform_in_directory(&self, request: DirectoryRequest) -> Result<Done, Failure> {
        match request {
            DirectoryRequest::Join { directory, session, epoch } => self.join(directory, session, epoch).await,
            DirectoryRequest::Leave { directory, session } => {
                let path = self.own_entry(directory, session);
                Ok(self.client.delete(&path, None).await.map(|()| Reply::Directory(DirectoryReply::Left))?.into())
            }
            DirectoryRequest::Verify { directory, session } => self.verify(self.own_entry(directory, session)).await,
            DirectoryRequest::Members { directory, watch } => self.members(directory, watch).await,
        }
    }

    /// Creates a znode, and its parents if they are missing, including the chroot.
    pub(super) async fn create(
        &self,
        path: &str,
        data: &[u8],
        options: &CreateOptions<'_>,
    ) -> Result<(Stat, CreateSequence), Failure> {
        for _ in 0..ATTEMPTS {
            match self.client.create(path, data, options).await {
                Err(Error::NoNode) => self.create_parents(path).await?,
                outcome => return Ok(outcome?),
            }
        }
        warn!(path, "cannot create this znode: something keeps deleting its parents");
        Err(Refusal::Denied.into())
    }

    /// True if `stat` belongs to an ephemeral znode of the session with which this client was opened.
    pub(super) fn owns(&self, stat: &Stat) -> bool {
        stat.ephemeral_owner.cast_unsigned() == self.session.0
    }

    async fn create_parents(&self, path: &str) -> Result<(), Failure> {
        let (parent, _) = path.rsplit_once('/').expect("paths begin with a slash");
        self.create_directory(parent).await
    }

    async fn create_directory(&self, path: &str) -> Result<(), Failure> {
        self.still_connected()?;
        self.client.mkdir(path, &PERSISTENT).await?;
        self.still_connected()
    }

    /// Checks that the connection was not lost. A request of several steps must not go on after a loss: the client would
    /// keep the next step and send it in whatever session comes next.
    fn still_connected(&self) -> Result<(), Failure> {
        match self.client.state() {
            SessionState::SyncConnected | SessionState::ConnectedReadOnly => Ok(()),
            SessionState::Disconnected | SessionState::AuthFailed | SessionState::Expired | SessionState::Closed => {
                Err(Failure::Unknown)
            }
        }
    }

    async fn enter(&self, guid: Guid) -> Result<Done, Failure> {
        let prefix = self.layout.candidate(&candidate_prefix(guid));
        let (stat, sequence) = self.create(&prefix, self.identity.id.as_bytes(), &SEQUENTIAL).await?;
        if !self.owns(&stat) {
            return Err(Failure::SessionInDoubt);
        }
        Ok(Reply::Queue(QueueReply::Entered(Candidate { sequence: sequence.into_i64(), guid: Some(guid) })).into())
    }

    async fn list(&self) -> Result<Done, Failure> {
        let children = match self.client.list_children(&self.layout.election()).await {
            Err(Error::NoNode) => Vec::new(),
            outcome => outcome?,
        };
        let (names, reply) = Names::read(children);
        Ok(Done { reply, watch: None, names: Some(names) })
    }

    async fn inspect(&self, path: String, watch: bool) -> Result<Done, Failure> {
        let (data, stat, watch) = self.read(path, watch).await?;
        let owner = Session(stat.ephemeral_owner.cast_unsigned());
        let reply = Reply::Queue(QueueReply::Candidate { owner, participant: String::from_utf8_lossy(&data).into() });
        Ok(Done { reply, watch, names: None })
    }

    async fn read(&self, path: String, watch: bool) -> Result<(Vec<u8>, Stat, Option<Watch>), Failure> {
        if watch {
            let (data, stat, watcher) = self.client.get_and_watch_data(&path).await?;
            Ok((data, stat, Some(Watch { path, children: false, watcher })))
        } else {
            let (data, stat) = self.client.get_data(&path).await?;
            Ok((data, stat, None))
        }
    }

    async fn claim(&self, candidate: String, incarnation: Incarnation, create: bool) -> Result<Done, Failure> {
        let term = self.layout.term();
        let Identity { id, address, .. } = self.identity.as_ref().clone();
        let data = TermData { incarnation, id, address: address.unwrap_or_default() }.to_bytes();
        let mut writer = self.checked(&candidate)?;
        if create {
            writer.add_create(&term, &data, &PERSISTENT)?;
        }
        // Also after creating the znode, in the same transaction: some servers return the revision only for a set.
        writer.add_set_data(&term, &data, None)?;
        let results = writer.commit().await.map_err(multi_failure)?;
        let revision = results
            .iter()
            .rev()
            .find_map(|result| if let MultiWriteResult::SetData { stat } = result { Some(stat.mzxid) } else { None });
        let revision = revision.ok_or(Failure::Unknown)?;
        Ok(Reply::Queue(QueueReply::Claimed(Epoch(revision.cast_unsigned()))).into())
    }

    async fn beat(&self, candidate: String) -> Result<Done, Failure> {
        let beat = self.layout.beat();
        let data = self.identity.id.as_bytes();
        let mut create = false;
        for _ in 0..ATTEMPTS {
            let mut writer = self.checked(&candidate)?;
            if create {
                writer.add_create(&beat, data, &PERSISTENT)?;
            } else {
                writer.add_set_data(&beat, data, None)?;
            }
            match writer.commit().await.map_err(multi_failure) {
                Ok(_) => return Ok(Reply::Queue(QueueReply::Beaten).into()),
                Err(Failure::Refused(Refusal::Missing)) => create = true,
                Err(Failure::Refused(Refusal::Exists)) => create = false,
                Err(failure) => return Err(failure),
            }
            self.still_connected()?;
        }
        Err(Refusal::Denied.into())
    }

    /// Starts a transaction that is done only if `candidate` exists.
    fn checked(&self, candidate: &str) -> Result<MultiWriter<'_>, Failure> {
        const ANY_VERSION: i32 = -1;
        let mut writer = self.client.new_multi_writer();
        writer.add_check_version(candidate, ANY_VERSION)?;
        Ok(writer)
    }

    async fn read_term(&self) -> Result<Done, Failure> {
        let path = self.layout.term();
        let (sync, read) = (self.client.sync(&path), self.client.get_data(&path));
        sync.await?;
        let (data, stat) = read.await?;
        let Some(TermData { incarnation, id, address }) = TermData::parse(&data) else {
            warn!(path, "this znode is not the record of a term; the next leader writes a new one over it");
            return Err(Refusal::Malformed.into());
        };
        let fence = Fence { incarnation, epoch: Epoch(stat.mzxid.cast_unsigned()) };
        Ok(Reply::Term(TermRecord { fence, leader: id.into(), address: address.into() }).into())
    }

    async fn join(&self, directory: Directory, session: Session, epoch: Option<Epoch>) -> Result<Done, Failure> {
        if session != self.session {
            return Err(Refusal::SessionOver.into());
        }
        let Identity { id, host, registration, .. } = self.identity.as_ref();
        let address = host.as_ref().map(|(host, port)| (host.as_str(), *port));
        let path = match directory {
            Directory::Workers => registration.worker_path.as_deref(),
            Directory::Coordinators => registration.leader_path.as_deref(),
        };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let registered_ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let (session_timeout, metadata) = (self.timeout, &registration.metadata);
        let entry = OwnEntry { id, address, path, epoch, session_timeout, metadata, registered_ms };
        let path = self.own_entry(directory, session);
        let (stat, _) = self.create(&path, &entry.to_bytes(directory), &EPHEMERAL).await?;
        if self.owns(&stat) {
            Ok(Reply::Directory(DirectoryReply::Joined).into())
        } else {
            Err(Failure::SessionInDoubt)
        }
    }

    async fn verify(&self, path: String) -> Result<Done, Failure> {
        let (data, stat, watch) = self.read(path, true).await?;
        let owner = Session(stat.ephemeral_owner.cast_unsigned());
        let epoch = EntryData::parse(&data).and_then(|entry| entry.epoch);
        Ok(Done { reply: Reply::Directory(DirectoryReply::Registered { owner, epoch }), watch, names: None })
    }

    fn own_entry(&self, directory: Directory, session: Session) -> String {
        self.layout.entry(directory, &entry_name(&self.identity.id, session))
    }

    async fn members(&self, directory: Directory, watch: bool) -> Result<Done, Failure> {
        let path = self.layout.directory(directory);
        let (names, watch) = if watch {
            let (names, watch) = self.watch_children(path).await?;
            (names, Some(watch))
        } else {
            let names = match self.client.list_children(&path).await {
                Err(Error::NoNode) => Vec::new(),
                outcome => outcome?,
            };
            (names, None)
        };
        let snapshot = self.snapshot(directory, names).await?;
        Ok(Done { reply: Reply::Directory(DirectoryReply::Members(snapshot)), watch, names: None })
    }

    async fn watch_children(&self, path: String) -> Result<(Vec<String>, Watch), Failure> {
        for _ in 0..ATTEMPTS {
            match self.client.get_and_watch_children(&path).await {
                Err(Error::NoNode) => self.create_directory(&path).await?,
                outcome => {
                    let (names, _, watcher) = outcome?;
                    return Ok((names, Watch { path, children: true, watcher }));
                }
            }
        }
        warn!(path, "cannot watch this znode: something keeps deleting it");
        Err(Refusal::Denied.into())
    }

    /// Reads the entries of these names, all at once. An entry that has gone meanwhile is left out.
    async fn snapshot(&self, directory: Directory, names: Vec<String>) -> Result<Snapshot, Failure> {
        let read = async |name: &str| {
            let Some((id, session)) = parse_entry(name) else { return Ok(Entry::Skipped) };
            match self.client.get_data(&self.layout.entry(directory, name)).await.map_err(Failure::from) {
                Ok((data, stat)) => Ok(entry(MemberKey { id: id.into(), session }, &data, &stat)),
                Err(Failure::Refused(Refusal::Missing)) => Ok(Entry::Gone),
                Err(Failure::Refused(Refusal::Denied)) => Ok(Entry::Skipped),
                Err(failure) => Err(failure),
            }
        };
        let mut snapshot = Snapshot::default();
        for entry in join_all(names.iter().map(|name| read(name))).await {
            match entry? {
                Entry::Member(member) => snapshot.members.push(member),
                Entry::Skipped => snapshot.skipped += 1,
                Entry::Gone => {}
            }
        }
        snapshot.members.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(snapshot)
    }

    async fn settle(&self, settings: Arc<str>) -> Result<Done, Failure> {
        let path = self.layout.settings();
        for _ in 0..ATTEMPTS {
            match self.create(&path, settings.as_bytes(), &PERSISTENT).await {
                Ok(_) => return Ok(Reply::Settings(settings).into()),
                Err(Failure::Refused(Refusal::Exists)) => self.still_connected()?,
                Err(failure) => return Err(failure),
            }
            match self.client.get_data(&path).await {
                Err(Error::NoNode) => self.still_connected()?,
                outcome => {
                    let Ok(text) = String::from_utf8(outcome?.0) else {
                        warn!(path, "this znode is not UTF-8; delete it to let the next node write its settings");
                        return Err(Refusal::Denied.into());
                    };
                    return Ok(Reply::Settings(text.into()).into());
                }
            }
        }
        Err(Refusal::Denied.into())
    }
    async fn read_wish(&self, watch: bool) -> Result<Done, Failure> {
        let path = self.layout.wish();
        let (sync, read) = (self.client.sync(&path), self.read(path.clone(), watch));
        sync.await?;
        let mut read = read.await;
        for _ in 0..ATTEMPTS {
            match read {
                Ok((data, stat, watch)) => {
                    return Ok(Done { reply: Reply::Wish(wish(&path, &data, &stat)), watch, names: None });
                }
                Err(Failure::Refused(Refusal::Missing)) if watch => {
                    if let (None, watcher) = self.client.check_and_watch_stat(&path).await? {
                        let watch = Some(Watch { path, children: false, watcher });
                        return Ok(Done { reply: Reply::Wish(WishReply::Nobodys), watch, names: None });
                    }
                }
                Err(Failure::Refused(Refusal::Missing)) => return Ok(Reply::Wish(WishReply::Nobodys).into()),
                Err(failure) => return Err(denied(&path, failure)),
            }
            self.still_connected()?;
            read = self.read(path.clone(), watch).await;
        }
        Err(Refusal::Denied.into())
    }

    async fn write_wish(&self, wish: &Wish, over: Option<u64>) -> Result<Done, Failure> {
        let path = self.layout.wish();
        let data = wish_to_bytes(wish).ok_or(Refusal::Denied)?;
        let Some(version) = over else {
            return match self.create(&path, &data, &PERSISTENT).await {
                Ok(_) => Ok(Reply::Wish(WishReply::Written { version: 0 }).into()),
                Err(Failure::Refused(Refusal::Exists)) => Err(Refusal::Overtaken.into()),
                Err(failure) => Err(denied(&path, failure)),
            };
        };
        let version = i32::try_from(version).map_err(|_| Refusal::Overtaken)?;
        match self.client.set_data(&path, &data, Some(version)).await {
            Ok(stat) => Ok(Reply::Wish(WishReply::Written { version: version_of(&stat) }).into()),
            Err(Error::BadVersion | Error::NoNode) => Err(Refusal::Overtaken.into()),
            Err(error) => Err(denied(&path, error.into())),
        }
    }
}

/// The wish in its znode.
fn wish(path: &str, data: &[u8], stat: &Stat) -> WishReply {
    let version = version_of(stat);
    let Some(wish) = parse_wish(data) else {
        warn!(path, "this znode is not a wish, and is left alone; delete it");
        return WishReply::Malformed { version };
    };
    WishReply::Found { wish: Box::new(wish), version }
}

fn version_of(stat: &Stat) -> u64 {
    u64::from(stat.version.cast_unsigned())
}

/// Names the znode to which the server denies access.
fn denied(path: &str, failure: Failure) -> Failure {
    if failure == Failure::Refused(Refusal::Denied) {
        warn!(path, "the server denies access to this znode: no operator's wish is heard");
    }
    failure
}

enum Entry {
    Member(Member),
    Skipped,
    Gone,
}

fn entry(key: MemberKey, data: &[u8], stat: &Stat) -> Entry {
    let Some(data) = EntryData::parse(data) else { return Entry::Skipped };
    let EntryData { address, epoch, session_timeout, metadata } = data;
    let address = address.unwrap_or_default().into();
    let created = stat.czxid.cast_unsigned();
    Entry::Member(Member { key, address, epoch, session_timeout, created, metadata })
}

/// Translates the error of a transaction. The first operation of each transaction checks the candidate.
fn multi_failure(error: MultiWriteError) -> Failure {
    match error {
        MultiWriteError::OperationFailed { index: 0, source: Error::NoNode } => Refusal::CandidateGone.into(),
        MultiWriteError::OperationFailed { index: _, source } | MultiWriteError::RequestFailed { source } => {
            source.into()
        }
    }
}
