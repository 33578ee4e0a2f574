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
use zookeeper_client::{Acls, Client, CreateMode, CreateOptions, Error, MultiWriteResult, Stat};

use super::access::Access;
use super::failure::Failure;
use super::identity::Identity;
use super::layout::Layout;
use super::names::Names;
use super::record::{EntryData, OwnEntry, TermData};
use super::watches::Watch;
use super::znode::{candidate_prefix, entry_name, parse_entry};
use crate::store::denials::Denials;
use crate::store::{parse_wish, wish_to_bytes};

pub(super) const PERSISTENT: CreateOptions<'static> = CreateMode::Persistent.with_acls(Acls::anyone_all());
pub(super) const EPHEMERAL: CreateOptions<'static> = CreateMode::Ephemeral.with_acls(Acls::anyone_all());
const SEQUENTIAL: CreateOptions<'static> = CreateMode::EphemeralSequential.with_acls(Acls::anyone_all());

/// Attempts at a step for which a znode must first be created. More than one helps if somebody else deletes it meanwhile.
pub(super) const ATTEMPTS: u32 = 4;

/// Everything that a request needs. Dropping the last clone drops the client.
#[derive(Clone, Debug)]
pub(super) struct SessionHandle {
    pub(super) client: Client,
    pub(super) layout: Arc<Layout>,
    pub(super) identity: Arc<Identity>,
    pub(super) denials: Arc<Denials<Access>>,
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
                Ok(self.delete(&path).await.map(|()| Reply::Queue(QueueReply::Deleted))?.into())
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
                Ok(self.delete(&path).await.map(|()| Reply::Directory(DirectoryReply::Left))?.into())
            }
            DirectoryRequest::Verify { directory, session } => self.verify(self.own_entry(directory, session)).await,
            DirectoryRequest::Members { directory, watch } => self.members(directory, watch).await,
        }
    }

    /// True if `stat` belongs to an ephemeral znode of the session with which this client was opened.
    pub(super) fn owns(&self, stat: &Stat) -> bool {
        stat.ephemeral_owner.cast_unsigned() == self.session.0
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
        let election = self.layout.election();
        let children = self.children(&election).await?;
        self.forget_gone(&election, &children);
        let (names, reply) = Names::read(children);
        Ok(Done { reply, watch: None, names: Some(names) })
    }

    async fn inspect(&self, path: String, watch: bool) -> Result<Done, Failure> {
        let (data, stat, watch) = self.read(path, watch).await?;
        let owner = Session(stat.ephemeral_owner.cast_unsigned());
        let reply = Reply::Queue(QueueReply::Candidate { owner, participant: String::from_utf8_lossy(&data).into() });
        Ok(Done { reply, watch, names: None })
    }

    async fn claim(&self, candidate: String, incarnation: Incarnation, create: bool) -> Result<Done, Failure> {
        let term = self.layout.term();
        let Identity { id, address, .. } = self.identity.as_ref().clone();
        let data = TermData { incarnation, id, address: address.unwrap_or_default() }.to_bytes();
        let mut transaction = self.checked(candidate)?;
        if create {
            transaction.create(&term, &data)?;
        }
        // Also after creating the znode, in the same transaction: some servers return the revision only for a set.
        transaction.set_data(&term, &data)?;
        let results = transaction.commit().await?;
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
            let mut transaction = self.checked(candidate.clone())?;
            if create {
                transaction.create(&beat, data)?;
            } else {
                transaction.set_data(&beat, data)?;
            }
            match transaction.commit().await {
                Ok(_) => return Ok(Reply::Queue(QueueReply::Beaten).into()),
                Err(Failure::Refused(Refusal::Missing)) => create = true,
                Err(Failure::Refused(Refusal::Exists)) => create = false,
                Err(failure) => return Err(failure),
            }
            self.still_connected()?;
        }
        Err(Refusal::Denied.into())
    }

    async fn read_term(&self) -> Result<Done, Failure> {
        let path = self.layout.term();
        let (sync, read) = (self.client.sync(&path), self.get_data(&path));
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
        let (names, watcher) = if watch {
            let (names, watcher) = self.watch_children(&path).await?;
            (names, Some(watcher))
        } else {
            (self.children(&path).await?, None)
        };
        self.forget_gone(&path, &names);
        let watch = watcher.map(|watcher| Watch { path, children: true, watcher });
        let snapshot = self.snapshot(directory, names).await?;
        Ok(Done { reply: Reply::Directory(DirectoryReply::Members(snapshot)), watch, names: None })
    }

    /// Reads the entries of these names, all at once. An entry that has gone meanwhile is left out.
    async fn snapshot(&self, directory: Directory, names: Vec<String>) -> Result<Snapshot, Failure> {
        let read = async |name: &str| {
            let Some((id, session)) = parse_entry(name) else { return Ok(Entry::Skipped) };
            match self.get_data(&self.layout.entry(directory, name)).await.map_err(Failure::from) {
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
            match self.get_data(&path).await {
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
                Err(failure) => return Err(failure),
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
                Err(failure) => Err(failure),
            };
        };
        let version = i32::try_from(version).map_err(|_| Refusal::Overtaken)?;
        match self.set_data(&path, &data, Some(version)).await {
            Ok(stat) => Ok(Reply::Wish(WishReply::Written { version: version_of(&stat) }).into()),
            Err(Error::BadVersion | Error::NoNode) => Err(Refusal::Overtaken.into()),
            Err(error) => Err(error.into()),
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
