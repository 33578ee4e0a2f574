//! Times within which a run stops, so that it has ended before its term does.

use core::time::Duration;

use rolecall::Config;
use serde::{Deserialize, Serialize};

use crate::cli::Failure;

/// Times within which a run stops.
///
/// ```text
///   TERM ──── grace ────► KILL, gone ──── hook ────► KILL, gone ── reserve ──► end of the term
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    /// Time that the program has after its SIGTERM.
    pub(crate) grace: Duration,
    /// Longest time that one hook takes.
    pub(crate) hook: Duration,
    /// Time between the last SIGKILL and the end of the term, in which the processes must be gone.
    pub(crate) reserve: Duration,
}

/// Grace by default, where the session is long enough.
const GRACE: Duration = Duration::from_secs(5);
/// Limit of a hook by default, where the session is long enough.
const HOOK: Duration = Duration::from_secs(2);

impl Limits {
    /// Times for a session of `timeout`; `has_leave` says that a hook ends each term. Stopping takes at most two thirds of the
    /// validity, so that a leader is not stopped before some heartbeats have failed.
    ///
    /// # Errors
    /// If `grace` and `hook` are too long for the session.
    pub(crate) fn new(
        config: &Config,
        timeout: Duration,
        grace: Option<Duration>,
        hook: Option<Duration>,
        has_leave: bool,
    ) -> Result<Self, Failure> {
        let reserve = (timeout / 20).clamp(Duration::from_millis(100), Duration::from_secs(1));
        let validity = config.validity(timeout).unwrap_or_default();
        let room = (validity * 2 / 3).saturating_sub(reserve);
        let hook = hook.unwrap_or(if has_leave { HOOK.min(room / 2) } else { HOOK });
        let left = if has_leave { room.saturating_sub(hook) } else { room };
        let wanted = grace.unwrap_or(GRACE.min(left));
        if !left.is_zero() && wanted <= left {
            return Ok(Self { grace: wanted, hook, reserve });
        }
        Err(Failure::Usage(format!(
            "{} too long for --session-timeout {} ms: a term is proved for {} ms at a time, of which stopping may take two thirds, \
             less {} ms to see that nothing is left; {}",
            match (grace, has_leave) {
                (Some(grace), false) => format!("--grace {} ms is", grace.as_millis()),
                (Some(grace), true) => {
                    format!("--grace {} ms and --hook-timeout {} ms are", grace.as_millis(), hook.as_millis())
                }
                (None, _) => format!("--hook-timeout {} ms is", hook.as_millis()),
            },
            timeout.as_millis(),
            validity.as_millis(),
            reserve.as_millis(),
            if left.is_zero() {
                format!("expected a hook timeout below {} ms, or a longer session timeout", room.as_millis())
            } else {
                format!("expected a grace of at most {} ms, or a longer session timeout", left.as_millis())
            },
        )))
    }

    /// Time that stopping takes at most, with the hook at the end or without.
    pub(crate) fn total(self, has_hook: bool) -> Duration {
        self.grace + self.after_grace(has_hook)
    }

    /// Part of that time that comes after the grace.
    pub(super) fn after_grace(self, has_hook: bool) -> Duration {
        self.reserve + if has_hook { self.hook } else { Duration::ZERO }
    }

    /// The limits with a grace that leaves a third of `validity`, for a store that granted a shorter session than was asked for.
    pub(super) fn fitted(self, validity: Duration, has_hook: bool) -> Self {
        let longest = (validity * 2 / 3).saturating_sub(self.after_grace(has_hook));
        Self { grace: self.grace.min(longest), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SESSION: Duration = Duration::from_secs(10);

    fn limits(grace: Option<u64>, hook: Option<u64>, has_leave: bool) -> Result<Limits, Failure> {
        let of = |millis: Option<u64>| millis.map(Duration::from_millis);
        Limits::new(&Config::new("a"), SESSION, of(grace), of(hook), has_leave)
    }

    #[test]
    fn stopping_takes_at_most_two_thirds_of_the_validity() {
        let validity = Config::new("a").validity(SESSION).expect("ten seconds are enough");
        let longest = limits(None, None, false).expect("the default fits");
        assert!(longest.total(false) <= validity * 2 / 3 && longest.grace > SESSION / 4, "{longest:?}");
        let with_hook = limits(None, Some(1_000), true).expect("the default fits");
        assert_eq!(with_hook.grace + Duration::from_secs(1), longest.grace);
        let both = limits(None, None, true).expect("the defaults fit");
        assert!(!both.hook.is_zero() && both.total(true) <= validity * 2 / 3, "{both:?}");
        let first_hook_only = limits(Some(1_500), Some(20_000), false).expect("no hook is in the way of the end");
        assert_eq!(first_hook_only.grace, Duration::from_millis(1_500));
    }

    #[test]
    fn a_grace_that_does_not_fit_is_refused_with_the_longest_that_does() {
        let longest = limits(None, None, false).expect("the default fits").grace.as_millis();
        let refused = limits(Some(5_000), None, false).expect_err("it is too long").to_string();
        assert!(
            refused.contains("--grace 5000 ms is") && refused.contains(&format!("at most {longest} ms")),
            "{refused}"
        );
        let refused = limits(None, Some(20_000), true).expect_err("the hook is too long").to_string();
        assert!(refused.contains("--hook-timeout 20000 ms is") && refused.contains("longer session"), "{refused}");
    }

    #[test]
    fn a_shorter_session_than_asked_for_cuts_the_grace() {
        let limits = Limits { grace: SESSION, hook: SESSION / 10, reserve: SESSION / 20 };
        assert_eq!(limits.fitted(SESSION * 3, true), limits);
        assert_eq!(limits.fitted(SESSION, true).total(true), SESSION * 2 / 3);
        assert_eq!(limits.fitted(SESSION / 10, true).grace, Duration::ZERO);
    }
}
