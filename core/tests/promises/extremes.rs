//! Extreme times, and configurations that leave no validity.

use std::time::Duration;

use rolecall_core::election::Timing;
use rolecall_core::{Action, Config, Event, Node, Objection, Session, Time};

fn up(timeout: Duration) -> Event {
    Event::SessionUp { session: Session(1), timeout, entropy: 1 }
}

#[test]
fn the_ends_of_the_clock_break_nothing() {
    for now in [0, 1, u64::MAX - 1, u64::MAX].map(Time::from_nanos) {
        for timeout in [Duration::from_secs(10), Duration::MAX] {
            let mut node = Node::new(Config::new("a"));
            let mut out = Vec::new();
            node.handle(now, up(timeout), &mut out);
            node.handle(Time::MAX, Event::Wake, &mut out);
            node.handle(Time::MAX, Event::Suspended, &mut out);
            node.handle(Time::MAX, up(timeout), &mut out);
            node.handle(Time::MAX, Event::Shutdown, &mut out);
            assert_eq!(node.check(), Ok(()), "{now:?} {timeout:?}");
        }
    }
}

#[test]
fn a_configuration_that_leaves_no_validity_is_refused_with_its_numbers() {
    let mut node = Node::new(Config::new("a"));
    let mut out = Vec::new();
    node.handle(Time::ZERO, up(Duration::from_millis(10)), &mut out);
    let objection = Objection::NoValidity { timeout_ms: 10, margin_ms: 13 };
    assert_eq!(out, [Action::CloseSession, Action::Refuse(objection)]);
    let mut config = Config::new("a");
    config.election = Timing::queue(Duration::from_secs(20));
    let mut node = Node::new(config);
    out.clear();
    node.handle(Time::ZERO, up(Duration::from_secs(10)), &mut out);
    let objection = Objection::NoValidity { timeout_ms: 10_000, margin_ms: 11_110 };
    assert_eq!(out, [Action::CloseSession, Action::Refuse(objection)]);
}

#[test]
fn a_clock_error_of_any_size_is_refused_or_set_aside() {
    let mut config = Config::new("a");
    config.clock_error_ppm = u32::MAX;
    assert_eq!(config.validity(Duration::from_secs(10)), None);
    assert_eq!(config.validity(Duration::MAX), None);
}
