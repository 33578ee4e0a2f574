//! Does a worker's part of a search.

use std::sync::Arc;

use super::effort::{Effort, times};
use super::holdings::Holdings;
use super::index::{Highlighter, Scorer, Snapshot, Top};
use super::query::Query;
use super::shard::ShardId;
use super::weights::Weights;
use super::wire::{
    DocumentSnippet, Hit, Matching, ShardStatistics, SnapshotRef, SnippetRequest, Task, TaskAnswer, TaskError,
};

/// Measurements of the tasks that a node has done, by their kind.
#[derive(Debug, Default)]
pub(super) struct Efforts {
    statistics: Effort,
    search: Effort,
    snippets: Effort,
}

impl Holdings {
    /// Does a task on a thread of the runtime: on this one if the task is short.
    ///
    /// # Errors
    /// If the task is malformed, the index cannot be read, or the runtime is shutting down.
    pub(super) async fn answer_on_threads(self: Arc<Self>, task: Task) -> Result<TaskAnswer, TaskError> {
        task.check(self.settings())?;
        let (effort, units) = match &task {
            Task::Hold => return self.answer(&task),
            Task::Statistics { shards, terms } => {
                (&self.efforts.statistics, self.units(shards.iter().copied(), terms)?)
            }
            Task::Search { shards, query, .. } => {
                let units = self.units(shards.iter().map(|source| source.shard), &query.terms())?;
                (&self.efforts.search, units * times(query))
            }
            Task::Snippets { documents, .. } => (&self.efforts.snippets, documents.len() as u64),
        };
        let here = Arc::clone(&self);
        effort.run(Some(units), move || here.answer(&task)).await?
    }

    /// Effort of a look at every document of `shards` that has one of `terms`.
    fn units(&self, shards: impl Iterator<Item = ShardId>, terms: &[String]) -> Result<u64, TaskError> {
        Ok(self.grouped(shards.filter_map(|shard| self.current(shard)).collect()).effort(terms)?)
    }

    /// Does a task on the calling thread and returns the answer.
    ///
    /// # Errors
    /// If the task is malformed or the index cannot be read.
    pub fn answer(&self, task: &Task) -> Result<TaskAnswer, TaskError> {
        task.check(self.settings())?;
        match task {
            Task::Hold => Ok(TaskAnswer::Hold(self.holding())),
            Task::Statistics { shards, terms } => self.statistics(shards, terms),
            Task::Search { shards, query, weights, limit } => self.search(shards, query, weights, *limit),
            Task::Snippets { documents, query, weights } => self.snippets(documents, query, weights),
        }
    }

    fn statistics(&self, shards: &[ShardId], terms: &[String]) -> Result<TaskAnswer, TaskError> {
        let groups = self.grouped(shards.iter().filter_map(|&shard| self.current(shard)).collect());
        let mut answered = Vec::with_capacity(shards.len());
        let mut answer = |snapshot: &Snapshot, statistics| {
            let source = SnapshotRef { shard: snapshot.shard, snapshot: snapshot.id };
            answered.push(ShardStatistics { source, statistics });
        };
        for merged in &groups.merged {
            for (snapshot, statistics) in merged.statistics(terms)? {
                if groups.has(snapshot.shard) {
                    answer(snapshot, statistics);
                }
            }
        }
        for snapshot in &groups.single {
            answer(snapshot, snapshot.statistics(terms)?);
        }
        Ok(TaskAnswer::Statistics(answered))
    }

    fn search(
        &self,
        shards: &[SnapshotRef],
        query: &Query,
        weights: &Weights,
        limit: usize,
    ) -> Result<TaskAnswer, TaskError> {
        let mut snapshots = Vec::with_capacity(shards.len());
        let (mut gone, mut newer) = (Vec::new(), Vec::new());
        for source in shards {
            match self.state_of(source.shard, source.snapshot) {
                Some(Some(snapshot)) => {
                    if self.current(source.shard).is_some_and(|current| current.id != source.snapshot) {
                        newer.push(source.shard);
                    }
                    snapshots.push(snapshot);
                }
                Some(None) => gone.push(source.shard),
                None => {}
            }
        }
        let groups = self.grouped(snapshots);
        let scorer = Scorer::new(query, weights);
        let mut top = Top::new(limit);
        let counts = groups.search(&scorer, &mut top)?;
        let matching = counts.into_iter().map(|(shard, documents)| Matching { shard, documents }).collect();
        let hits = top.into_sorted().into_iter();
        let hits = hits.map(|hit| Hit { shard: hit.shard, path: hit.document.path.clone(), score: hit.score.into() });
        Ok(TaskAnswer::Search { shards: matching, hits: hits.collect(), gone, newer })
    }

    fn snippets(
        &self,
        documents: &[SnippetRequest],
        query: &Query,
        weights: &Weights,
    ) -> Result<TaskAnswer, TaskError> {
        let highlighter = Highlighter::new(self.settings().ranking, query, weights);
        let mut shown = Vec::with_capacity(documents.len());
        for SnippetRequest { source, path } in documents {
            let Some(Some(snapshot)) = self.state_of(source.shard, source.snapshot) else { continue };
            if let Some((title, snippet)) = highlighter.show(&snapshot, path)? {
                shown.push(DocumentSnippet { shard: source.shard, path: path.clone(), title, snippet });
            }
        }
        Ok(TaskAnswer::Snippets(shown))
    }
}
