//! The model as the checker sees it, and a run of the checker.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use stateright::{Checker, HasDiscoveries, Model, Property};

use super::Options;
use super::fair::Fair;
use super::report::{Progress, Report, Violated};
use super::world::{Step, World};

const PROMISES: &str = "every promise holds in every state";
const REST: &str = "from every state a run without faults comes to rest";

/// All worlds that can come of a number of nodes and a number of faults.
pub(crate) struct Untimed {
    pub(crate) options: Options,
    pub(crate) fair: Fair,
    /// When the time is up, and whether that left something unexplored.
    until: Option<Instant>,
    stopped: Arc<AtomicBool>,
}

impl Model for Untimed {
    type State = World;
    type Action = Step;

    fn init_states(&self) -> Vec<World> {
        let mut world = World::new(&self.options);
        world.rename();
        vec![world]
    }

    fn actions(&self, world: &World, steps: &mut Vec<Step>) {
        // The checker's own limit is only looked at where its work is shared out, which may be never.
        if self.until.is_some_and(|until| until <= Instant::now()) {
            self.stopped.store(true, Ordering::Relaxed);
        } else {
            world.options(steps);
        }
    }

    fn next_state(&self, world: &World, step: Step) -> Option<World> {
        let mut next = world.clone();
        next.take(step, &mut Vec::new());
        next.rename();
        (next != *world).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(PROMISES, |_, world: &World| world.breach.is_none()),
            Property::always(REST, |model: &Self, world: &World| {
                world.breach.is_some() || model.fair.comes_to_rest(world)
            }),
        ]
    }
}

/// Explores every state that can be reached, until there is none left, the time is up or a promise is broken. `progress` is told
/// how far it is, several times a second.
pub fn run(options: &Options, mut progress: impl FnMut(Progress)) -> Report {
    let begun = Instant::now();
    let stopped = Arc::new(AtomicBool::new(false));
    let until = options.time.map(|limit| begun + limit);
    let model = Untimed { options: options.clone(), fair: Fair::default(), until, stopped: Arc::clone(&stopped) };
    let checker = model.checker().threads(options.threads).finish_when(HasDiscoveries::AnyFailures).spawn_bfs();
    while !checker.is_done() {
        thread::sleep(Duration::from_millis(20));
        progress(so_far(&checker, begun));
    }
    let checker = checker.join();
    let violated = [PROMISES, REST].into_iter().filter_map(|name| Some((name, checker.discovery(name)?)));
    let violated: Vec<Violated> =
        violated.map(|(name, path)| Violated::retold(options, name, &path.into_actions())).collect();
    let found = so_far(&checker, begun);
    Report { exhausted: violated.is_empty() && !stopped.load(Ordering::Relaxed), found, violated }
}

fn so_far(checker: &impl Checker<Untimed>, begun: Instant) -> Progress {
    Progress {
        states: checker.state_count() as u64,
        unique: checker.unique_state_count() as u64,
        depth: checker.max_depth() as u64,
        took: begun.elapsed(),
    }
}
