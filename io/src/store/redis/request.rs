//! Carries out requests: one script each.

use core::time::Duration;
use std::sync::Arc;

use redis::Value;
use rolecall_core::store::{
    DirectoryReply, DirectoryRequest, Holding, LeaseReply, LeaseRequest, Refusal, Reply, Request, SettingsRequest,
    TermRecord, TermRequest, WishReply, WishRequest,
};
use rolecall_core::{Directory, Epoch, Fence, Incarnation, Session, Snapshot, Token};
use tokio::time::Instant;
use tracing::warn;

use super::connection::Connection;
use super::failure::Failure;
use super::layout::directory_name;
use super::record::{Entry, pairs, parse_hex};
use super::script::{self, Script};
use crate::store::{Participant, Registration, parse_wish, wish_to_bytes};

/// One session over one connection.
#[derive(Clone)]
pub(super) struct SessionHandle {
    pub(super) session: Session,
    /// Number of the connection, counted through the session. Scripts of earlier ones do nothing once a later one was heard.
    pub(super) link: u64,
    pub(super) timeout: Duration,
    pub(super) participant: Arc<Participant>,
    pub(super) connection: Arc<Connection>,
}

/// Carries out a request by `deadline`.
pub(super) async fn perform(handle: SessionHandle, request: Request, deadline: Instant) -> Result<Reply, Failure> {
    match request {
        Request::Sync => handle.keep(deadline).await.map(|()| Reply::Synced),
        Request::Queue(_) => Err(Refusal::OtherFamily.into()),
        Request::Lease(request) => handle.perform_on_lease(request, deadline).await.map(Reply::Lease),
        Request::Term(TermRequest::Read) => handle.read_term(deadline).await,
        Request::Directory(request) => handle.perform_in_directory(request, deadline).await.map(Reply::Directory),
        Request::Settings(SettingsRequest::Settle { settings }) => handle.settle(&settings, deadline).await,
        Request::Wish(request) => handle.perform_on_wish(request, deadline).await.map(Reply::Wish),
    }
}

impl SessionHandle {
    /// Opens the session on this connection. Fails with [`Failure::SessionOver`] if it is no new one and not alive.
    pub(super) async fn open(&self, is_new: bool, deadline: Instant) -> Result<(), Failure> {
        let is_new: &[u8] = if is_new { b"new" } else { b"" };
        self.run(&script::OPEN, &[is_new], deadline).await.map(drop)
    }

    /// Keeps the session alive.
    pub(super) async fn keep(&self, deadline: Instant) -> Result<(), Failure> {
        self.run(&script::KEEP, &[], deadline).await.map(drop)
    }

    /// Ends the session, and deletes what it owns.
    pub(super) async fn close(&self, deadline: Instant) -> Result<(), Failure> {
        self.run(&script::CLOSE, &[], deadline).await.map(drop)
    }

    /// Runs a script for this session. Returns the rest of its reply if it is done.
    async fn run(&self, script: &Script, rest: &[&[u8]], deadline: Instant) -> Result<Fields, Failure> {
        let mut reply = self.ask(script, rest, deadline).await?;
        match reply.text()?.as_str() {
            "done" => Ok(reply),
            "refused" => Err(match reply.text()?.as_str() {
                "missing" => Refusal::Missing.into(),
                "exists" => Refusal::Exists.into(),
                "malformed" => Refusal::Malformed.into(),
                "lost" => Refusal::LeaseLost.into(),
                "overtaken" => Refusal::Overtaken.into(),
                _ => malformed(),
            }),
            _ => Err(malformed()),
        }
    }

    /// Runs a script for this session. Returns its whole reply, unless the session is over or has a later connection.
    async fn ask(&self, script: &Script, rest: &[&[u8]], deadline: Instant) -> Result<Fields, Failure> {
        let (session, link) = (hex(self.session.0), self.link.to_string());
        let timeout = milliseconds(self.timeout);
        let arguments = [&[session.as_bytes(), link.as_bytes(), timeout.as_bytes()], rest].concat();
        let reply = Fields(self.connection.run(script, &arguments, deadline).await?.into_iter());
        match reply.0.as_slice().first() {
            Some(first) if is(first, "over") => Err(Failure::SessionOver),
            Some(first) if is(first, "superseded") => {
                Err(Failure::Useless { refused: false, reason: "a later connection of this session was heard".into() })
            }
            Some(_) | None => Ok(reply),
        }
    }

