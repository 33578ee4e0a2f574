//! The canonical form of the store's state, in which a model checker recognizes it.

use alloc::sync::Arc;
use core::time::Duration;

use super::lease::Life;
use super::machine::{Host, Machine};
use super::session::{Life as SessionLife, Standing};
use crate::Time;
use crate::rename::{Rename, Renamer};

impl Machine {
    /// This state with other names and with times counted from an origin shortly before `now`; and `now` on that axis,
    /// on which the future is the same.
    ///
    /// Names may be ranks, provided that they are taken over the whole world: the store, its clients, and the messages
    /// between them. Values that are compared must keep their order, and the next number after the greatest must still
    /// follow it. Session 0 stands for none and keeps its number.
    #[must_use]
    pub fn canonical(&self, now: Time, renamer: &mut dyn Renamer) -> (Self, Time) {
        let axis = Axis::of(self, now);
        let mut machine = self.clone();
        for life in machine.sessions.values_mut() {
            self.place_life(life, &axis);
        }
        let canonical_now = axis.place(now, Duration::ZERO);
        let host = Host { life: Life::FIRST, stepped: 0 };
        let (life, wall, canonical_wall) = (self.host.life, self.host.wall(now), host.wall(canonical_now));
        for tree in core::iter::once(&mut machine.tree).chain(&mut machine.replica) {
            if tree.lease.is_some() {
                let lease = &mut Arc::make_mut(tree).lease;
                lease.iter_mut().for_each(|lease| lease.place(life, wall, canonical_wall));
            }
        }
        machine.host = host;
        machine.rename(renamer);
        (machine, canonical_now)
    }

    fn place_life(&self, life: &mut SessionLife, axis: &Axis) {
        (life.heard, life.told) = match life.standing {
            Standing::Ghost => (Time::ZERO, Time::ZERO),
            Standing::Connected | Standing::Adrift => {
                // The contact that the others knew of matters only while a cut could undo the last one.
                let undoable = self.servers.len() > 1 && life.heard > axis.now - self.timing.half_tick();
                let told = if undoable { life.told } else { life.heard };
                (axis.place(life.heard, life.timeout), axis.place(told, life.timeout))
            }
        };
    }
}

/// Axis of time with its origin a whole number of ticks back, before the last contact of every session.
#[derive(Debug)]
struct Axis {
    now: Time,
    tick: u64,
    /// Beginning of the current tick, and its place on the axis.
    this_tick: u64,
    at: u64,
}

impl Axis {
    fn of(machine: &Machine, now: Time) -> Self {
        let tick = nanos(machine.timing.tick).max(1);
        let longest = machine.sessions.values().map(|life| reach(life.timeout, tick)).max().unwrap_or(0);
        Self { now, tick, this_tick: now.as_nanos() / tick * tick, at: longest }
    }

    /// Place of a contact, for a session with this timeout. All contacts that prove nothing any more get the same
    /// place.
    fn place(&self, time: Time, timeout: Duration) -> Time {
        let back = self.this_tick.saturating_sub(time.as_nanos()).min(reach(timeout, self.tick));
        let on = time.as_nanos().saturating_sub(self.this_tick);
        Time::from_nanos(self.at.saturating_add(on).saturating_sub(back))
    }
}

/// Time before the beginning of this tick at which a contact proves nothing any more.
fn reach(timeout: Duration, tick: u64) -> u64 {
    (nanos(timeout) / tick).saturating_add(2).saturating_mul(tick)
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
