//! Requests for memory that may be refused. Knows sizes, and not what they are for.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

/// There is no memory for what was to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is not enough memory")]
pub struct OutOfMemory;

thread_local! {
    /// Requests that are under way on this thread and may be refused. Neither its first use nor its end allocates.
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

/// Runs a request that handles a refusal itself, such as `try_reserve` or `File::read_to_end`.
#[inline]
pub fn refusable<T>(request: impl FnOnce() -> T) -> T {
    let _asked = Asked::begin();
    request()
}

/// True if this thread handles a refusal itself.
pub(crate) fn is_refusable() -> bool {
    ASKED.get() > 0
}

/// A request that is under way; also where it panics.
struct Asked;

impl Asked {
    fn begin() -> Asked {
        ASKED.set(ASKED.get() + 1);
        Asked
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        ASKED.set(ASKED.get() - 1);
    }
}

/// Makes room for more entries of a list, and for some that may follow.
///
/// # Errors
/// Memory is refused; the list is as it was.
#[inline]
pub fn more<T>(list: &mut Vec<T>, count: usize) -> Result<(), OutOfMemory> {
    if count <= list.capacity() - list.len() {
        return Ok(());
    }
    refusable(|| list.try_reserve(count)).map_err(|_| OutOfMemory)
}

/// Makes room for more entries of a list, and for none besides.
///
/// # Errors
/// Memory is refused; the list is as it was.
#[inline]
pub fn exactly<T>(list: &mut Vec<T>, count: usize) -> Result<(), OutOfMemory> {
    if count <= list.capacity() - list.len() {
        return Ok(());
    }
    refusable(|| list.try_reserve_exact(count)).map_err(|_| OutOfMemory)
}

/// Returns an empty list with room for this many entries.
///
/// # Errors
/// Memory is refused.
#[inline]
pub fn list<T>(capacity: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut list = Vec::new();
    exactly(&mut list, capacity)?;
    Ok(list)
}

/// Makes room for more entries of a map.
///
/// # Errors
/// Memory is refused; the map is as it was.
pub fn of_map<K: Eq + Hash, V, S: BuildHasher>(
    map: &mut HashMap<K, V, S>,
    count: usize,
) -> Result<(), OutOfMemory> {
    refusable(|| map.try_reserve(count)).map_err(|_| OutOfMemory)
}

/// Returns a list of copies of one value.
///
/// # Errors
/// Memory is refused.
pub fn filled<T: Clone>(value: T, count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut made = list(count)?;
    made.resize(count, value);
    Ok(made)
}

/// Returns a list of what an iterator yields.
///
/// # Errors
/// Memory is refused.
pub fn collected<T>(items: impl IntoIterator<Item = T>) -> Result<Vec<T>, OutOfMemory> {
    let items = items.into_iter();
    let mut made = list(items.size_hint().0)?;
    for item in items {
        more(&mut made, 1)?;
        made.push(item);
    }
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_no_memory_for_is_an_error() {
        assert_eq!(list::<u64>(usize::MAX / 16), Err(OutOfMemory));
        assert_eq!(filled(0_u64, usize::MAX / 16), Err(OutOfMemory));
        let mut some = vec![1];
        assert_eq!(more(&mut some, usize::MAX), Err(OutOfMemory));
        assert_eq!(exactly(&mut some, usize::MAX), Err(OutOfMemory));
        assert_eq!(some, [1]);
        assert_eq!(collected(0..3), Ok(vec![0, 1, 2]));
    }

    #[test]
    fn requests_are_marked_while_they_last() {
        assert!(!is_refusable());
        assert!(refusable(|| refusable(is_refusable) && is_refusable()));
        let panicking = std::panic::catch_unwind(|| refusable(|| panic!("a request that panics")));
        assert!(panicking.is_err() && !is_refusable());
    }
}
