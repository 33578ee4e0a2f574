//! A cluster of nodes on the store, against a model that is one list: the nodes in the order of the queue.
//!
//! Bytes decode to transitions of that model: a node starts, crashes, is cut off for a moment or for long, an operator
//! deletes a candidate, and so on. After each transition the cluster comes to rest. Then the first of the list leads,
//! all others work, the store's queue has the list's order, and the term has changed only if something happened to the
//! leader. The cluster checks every promise on the way.

mod model;
use core::time::Duration;

use rolecall_core::store::{Act, Fault};
use rolecall_core::{Directory, Epoch, Event};

use super::bytes::Bytes;
use model::{Model, Transition};
use rolecall_core::testing::{Cluster, LATENCY, Outcome, TIMEOUT};

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
    let mut cluster = Cluster::new();
    cluster.is_traced = is_traced;
    let mut model = Model::default();
    let mut epoch = None;
    for _ in 0..MOST {
        let Some(byte) = bytes.next() else { break };
        let Some((transition, name)) = model.transition(byte, &mut bytes) else { continue };
        let is_disturbed = model.apply(transition, name);
        carry_out(&mut cluster, transition, name, &mut bytes);
        epoch = compare(&mut cluster, &model, epoch.filter(|_| !is_disturbed));
    }
}

fn carry_out(cluster: &mut Cluster, transition: Transition, name: &'static str, bytes: &mut Bytes<'_>) {
    match transition {
        Transition::Start => cluster.start(name),
        Transition::Crash => cluster.crash(name),
        Transition::ShutDown => {
            cluster.deliver(name, Event::Shutdown);
            cluster.until("ended", |cluster| cluster.hosts[name].outcome == Outcome::Exited);
        }
        Transition::CutShort => {
            cluster.cut(name);
            cluster.run(moment(bytes));
            cluster.heal(name);
        }
        Transition::CutLong => {
            cluster.cut(name);
            cluster.run(LONG);
            cluster.heal(name);
        }
        Transition::PauseShort => {
            cluster.pause(name);
            cluster.run(moment(bytes));
            cluster.resume(name);
        }
        Transition::PauseLong => {
            cluster.pause(name);
            cluster.run(LONG);
            cluster.resume(name);
        }
        Transition::Expire => cluster.expire(name),
        Transition::ReplaceSession => cluster.replace_session(name),
        Transition::GiveSessionUp => cluster.give_session_up(name),
        Transition::DeleteCandidate => _ = cluster.delete_candidate_of(name),
        Transition::RewriteCandidate => {
            let candidate = cluster.candidate_of(name);
            cluster.operator(Act::RewriteCandidate(candidate));
        }
        Transition::DeleteEntry => delete_entry(cluster, name),
        Transition::Litter => {
            cluster.operator(Act::LitterQueue);
            cluster.operator(Act::LitterDirectory(Directory::Workers));
        }
        Transition::RestartStore => cluster.fault(Fault::Restart { keep_data: true }),
        Transition::Resign => cluster.deliver(name, Event::Resign),
    }
}

/// A time much shorter than a session.
fn moment(bytes: &mut Bytes<'_>) -> Duration {
    Duration::from_millis(u64::from(bytes.below(200)))
}

fn delete_entry(cluster: &mut Cluster, name: &str) {
    for directory in [Directory::Workers, Directory::Coordinators] {
        for member in cluster.members(directory).into_iter().filter(|member| &*member.key.id == name) {
            cluster.operator(Act::DeleteMember { directory, key: member.key });
        }
    }
}

/// Lets the cluster come to rest and compares it with the model. Returns the term's epoch, which must be `unchanged` if
/// that is given.
fn compare(cluster: &mut Cluster, model: &Model, unchanged: Option<Epoch>) -> Option<Epoch> {
    cluster.run(20 * LATENCY);
    let first = model.queue.first()?;
    cluster.settle();
    assert_eq!(cluster.leaders(), [*first], "the leader, given {model:?}\n{}", cluster.trace.text());
    let owner = |session| cluster.hosts.iter().find(|(_, host)| host.is_connected_with(session)).map(|(name, _)| *name);
    let queue: Vec<_> = cluster.queue().into_iter().map(|(_, session)| owner(session)).collect();
    let expected: Vec<_> = model.queue.iter().copied().map(Some).collect();
    assert_eq!(queue, expected, "the order of the queue\n{}", cluster.trace.text());
    let epoch = cluster.node(first).term().map(|(fence, _)| fence.epoch);
    if unchanged.is_some() {
        assert_eq!(epoch, unchanged, "nothing happened to the leader\n{}", cluster.trace.text());
    }
    epoch
}
