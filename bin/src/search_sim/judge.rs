//! Judge of answers: an answer must be right, or partial and say so, or a known refusal. Everything else is wrong.

use bytes::Bytes;
use http::{Response, StatusCode};
use serde::Deserialize;

use super::alone::{ALONE, Page, Shards};
use super::node::SHARDS;
use super::question::Question;
use crate::search::ShardId;
use crate::search::coordinator::{SearchAnswer, ShownHit};

/// Answer that is not wrong.
#[derive(Debug)]
pub(super) enum Judged {
    /// The whole answer, as a single node would give it.
    Whole(SearchAnswer),
    /// A part of the answer, with the number of missing documents.
    Partial(SearchAnswer),
    /// A refusal, because the question is malformed.
    BadQuestion,
    /// A refusal for now, with its code.
    Later(String),
}

#[derive(Deserialize)]
struct Refusal {
    error: Reason,
}

#[derive(Deserialize)]
struct Reason {
    code: String,
}

/// Refusals of a cluster that cannot answer now.
const LATER: &[(StatusCode, &str)] = &[
    (StatusCode::SERVICE_UNAVAILABLE, "no_role"),
    (StatusCode::SERVICE_UNAVAILABLE, "no_leader"),
    (StatusCode::SERVICE_UNAVAILABLE, "term_over"),
    (StatusCode::SERVICE_UNAVAILABLE, "stopping"),
    (StatusCode::SERVICE_UNAVAILABLE, "overloaded"),
    (StatusCode::GATEWAY_TIMEOUT, "too_slow"),
];

/// Judges the answer of a cluster of `nodes` nodes to `question`.
pub(super) fn judge(question: &Question, response: &Response<Bytes>, nodes: usize) -> Result<Judged, String> {
    let wrong = |what: &str| {
        let (status, body) = (response.status(), String::from_utf8_lossy(response.body()));
        Err(format!("{what}: {question} is answered {status} {body}"))
    };
    if response.status() != StatusCode::OK {
        let Ok(Refusal { error }) = serde_json::from_slice(response.body()) else {
            return wrong("the body has an unknown form");
        };
        let is_refused = response.status() == StatusCode::BAD_REQUEST && error.code == "bad_query";
        return if is_refused && ALONE.refuses(question) {
            Ok(Judged::BadQuestion)
        } else if LATER.contains(&(response.status(), error.code.as_str())) {
            Ok(Judged::Later(error.code))
        } else {
            wrong("the refusal is unknown")
        };
    }
    let Ok(answer) = serde_json::from_slice::<SearchAnswer>(response.body()) else {
        return wrong("the body has an unknown form");
    };
    if ALONE.refuses(question) {
        return wrong("a single node refuses this question");
    }
    let is_plausible = answer.query == question.query && answer.workers < nodes && answer.epoch > 0;
    if !is_plausible || answer.partial != (answer.missing > 0) {
        return wrong("the answer contradicts itself or the question");
    }
    if answer.partial {
        return if explained(question, &answer) {
            Ok(Judged::Partial(answer))
        } else {
            wrong("no set of shards gives this answer")
        };
    }
    let right = ALONE.whole(question);
    if is_page(&answer, &right) { Ok(Judged::Whole(answer)) } else { wrong(&format!("the right answer is {right:?}")) }
}

/// True if some set of shards that searched, and some set that sent its statistics before, give exactly this answer.
fn explained(question: &Question, answer: &SearchAnswer) -> bool {
    let whole = ALONE.whole(question);
    let found = |searched: Shards| -> u64 {
        whole.matching.iter().filter(|(shard, _)| searched.has(**shard)).map(|(_, documents)| documents).sum()
    };
    let shards_of_hits: Vec<_> = answer.hits.iter().map(|hit| ShardId::of(&hit.document, SHARDS)).collect();
    let searched = Shards::sets().filter(|searched| {
        ALONE.missing(*searched) == answer.missing
            && found(*searched) == answer.total
            && shards_of_hits.iter().all(|shard| searched.has(*shard))
    });
    searched.into_iter().any(|searched| {
        let counted = Shards::sets().filter(|counted| counted.contains(searched));
        counted.into_iter().any(|counted| is_page(answer, &ALONE.page(question, counted, searched)))
    })
}

