//! Times of leadership, on a clock that all processes of the machine share.

use core::time::Duration;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

use rustix::time::{ClockId, clock_gettime};

/// Interval at which a contender is asked whether it leads.
pub const INTERVAL: Duration = Duration::from_millis(1);

/// The time on `CLOCK_MONOTONIC`, which Java's `System.nanoTime` and Python's `time.monotonic_ns` read too.
#[must_use]
pub fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).expect("it counts from the machine's start");
    Duration::new(seconds, u32::try_from(now.tv_nsec).expect("less than a second"))
}

/// The first and the last time at which a contender was seen to lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reign {
    /// A time no earlier than the beginning of its leadership.
    pub first: Duration,
    /// A time no later than the end of its leadership. So if two such reigns overlap, the real ones do.
    pub last: Duration,
    /// True if it led when it was last asked.
    pub lasts: bool,
}

/// Record of a contender's reign; `None` until it first leads.
#[derive(Clone, Debug, Default)]
pub struct Chronicle(Arc<Mutex<Option<Reign>>>);

impl Chronicle {
    /// The reign so far.
    #[must_use]
    pub fn reign(&self) -> Option<Reign> {
        *self.lock()
    }

    /// Notes an answer: between `before` and `after` the contender said whether it leads.
    pub fn note(&self, leads: bool, before: Duration, after: Duration) {
        let mut reign = self.lock();
        match &mut *reign {
            Some(reign) if leads => (reign.last, reign.lasts) = (before, true),
            Some(reign) => reign.lasts = false,
            None if leads => *reign = Some(Reign { first: after, last: before, lasts: true }),
            None => {}
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Reign>> {
        self.0.lock().expect("nobody panics while holding this")
    }
}

/// Asks a contender of this process whether it leads, on a thread of its own, until dropped.
#[derive(Debug)]
pub struct Chronicler {
    chronicle: Chronicle,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Chronicler {
    /// Starts to call `leads` at each [`INTERVAL`].
    pub fn start(leads: impl Fn() -> bool + Send + 'static) -> Self {
        let (chronicle, stopped) = (Chronicle::default(), Arc::new(AtomicBool::new(false)));
        let thread = thread::spawn({
            let (chronicle, stopped) = (chronicle.clone(), Arc::clone(&stopped));
            move || {
                while !stopped.load(Ordering::Relaxed) {
                    let (before, leads) = (now(), leads());
                    chronicle.note(leads, before, now());
                    thread::sleep(INTERVAL);
                }
            }
        });
        Self { chronicle, stopped, thread: Some(thread) }
    }

    /// The reign so far.
    #[must_use]
    pub fn reign(&self) -> Option<Reign> {
        self.chronicle.reign()
    }
}

impl Drop for Chronicler {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
