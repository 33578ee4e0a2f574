//! Rules for a single step of a node, judged without memory so that judging adds no states.

use rolecall_core::observe::{NodeJudge, keeps_to_its_part};
use rolecall_core::store::Effect;
use rolecall_core::{Action, Announcement, Directory, Event, Fence, Node, Time, Violation};

/// One step of a node.
pub(crate) struct Judged<'a> {
    pub(crate) before: &'a Node,
    pub(crate) now: Time,
    pub(crate) event: &'a Event,
    pub(crate) actions: &'a [Action],
    pub(crate) after: &'a Node,
}

/// Judges a step. `stopping`: the node had been asked to stop; `stale`: the node did not wait for the event.
pub(crate) fn step(step: &Judged<'_>, stopping: bool, stale: bool) -> Result<(), Violation> {
    step.after.check()?;
    if stale {
        judge_stale(step)?;
    }
    step.actions.iter().try_for_each(|action| keeps_to_its_part(step.after.config(), action))?;
    judge_gate(step)?;
    judge_members(step)?;
    judge_requests(step, stopping || *step.event == Event::Shutdown)
}

/// P8: a message that the node does not wait for changes nothing and causes no action.
fn judge_stale(step: &Judged<'_>) -> Result<(), Violation> {
    let mut twin = step.before.clone();
    let mut expected = Vec::new();
    twin.handle(step.now, Event::Wake, &mut expected);
    if twin == *step.after && expected == step.actions { Ok(()) } else { Err(Violation::StaleBelieved) }
}

/// P13: the gate matches the term, and no term outlives its validity. P12: a new term has a newer epoch.
fn judge_gate(step: &Judged<'_>) -> Result<(), Violation> {
    let before = step.before.term();
    let mut gate = before;
    for action in step.actions {
        match action {
            Action::OpenGate { fence, until } => gate = Some((*fence, *until)),
            Action::CloseGate => gate = None,
            Action::Store { .. }
            | Action::Floor(_)
            | Action::StartService { .. }
            | Action::StopService { .. }
            | Action::Announce(_)
            | Action::RenewSession
            | Action::CloseSession
            | Action::Exit
            | Action::Refuse(_)
            | Action::StartAfresh(_)
            | Action::Halt(_) => {}
        }
    }
    if gate != step.after.term() || gate.is_some_and(|(_, until)| until <= step.now) {
        return Err(Violation::OutlivedValidity);
    }
    let fence = |term: Option<(Fence, Time)>| term.map(|(fence, _)| fence);
    match (fence(before), fence(gate)) {
        (Some(old), Some(new)) if old != new && !new.is_newer_than(old) => Err(Violation::EpochNotRising),
        (Some(_) | None, _) => Ok(()),
    }
}

/// P10: the announced differences lead from the members known before to those known after.
fn judge_members(step: &Judged<'_>) -> Result<(), Violation> {
    let mut workers = step.before.workers().to_vec();
    let mut coordinators = step.before.coordinators().to_vec();
    for action in step.actions {
        if let Action::Announce(Announcement::Members { directory, difference }) = action {
            difference.apply(match directory {
                Directory::Workers => &mut workers,
                Directory::Coordinators => &mut coordinators,
            });
        }
    }
    let same = workers == step.after.workers() && coordinators == step.after.coordinators();
    if same { Ok(()) } else { Err(Violation::DifferenceBroken) }
}

/// P4: nothing is created after a stop was asked for. P11: one event causes few writes.
fn judge_requests(step: &Judged<'_>, stopping: bool) -> Result<(), Violation> {
    let mut writes = 0;
    for action in step.actions {
        let Action::Store { request, .. } = action else { continue };
        let effect = request.effect();
        if effect == Effect::Create && stopping {
            return Err(Violation::CreateAfterStop);
        }
        writes += u64::from(effect.is_write());
    }
    if writes > NodeJudge::WRITES_PER_DISTURBANCE { Err(Violation::WriteStorm) } else { Ok(()) }
}
