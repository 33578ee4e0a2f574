//! One round: every shard is asked for until somebody answered for it.

use std::collections::{BTreeMap, VecDeque};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rolecall::{BoxFuture, TermOver};
use rolecall_core::Time;

use super::doubts::Judgement;
use super::latency::TaskKind;
use super::{Coordinator, TaskClient, TaskFailure, Worker};
use crate::search::shard::ShardId;
use crate::search::wire::{Task, TaskAnswer};

/// What a round asks of each shard, and how it reads an answer.
pub(super) trait Round: Sync {
    type Part: Send;

    /// Kind of its tasks.
    const KIND: TaskKind;

    fn task(&self, shards: &[ShardId]) -> Task;

    /// `None` for an answer to something else.
    fn read(&self, answer: TaskAnswer) -> Option<Answered<Self::Part>>;
}

/// What one answer says of the shards that were asked for. Of the others its sender holds nothing.
pub(super) struct Answered<P> {
    pub(super) parts: Vec<(ShardId, P)>,
    /// Held, but not in the state that was named.
    pub(super) gone: Vec<ShardId>,
}

/// What came together in a round.
pub(super) struct Gathered<P> {
    pub(super) parts: BTreeMap<ShardId, P>,
    /// Shards that nobody answered for.
    pub(super) missing: Vec<ShardId>,
    /// Shards that are there, but not in the state that was named.
    pub(super) gone: Vec<ShardId>,
}

/// Who does a task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Worker(Worker),
    Here,
}

/// How a round asks.
pub(super) struct Asking<'a, C> {
    pub(super) coordinator: &'a Coordinator<C>,
    pub(super) workers: &'a (dyn Fn() -> Vec<Worker> + Sync),
    pub(super) begun: Time,
    pub(super) until: Time,
}

impl<C: TaskClient> Asking<'_, C> {
    /// Asks for `shards`: each of its first choice, and of the next when one fails, does not hold it or is slow.
    pub(super) async fn gather<R: Round>(
        &self,
        round: &R,
        shards: Vec<ShardId>,
    ) -> Result<Gathered<R::Part>, TermOver> {
        let mut gathering = Gathering {
            asking: self,
            round,
            open: shards.into_iter().map(|shard| (shard, Progress::default())).collect(),
            flights: BTreeMap::new(),
            answers: FuturesUnordered::new(),
            again_at: None,
            done: Gathered { parts: BTreeMap::new(), missing: Vec::new(), gone: Vec::new() },
        };
        gathering.begin(gathering.open.keys().copied().collect());
        while !gathering.open.is_empty() {
            let wake = gathering.wake();
            tokio::select! {
                biased;
                Some((flight, answer)) = gathering.answers.next() => gathering.landed(flight, answer)?,
                () = self.coordinator.clock.sleep_until(wake) => gathering.woken(self.coordinator.clock.now()),
            }
        }
        gathering.note_overtaken();
        Ok(gathering.done)
    }

    fn patient_until(&self) -> Time {
        self.until.min(self.begun + self.coordinator.pace.patience)
    }
}

struct Gathering<'a, C, R: Round> {
    asking: &'a Asking<'a, C>,
    round: &'a R,
    /// Shards without an answer so far.
    open: BTreeMap<ShardId, Progress>,
    flights: BTreeMap<u64, Flight>,
    answers: FuturesUnordered<BoxFuture<'a, (u64, Result<TaskAnswer, TaskFailure>)>>,
    /// When shards are asked for again that somebody is still indexing.
    again_at: Option<Time>,
    done: Gathered<R::Part>,
}

/// How far one shard is.
#[derive(Debug, Default)]
struct Progress {
    /// Whom to ask next.
    left: VecDeque<Target>,
    asked: usize,
    /// Somebody who is to hold it did not yet.
    awaited: bool,
    gone: bool,
}

/// A task under way.
#[derive(Debug)]
struct Flight {
    target: Target,
    shards: Vec<ShardId>,
    sent_at: Time,
    /// When others are asked too; `None` once they were.
    slow_at: Option<Time>,
}

impl<'a, C: TaskClient, R: Round> Gathering<'a, C, R> {
    /// Asks whoever has each of `shards`, or is to have it, among the workers as they are now. Doubtful ones come last.
    fn begin(&mut self, shards: Vec<ShardId>) {
        let Coordinator { clock, doubts, shares, .. } = self.asking.coordinator;
        let now = clock.now();
        let workers = (self.asking.workers)();
        shares.see(&workers, now);
        doubts.keep_only(&workers);
        for &shard in &shards {
            let mut chosen = shares.to_ask(shard);
            chosen.sort_by_key(|id| doubts.are_about(id, now));
            let chosen = chosen.into_iter().filter_map(|id| workers.iter().find(|worker| worker.id == id));
            let left = chosen.cloned().map(Target::Worker).chain([Target::Here]).collect();
            self.open.insert(shard, Progress { left, ..Progress::default() });
        }
        self.ask(shards);
    }

    /// Asks the next choice of each of `shards`, with one task for each node. Shards that have none left and are not under
    /// way are closed.
    fn ask(&mut self, shards: Vec<ShardId>) {
        let mut tasks: BTreeMap<Target, Vec<ShardId>> = BTreeMap::new();
        for shard in shards {
            let Some(progress) = self.open.get_mut(&shard) else { continue };
            match progress.left.pop_front() {
                Some(target) => {
                    progress.asked += 1;
                    tasks.entry(target).or_default().push(shard);
                }
                None if progress.asked == 0 => self.exhausted(shard),
                None => {}
            }
        }
        for (target, shards) in tasks {
            self.launch(target, shards);
        }
    }

