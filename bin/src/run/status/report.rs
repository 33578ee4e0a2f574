//! Report on the state of a cluster, as text and as JSON.

use core::time::Duration;

use rolecall::Leader;
use serde::{Deserialize, Serialize};

use super::Look;
use super::look::Lease;
use crate::search::shares::SharesReport;

/// State of a cluster, ready to be printed.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    cluster: &'a str,
    leader: Option<LeaderReport<'a>>,
    /// Node that claimed the latest term, whether or not it still leads.
    last_term: Option<Term<'a>>,
    workers: Vec<Node<'a>>,
    candidates: usize,
    /// The lease, where the store keeps one.
    lease: Option<LeaseReport<'a>>,
    shares: Option<SharesReport>,
    skipped: Skipped,
}

/// Answer of a leader about itself.
#[derive(Debug, Deserialize)]
pub(super) struct LeaderAnswer {
    since: String,
    #[serde(default)]
    shares: Option<SharesReport>,
}

#[derive(Debug, Serialize)]
struct LeaderReport<'a> {
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
struct LeaseReport<'a> {
    /// Node that holds it.
    holder: Option<&'a str>,
    /// Time until it ends, or until somebody may hold it.
    left_ms: u128,
    /// True while nobody may hold it.
    closed: bool,
}

impl<'a> LeaseReport<'a> {
    fn new(lease: &'a Lease) -> Self {
        let (holder, left, closed) = match lease {
            Lease::Free => (None, Duration::ZERO, false),
            Lease::Held { id, left } => (Some(&**id), *left, false),
            Lease::Closed(left) => (None, *left, true),
        };
        Self { holder, left_ms: left.as_millis(), closed }
    }

    fn line(&self) -> String {
        match (self.holder, self.closed) {
            (Some(holder), _) => format!("{holder} holds it for another {} ms, unless it renews it", self.left_ms),
            (None, true) => format!(
                "nobody may hold it for another {} ms: the store is new or has restarted, and a lease of before may still \
                 live",
                self.left_ms
            ),
            (None, false) => "free".into(),
        }
    }
}

#[derive(Debug, Serialize)]
struct Skipped {
    candidates: u32,
    members: u32,
}

impl<'a> Report<'a> {
    /// Makes the report, with what the leader itself says, if it answers.
    pub(super) fn new(cluster: &'a str, seen: &'a Look, answer: Option<&'a LeaderAnswer>) -> Self {
        let since = answer.map(|answer| &*answer.since);
        let leader = seen.leader.as_ref().map(|leader| match leader {
            Leader::Node { id, address, epoch } => {
                LeaderReport { id, address: Some(address), epoch: Some(epoch.0), foreign: false, since }
            }
            Leader::Foreign { id } => LeaderReport { id, address: None, epoch: None, foreign: true, since: None },
        });
        let last_term = seen.term.as_ref().map(|record| Term {
            id: &record.leader,
            address: &record.address,
            epoch: record.fence.epoch.0,
            incarnation: format!("{:016x}", record.fence.incarnation.0),
        });
        let workers = seen.workers.iter().map(|member| Node { id: &member.key.id, address: &member.address }).collect();
        let skipped = Skipped { candidates: seen.skipped_candidates, members: seen.skipped_members };
        Self {
            cluster,
            leader,
            last_term,
            workers,
            candidates: seen.candidates,
            lease: seen.lease.as_ref().map(LeaseReport::new),
            shares: answer.and_then(|answer| answer.shares),
            skipped,
        }
    }

    /// The report as one line of JSON.
    pub(super) fn json(&self) -> String {
        let mut text = serde_json::to_string(self).expect("a struct of strings and numbers can be written as JSON");
        text.push('\n');
        text
    }

