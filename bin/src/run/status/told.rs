//! How a cluster stands, in words and in JSON.

use rolecall_core::Leader;
use serde::Serialize;

use super::Look;

/// What is printed.
#[derive(Debug, Serialize)]
pub(super) struct Told<'a> {
    cluster: &'a str,
    leader: Option<LeaderTold<'a>>,
    /// Who claimed the latest term, whether or not it still leads.
    last_term: Option<Term<'a>>,
    workers: Vec<Node<'a>>,
    candidates: usize,
    skipped: Skipped,
}

#[derive(Debug, Serialize)]
struct LeaderTold<'a> {
    id: &'a str,
    address: Option<&'a str>,
    epoch: Option<u64>,
    foreign: bool,
    since: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Term<'a> {
    id: &'a str,
    address: &'a str,
    epoch: u64,
    incarnation: String,
}

#[derive(Debug, Serialize)]
struct Node<'a> {
    id: &'a str,
    address: &'a str,
}

#[derive(Debug, Serialize)]
struct Skipped {
    candidates: u32,
    members: u32,
}

impl<'a> Told<'a> {
    /// `since` is what the leader says of itself.
    pub(super) fn new(cluster: &'a str, seen: &'a Look, since: Option<&'a str>) -> Self {
        let leader = seen.leader.as_ref().map(|leader| match leader {
            Leader::Node { id, address, epoch } => {
                LeaderTold { id, address: Some(address), epoch: Some(epoch.0), foreign: false, since }
            }
            Leader::Foreign { id } => LeaderTold { id, address: None, epoch: None, foreign: true, since: None },
        });
        let last_term = seen.term.as_ref().map(|record| Term {
            id: &record.leader,
            address: &record.address,
            epoch: record.fence.epoch.0,
            incarnation: format!("{:016x}", record.fence.incarnation.0),
        });
        let workers = seen.workers.iter().map(|member| Node { id: &member.key.id, address: &member.address }).collect();
        let skipped = Skipped { candidates: seen.skipped_candidates, members: seen.skipped_members };
        Self { cluster, leader, last_term, workers, candidates: seen.candidates, skipped }
    }

    /// One line of JSON.
    pub(super) fn json(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a value of our own types has a form in JSON");
        text.push('\n');
        text
    }

    /// Lines for people.
    pub(super) fn text(&self, store: &str) -> String {
        let mut lines =
            vec![format!("cluster  {} on {store}", self.cluster), format!("leader   {}", self.leader_line())];
        if self.leader.is_none()
            && let Some(term) = &self.last_term
        {
            lines.push(format!("         the last was {} at {}, epoch {}", term.id, term.address, term.epoch));
        }
        let width = self.workers.iter().map(|worker| worker.id.len()).max().unwrap_or(0);
        for (index, Node { id, address }) in self.workers.iter().enumerate() {
            let label = if index == 0 { "workers" } else { "" };
            lines.push(format!("{label:<7}  {id:<width$}  {address}"));
        }
        if self.workers.is_empty() {
            lines.push("workers  none".into());
        }
        let Skipped { candidates, members } = self.skipped;
        if candidates + members > 0 {
            lines.push(format!("skipped  {candidates} candidates and {members} members that can't be read"));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    fn leader_line(&self) -> String {
        match &self.leader {
            None if self.candidates == 0 => "none, and nobody stands for it".into(),
            None => format!("none yet; in the queue: {}", self.candidates),
            Some(LeaderTold { id, foreign: true, .. }) => format!("{id}, a client of another kind"),
            Some(LeaderTold { id, address, epoch, since, .. }) => {
                let since =
                    since.map_or_else(|| "but does not answer as such".into(), |since| format!("since {since}"));
                format!("{id}  {}  epoch {}  {since}", address.unwrap_or_default(), epoch.unwrap_or_default())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::store::TermRecord;
    use rolecall_core::{Epoch, Fence, Incarnation, Member, MemberKey, Session};

    use super::*;

    fn member(id: &str, address: &str) -> Member {
        let key = MemberKey { id: id.into(), session: Session(1) };
        Member { key, address: address.into(), epoch: None, session_timeout: None, created: 1 }
    }

    fn seen() -> Look {
        Look {
            leader: Some(Leader::Node { id: "a".into(), address: "h:1".into(), epoch: Epoch(9) }),
            term: Some(TermRecord {
                fence: Fence { incarnation: Incarnation(255), epoch: Epoch(9) },
                leader: "a".into(),
                address: "h:1".into(),
            }),
            workers: vec![member("b", "h:2"), member("long-c", "h:3")],
            candidates: 3,
            ..Look::default()
        }
    }

    #[test]
    fn a_healthy_cluster_in_words() {
        let text = Told::new("docs", &seen(), Some("2026-11-29T17:39:32.557Z")).text("zookeeper://z:2181");
        let expected = "cluster  docs on zookeeper://z:2181\n\
                        leader   a  h:1  epoch 9  since 2026-11-29T17:39:32.557Z\n\
                        workers  b       h:2\n         long-c  h:3\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_cluster_without_a_leader_tells_who_was_the_last() {
        let seen = Look { leader: None, workers: Vec::new(), skipped_members: 2, ..seen() };
        let text = Told::new("docs", &seen, None).text("zookeeper://z:2181");
        let expected = "cluster  docs on zookeeper://z:2181\n\
                        leader   none yet; in the queue: 3\n         the last was a at h:1, epoch 9\n\
                        workers  none\nskipped  0 candidates and 2 members that can't be read\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_same_in_json() {
        let json: serde_json::Value =
            serde_json::from_str(&Told::new("docs", &seen(), None).json()).expect("it is JSON");
        assert_eq!(json["leader"]["epoch"], 9);
        assert_eq!(json["leader"]["since"], serde_json::Value::Null);
        assert_eq!(json["last_term"]["incarnation"], "00000000000000ff");
        assert_eq!(json["workers"][1]["id"], "long-c");
    }
}
