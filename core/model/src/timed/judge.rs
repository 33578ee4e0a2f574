//! Promises that only time can test.

use rolecall_core::{Action, Event, Role, Violation};

use super::Timed;
use crate::world::{Breach, Happened};

impl Timed {
    /// Judges the world after a step.
    pub(super) fn judge(&mut self, seen: &[Happened]) {
        if self.open_gates() > 1 {
            self.breach(Violation::TwoLeaders);
        }
        if seen.iter().any(|happened| !self.ends_alone(happened.place)) {
            self.breach(Violation::OutlivedValidity);
        }
    }

    fn breach(&mut self, violation: Violation) {
        self.world.breach.get_or_insert(Breach::Promise(violation));
    }

    /// P1: number of nodes on which a leader-only act could begin at this instant. A paused process begins nothing;
    /// once resumed it asks its gate before it does anything else. A leader deposed by an outsider does not count: only
    /// its epoch holds it back.
    fn open_gates(&self) -> usize {
        let hosts = self.world.hosts.iter().zip(&self.clients);
        hosts.filter(|(host, client)| host.gate_is_open() && client.paused.is_none() && !host.deposed).count()
    }

    /// P13: a leader that nothing reaches any more closes its gate and stops its service when its validity ends, by its
    /// own clock alone.
    fn ends_alone(&self, place: usize) -> bool {
        let Some(node) = self.world.hosts[place].node() else { return true };
        let Some((_, until)) = node.term() else { return true };
        let mut alone = node.clone();
        let mut actions = Vec::new();
        alone.handle(until, Event::Wake, &mut actions);
        let wakes = node.next_deadline().is_some_and(|(at, _)| at <= until);
        let closes = actions.contains(&Action::CloseGate) && alone.term().is_none();
        let stops = actions.iter().any(|action| matches!(action, Action::StopService { .. }));
        wakes && closes && (stops || node.role() != Role::Leader)
    }

    /// A note on the end of a newly opened gate, by the store's time since the beginning.
    pub(super) fn gate_until(&self, happened: &Happened, begun: &Self) -> Option<String> {
        let until = happened
            .actions
            .iter()
            .find_map(|action| if let Action::OpenGate { until, .. } = action { Some(*until) } else { None })?;
        let left = self.clients[happened.place].rate.true_length(until.since(self.world.hosts[happened.place].clock));
        let at = (self.world.now + self.store_rate.shown(left)).since(begun.world.now);
        Some(format!("its gate is open until +{}ms", at.as_millis()))
    }
}
