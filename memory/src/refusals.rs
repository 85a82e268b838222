//! Refusals for tests: chosen allocations of a run fail, as if the system had no memory. Only builds with assertions have them; what is
//! shipped refuses nothing by itself.

#[cfg(debug_assertions)]
pub use chosen::{begin, count, is_refused};
#[cfg(not(debug_assertions))]
pub use none::{begin, count, is_refused};

/// The environment variable that chooses: `7` refuses the seventh allocation, `7-` that and all after it, `count` none.
pub const VARIABLE: &str = "REVIVER_REFUSE";

#[cfg(debug_assertions)]
mod chosen {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

    /// Allocations since [`begin`], and which of them are refused: from the first to the last.
    static MADE: AtomicU64 = AtomicU64::new(0);
    static FIRST: AtomicU64 = AtomicU64::new(u64::MAX);
    static LAST: AtomicU64 = AtomicU64::new(0);
    static IS_COUNTED: AtomicBool = AtomicBool::new(false);

    /// Reads the environment variable. Allocations are counted from here on.
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

    /// The number of allocations until now, where the variable is `count`.
    #[must_use]
    pub fn count() -> Option<u64> {
        IS_COUNTED.load(Ordering::SeqCst).then(|| MADE.load(Ordering::SeqCst))
    }

    /// True if the allocation that is asked for now is refused.
    #[inline]
    #[must_use]
    pub fn is_refused() -> bool {
        let number = MADE.fetch_add(1, Ordering::Relaxed) + 1;
        number >= FIRST.load(Ordering::Relaxed) && number <= LAST.load(Ordering::Relaxed)
    }
}

#[cfg(not(debug_assertions))]
mod none {
    /// Does nothing in this build.
    pub fn begin() {}

    /// None in this build.
    #[must_use]
    pub fn count() -> Option<u64> {
        None
    }

    /// Never in this build.
    #[inline]
    #[must_use]
    pub fn is_refused() -> bool {
        false
    }
}
