//! The checker's view of a world, and the run of the checker.

use std::fmt::Debug;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use stateright::{Checker, HasDiscoveries, Model, Property};

use super::Options;
use super::fair::Fair;
use super::report::{Progress, Report, Violated};
use super::timed::Timed;
use super::world::{Happened, World};

const PROMISES: &str = "every promise holds in every state";
const REST: &str = "from every state a run without faults comes to rest";

/// A state whose successors are explored.
pub(crate) trait Explored: Clone + Debug + Eq + Hash + Send + Sync + 'static {
    /// A transition to the next state. It means the same in states that differ in names only.
    type Step: Copy + Debug + Eq + Hash + Send + Sync;

    /// The states in which an exploration begins.
    fn beginnings(options: &Options) -> Vec<Self>;
    /// Lists every possible step, in a fixed order.
    fn steps(&self, steps: &mut Vec<Self::Step>);
    /// Takes a possible step and adds to `seen` what the nodes did.
    fn take(&mut self, step: Self::Step, seen: &mut Vec<Happened>);
    /// Gives everything its canonical name.
    fn rename(&mut self);
    /// The nodes, the store, and the breach if there was one.
    fn world(&self) -> &World;
    /// True where a run without faults ends.
    fn is_at_rest(&self) -> bool;
    /// The next step of the run without faults.
    fn fair_step(&self) -> Option<Self::Step>;
    /// A note for the trace, with the name of its subject: on a step before it is taken, or on the beginning (`None`).
    fn note(&self, step: Option<Self::Step>) -> Option<(String, String)>;
    /// An additional note for the trace on an event that a node handled.
    fn remark(&self, happened: &Happened, begun: &Self) -> Option<String>;
}

/// All worlds that can arise from a number of nodes and a number of faults.
struct Exploration<W> {
    options: Options,
    fair: Fair,
    /// End of the time limit; `stopped` is set if states were left unexplored by then.
    until: Option<Instant>,
    stopped: Arc<AtomicBool>,
    of: PhantomData<W>,
}

impl<W: Explored> Model for Exploration<W> {
    type State = W;
    type Action = W::Step;

    fn init_states(&self) -> Vec<W> {
        let mut worlds = W::beginnings(&self.options);
        worlds.iter_mut().for_each(W::rename);
        worlds
    }

    fn actions(&self, world: &W, steps: &mut Vec<W::Step>) {
        // The checker looks at its own limit only when it shares out work, which may be never.
        if self.until.is_some_and(|until| until <= Instant::now()) {
            self.stopped.store(true, Ordering::Relaxed);
        } else if world.world().breach.is_none() {
            world.steps(steps);
        }
    }

    fn next_state(&self, world: &W, step: W::Step) -> Option<W> {
        let mut next = world.clone();
        next.take(step, &mut Vec::new());
        next.rename();
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(PROMISES, |_, world: &W| world.world().breach.is_none()),
            Property::always(REST, |model: &Self, world: &W| {
                world.world().breach.is_some() || model.fair.comes_to_rest(world)
            }),
        ]
    }
}

/// Explores every reachable state, until none is left, the time is up or a promise is broken. Calls `progress` several
/// times a second.
pub fn run(options: &Options, progress: impl FnMut(Progress)) -> Report {
    if options.timed { explore::<Timed>(options, progress) } else { explore::<World>(options, progress) }
}

fn explore<W: Explored>(options: &Options, mut progress: impl FnMut(Progress)) -> Report {
    let begun = Instant::now();
    let stopped = Arc::new(AtomicBool::new(false));
    let until = options.time.map(|limit| begun + limit);
    let model = Exploration::<W> {
        options: options.clone(),
        fair: Fair::default(),
        until,
        stopped: Arc::clone(&stopped),
        of: PhantomData,
    };
    let checker = model.checker().threads(options.threads).finish_when(HasDiscoveries::AnyFailures);
    let checker = match options.depth {
        Some(depth) => checker.target_max_depth(depth).spawn_bfs(),
        None => checker.spawn_bfs(),
    };
    while !checker.is_done() {
        thread::sleep(Duration::from_millis(20));
        progress(so_far(&checker, begun));
    }
    let checker = checker.join();
    let violated = [PROMISES, REST].into_iter().filter_map(|name| Some((name, checker.discovery(name)?)));
    let violated: Vec<Violated> =
        violated.map(|(name, path)| Violated::retold(options, name, &path.into_vec())).collect();
    let found = so_far(&checker, begun);
    Report { exhausted: violated.is_empty() && !stopped.load(Ordering::Relaxed), found, violated }
}

fn so_far<W: Explored>(checker: &impl Checker<Exploration<W>>, begun: Instant) -> Progress {
    Progress {
        states: checker.state_count() as u64,
        unique: checker.unique_state_count() as u64,
        depth: checker.max_depth() as u64,
        took: begun.elapsed(),
    }
}
