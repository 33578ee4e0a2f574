//! Names of candidates that cannot be derived from what the core knows about them.

use std::collections::BTreeMap;

use rolecall_core::Candidate;
use rolecall_core::store::{QueueReply, Reply};

use super::znode::{candidate_name, parse_candidate};

/// Names of the candidates without a guid, from the last listing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Names(BTreeMap<Candidate, String>);

impl Names {
    /// Reads a listing of the election directory.
    pub(super) fn read(children: Vec<String>) -> (Self, Reply) {
        let count = children.len();
        let mut candidates = Vec::with_capacity(count);
        let mut names = BTreeMap::new();
        for name in children {
            if let Some(candidate) = parse_candidate(&name) {
                candidates.push(candidate);
                if candidate.guid.is_none() {
                    names.insert(candidate, name);
                }
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        let skipped = u32::try_from(count - candidates.len()).unwrap_or(u32::MAX);
        (Self(names), Reply::Queue(QueueReply::Candidates { candidates, skipped }))
    }

    /// Name of a candidate; `None` if it has no guid and was not in the last listing.
    pub(super) fn of(&self, candidate: Candidate) -> Option<String> {
        candidate_name(candidate).or_else(|| self.0.get(&candidate).cloned())
    }
}

#[cfg(test)]
mod tests {
    use rolecall_core::Guid;

    use super::*;

    #[test]
    fn a_listing_is_ordered_counted_and_remembered() {
        let ours = Candidate { sequence: 9, guid: Some(Guid::ours(5)) };
        let ours_name = candidate_name(ours).expect("it has a guid");
        let foreign = Candidate { sequence: 3, guid: None };
        let children = ["junk", "latch-1", ours_name.as_str(), "x-latch-0000000003", "y-latch-0000000003"];
        let (names, reply) = Names::read(children.map(String::from).to_vec());
        assert_eq!(reply, Reply::Queue(QueueReply::Candidates { candidates: vec![foreign, ours], skipped: 3 }));
        assert_eq!(names.of(ours), Some(ours_name));
        assert!(names.of(foreign).is_some_and(|name| name.ends_with("-latch-0000000003")));
        assert_eq!(names.of(Candidate { sequence: 4, guid: None }), None);
    }
}
