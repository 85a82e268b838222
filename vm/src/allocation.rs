//! Allocation that may fail. This module allocates data whose size depends on a program's text, so that a refused
//! memory request becomes an error or a trap instead of ending the process.

use reviver_memory::ask;

pub use reviver_isa::codec::OutOfMemory;

/// The purpose of an allocation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationPurpose {
    /// The frame of a call.
    Frame,
    /// Space for one more value on a stack.
    Stack,
    /// Space for one more value on a tape.
    Tape,
    /// Records of the bits that a step loses, with which the step can be undone.
    History,
    /// The adjoints, one for each real.
    Adjoints,
    /// The lists of cells that tasks read or change. The lists are compared before the tasks begin, because two tasks
    /// mustn't share a cell that one of the two changes.
    Tasks,
    /// A copy of the state, from which a backward run starts.
    Copy,
}

/// Returns a list of `count` zeros. If the system provides zeroed pages, pages that are never written to take
/// no memory.
///
/// # Errors
/// Fails if there is no memory.
pub fn zeros<T: Copy + Default>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    // `vec!` gets zeroed pages, but aborts the process if there is no memory. So this function first requests the same
    // amount by an allocation that may fail, and frees it again. The black box keeps the compiler from removing this
    // unused allocation.
    let mut asked = Vec::<T>::new();
    ask::exactly(&mut asked, count)?;
    drop(std::hint::black_box(asked));
    Ok(vec![T::default(); count])
}

/// Returns a copy of a list.
pub(crate) fn copied<T: Copy>(list: &[T]) -> Result<Vec<T>, OutOfMemory> {
    let mut copy = with_capacity(list.len())?;
    copy.extend_from_slice(list);
    Ok(copy)
}

/// Returns a list with `each` applied to every entry.
pub(crate) fn mapped<A, B>(list: &[A], each: impl Fn(&A) -> B) -> Result<Vec<B>, OutOfMemory> {
    let mut made = with_capacity(list.len())?;
    made.extend(list.iter().map(each));
    Ok(made)
}

/// Returns an empty list with a capacity of `count` entries.
pub(crate) fn with_capacity<T>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    ask::list(count)
}

/// Reserves memory for `count` more entries, and some spare capacity if there is enough memory.
#[inline]
pub(crate) fn more<T>(list: &mut Vec<T>, count: usize) -> Result<(), OutOfMemory> {
    ask::more(list, count).or_else(|_| ask::exactly(list, count))
}

/// Fills a list with zeros. An empty list is skipped, because its dangling address makes the fill slow on
/// some processors.
#[inline]
pub fn zero<T: Copy + Default>(list: &mut [T]) {
    if !list.is_empty() {
        list.fill(T::default());
    }
}

/// Copies `from` to the start of a list that is at least as long. As in [`zero`], an empty list is skipped.
#[inline]
pub fn copy<T: Copy>(list: &mut [T], from: &[T]) {
    if !from.is_empty()
        && let Some(first) = list.get_mut(..from.len())
    {
        first.copy_from_slice(from);
    }
}

/// Changes the length of a list; new entries are zeros.
///
/// # Errors
/// Fails if there is no memory.
#[inline]
pub fn resize<T: Copy + Default>(list: &mut Vec<T>, length: usize) -> Result<(), OutOfMemory> {
    if list.len() != length {
        more(list, length.saturating_sub(list.len()))?;
        list.resize(length, T::default());
    }
    Ok(())
}
