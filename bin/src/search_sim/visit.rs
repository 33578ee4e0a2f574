//! Visitors that search throughout a run.

use core::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use http::header::LOCATION;
use http::{Request, StatusCode};
use rolecall::Clock;
use rolecall::http::Client;
use rolecall_sim::Visitor;

use super::judge::{Judged, judge};
use super::question::{QUESTIONS, Question};
use crate::search::coordinator::SearchAnswer;

/// Limits for waiting for an answer: one shorter than a search may take, and one longer.
const PATIENCE: [Duration; 2] = [Duration::from_secs(3), Duration::from_secs(10)];
/// Longest time after the last fault, or after the start of the last node, until every answer is whole again: sessions of
/// 4 s end, somebody claims the next term (11 s at most where the store restarted, P6), workers are told what to hold, and
/// they build it. A machine that stays down is no reason to wait for longer.
pub const WHOLE_WITHIN: Duration = Duration::from_secs(16);
/// Largest number of redirects that are followed.
const HOPS: usize = 3;

/// Searches throughout the run, at changing nodes, with one or two searches at a time. For
/// [`Simulation::visitor`](rolecall_sim::Simulation::visitor).
///
/// # Errors
/// An answer that is neither right, nor partial and says so, nor a known refusal.
pub async fn visit(mut visitor: Visitor) -> Result<(), String> {
    let mut asking = Asking::new(&visitor);
    loop {
        let bits = visitor.bits();
        if bits.is_multiple_of(4) {
            asking.place = choice(bits >> 8, asking.addresses.len());
        }
        asking.patience = PATIENCE[choice(bits >> 16, PATIENCE.len())];
        let questions: Vec<_> =
            (0..=choice(bits >> 24, 2)).map(|_| QUESTIONS[choice(visitor.bits(), QUESTIONS.len())]).collect();
        let has_healed = has_healed(&visitor);
        let outcomes = join_all(questions.iter().map(|question| asking.ask(question))).await;
        for outcome in outcomes {
            let told = asking.heard(&visitor, outcome?);
            match told {
                Some(answer) if answer.partial && has_healed && self::has_healed(&visitor) => {
                    return Err(unhealed(&answer));
                }
                Some(answer) if answer.partial => {
                    visitor.sees(&format!("gets partial answers of epoch {}", answer.epoch))
                }
                Some(answer) => visitor.sees(&format!("gets whole answers of epoch {}", answer.epoch)),
                None if asking.in_vain >= asking.addresses.len() => visitor.sees("gets no answer"),
                None => {}
            }
        }
        let clock = visitor.clock();
        clock.sleep_until(clock.now() + Duration::from_millis(visitor.bits() % 800)).await;
    }
}

/// True if the last fault is so long ago that all answers must be whole.
fn has_healed(visitor: &Visitor) -> bool {
    visitor.quiet_for().is_some_and(|quiet| quiet > WHOLE_WITHIN)
}

fn unhealed(answer: &SearchAnswer) -> String {
    let SearchAnswer { query, missing, epoch, workers, .. } = answer;
    format!(
        "{missing} documents are missing from the answer to `{query}` in epoch {epoch}, which has {workers} workers, more \
         than {} s after the last fault",
        WHOLE_WITHIN.as_secs()
    )
}

/// Repeats the same search, waits for each answer for at most `patience`, and records everything that it sees: the node that
/// answers and the result.
///
/// # Errors
/// Those of [`visit`].
pub async fn follow(visitor: Visitor, question: Question, patience: Duration) -> Result<(), String> {
    let mut asking = Asking { patience, ..Asking::new(&visitor) };
    loop {
        let asked = asking.addresses[asking.place].clone();
        let outcome = asking.ask(&question).await?;
        let by = outcome
            .address
            .clone()
            .filter(|by| *by != asked)
            .map(|by| format!(", sent on to {by}"))
            .unwrap_or_default();
        let words = match &outcome.judged {
            Some(judged) => words(judged),
            None => "nothing".to_owned(),
        };
        visitor.sees(&format!("searches at {asked}{by}, gets {words}"));
        asking.heard(&visitor, outcome);
        let clock = visitor.clock();
        clock.sleep_until(clock.now() + Duration::from_millis(250)).await;
    }
}

