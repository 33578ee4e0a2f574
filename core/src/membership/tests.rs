//! Cases that need an unusual order of events.

use alloc::vec::Vec;
use core::time::Duration;

use super::*;
use crate::pass::Issuer;
use crate::store::DirectoryReply;
use crate::{Action, Time};

const STANDING: Standing =
    Standing { session: Session(1), timeout: Duration::from_secs(10), entropy: 0, connected: true };

/// Advances the entry and answers its request. Returns the id of that request.
fn exchange(entry: &mut Membership, issuer: &mut Issuer, wanted: Option<Entry>, answer: &Answer) -> OpId {
    let mut out = Vec::new();
    entry.advance(&mut Pass { now: Time::ZERO, standing: Some(STANDING), issuer, out: &mut out }, wanted);
    let Some(Action::Store { id, .. }) = out.pop() else { panic!("nothing was asked") };
    assert!(!entry.answered(Time::ZERO, &STANDING, id, answer), "the session is right");
    id
}

#[test]
fn a_late_notice_of_an_entry_that_was_seen_to_be_gone_tells_nothing_new() {
    let (mut entry, mut issuer) = (Membership::new(Directory::Workers), Issuer::default());
    let wanted = Some(Entry { epoch: None });
    exchange(&mut entry, &mut issuer, wanted, &Answer::Done(Reply::Directory(DirectoryReply::Joined)));
    let registered = Answer::Done(Reply::Directory(DirectoryReply::Registered { owner: Session(1), epoch: None }));
    let watch = exchange(&mut entry, &mut issuer, wanted, &registered);
    exchange(&mut entry, &mut issuer, None, &Answer::Unknown);
    exchange(&mut entry, &mut issuer, None, &Answer::Done(Reply::Synced));
    exchange(&mut entry, &mut issuer, None, &Answer::Refused(Refusal::Missing));
    assert!(entry.is_absent());

    entry.noticed(watch);

    // A leader that already serves would halt if its worker entry were in doubt again.
    assert!(entry.is_absent());
}
