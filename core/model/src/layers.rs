//! The search: breadth first, layer by layer. A layer holds the states whose shortest paths from the beginning are equally long.
//!
//! A layer is complete before the next one begins. So an exploration that is stopped knows to which depth it has seen
//! everything, and the path to a violation is a shortest one. States stay in memory while they wait to be explored; after
//! that only their fingerprints and the steps that first led to them do.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::Options;
use super::explore::Explored;
use super::fair::{Fair, fingerprint};
use super::memory;
use super::report::{Ending, Progress, Report, Violated};
use super::seen::Seen;
use super::waiting::{BLOCK, Block, Origin, Waiting, after};

/// Longest time between two reports of progress, and between two looks at the clock.
const LOOK: Duration = Duration::from_millis(20);

/// A property that does not hold, and the state in which it does not.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Broken {
    /// The place of the state.
    place: u32,
    property: &'static str,
}

const PROMISES: &str = "every promise holds in every state";
const REST: &str = "from every state a run without faults comes to rest";

/// All worlds that can arise from a number of nodes and a number of faults.
pub(crate) struct Exploration<'a, W: Explored> {
    options: &'a Options,
    fair: Fair,
    seen: Seen,
    /// By the places of states. Those where an exploration begins come first, and are their own.
    origins: Vec<Origin>,
    begun: Instant,
    steps: AtomicU64,
    /// True once no further state may be explored.
    stopped: AtomicBool,
    is_memory_full: AtomicBool,
    broken: Mutex<Option<Broken>>,
    layer: VecDeque<Block<W>>,
    found: Progress,
}

impl<'a, W: Explored> Exploration<'a, W> {
    pub(crate) fn new(options: &'a Options) -> Self {
        Self {
            options,
            fair: Fair::default(),
            seen: Seen::default(),
            origins: Vec::new(),
            begun: Instant::now(),
            steps: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            is_memory_full: AtomicBool::new(false),
            broken: Mutex::new(None),
            layer: VecDeque::new(),
            found: Progress::default(),
        }
    }

    pub(crate) fn run(mut self, mut progress: impl FnMut(Progress)) -> Report {
        self.begin();
        let limit = self.options.depth.unwrap_or(usize::MAX) as u64;
        while !self.layer.is_empty() {
            self.found.depth += 1;
            // States at the limit are counted and not explored.
            if self.found.depth >= limit {
                break;
            }
            self.next_layer(&mut progress);
            if self.stopped.load(Ordering::Relaxed) {
                break;
            }
            self.found.complete = self.found.depth;
        }
        self.found = self.so_far();
        let broken = *self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        let violated =
            broken.map(|broken| Violated::retold(self.options, broken.property, &self.path_to(broken.place)));
        Report { ending: self.ending(violated.is_some()), found: self.found, violated }
    }

    fn ending(&self, is_broken: bool) -> Ending {
        if is_broken {
            Ending::Broken
        } else if self.is_memory_full.load(Ordering::Relaxed) {
            Ending::MemoryFull
        } else if self.stopped.load(Ordering::Relaxed) {
            Ending::TimeUp
        } else {
            Ending::Exhausted
        }
    }

    fn begin(&mut self) {
        let mut block = Block::new();
        for (place, mut world) in W::beginnings(self.options).into_iter().enumerate() {
            world.rename();
            let print = fingerprint(&world);
            if self.seen.insert(print) {
                block.states.push(Waiting { before: Arc::new(world), step: None, print });
                block.origins.push(Origin { before: number(block.origins.len()), choice: number(place) });
            }
        }
        self.append(vec![block]);
    }

    /// Makes the new states the next layer.
    fn append(&mut self, blocks: Vec<Block<W>>) {
        for mut block in blocks {
            block.first = number(self.origins.len());
            self.origins.append(&mut block.origins);
            if !block.states.is_empty() {
                self.layer.push_back(block);
            }
        }
        self.found.unique = self.origins.len() as u64;
    }

