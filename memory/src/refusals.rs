//! Simulated refusals for tests: chosen allocations of a run fail as if the system had no memory. Only builds
//! with debug assertions simulate refusals; release builds never do.

#[cfg(debug_assertions)]
pub use chosen::{begin, count, is_refused};
#[cfg(not(debug_assertions))]
pub use none::{begin, count, is_refused};

/// The environment variable that selects the allocations to refuse. `7` refuses the seventh allocation, `7-`
/// the seventh and all later ones. `count` refuses none and counts allocations.
pub const VARIABLE: &str = "REVIVER_REFUSE";

#[cfg(debug_assertions)]
mod chosen {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    /// The number of allocations since [`begin`].
    static MADE: AtomicU64 = AtomicU64::new(0);
    /// The number of the first allocation that is refused, counted from 1.
    static FIRST: AtomicU64 = AtomicU64::new(u64::MAX);
    /// The number of the last allocation that is refused.
    static LAST: AtomicU64 = AtomicU64::new(0);
    /// True if [`VARIABLE`](super::VARIABLE) is `count`.
    static IS_COUNTED: AtomicBool = AtomicBool::new(false);

    /// Reads the environment variable and starts to count allocations.
    pub fn begin() {
        let chosen = std::env::var(super::VARIABLE).unwrap_or_default();
        let (first, is_only) = match chosen.strip_suffix('-') {
            Some(first) => (first, false),
            None => (chosen.as_str(), true),
        };
        let first = first.parse::<u64>().ok();
        IS_COUNTED.store(chosen == "count", Ordering::SeqCst);
        drop(chosen);
        MADE.store(0, Ordering::SeqCst);
        if let Some(first) = first {
            LAST.store(if is_only { first } else { u64::MAX }, Ordering::SeqCst);
            FIRST.store(first, Ordering::SeqCst);
        }
    }

    /// Returns the number of allocations since [`begin`]. Returns `None` unless the environment variable is
    /// `count`.
    #[must_use]
    pub fn count() -> Option<u64> {
        IS_COUNTED.load(Ordering::SeqCst).then(|| MADE.load(Ordering::SeqCst))
    }

    /// Counts an allocation and returns true if it must be refused.
    #[inline]
    #[must_use]
    pub fn is_refused() -> bool {
        let number = MADE.fetch_add(1, Ordering::Relaxed) + 1;
        number >= FIRST.load(Ordering::Relaxed) && number <= LAST.load(Ordering::Relaxed)
    }
}

#[cfg(not(debug_assertions))]
mod none {
    /// Does nothing, because this build simulates no refusals.
    pub fn begin() {}

    /// Returns `None`, because this build counts no allocations.
    #[must_use]
    pub fn count() -> Option<u64> {
        None
    }

    /// Returns false, because this build simulates no refusals.
    #[inline]
    #[must_use]
    pub fn is_refused() -> bool {
        false
    }
}
