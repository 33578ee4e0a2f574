//! A cluster of nodes on the store, against a model that is one list: the nodes in the order of the queue.
//!
//! Bytes decode to transitions of that model: a node starts, crashes, is cut off for a moment or for long, an operator
//! deletes a candidate, and so on. After each transition the cluster comes to rest. Then the first of the list leads,
//! all others work, the store's queue has the list's order, and the term has changed only if something happened to the
//! leader. The world checks every promise on the way.

mod model;
#[allow(dead_code, unused_imports, reason = "shared with the tests of the core, which use other parts of it")]
#[path = "../../../../core/tests/common/world/mod.rs"]
mod world;

use core::time::Duration;

use rolecall_core::store::{Act, Fault};
use rolecall_core::{Directory, Epoch, Event};

use super::bytes::Bytes;
use model::{Model, Transition};
use world::{LATENCY, Outcome, TIMEOUT, World};

/// Most transitions of one run: more would only take longer.
const MOST: usize = 12;
/// Longer than a session: the store has ended it, and the client has tried to come back.
const LONG: Duration = TIMEOUT.saturating_mul(2);

/// Plays the transitions that `data` decodes to.
///
/// # Panics
/// If the cluster does not come to rest as the model says, or breaks a promise on the way.
pub fn run(data: &[u8]) {
    // Tracing would take most of the time, for a trace that nobody reads. The fuzzer ends at the first panic; its
    // artifact, as a file of the corpus, makes the test show the trace.
    if std::panic::catch_unwind(|| play(data, false)).is_err() {
        play(data, true);
        panic!("it fails without a trace, but not with one");
    }
}

fn play(data: &[u8], is_traced: bool) {
    let mut bytes = Bytes::new(data);
    let mut world = World::new();
    world.is_traced = is_traced;
    let mut model = Model::default();
    let mut epoch = None;
    for _ in 0..MOST {
        let Some(byte) = bytes.next() else { break };
        let Some((transition, name)) = model.transition(byte, &mut bytes) else { continue };
        let is_disturbed = model.apply(transition, name);
        carry_out(&mut world, transition, name, &mut bytes);
        epoch = compare(&mut world, &model, epoch.filter(|_| !is_disturbed));
    }
}

fn carry_out(world: &mut World, transition: Transition, name: &'static str, bytes: &mut Bytes<'_>) {
    match transition {
        Transition::Start => world.start(name),
        Transition::Crash => world.crash(name),
        Transition::ShutDown => {
            world.deliver(name, Event::Shutdown);
            world.until("ended", |world| world.hosts[name].outcome == Outcome::Exited);
        }
        Transition::CutShort => {
            world.cut(name);
            world.run(moment(bytes));
            world.heal(name);
        }
        Transition::CutLong => {
            world.cut(name);
            world.run(LONG);
            world.heal(name);
        }
        Transition::PauseShort => {
            world.pause(name);
            world.run(moment(bytes));
            world.resume(name);
        }
        Transition::PauseLong => {
            world.pause(name);
            world.run(LONG);
            world.resume(name);
        }
        Transition::Expire => world.expire(name),
        Transition::ReplaceSession => world.replace_session(name),
        Transition::GiveSessionUp => world.give_session_up(name),
        Transition::DeleteCandidate => _ = world.delete_candidate_of(name),
        Transition::RewriteCandidate => {
            let candidate = world.candidate_of(name);
            world.operator(Act::RewriteCandidate(candidate));
        }
        Transition::DeleteEntry => delete_entry(world, name),
        Transition::Litter => {
            world.operator(Act::LitterQueue);
            world.operator(Act::LitterDirectory(Directory::Workers));
        }
        Transition::RestartStore => world.fault(Fault::Restart { keep_data: true }),
        Transition::Resign => world.deliver(name, Event::Resign),
    }
}

/// A time much shorter than a session.
fn moment(bytes: &mut Bytes<'_>) -> Duration {
    Duration::from_millis(u64::from(bytes.below(200)))
}

fn delete_entry(world: &mut World, name: &str) {
    for directory in [Directory::Workers, Directory::Coordinators] {
        for member in world.members(directory).into_iter().filter(|member| &*member.key.id == name) {
            world.operator(Act::DeleteMember { directory, key: member.key });
        }
    }
}

/// Lets the cluster come to rest and compares it with the model. Returns the term's epoch, which must be `unchanged` if
/// that is given.
fn compare(world: &mut World, model: &Model, unchanged: Option<Epoch>) -> Option<Epoch> {
    world.run(20 * LATENCY);
    let first = model.queue.first()?;
    world.settle();
    assert_eq!(world.leaders(), [*first], "the leader, given {model:?}\n{}", world.trace.text());
    let owner = |session| world.hosts.iter().find(|(_, host)| host.is_connected_with(session)).map(|(name, _)| *name);
    let queue: Vec<_> = world.queue().into_iter().map(|(_, session)| owner(session)).collect();
    let expected: Vec<_> = model.queue.iter().copied().map(Some).collect();
    assert_eq!(queue, expected, "the order of the queue\n{}", world.trace.text());
    let epoch = world.node(first).term().map(|(fence, _)| fence.epoch);
    if unchanged.is_some() {
        assert_eq!(epoch, unchanged, "nothing happened to the leader\n{}", world.trace.text());
    }
    epoch
}
