//! Agreement on the settings of the cluster, before the node begins.

use core::future::poll_fn;
use core::time::Duration;
use std::sync::Arc;

use rolecall_core::store::{Answer, Reply, Request, SettingsRequest};
use rolecall_core::{Event, Link, OpId, Slot};

use super::{Closing, Driver, Outcome};

/// Pause before a store that did not answer is asked again.
const RETRY: Duration = Duration::from_secs(1);

/// Id that no operation of the machine has, because its links are counted from zero.
const SETTLING: OpId = OpId { link: Link(u32::MAX), slot: Slot::Election, sequence: u32::MAX };

impl Driver {
    /// Writes `ours` as the settings of the cluster if it has none; else the two must be equal. Returns the event of the
    /// session, which the node has not handled yet.
    pub(super) async fn settle(&mut self, ours: Arc<str>) -> Result<Option<Event>, Outcome> {
        let mut session = None;
        loop {
            self.metrics.waits_until(self.alarm.as_ref().map(|(time, _)| *time));
            let event = poll_fn(|context| self.poll_event(context)).await;
            self.now = self.clock.now().max(self.now);
            self.metrics.event(&event, self.now);
            match event {
                Event::SessionUp { .. } => {
                    session = Some(event);
                    self.ask(&ours);
                }
                Event::Suspended | Event::SessionLost => session = None,
                Event::Answered { id: SETTLING, answer: Answer::Done(Reply::Settings(theirs)) } => {
                    self.alarm = None;
                    return if theirs == ours { Ok(session) } else { Err(self.differ(ours, theirs)) };
                }
                Event::Wake if session.is_some() => self.ask(&ours),
                Event::Shutdown => return Err(self.close(Outcome::Exited)),
                Event::Answered { .. }
                | Event::Noticed { .. }
                | Event::ServiceStarted { .. }
                | Event::ServiceFailed { .. }
                | Event::ServiceStopped { .. }
                | Event::FenceSeen { .. }
                | Event::Resign
                | Event::Stand { .. }
                | Event::Wake => {}
            }
            self.publish();
        }
    }

    /// Sends the settings. Sending them twice does no harm, so if no answer arrives they are sent again.
    fn ask(&mut self, ours: &Arc<str>) {
        self.store.send(SETTLING, Request::Settings(SettingsRequest::Settle { settings: Arc::clone(ours) }));
        let retry = self.now + RETRY;
        self.alarm = Some((retry, self.clock.sleep_until(retry)));
    }

    fn differ(&mut self, ours: Arc<str>, theirs: Arc<str>) -> Outcome {
        self.close(Outcome::SettingsDiffer { ours, theirs })
    }

    fn close(&mut self, outcome: Outcome) -> Outcome {
        self.store.close();
        self.closing = Closing::Asked;
        outcome
    }
}