fn words(judged: &Judged) -> String {
    let (Judged::Whole(answer) | Judged::Partial(answer)) = judged else {
        return match judged {
            Judged::Later(code) => format!("503 {code}"),
            Judged::BadQuestion => "400 bad_query".to_owned(),
            Judged::Whole(_) | Judged::Partial(_) => String::new(),
        };
    };
    let hits: Vec<_> = answer.hits.iter().map(|hit| format!("{} {:.3}", hit.document, hit.score)).collect();
    let missing = if answer.partial { format!(", {} documents missing", answer.missing) } else { String::new() };
    format!("{} of {}{missing} (epoch {})", hits.join(", "), answer.total, answer.epoch)
}

pub(super) fn choice(bits: u64, of: usize) -> usize {
    usize::try_from(bits % of.max(1) as u64).unwrap_or(0)
}

/// Visitor with the nodes that it may ask.
pub(super) struct Asking {
    client: Client,
    clock: std::sync::Arc<dyn Clock>,
    addresses: Vec<String>,
    /// Index of the node to ask next.
    place: usize,
    patience: Duration,
    /// Number of unanswered requests since the last answer.
    in_vain: usize,
}

/// Result of one search.
pub(super) struct Outcome {
    /// Address of the node that answered; `None` if none did.
    address: Option<String>,
    pub(super) judged: Option<Judged>,
}

impl Asking {
    fn new(visitor: &Visitor) -> Self {
        let (client, clock) = (visitor.client(), visitor.clock());
        Self { client, clock, addresses: visitor.addresses().to_vec(), place: 0, patience: PATIENCE[0], in_vain: 0 }
    }

    /// Asks first at `address`, with the longer patience.
    pub(super) fn at(visitor: &Visitor, address: &str) -> Self {
        let asking = Self::new(visitor);
        let place = asking.addresses.iter().position(|known| known == address).unwrap_or(0);
        Self { place, patience: PATIENCE[1], ..asking }
    }

    /// Asks the next node and follows redirects.
    pub(super) async fn ask(&self, question: &Question) -> Result<Outcome, String> {
        let deadline = self.clock.now() + self.patience;
        let mut address = self.addresses[self.place].clone();
        for _ in 0..HOPS {
            let request = Request::get(question.target()).body(Bytes::new()).map_err(|error| error.to_string())?;
            let Ok(response) = self.client.send(&address, request, deadline).await else { break };
            if response.status() != StatusCode::TEMPORARY_REDIRECT {
                let judged = judge(question, &response, self.addresses.len())?;
                return Ok(Outcome { address: Some(address), judged: Some(judged) });
            }
            let location =
                response.headers().get(LOCATION).and_then(|location| location.to_str().ok()).unwrap_or_default();
            let sent_on = location.strip_prefix("http://").and_then(|rest| rest.strip_suffix(&question.target()));
            let known = sent_on.and_then(|to| self.addresses.iter().find(|known| *known == to));
            address = known.ok_or_else(|| format!("{question}: {address} sends on to {location}"))?.clone();
        }
        Ok(Outcome { address: None, judged: None })
    }

    /// Counts the result, and turns to the node that answered, or else to the next one.
    fn heard(&mut self, visitor: &Visitor, outcome: Outcome) -> Option<SearchAnswer> {
        let (what, answer) = match outcome.judged {
            Some(Judged::Whole(answer)) => {
                visitor.is_served();
                ("right answers".to_owned(), Some(answer))
            }
            Some(Judged::Partial(answer)) => ("partial answers".to_owned(), Some(answer)),
            Some(Judged::BadQuestion) => ("bad queries refused".to_owned(), None),
            Some(Judged::Later(code)) => (format!("times {code}"), None),
            None => ("times nothing in time".to_owned(), None),
        };
        visitor.count(&what);
        let by = outcome.address.and_then(|address| self.addresses.iter().position(|known| *known == address));
        if answer.is_some() || what == "bad queries refused" {
            self.in_vain = 0;
            self.place = by.unwrap_or(self.place);
        } else {
            self.in_vain += 1;
            self.place = (self.place + 1) % self.addresses.len();
        }
        answer
    }
}
