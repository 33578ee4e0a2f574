//! Does a worker's part of a search.

use super::holdings::Holdings;
use super::index::{Highlighter, Scorer, Top};
use super::query::Query;
use super::shard::ShardId;
use super::weights::Weights;
use super::wire::{
    DocumentSnippet, Hit, Matching, ShardStatistics, SnapshotRef, SnippetRequest, Task, TaskAnswer, TaskError,
};

impl Holdings {
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
        let mut answered = Vec::with_capacity(shards.len());
        for &shard in shards {
            if let Some(snapshot) = self.current(shard) {
                let source = SnapshotRef { shard, snapshot: snapshot.id };
                answered.push(ShardStatistics { source, statistics: snapshot.statistics(terms)? });
            }
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
        let mut gone = Vec::new();
        for source in shards {
            match self.state_of(source.shard, source.snapshot) {
                Some(Some(snapshot)) => snapshots.push(snapshot),
                Some(None) => gone.push(source.shard),
                None => {}
            }
        }
        let scorer = Scorer::new(query, weights);
        let mut top = Top::new(limit);
        let mut matching = Vec::with_capacity(snapshots.len());
        for snapshot in &snapshots {
            let documents = snapshot.search(&scorer, &mut top)?;
            matching.push(Matching { shard: snapshot.shard, documents });
        }
        let hits = top.into_sorted().into_iter();
        let hits = hits.map(|hit| Hit { shard: hit.shard, path: hit.document.path.clone(), score: hit.score.into() });
        Ok(TaskAnswer::Search { shards: matching, hits: hits.collect(), gone })
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