fn is_page(answer: &SearchAnswer, page: &Page) -> bool {
    answer.total == page.total()
        && answer.hits.len() == page.hits.len()
        && answer.hits.iter().zip(&page.hits).all(|(hit, right)| is_hit(hit, right))
}

/// Compares a hit with the right one. A hit whose snippet did not arrive in time is shown without it, under its file name.
fn is_hit(hit: &ShownHit, right: &ShownHit) -> bool {
    let is_bare = hit.snippet.is_empty() && right.document.rsplit('/').next() == Some(&*hit.title);
    hit.document == right.document
        && hit.score.to_bits() == right.score.to_bits()
        && (is_bare || (hit.title == right.title && hit.snippet == right.snippet))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUESTION: Question = Question::new("river stone");

    fn answer(counted: Shards, searched: Shards) -> SearchAnswer {
        let page = ALONE.page(&QUESTION, counted, searched);
        let missing = ALONE.missing(searched);
        SearchAnswer {
            query: QUESTION.query.into(),
            notes: Vec::new(),
            total: page.total(),
            hits: page.hits,
            partial: missing > 0,
            missing,
            workers: 2,
            epoch: 7,
            took_ms: 3,
        }
    }

    fn judged(answer: &SearchAnswer) -> Result<Judged, String> {
        let body = serde_json::to_vec(answer).expect("an answer can be written as JSON");
        judge(&QUESTION, &Response::new(body.into()), 3)
    }

    #[test]
    fn the_whole_answer_is_right_and_every_other_one_is_wrong() {
        let right = answer(Shards::ALL, Shards::ALL);
        assert!(
            right.hits.len() == 10 && right.hits[0].score == right.hits[1].score,
            "there are equal scores: {right:?}"
        );
        assert!(matches!(judged(&right), Ok(Judged::Whole(_))));

        let wrong: &[fn(&mut SearchAnswer)] = &[
            |answer| answer.hits.swap(0, 1),
            |answer| _ = answer.hits.pop(),
            |answer| answer.hits[3].score = answer.hits[3].score.next_down(),
            |answer| answer.hits[3].snippet.push('x'),
            |answer| answer.total += 1,
            |answer| answer.missing = 1,
            |answer| answer.partial = true,
            |answer| answer.query.push('s'),
            |answer| answer.workers = 3,
            |answer| answer.epoch = 0,
        ];
        for make in wrong {
            let mut answer = right.clone();
            make(&mut answer);
            judged(&answer).expect_err("this answer is wrong");
        }
    }

    #[test]
    fn a_partial_answer_must_come_from_some_set_of_shards() {
        for (counted, searched) in [(0xff, 0x7f), (0xfe, 0xfe), (0xfe, 0x3e), (0, 0)] {
            let partial = answer(Shards(counted), Shards(searched));
            assert!(matches!(judged(&partial), Ok(Judged::Partial(_))), "{partial:?}");

            judged(&SearchAnswer { partial: false, missing: 0, ..partial.clone() })
                .expect_err("it hides that documents are missing");
            let Some(first) = partial.hits.first().cloned() else { continue };
            let louder = ShownHit { score: first.score.next_up(), ..first };
            let mut hits = partial.hits.clone();
            hits[0] = louder;
            judged(&SearchAnswer { hits, ..partial }).expect_err("no shards give this score");
        }
    }

    #[test]
    fn every_shard_has_documents() {
        for shard in ShardId::all(SHARDS) {
            assert!(ALONE.missing(Shards(Shards::ALL.0 & !(1 << shard.0))) > 0);
        }
    }

    #[test]
    fn refusals_must_be_known_and_fit_the_question() {
        let refusal = |status, code| {
            let body = format!(r#"{{"error": {{"code": "{code}", "message": ""}}}}"#);
            let mut response = Response::new(Bytes::from(body));
            *response.status_mut() = status;
            response
        };
        let later = refusal(StatusCode::SERVICE_UNAVAILABLE, "no_leader");
        assert!(matches!(judge(&QUESTION, &later, 3), Ok(Judged::Later(_))));
        let bad = refusal(StatusCode::BAD_REQUEST, "bad_query");
        assert!(matches!(judge(&Question::new("\"open"), &bad, 3), Ok(Judged::BadQuestion)));
        judge(&QUESTION, &bad, 3).expect_err("the question is a good one");
        judge(&QUESTION, &refusal(StatusCode::INTERNAL_SERVER_ERROR, "internal"), 3)
            .expect_err("a panic is not an answer");
    }
}
