//! Sources of events.

use core::task::{Context, Poll};

use rolecall_core::Event;

use super::{Closing, Driver};
use crate::store::StoreEvent;

impl Driver {
    /// Polls all sources for the next event. They take turns at being first, so that none starves another.
    pub(super) fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Event> {
        const SOURCES: u8 = 4;
        self.turn = (self.turn + 1) % SOURCES;
        for place in 0..SOURCES {
            let polled = match (self.turn + place) % SOURCES {
                0 => self.poll_store(context),
                1 => self.poll_inbox(context),
                2 => self.services.poll_event(context),
                _ => self.poll_alarm(context),
            };
            if polled.is_ready() {
                return polled;
            }
        }
        Poll::Pending
    }

    fn poll_alarm(&mut self, context: &mut Context<'_>) -> Poll<Event> {
        let Some((_, alarm)) = &mut self.alarm else { return Poll::Pending };
        alarm.as_mut().poll(context).map(|()| {
            self.alarm = None;
            Event::Wake
        })
    }

    fn poll_inbox(&mut self, context: &mut Context<'_>) -> Poll<Event> {
        if let Poll::Ready(Some(order)) = self.orders.poll_recv(context) {
            return Poll::Ready(order);
        }
        match self.inbox.poll_recv(context) {
            Poll::Ready(Some(event)) => Poll::Ready(event),
            // The channel never closes, because the gate keeps a sender.
            Poll::Ready(None) | Poll::Pending => Poll::Pending,
        }
    }

    fn poll_store(&mut self, context: &mut Context<'_>) -> Poll<Event> {
        loop {
            let Poll::Ready(event) = self.store.poll_event(context) else { return Poll::Pending };
            self.board.store_event(&event, self.clock.wall());
            match event {
                StoreEvent::Up { session, timeout } => {
                    let entropy = self.entropy.bits();
                    return Poll::Ready(Event::SessionUp { session, timeout, entropy });
                }
                StoreEvent::Suspended => return Poll::Ready(Event::Suspended),
                StoreEvent::Lost => return Poll::Ready(Event::SessionLost),
                StoreEvent::Answered { id, answer } => return Poll::Ready(Event::Answered { id, answer }),
                StoreEvent::Noticed { id, notice } => return Poll::Ready(Event::Noticed { id, notice }),
                StoreEvent::Denied(denied) => self.board.denied(denied),
                StoreEvent::Closed => self.closing = Closing::Done,
            }
        }
    }
}
