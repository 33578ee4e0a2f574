//! Translation between the machine's names and the paths and data of znodes.

use core::time::Duration;

use rolecall_core::store::TermRecord;
use rolecall_core::{Candidate, Directory, Epoch, Fence, Guid, Incarnation, Member, MemberKey, Session};

use super::znodes::Znode;

pub(super) const ELECTION: &str = "/election";
pub(super) const TERM: &str = "/term";
pub(super) const BEAT: &str = "/beat";
pub(super) const SETTINGS: &str = "/settings";
/// Prefix of names that are neither candidates nor entries.
pub(super) const LITTER: &str = "litter-";

pub(super) fn folder(directory: Directory) -> &'static str {
    match directory {
        Directory::Workers => "/workers",
        Directory::Coordinators => "/coordinators",
    }
}

/// Path of a candidate without its number.
pub(super) fn candidate_prefix(guid: Option<Guid>) -> String {
    match guid {
        Some(Guid(guid)) => format!("{ELECTION}/{guid:032x}-latch-"),
        None => format!("{ELECTION}/latch-"),
    }
}

pub(super) fn candidate_path(candidate: &Candidate) -> String {
    format!("{}{:010}", candidate_prefix(candidate.guid), candidate.sequence)
}

pub(super) fn candidate_of(name: &str) -> Option<Candidate> {
    let (head, sequence) = name.rsplit_once("latch-")?;
    let guid = match head.strip_suffix('-') {
        Some(guid) => Some(Guid(u128::from_str_radix(guid, 16).ok()?)),
        None => None,
    };
    Some(Candidate { sequence: sequence.parse().ok()?, guid })
}

pub(super) fn entry_path(directory: Directory, key: &MemberKey) -> String {
    format!("{}/{}.{}", folder(directory), key.id, key.session.0)
}

pub(super) fn entry_data(address: &str, epoch: Option<Epoch>, timeout: Option<Duration>) -> String {
    let number = |number: Option<u128>| number.map_or_else(String::new, |number| number.to_string());
    format!("{address}|{}|{}", number(epoch.map(|epoch| epoch.0.into())), number(timeout.map(|time| time.as_nanos())))
}

pub(super) fn member_of(name: &str, node: &Znode) -> Option<Member> {
    let (id, session) = name.rsplit_once('.')?;
    let mut fields = node.data.split('|');
    let address = fields.next()?.into();
    let epoch = fields.next()?.parse().ok().map(Epoch);
    let session_timeout = fields.next()?.parse().ok().map(Duration::from_nanos);
    let key = MemberKey { id: id.into(), session: Session(session.parse().ok()?) };
    Some(Member { key, address, epoch, session_timeout, created: node.czxid, metadata: Default::default() })
}

pub(super) fn term_data(incarnation: Incarnation, leader: &str, address: &str) -> String {
    format!("{}|{leader}|{address}", incarnation.0)
}

pub(super) fn term_of(node: &Znode) -> Option<TermRecord> {
    let mut fields = node.data.split('|');
    let incarnation = Incarnation(fields.next()?.parse().ok()?);
    let (leader, address) = (fields.next()?.into(), fields.next()?.into());
    Some(TermRecord { fence: Fence { incarnation, epoch: Epoch(node.mzxid) }, leader, address })
}
