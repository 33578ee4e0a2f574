//! Recent answers, each with the state of the documents to which it belongs.

use core::mem;
use std::collections::BTreeMap;

use super::SearchRequest;
use crate::search::whole::WholeAnswer;

/// Number of answers after which a new generation begins. Two generations are kept.
const GENERATION: usize = 512;
/// Number of hits above which an answer is not kept.
const LARGE: usize = 100;

/// Query, offset and limit.
type Key = (String, usize, usize);

/// Recent answers. All of them belong to the same state of all shards, and are forgotten when it changes.
#[derive(Debug, Default)]
pub(super) struct Answers {
    state: u64,
    young: BTreeMap<Key, WholeAnswer>,
    old: BTreeMap<Key, WholeAnswer>,
}

impl Answers {
    /// Answer to `request` in this state, if it is known.
    pub(super) fn get(&mut self, state: u64, request: &SearchRequest) -> Option<WholeAnswer> {
        if self.state != state {
            *self = Self { state, ..Self::default() };
        }
        let key = key(request);
        if let Some(known) = self.young.get(&key) {
            return Some(known.clone());
        }
        let known = self.old.remove(&key)?;
        self.insert(key, known.clone());
        Some(known)
    }

    /// Keeps an answer, unless the state has changed since it was asked for.
    pub(super) fn keep(&mut self, state: u64, request: &SearchRequest, answer: &WholeAnswer) {
        if self.state == state && answer.hits.len() <= LARGE {
            self.insert(key(request), answer.clone());
        }
    }

    fn insert(&mut self, key: Key, answer: WholeAnswer) {
        if self.young.len() == GENERATION {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, answer);
    }
}

fn key(request: &SearchRequest) -> Key {
    (request.query.clone(), request.offset, request.limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(query: &str) -> SearchRequest {
        SearchRequest { query: query.to_owned(), limit: 10, offset: 0 }
    }

    fn answer(total: u64) -> WholeAnswer {
        WholeAnswer { hits: Vec::new(), total }
    }

    fn total(answers: &mut Answers, state: u64, query: &str) -> Option<u64> {
        answers.get(state, &request(query)).map(|answer| answer.total)
    }

    #[test]
    fn an_answer_is_known_while_the_documents_stay_as_they_are() {
        let mut answers = Answers::default();
        assert_eq!(total(&mut answers, 1, "a"), None);
        answers.keep(1, &request("a"), &answer(7));
        assert_eq!(total(&mut answers, 1, "a"), Some(7));
        assert_eq!(total(&mut answers, 1, "b"), None);
        assert_eq!(answers.get(1, &SearchRequest { offset: 1, ..request("a") }).map(|answer| answer.total), None);
        assert_eq!(total(&mut answers, 2, "a"), None);
        answers.keep(1, &request("a"), &answer(7));
        assert_eq!(total(&mut answers, 2, "a"), None, "it belongs to an earlier state");
    }

    #[test]
    fn answers_that_are_asked_for_are_kept_and_the_others_forgotten() {
        let mut answers = Answers::default();
        assert_eq!(total(&mut answers, 1, "asked"), None);
        answers.keep(1, &request("asked"), &answer(0));
        answers.keep(1, &request("not asked"), &answer(0));
        for number in 0..4 * GENERATION {
            answers.keep(1, &request(&number.to_string()), &answer(0));
            assert_eq!(total(&mut answers, 1, "asked"), Some(0));
        }
        assert_eq!(total(&mut answers, 1, "not asked"), None);
        assert!(answers.young.len() <= GENERATION && answers.old.len() <= GENERATION);
    }
}
