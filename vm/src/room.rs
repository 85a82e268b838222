//! Memory that may run out. What a program's text can make large is allocated here, so that having no
//! room is an error or a trap. Knows sizes, and what they are for.

use reviver_memory::ask;

pub use reviver_isa::codec::OutOfMemory;

/// What there was no memory for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// The frame of a call.
    Frame,
    /// Another value on a stack.
    Stack,
    /// Another value on a tape.
    Tape,
    /// What a step loses, kept so that it can be undone.
    History,
    /// An adjoint for each real.
    Adjoints,
    /// What tasks touch, which is compared before they begin.
    Tasks,
    /// A copy of the state, from which one goes back.
    Copy,
}

/// So many zeros. Pages that nobody writes to take no memory, as long as the system lends them.
///
/// # Errors
/// There is no memory for them.
pub fn zeros<T: Copy + Default>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    // `vec!` gets zeroed pages, but aborts where there are none: ask first, and don't let the
    // compiler conclude that nobody wants the answer.
    let mut asked = Vec::<T>::new();
    ask::exactly(&mut asked, count)?;
    drop(std::hint::black_box(asked));
    Ok(vec![T::default(); count])
}

/// A copy of a list.
pub(crate) fn copied<T: Copy>(list: &[T]) -> Result<Vec<T>, OutOfMemory> {
    let mut copy = with_capacity(list.len())?;
    copy.extend_from_slice(list);
    Ok(copy)
}

/// What becomes of each entry of a list.
pub(crate) fn mapped<A, B>(list: &[A], each: impl Fn(&A) -> B) -> Result<Vec<B>, OutOfMemory> {
    let mut made = with_capacity(list.len())?;
    made.extend(list.iter().map(each));
    Ok(made)
}

/// An empty list with room for so many entries.
pub(crate) fn with_capacity<T>(count: usize) -> Result<Vec<T>, OutOfMemory> {
    ask::list(count)
}

/// Room for more entries of a list, with some for those that come after them unless that is too much.
#[inline]
pub(crate) fn more<T>(list: &mut Vec<T>, count: usize) -> Result<(), OutOfMemory> {
    ask::more(list, count).or_else(|_| ask::exactly(list, count))
}

/// Zeros in place of what is there. To fill nothing takes some processors longer than to fill something, since nothing has no address.
#[inline]
pub fn zero<T: Copy + Default>(list: &mut [T]) {
    if !list.is_empty() {
        list.fill(T::default());
    }
}

/// Copies to the beginning of a list that is at least as long. As with [`zero`], of nothing nothing is copied.
#[inline]
pub fn copy<T: Copy>(list: &mut [T], from: &[T]) {
    if !from.is_empty()
        && let Some(first) = list.get_mut(..from.len())
    {
        first.copy_from_slice(from);
    }
}

/// A list of this length: what is added is zeros.
///
/// # Errors
/// There is no memory for that.
#[inline]
pub fn resize<T: Copy + Default>(list: &mut Vec<T>, length: usize) -> Result<(), OutOfMemory> {
    if list.len() != length {
        more(list, length.saturating_sub(list.len()))?;
        list.resize(length, T::default());
    }
    Ok(())
}
