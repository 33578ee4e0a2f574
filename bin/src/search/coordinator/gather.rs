//! Round of a search: asks for every shard until a node has answered for it.

use std::collections::{BTreeMap, VecDeque};

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use rolecall::{BoxFuture, TermOver, Time};

use super::doubts::Judgement;
use super::latency::TaskKind;
use super::{Coordinator, TaskClient, TaskFailure, Worker};
use crate::search::shard::ShardId;
use crate::search::wire::{Task, TaskAnswer};

/// Kind of round: makes the tasks for shards and reads the answers.
pub(super) trait Round: Sync {
    type Part: Send;

    /// Kind of its tasks.
    const KIND: TaskKind;

    fn task(&self, shards: &[ShardId]) -> Task;

    /// Reads an answer; `None` if it belongs to another task.
    fn read(&self, answer: TaskAnswer) -> Option<Answered<Self::Part>>;
}

/// Results of one answer. Its sender does not hold the other shards that were asked for.
pub(super) struct Answered<P> {
    pub(super) parts: Vec<(ShardId, P)>,
    /// Shards that the sender holds in another state than the given one.
    pub(super) gone: Vec<ShardId>,
}

/// Results of a round.
pub(super) struct Gathered<P> {
    pub(super) parts: BTreeMap<ShardId, P>,
    /// Shards for which nobody answered.
    pub(super) missing: Vec<ShardId>,
    /// Shards that exist in another state than the given one.
    pub(super) gone: Vec<ShardId>,
}

/// Node that does a task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Target {
    Worker(Worker),
    Here,
}

/// Parameters with which a round asks.
pub(super) struct Asking<'a, C> {
    pub(super) coordinator: &'a Coordinator<C>,
    pub(super) workers: &'a (dyn Fn() -> Vec<Worker> + Sync),
    pub(super) begun: Time,
    pub(super) until: Time,
}

impl<C: TaskClient> Asking<'_, C> {
    /// Asks for `shards`. Each is requested from its first choice, and from the next one if a choice fails, does not hold the
    /// shard or is slow.
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
    /// Time at which shards that a node is still indexing are asked for again.
    again_at: Option<Time>,
    done: Gathered<R::Part>,
}

/// Progress of one shard.
#[derive(Debug, Default)]
struct Progress {
    /// Nodes to ask next.
    left: VecDeque<Target>,
    asked: usize,
    /// True if a node that must hold the shard does not have it yet.
    awaited: bool,
    gone: bool,
}

/// Task in progress.
#[derive(Debug)]
struct Flight {
    target: Target,
    shards: Vec<ShardId>,
    sent_at: Time,
    /// Time at which others are asked too; `None` once they have been.
    slow_at: Option<Time>,
}

impl<'a, C: TaskClient, R: Round> Gathering<'a, C, R> {
    /// Asks, for each of `shards`, the present workers that have it or must have it. Doubtful ones come last.
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

    /// Asks the next choice of each of `shards`, with one task per node. Shards with no choice left and no task in progress are
    /// closed.
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
                // The shards of a slow node were passed on before, so another node may be working on them.
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

    /// Handles a shard for which nobody is left to ask.
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
                let judgement = if now.since(flight.sent_at) < at_most { Judgement::Slow } else { Judgement::Failed };
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