    async fn perform_on_lease(&self, request: LeaseRequest, deadline: Instant) -> Result<LeaseReply, Failure> {
        match request {
            LeaseRequest::Peek { watch: _ } => self.look(&script::PEEK, &[], deadline).await,
            LeaseRequest::Acquire { token, ttl, incarnation } => self.acquire(token, ttl, incarnation, deadline).await,
            LeaseRequest::Renew { token, ttl } => {
                let (token, ttl) = (hex(token.0), self.positive(ttl)?);
                self.run(&script::RENEW, &[token.as_bytes(), ttl.as_bytes()], deadline).await?;
                Ok(LeaseReply::Renewed)
            }
            LeaseRequest::Release { token } => {
                self.run(&script::RELEASE, &[hex(token.0).as_bytes()], deadline).await?;
                Ok(LeaseReply::Released)
            }
        }
    }

    async fn acquire(
        &self,
        token: Token,
        ttl: Duration,
        incarnation: Incarnation,
        deadline: Instant,
    ) -> Result<LeaseReply, Failure> {
        let (token, ttl, incarnation) = (hex(token.0), self.positive(ttl)?, hex(incarnation.0));
        let Participant { id, address, .. } = &*self.participant;
        let address = address.as_deref().unwrap_or_default();
        let arguments = [&*token, &*ttl, &*incarnation, &**id, address].map(str::as_bytes);
        let reply = self.look(&script::ACQUIRE, &arguments, deadline).await?;
        let is_confirmed = match reply {
            LeaseReply::Acquired(_) => self.connection.replicated(deadline).await?,
            LeaseReply::Free
            | LeaseReply::Held(_)
            | LeaseReply::Closed { .. }
            | LeaseReply::Renewed
            | LeaseReply::Released => true,
        };
        if is_confirmed { Ok(reply) } else { Err(Failure::Unknown) }
    }

    /// Runs a script that says how the lease stands.
    async fn look(&self, script: &Script, rest: &[&[u8]], deadline: Instant) -> Result<LeaseReply, Failure> {
        let mut reply = self.ask(script, rest, deadline).await?;
        Ok(match reply.text()?.as_str() {
            "free" => LeaseReply::Free,
            "closed" => LeaseReply::Closed { left: reply.duration()? },
            "held" => LeaseReply::Held(Holding {
                token: Token(reply.hex()?),
                owner: Session(reply.hex()?),
                id: reply.text()?.into(),
                epoch: Epoch(reply.number()?),
                left: reply.duration()?,
            }),
            "done" => {
                LeaseReply::Acquired(Fence { incarnation: Incarnation(reply.hex()?), epoch: Epoch(reply.number()?) })
            }
            _ => return Err(malformed()),
        })
    }

    /// A time to live in milliseconds. One of zero would delete what it should prolong.
    fn positive(&self, ttl: Duration) -> Result<String, Failure> {
        if ttl.as_millis() == 0 { Err(Refusal::Denied.into()) } else { Ok(milliseconds(ttl)) }
    }

    async fn read_term(&self, deadline: Instant) -> Result<Reply, Failure> {
        let mut reply = self.run(&script::READ_TERM, &[], deadline).await?;
        let mut read = || {
            let (incarnation, epoch) = (Incarnation(reply.hex().ok()?), Epoch(reply.number().ok()?));
            let (leader, address) = (reply.text().ok()?.into(), reply.text().ok()?.into());
            Some(Reply::Term(TermRecord { fence: Fence { incarnation, epoch }, leader, address }))
        };
        read().ok_or_else(|| Refusal::Malformed.into())
    }

    async fn perform_in_directory(
        &self,
        request: DirectoryRequest,
        deadline: Instant,
    ) -> Result<DirectoryReply, Failure> {
        match request {
            DirectoryRequest::Join { session, .. } if session != self.session => Err(Refusal::SessionOver.into()),
            DirectoryRequest::Join { directory, session: _, epoch } => {
                let entry = self.entry(directory, epoch).to_bytes();
                self.run(&script::JOIN, &[directory_name(directory).as_bytes(), &entry], deadline).await?;
                Ok(DirectoryReply::Joined)
            }
            DirectoryRequest::Leave { directory, session } => {
                let (name, session) = (directory_name(directory), hex(session.0));
                self.run(&script::LEAVE, &[name.as_bytes(), session.as_bytes()], deadline).await?;
                Ok(DirectoryReply::Left)
            }
            DirectoryRequest::Verify { directory, session } => {
                let (name, owner) = (directory_name(directory), hex(session.0));
                let reply = self.run(&script::VERIFY, &[name.as_bytes(), owner.as_bytes()], deadline).await;
                let entry = Entry::parse(&reply?.bytes()?);
                let epoch = entry.and_then(|entry| entry.epoch.map(Epoch));
                Ok(DirectoryReply::Registered { owner: session, epoch })
            }
            DirectoryRequest::Members { directory, watch: _ } => {
                let name = directory_name(directory);
                let reply = self.run(&script::MEMBERS, &[name.as_bytes()], deadline).await?;
                Ok(DirectoryReply::Members(reply.snapshot()?))
            }
        }
    }

