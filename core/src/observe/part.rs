//! Judge of a node's part, which its configuration decides.

use crate::store::{Effect, Request};
use crate::{Action, Config, Violation};

/// Judges an action: an observer takes no role and is listed nowhere, and no node is listed that should not be.
///
/// # Errors
/// The configuration rules out the action.
pub fn keeps_to_its_part(config: &Config, action: &Action) -> Result<(), Violation> {
    let (stands, joins) = match action {
        Action::Store { request, .. } => match request {
            Request::Queue(_) | Request::Lease(_) => (request.effect().is_write(), false),
            Request::Directory(_) => (false, request.effect() == Effect::Create),
            Request::Sync | Request::Term(_) | Request::Settings(_) => (false, false),
            Request::Wish(_) => (true, false),
        },
        Action::OpenGate { .. } | Action::StartService { .. } => (true, false),
        Action::CloseGate
        | Action::Floor(_)
        | Action::StopService { .. }
        | Action::Announce(_)
        | Action::RenewSession
        | Action::StartAfresh(_)
        | Action::CloseSession
        | Action::Exit
        | Action::Refuse(_)
        | Action::Halt(_) => (false, false),
    };
    let exceeds = config.observes && (stands || joins) || joins && !config.registers;
    if exceeds { Err(Violation::PartNotGiven) } else { Ok(()) }
}
