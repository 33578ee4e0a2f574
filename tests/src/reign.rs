//! When somebody led, by a clock that all processes of the machine share.

use core::time::Duration;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, JoinHandle};

use rustix::time::{ClockId, clock_gettime};

/// How often a contender is asked whether it leads.
pub const INTERVAL: Duration = Duration::from_millis(1);

/// Now, on `CLOCK_MONOTONIC`: Java's `System.nanoTime` and Python's `time.monotonic_ns` read the same.
#[must_use]
pub fn now() -> Duration {
    let now = clock_gettime(ClockId::Monotonic);
    let seconds = u64::try_from(now.tv_sec).expect("it counts from the machine's start");
    Duration::new(seconds, u32::try_from(now.tv_nsec).expect("less than a second"))
}

/// When a contender was first and last seen to lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reign {
    /// Not before it began to lead.
    pub first: Duration,
    /// Not after it led last, so that two reigns that overlap by these did.
    pub last: Duration,
    /// Whether it led when it was asked last.
    pub lasts: bool,
}

/// What is known of a contender's reign; `None` as long as it has not led.
#[derive(Clone, Debug, Default)]
pub struct Chronicle(Arc<Mutex<Option<Reign>>>);

impl Chronicle {
    /// What stands in it.
    #[must_use]
    pub fn reign(&self) -> Option<Reign> {
        *self.lock()
    }

    /// It was asked between `before` and `after`, and said whether it leads.
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

/// Asks a contender of this process, on a thread of its own, until it is dropped.
#[derive(Debug)]
pub struct Chronicler {
    chronicle: Chronicle,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Chronicler {
    /// Begins to ask `leads` each [`INTERVAL`].
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

    /// What it has seen.
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
