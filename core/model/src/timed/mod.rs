//! Worlds with one true time, which show that deadlines do their work.
//!
//! One true time advances for all, in whole grains. Every node's clock is exact, or too slow or too fast by as much as
//! the configuration allows. A store that keeps a queue ends sessions by the true time, rounded to its ticks. It has two
//! servers, of which one may lose the other. A store that keeps a lease has one server, on a clock that is too fast, as
//! ends a lease soonest; that clock steps, the server restarts, and its replica falls behind. Time advances only when nothing is due and nothing is under way, except for late
//! answers, paused processes and clients that have not come back yet: these may last as long as they like.
//!
//! The untimed worlds try every order of events, so these need not: in a lean timed world the events of one instant
//! happen in one order.

mod client;
mod judge;
mod step;
mod steps;

use std::time::Duration;

use rolecall_core::Family;
use rolecall_core::store::Server;

use super::Options;
use super::explore::Explored;
use super::world::{Happened, Process, Scale, World, name};
use client::{CLOCK_ERROR_PPM, Client, GRAIN};
pub use client::{Rate, UnknownRate};
use step::TimedStep;

const SCALE: Scale = Scale {
    family: Family::Queue,
    timeout: Duration::from_secs(4),
    tick: Duration::from_millis(800),
    servers: 2,
    clock_error_ppm: CLOCK_ERROR_PPM,
    first_observer: u8::MAX,
};
/// Longest time until a client notices that its link is dead.
const UNAWARE: Duration = Duration::from_millis(2_800);
/// Longest isolation of a server, after which it drops its clients, and longest pause of a process. By then nothing is
/// left that could still change.
const LONGEST: Duration = Duration::from_millis(6_000);
/// Unit of everything that lasts: it begins at any instant and ends at once or after a whole number of these.
const LASTING: Duration = Duration::from_millis(1_000);

/// The state of a timed model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Timed {
    pub(crate) world: World,
    clients: Vec<Client>,
    /// True if the events of one instant happen in one order only.
    lean: bool,
    /// Number of nodes and servers that faults may strike.
    struck: u8,
    /// The server that has lost the others, and for how long.
    isolated: Option<(Server, Duration)>,
    /// Rate of the clock by which the store goes.
    store_rate: Rate,
    /// Silence after which a client pings.
    ping: Duration,
    /// Time since the replica of a store that keeps a lease fell behind.
    lagging: Option<Duration>,
    /// Time since the store's clock stepped forward, for as long as it may not again.
    stepped: Option<Duration>,
}

impl Timed {
    /// A cluster that starts, or is at rest, on clocks with these rates.
    fn new(options: &Options, rates: &[Rate]) -> Self {
        let (scale, store_rate) = match options.family {
            Family::Queue => (SCALE, Rate::Exact),
            Family::Lease => (Scale { family: Family::Lease, servers: 1, ..SCALE }, Rate::Fast),
        };
        let servers = (0..scale.servers).map(Server).cycle();
        let clients = rates.iter().zip(servers).map(|(rate, server)| Client::new(*rate, server)).collect();
        let world = World::empty(options, scale);
        let ping = in_grains(world.store.ping_interval(scale.timeout));
        let mut timed = Self {
            world,
            clients,
            lean: options.lean,
            struck: options.struck,
            isolated: None,
            store_rate,
            ping,
            lagging: None,
            stepped: None,
        };
        if options.settled > 0 {
            timed.settle(usize::from(options.settled));
        }
        timed
    }

    fn settle(&mut self, count: usize) {
        for host in self.world.hosts.iter_mut().skip(count) {
            host.end(Process::Crashed);
        }
        while let Some(step) = self.fair_step().filter(|_| !self.is_at_rest() && self.world.breach.is_none()) {
            self.take(step, &mut Vec::new());
        }
    }
}

/// Every combination of rates for this many clocks.
fn all_ways(clocks: u8, rates: &[Rate]) -> Vec<Vec<Rate>> {
    (0..clocks).fold(vec![Vec::new()], |shorter, _| {
        let longer = |way: &Vec<Rate>| rates.iter().map(|rate| [way.as_slice(), &[*rate]].concat()).collect::<Vec<_>>();
        shorter.iter().flat_map(longer).collect()
    })
}

/// This time, rounded up to whole grains.
fn in_grains(time: Duration) -> Duration {
    let grains = time.as_nanos().div_ceil(GRAIN.as_nanos());
    GRAIN.saturating_mul(u32::try_from(grains).unwrap_or(u32::MAX))
}

/// True if a condition that has lasted this long may end.
fn may_end(lasted: Duration) -> bool {
    lasted.as_millis().is_multiple_of(LASTING.as_millis())
}

impl Explored for Timed {
    type Step = TimedStep;

    fn beginnings(options: &Options) -> Vec<Self> {
        if options.clocks.len() == usize::from(options.nodes) {
            return vec![Self::new(options, &options.clocks)];
        }
        let rates = if options.lean { Rate::EXTREMES } else { Rate::ALL };
        all_ways(options.nodes, rates).iter().map(|way| Self::new(options, way)).collect()
    }

    fn steps(&self, steps: &mut Vec<TimedStep>) {
        self.possible(steps);
    }

    fn take(&mut self, step: TimedStep, seen: &mut Vec<Happened>) {
        self.apply(step, seen);
        self.judge(seen);
    }

    fn rename(&mut self) {
        self.world.rename();
    }

    fn world(&self) -> &World {
        &self.world
    }

    fn is_at_rest(&self) -> bool {
        self.world.is_at_rest() && self.clients.iter().all(|client| client.paused.is_none())
    }

    fn fair_step(&self) -> Option<TimedStep> {
        let recovers = |step: &TimedStep| !matches!(step, TimedStep::Restart(_));
        self.next_due().or_else(|| self.recoveries().into_iter().find(recovers)).or(Some(TimedStep::Pass))
    }

    fn note(&self, step: Option<TimedStep>) -> Option<(String, String)> {
        let Some(step) = step else {
            let clocks = self.clients.iter().enumerate();
            let mut clocks: Vec<_> =
                clocks.map(|(place, client)| format!("{}'s clock is {}", name(place), client.rate.name())).collect();
            if self.store_rate != Rate::Exact {
                clocks.push(format!("the store's, which counts below, is {}", self.store_rate.name()));
            }
            return Some(("--".into(), clocks.join(", ")));
        };
        Some((step.place().map_or_else(|| "--".into(), name), step.note(self.lagging.is_some())?))
    }

    fn remark(&self, happened: &Happened, begun: &Self) -> Option<String> {
        self.gate_until(happened, begun)
    }
}
