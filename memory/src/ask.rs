//! Requests for memory that may be refused. This module handles sizes only, and is independent of the use of
//! the memory.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::io::{self, Read};

/// The error of a request that the system refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is not enough memory")]
pub struct OutOfMemory;

thread_local! {
    /// The number of refusable requests that are in progress on this thread. The variable is initialized and
    /// destroyed without allocations.
    static ASKED: Cell<u32> = const { Cell::new(0) };
}

/// Runs a request whose caller handles a refusal. The request must only call `try_reserve`: other code may
/// allocate memory without handling a refusal.
#[inline]
fn refusable<T>(request: impl FnOnce() -> T) -> T {
    let _asked = Asked::begin();
    request()
}

/// Returns true if a refusable request is in progress on this thread.
pub(crate) fn is_refusable() -> bool {
    ASKED.get() > 0
}

/// A guard that marks a refusable request as in progress. The mark is removed on drop, even if the request
/// panics.
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

/// Reserves capacity for `count` more entries of a list, and possibly some spare capacity.
///
/// # Errors
/// Returns [`OutOfMemory`] if memory is refused; the list is unchanged.
#[inline]
pub fn more<T>(list: &mut Vec<T>, count: usize) -> Result<(), OutOfMemory> {
    if count <= list.capacity() - list.len() {
        return Ok(());
    }
    refusable(|| list.try_reserve(count)).map_err(|_| OutOfMemory)
}

/// Reserves capacity for exactly `count` more entries of a list.
///
/// # Errors
/// Returns [`OutOfMemory`] if memory is refused; the list is unchanged.
#[inline]
pub fn exactly<T>(list: &mut Vec<T>, count: usize) -> Result<(), OutOfMemory> {
    if count <= list.capacity() - list.len() {
        return Ok(());
    }
    refusable(|| list.try_reserve_exact(count)).map_err(|_| OutOfMemory)
}

/// Returns an empty list with this capacity.
///
/// # Errors
/// Returns [`OutOfMemory`] if memory is refused.
#[inline]
pub fn list<T>(capacity: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut list = Vec::new();
    exactly(&mut list, capacity)?;
    Ok(list)
}

/// Reserves capacity for `count` more entries of a map.
///
/// # Errors
/// Returns [`OutOfMemory`] if memory is refused; the map is unchanged.
pub fn of_map<K: Eq + Hash, V, S: BuildHasher>(
    map: &mut HashMap<K, V, S>,
    count: usize,
) -> Result<(), OutOfMemory> {
    refusable(|| map.try_reserve(count)).map_err(|_| OutOfMemory)
}

/// Appends all bytes of a source to a list and returns their number. Unlike `Read::read_to_end`, this function
/// never aborts the process. `Read::read_to_end` reads the first bytes of a stream into memory that it doesn't
/// request with `try_reserve`.
///
/// # Errors
/// Returns the errors of the source, and [`io::ErrorKind::OutOfMemory`] if memory is refused. The list keeps
/// the bytes that were read before the error.
pub fn read_to_end(source: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<usize> {
    const PIECE: usize = 1 << 16;
    let begun = bytes.len();
    loop {
        more(bytes, 1).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let filled = bytes.len();
        bytes.resize(bytes.capacity().min(filled.saturating_add(PIECE)), 0);
        let read = source.read(bytes.get_mut(filled..).unwrap_or_default());
        bytes.truncate(filled + read.as_ref().map_or(0, |count| *count));
        match read {
            Ok(0) => return Ok(filled - begun),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns a list of `count` copies of one value.
///
/// # Errors
/// Returns [`OutOfMemory`] if memory is refused.
pub fn filled<T: Clone>(value: T, count: usize) -> Result<Vec<T>, OutOfMemory> {
    let mut made = list(count)?;
    made.resize(count, value);
    Ok(made)
}

/// Returns a list of the items of an iterator.
///
/// # Errors
/// Returns [`OutOfMemory`] if memory is refused.
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
    fn exhausted_memory_is_an_error() {
        assert_eq!(list::<u64>(usize::MAX / 16), Err(OutOfMemory));
        assert_eq!(filled(0_u64, usize::MAX / 16), Err(OutOfMemory));
        let mut some = vec![1];
        assert_eq!(more(&mut some, usize::MAX), Err(OutOfMemory));
        assert_eq!(exactly(&mut some, usize::MAX), Err(OutOfMemory));
        assert_eq!(some, [1]);
        assert_eq!(collected(0..3), Ok(vec![0, 1, 2]));
    }

    /// A source that yields one byte at a time, and reports an interruption before each byte.
    struct Dripping {
        left: usize,
        is_interrupted: bool,
    }

    impl Read for Dripping {
        fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
            self.is_interrupted = !self.is_interrupted;
            if self.is_interrupted {
                return Err(io::ErrorKind::Interrupted.into());
            }
            match bytes.first_mut() {
                Some(byte) if self.left > 0 => *byte = 7,
                _ => return Ok(0),
            }
            self.left -= 1;
            Ok(1)
        }
    }

    #[test]
    fn sources_are_read_to_their_end() {
        for length in [0, 1, 31, 32, 33, 100_000] {
            let mut bytes = vec![1, 2];
            assert_eq!(read_to_end(&mut io::repeat(3).take(length), &mut bytes).unwrap() as u64, length);
            assert_eq!(bytes.len() as u64, length + 2);
            assert!(bytes.starts_with(&[1, 2]) && bytes.iter().skip(2).all(|byte| *byte == 3));
        }
        let mut bytes = Vec::new();
        let mut dripping = Dripping { left: 100, is_interrupted: false };
        assert_eq!((read_to_end(&mut dripping, &mut bytes).unwrap(), bytes), (100, vec![7; 100]));
    }

    #[test]
    fn requests_are_marked_during_the_allocation() {
        assert!(!is_refusable());
        assert!(refusable(|| refusable(is_refusable) && is_refusable()));
        let panicking = std::panic::catch_unwind(|| refusable(|| panic!("a request that panics")));
        assert!(panicking.is_err() && !is_refusable());
    }
}