    /// The report as lines for people.
    pub(super) fn text(&self, store: &str) -> String {
        let mut lines =
            vec![format!("cluster  {} on {store}", self.cluster), format!("leader   {}", self.leader_line())];
        if self.leader.is_none()
            && let Some(term) = &self.last_term
        {
            lines.push(format!("         the last one was {} at {}, epoch {}", term.id, term.address, term.epoch));
        }
        if let Some(lease) = &self.lease {
            lines.push(format!("lease    {}", lease.line()));
        }
        let width = self.workers.iter().map(|worker| worker.id.len()).max().unwrap_or(0);
        for (index, Node { id, address }) in self.workers.iter().enumerate() {
            let label = if index == 0 { "workers" } else { "" };
            lines.push(format!("{label:<7}  {id:<width$}  {address}").trim_end().to_owned());
        }
        if self.workers.is_empty() {
            lines.push("workers  none".into());
        }
        if let Some(SharesReport { shards, whole, building, one_copy, none }) = self.shares {
            let mut line = format!("shards   {whole} of {shards} whole");
            for (count, words) in [(building, "being built"), (one_copy, "on one node only"), (none, "on no node")] {
                if count > 0 {
                    line.push_str(&format!(", {count} {words}"));
                }
            }
            lines.push(line);
        }
        let Skipped { candidates, members } = self.skipped;
        if candidates + members > 0 {
            lines.push(format!("skipped  {candidates} candidates and {members} members that cannot be read"));
        }
        lines.push(String::new());
        lines.join("\n")
    }

    fn leader_line(&self) -> String {
        match &self.leader {
            None if self.lease.is_some() => "none".into(),
            None if self.candidates == 0 => "none, and no node is in the queue".into(),
            None => format!("none yet; nodes in the queue: {}", self.candidates),
            Some(LeaderReport { id, foreign: true, .. }) => format!("{id}, which is not a Rolecall node"),
            Some(LeaderReport { id, address, epoch, since, .. }) => {
                let epoch = epoch.unwrap_or_default();
                // A member that runs a command answers nowhere.
                let Some(address) = address.filter(|address| !address.is_empty()) else {
                    return format!("{id}  epoch {epoch}");
                };
                let since =
                    since.map_or_else(|| "but does not answer as leader".into(), |since| format!("since {since}"));
                format!("{id}  {address}  epoch {epoch}  {since}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rolecall::store::TermRecord;
    use rolecall::{Epoch, Fence, Incarnation, Member, MemberKey, Session};

    use super::*;

    fn member(id: &str, address: &str) -> Member {
        let key = MemberKey { id: id.into(), session: Session(1) };
        Member {
            key,
            address: address.into(),
            epoch: None,
            session_timeout: None,
            created: 1,
            metadata: Default::default(),
        }
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
    fn a_healthy_cluster_as_text() {
        let shares = SharesReport { shards: 64, whole: 60, building: 1, one_copy: 4, none: 0 };
        let answer = LeaderAnswer { since: "2026-11-29T17:39:32.557Z".into(), shares: Some(shares) };
        let text = Report::new("docs", &seen(), Some(&answer)).text("zookeeper://z:2181");
        let expected = "cluster  docs on zookeeper://z:2181\n\
                        leader   a  h:1  epoch 9  since 2026-11-29T17:39:32.557Z\n\
                        workers  b       h:2\n         long-c  h:3\n\
                        shards   60 of 64 whole, 1 being built, 4 on one node only\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_cluster_without_a_leader_names_the_last_one() {
        let seen = Look { leader: None, workers: Vec::new(), skipped_members: 2, ..seen() };
        let text = Report::new("docs", &seen, None).text("zookeeper://z:2181");
        let expected = "cluster  docs on zookeeper://z:2181\n\
                        leader   none yet; nodes in the queue: 3\n         the last one was a at h:1, epoch 9\n\
                        workers  none\nskipped  0 candidates and 2 members that cannot be read\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_cluster_whose_store_keeps_a_lease() {
        let lease = |lease| {
            let seen = Look { lease: Some(lease), ..seen() };
            Report::new("docs", &seen, None).text("redis://r:6379/0").lines().nth(2).map(str::to_owned)
        };
        let left = Duration::from_millis(7_500);
        assert_eq!(
            lease(Lease::Held { id: "a".into(), left }).as_deref(),
            Some("lease    a holds it for another 7500 ms, unless it renews it")
        );
        assert_eq!(lease(Lease::Free).as_deref(), Some("lease    free"));
        assert!(lease(Lease::Closed(left)).is_some_and(|line| line.contains("nobody may hold it for another 7500 ms")));
    }

    #[test]
    fn the_same_in_json() {
        let json: serde_json::Value =
            serde_json::from_str(&Report::new("docs", &seen(), None).json()).expect("it is JSON");
        assert_eq!(json["leader"]["epoch"], 9);
        assert_eq!(json["leader"]["since"], serde_json::Value::Null);
        assert_eq!(json["last_term"]["incarnation"], "00000000000000ff");
        assert_eq!(json["workers"][1]["id"], "long-c");
    }
}