    /// This node's own entry.
    fn entry(&self, directory: Directory, epoch: Option<Epoch>) -> Entry {
        let Participant { id, address, registration, .. } = &*self.participant;
        let Registration { worker_path, leader_path, metadata } = registration;
        let path = match directory {
            Directory::Workers => worker_path,
            Directory::Coordinators => leader_path,
        };
        Entry {
            created: 0,
            id: id.clone(),
            address: address.clone(),
            path: path.clone(),
            epoch: epoch.map(|Epoch(epoch)| epoch),
            session_timeout_ms: u64::try_from(self.timeout.as_millis()).ok(),
            metadata: pairs(metadata),
        }
    }

    async fn settle(&self, settings: &str, deadline: Instant) -> Result<Reply, Failure> {
        let mut reply = self.run(&script::SETTLE, &[settings.as_bytes()], deadline).await?;
        Ok(Reply::Settings(reply.text()?.into()))
    }

    async fn perform_on_wish(&self, request: WishRequest, deadline: Instant) -> Result<WishReply, Failure> {
        match request {
            WishRequest::Read { watch: _ } => {
                let mut reply = self.run(&script::READ_WISH, &[], deadline).await?;
                if reply.text()? == "nobodys" {
                    return Ok(WishReply::Nobodys);
                }
                let (version, data) = (reply.number().unwrap_or(0), reply.bytes()?);
                let Some(wish) = parse_wish(&data) else {
                    warn!("the key `wish` of this cluster is not a wish, and is left alone; delete it");
                    return Ok(WishReply::Malformed { version });
                };
                Ok(WishReply::Found { wish: Box::new(wish), version })
            }
            WishRequest::Write { wish, over } => {
                let data = wish_to_bytes(&wish).ok_or(Refusal::Denied)?;
                let over = over.map_or_else(String::new, |version| version.to_string());
                let mut reply = self.run(&script::WRITE_WISH, &[over.as_bytes(), &data], deadline).await?;
                Ok(WishReply::Written { version: reply.number()? })
            }
        }
    }
}

/// Fields of a script's reply, taken one after the other.
struct Fields(std::vec::IntoIter<Value>);

impl Fields {
    fn bytes(&mut self) -> Result<Vec<u8>, Failure> {
        match self.0.next() {
            Some(Value::BulkString(bytes)) => Ok(bytes),
            Some(Value::SimpleString(text)) => Ok(text.into_bytes()),
            Some(_) | None => Err(malformed()),
        }
    }

    fn text(&mut self) -> Result<String, Failure> {
        String::from_utf8(self.bytes()?).map_err(|_| malformed())
    }

    fn number(&mut self) -> Result<u64, Failure> {
        self.text()?.parse().map_err(|_| malformed())
    }

    fn hex(&mut self) -> Result<u64, Failure> {
        parse_hex(&self.bytes()?).ok_or_else(malformed)
    }

    fn duration(&mut self) -> Result<Duration, Failure> {
        self.number().map(Duration::from_millis)
    }

    /// The entries of a directory: a session and its entry, again and again.
    fn snapshot(mut self) -> Result<Snapshot, Failure> {
        let mut snapshot = Snapshot::default();
        while self.0.len() > 0 {
            let (session, entry) = (self.bytes()?, self.bytes()?);
            match (parse_hex(&session), Entry::parse(&entry)) {
                (Some(session), Some(entry)) => snapshot.members.push(entry.into_member(Session(session))),
                (_, _) => snapshot.skipped += 1,
            }
        }
        snapshot.members.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(snapshot)
    }
}

/// A script was done, but its reply is not one: somebody else wrote into these keys.
fn malformed() -> Failure {
    Failure::Unknown
}

fn is(value: &Value, text: &str) -> bool {
    matches!(value, Value::BulkString(bytes) if bytes == text.as_bytes())
}

fn hex(number: u64) -> String {
    format!("{number:016x}")
}

/// A duration in milliseconds.
fn milliseconds(duration: Duration) -> String {
    duration.as_millis().to_string()
}
