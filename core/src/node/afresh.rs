//! Fresh starts: a node that finds itself stuck or untidy ends its session and begins anew.

use core::time::Duration;

use super::{Node, Stop};
use crate::rename::{Rename, Renamer, TimeKind};
use crate::violation::Class;
use crate::{Action, Sink, Time, Timer, Violation};

/// Earliest time of the next fresh start; `None` if one is possible now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct FreshStart(Option<Time>);

impl FreshStart {
    /// Shortest time between two fresh starts. Each costs a session, and may cost a term.
    const PAUSE: Duration = Duration::from_secs(60);

    pub(super) fn expire(&mut self, now: Time) {
        self.0.take_if(|next| *next <= now);
    }

    pub(super) fn deadline(&self) -> Option<Time> {
        self.0
    }
}

impl Node {
    /// Checks every promise that this node's state can show. A broken promise of safety ends the node; one of liveness
    /// or tidiness makes it start afresh.
    pub(super) fn see_to_promises<S: Sink>(&mut self, now: Time, out: &mut S) {
        let Err(violation) = self.check() else { return };
        match violation.class() {
            Class::Safety => self.halt(violation, out),
            Class::Tidiness => self.start_afresh(now, violation, out),
        }
    }

    fn start_afresh<S: Sink>(&mut self, now: Time, violation: Violation, out: &mut S) {
        if self.fresh_start.0.is_some() {
            return;
        }
        self.fresh_start.0 = Some(now + FreshStart::PAUSE);
        self.session_lost(now);
        self.advance(now, out);
        if self.stop == Stop::Over {
            return;
        }
        out.push(Action::StartAfresh(violation));
        if let Err(violation) = self.check()
            && violation.class() == Class::Safety
        {
            self.halt(violation, out);
        }
    }
}

impl Rename for FreshStart {
    fn rename(&mut self, renamer: &mut dyn Renamer) {
        if let Some(next) = &mut self.0 {
            renamer.time(TimeKind::Deadline(Timer::FreshStart), next);
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::store::{self, Client, Machine, Output, Server, Timing};
    use crate::{Config, Event, Role};

    const TIMEOUT: Duration = Duration::from_secs(300);

    /// A node alone with its store.
    struct Lone {
        now: Time,
        node: Node,
        store: Machine,
        seen: Vec<Action>,
    }

    impl Lone {
        fn leader() -> Self {
            let store = Machine::new(Timing::unbounded(Duration::ZERO), 1);
            let mut lone =
                Self { now: Time::from_millis(1), node: Node::new(Config::new("a")), store, seen: Vec::new() };
            lone.connect();
            assert_eq!(lone.node.role(), Role::Leader);
            lone.seen.clear();
            lone
        }

        fn connect(&mut self) {
            let client = Client { id: "a".into(), address: "10.0.0.1:80".into(), metadata: Default::default() };
            self.store(store::Event::Connect { server: Server(0), client, previous: None, timeout: TIMEOUT });
        }

        fn store(&mut self, event: store::Event) {
            let mut outputs = Vec::new();
            self.store.handle(self.now, event, &mut outputs);
            for output in outputs {
                match output {
                    Output::Connected { session, timeout } => {
                        self.event(Event::SessionUp { session, timeout, entropy: session.0 });
                    }
                    Output::Answered { id, answer, .. } => self.event(Event::Answered { id, answer }),
                    Output::Noticed { id, notice, .. } => self.event(Event::Noticed { id, notice }),
                    // The node has already dropped that session.
                    Output::Expired { .. } => {}
                    other @ (Output::Rejected { .. } | Output::Disconnected { .. } | Output::Closed { .. }) => {
                        panic!("nothing else happens here: {other:?}")
                    }
                }
            }
        }

        fn event(&mut self, event: Event) {
            let mut actions = Vec::new();
            self.node.handle(self.now, event, &mut actions);
            for action in actions {
                self.seen.push(action.clone());
                match action {
                    Action::Store { id, request } => {
                        if let Some((session, _)) = self.node.session() {
                            self.store(store::Event::Request { session, id, request });
                        }
                    }
                    Action::StartService { run, .. } => self.event(Event::ServiceStarted { run }),
                    Action::StopService { run, .. } => self.event(Event::ServiceStopped { run }),
                    Action::OpenGate { .. }
                    | Action::CloseGate
                    | Action::Floor(_)
                    | Action::Announce(_)
                    | Action::RenewSession
                    | Action::StartAfresh(_)
                    | Action::CloseSession
                    | Action::Exit
                    | Action::Refuse(_)
                    | Action::Halt(_) => {}
                }
            }
        }

        fn fresh_starts(&self) -> usize {
            self.seen.iter().filter(|action| matches!(action, Action::StartAfresh(Violation::Stuck))).count()
        }
    }

    #[test]
    fn a_node_that_is_stuck_ends_its_session_and_leads_in_the_next() {
        let mut lone = Lone::leader();
        let (former, _) = lone.node.session().expect("it is connected");
        lone.node.election.queue().forget_relist();
        lone.event(Event::Wake);
        assert_eq!((lone.fresh_starts(), lone.node.session(), lone.node.term()), (1, None, None));
        let place = |wanted: fn(&Action) -> bool| lone.seen.iter().position(wanted);
        let closed = place(|action| matches!(action, Action::CloseGate));
        assert!(closed < place(|action| matches!(action, Action::StartAfresh(_))), "{:?}", lone.seen);

        lone.store(store::Event::Fault(store::Fault::Expire(former)));
        lone.connect();
        assert_eq!((lone.node.role(), lone.node.check()), (Role::Leader, Ok(())));
    }

    #[test]
    fn a_node_starts_afresh_once_a_minute_at_most() {
        let mut lone = Lone::leader();
        for _ in 0..2 {
            lone.node.election.queue().forget_relist();
            lone.event(Event::Wake);
            let former = lone.store.sessions().next().map(|(session, _)| session);
            lone.store(store::Event::Fault(store::Fault::Expire(former.expect("the store keeps it"))));
            lone.connect();
        }
        lone.node.election.queue().forget_relist();
        lone.event(Event::Wake);
        assert_eq!((lone.fresh_starts(), lone.node.check()), (1, Err(Violation::Stuck)));
        lone.now = lone.now + FreshStart::PAUSE;
        lone.event(Event::Wake);
        assert_eq!(lone.fresh_starts(), 2);
    }

    #[test]
    fn a_leader_without_its_candidate_halts() {
        let mut lone = Lone::leader();
        lone.node.election.queue().forget_candidate();
        lone.event(Event::Wake);
        assert!(
            lone.seen.ends_with(&[Action::CloseGate, Action::Halt(Violation::LeaderWithoutCandidate)]),
            "{:?}",
            lone.seen
        );
        assert_eq!(lone.node.next_deadline(), None);
    }
}