    /// Explores every state of the layer.
    fn next_layer(&mut self, progress: &mut impl FnMut(Progress)) {
        let layer = Mutex::new(std::mem::take(&mut self.layer));
        let until = self.options.time.map(|limit| self.begun + limit);
        let this = &*self;
        let found = thread::scope(|scope| {
            let (done, ended) = channel();
            let workers = (0..this.options.threads.max(1)).map(|_| {
                let (layer, done) = (&layer, done.clone());
                scope.spawn(move || {
                    let found = this.work(layer);
                    drop(done);
                    found
                })
            });
            let workers: Vec<_> = workers.collect();
            drop(done);
            while ended.recv_timeout(LOOK) == Err::<(), _>(RecvTimeoutError::Timeout) {
                if until.is_some_and(|until| until <= Instant::now()) {
                    this.stopped.store(true, Ordering::Relaxed);
                }
                progress(this.so_far());
            }
            let found = workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            found.flatten().collect()
        });
        self.append(found);
    }

    /// Explores blocks of the layer on one thread, and gives the new states.
    fn work(&self, layer: &Mutex<VecDeque<Block<W>>>) -> Vec<Block<W>> {
        let mut found = vec![Block::new()];
        let mut steps = Vec::new();
        loop {
            let block = layer.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some(block) = block.filter(|_| self.may_go_on()) else { return found };
            for (place, waiting) in (block.first..).zip(block.states) {
                if self.stopped.load(Ordering::Relaxed) {
                    return found;
                }
                let world = waiting.world();
                match self.broken_in(&world, waiting.print) {
                    Some(property) => self.stop_for(Broken { place, property }),
                    None => self.follow(world, place, &mut steps, &mut found),
                }
            }
        }
    }

    /// False once the memory is full, or another thread has stopped.
    fn may_go_on(&self) -> bool {
        let is_full = self.options.memory.is_some_and(|limit| memory::in_use().is_some_and(|in_use| in_use > limit));
        if is_full {
            self.is_memory_full.store(true, Ordering::Relaxed);
            self.stopped.store(true, Ordering::Relaxed);
        }
        !self.stopped.load(Ordering::Relaxed)
    }

    fn broken_in(&self, world: &W, print: u64) -> Option<&'static str> {
        if world.world().breach.is_some() {
            Some(PROMISES)
        } else if self.fair.comes_to_rest(world, print) {
            None
        } else {
            Some(REST)
        }
    }

    fn stop_for(&self, broken: Broken) {
        let mut first = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        *first = Some(first.map_or(broken, |first| first.min(broken)));
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Adds the new states that follow from `before`.
    fn follow(&self, before: W, place: u32, steps: &mut Vec<W::Step>, found: &mut Vec<Block<W>>) {
        let before = Arc::new(before);
        steps.clear();
        before.steps(steps);
        self.steps.fetch_add(steps.len() as u64, Ordering::Relaxed);
        for (choice, step) in (0..).zip(steps.drain(..)) {
            let print = fingerprint(&after(&*before, step));
            if !self.seen.insert(print) {
                continue;
            }
            if found.last().is_none_or(|block| block.states.len() == BLOCK) {
                found.push(Block::new());
            }
            let block = found.last_mut().expect("there is a block, or it was added");
            block.states.push(Waiting { before: Arc::clone(&before), step: Some(step), print });
            block.origins.push(Origin { before: place, choice });
        }
    }

    /// The path to the state at `place`: states, each with the step that leads on from it.
    fn path_to(&self, mut place: u32) -> Vec<(W, Option<W::Step>)> {
        let mut choices = Vec::new();
        let beginning = loop {
            let Origin { before, choice } = self.origins[place as usize];
            if before == place {
                break choice as usize;
            }
            choices.push(choice as usize);
            place = before;
        };
        let mut world = W::beginnings(self.options).swap_remove(beginning);
        world.rename();
        let mut path = Vec::new();
        for choice in choices.into_iter().rev() {
            let mut steps = Vec::new();
            world.steps(&mut steps);
            let next = after(&world, steps[choice]);
            path.push((std::mem::replace(&mut world, next), Some(steps[choice])));
        }
        path.push((world, None));
        path
    }

    fn so_far(&self) -> Progress {
        Progress {
            states: self.steps.load(Ordering::Relaxed),
            unique: self.seen.len(),
            memory: memory::in_use(),
            took: self.begun.elapsed(),
            ..self.found
        }
    }
}

/// The place of a state, or of a step.
fn number(place: usize) -> u32 {
    u32::try_from(place).expect("four billion states take more memory than machines have")
}