    fn launch(&mut self, target: Target, shards: Vec<ShardId>) {
        let (coordinator, until) = (self.asking.coordinator, self.asking.until);
        let number = self.flights.last_key_value().map_or(0, |(number, _)| number + 1);
        let task = self.round.task(&shards);
        let to = target.clone();
        self.answers.push(Box::pin(async move { (number, coordinator.give(&to, &task, until).await) }));
        let sent_at = coordinator.clock.now();
        let slow_at = Some(sent_at + coordinator.latencies.hedge_after(R::KIND, coordinator.pace.hedging));
        self.flights.insert(number, Flight { target, shards, sent_at, slow_at });
    }

    fn landed(&mut self, number: u64, answer: Result<TaskAnswer, TaskFailure>) -> Result<(), TermOver> {
        let flight = self.flights.remove(&number).expect("every answer is that of a task under way");
        let answered = match answer {
            Ok(answer) => self.round.read(answer).ok_or_else(|| "an answer to another task".to_owned()),
            Err(TaskFailure::TermOver(over)) => return Err(over),
            Err(TaskFailure::Failed(reason)) => Err(reason),
        };
        match answered {
            Ok(answered) => {
                self.note_latency(&flight);
                if flight.slow_at.is_some() {
                    self.judge(&flight.target, Judgement::InTime);
                }
                self.take(&flight, answered);
            }
            Err(reason) => {
                tracing::debug!(asked = ?flight.target, reason, "a share of a search failed");
                self.judge(&flight.target, Judgement::Failed);
            }
        }
        let mut unanswered = flight.shards;
        unanswered.retain(|shard| match self.open.get_mut(shard) {
            Some(progress) => {
                progress.asked -= 1;
                // A slow one was passed on before: somebody else may be at it.
                flight.slow_at.is_some() || progress.asked == 0
            }
            None => false,
        });
        self.ask(unanswered);
        Ok(())
    }

    fn take(&mut self, flight: &Flight, answered: Answered<R::Part>) {
        for (shard, part) in answered.parts {
            if flight.shards.contains(&shard) && self.open.remove(&shard).is_some() {
                self.done.parts.insert(shard, part);
            }
        }
        for &shard in &flight.shards {
            let Some(progress) = self.open.get_mut(&shard) else { continue };
            if answered.gone.contains(&shard) {
                progress.gone = true;
            } else {
                progress.awaited |= match flight.target {
                    Target::Worker(_) => true,
                    Target::Here => self.asking.coordinator.here.wants(shard),
                };
            }
        }
    }

    /// Nobody is left to ask for `shard`.
    fn exhausted(&mut self, shard: ShardId) {
        let Some(progress) = self.open.get(&shard) else { return };
        let now = self.asking.coordinator.clock.now();
        if progress.gone {
            self.done.gone.push(shard);
        } else if progress.awaited && now < self.asking.patient_until() {
            self.again_at.get_or_insert(now + self.asking.coordinator.pace.retry_after);
            return;
        } else {
            self.done.missing.push(shard);
        }
        self.open.remove(&shard);
    }

    fn wake(&self) -> Time {
        let slow = self.flights.values().filter_map(|flight| flight.slow_at);
        slow.chain(self.again_at).fold(self.asking.until, Time::min)
    }

    fn woken(&mut self, now: Time) {
        if now >= self.asking.until {
            self.done.missing.extend(self.open.keys());
            self.open.clear();
            return;
        }
        let at_most = self.asking.coordinator.pace.hedging.at_most;
        let mut slow = Vec::new();
        for flight in self.flights.values_mut() {
            if flight.slow_at.is_some_and(|at| at <= now) {
                flight.slow_at = None;
                let judgement =
                    if now.since(flight.sent_at) < at_most { Judgement::Slow } else { Judgement::Failed };
                slow.push((flight.target.clone(), judgement, flight.shards.clone()));
            }
        }
        for (target, judgement, shards) in slow {
            self.judge(&target, judgement);
            self.ask(shards);
        }
        if self.again_at.is_some_and(|at| at <= now) {
            self.again_at = None;
            let waiting = self.open.iter().filter(|(_, progress)| progress.asked == 0).map(|(&shard, _)| shard);
            self.begin(waiting.collect());
        }
    }

    /// Notes the tasks that others did before: they would have taken longer than they have been under way by now. Without
    /// them slow workers would seem as quick as those that stand in for them.
    fn note_overtaken(&self) {
        self.flights.values().filter(|flight| flight.slow_at.is_none()).for_each(|flight| self.note_latency(flight));
    }

    fn note_latency(&self, flight: &Flight) {
        let Coordinator { clock, latencies, .. } = self.asking.coordinator;
        match flight.target {
            Target::Worker(_) => latencies.note(R::KIND, clock.now().since(flight.sent_at)),
            Target::Here => {}
        }
    }

    fn judge(&self, target: &Target, judgement: Judgement) {
        let Coordinator { clock, doubts, .. } = self.asking.coordinator;
        match target {
            Target::Worker(worker) => doubts.judge(&worker.id, judgement, clock.now()),
            Target::Here => {}
        }
    }
}
