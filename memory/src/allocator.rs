//! The global allocator of a program that ends in an orderly way if memory is refused. This is the only file
//! of the crate with unsafe code, because [`GlobalAlloc`] is an unsafe trait.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::{ask, refusals};

/// The system's allocator, which ends the process if memory is refused to code that doesn't handle a refusal.
///
/// `end` gets the number of bytes that were refused. It is called on the requesting thread, which may hold
/// any lock. Therefore `end` must neither allocate nor wait for a lock.
#[derive(Clone, Copy, Debug)]
pub struct EndingAllocator {
    end: fn(usize) -> !,
}

impl EndingAllocator {
    /// Returns an allocator that calls `end` if memory is refused to a request that isn't marked as
    /// refusable.
    #[must_use]
    pub const fn new(end: fn(usize) -> !) -> EndingAllocator {
        EndingAllocator { end }
    }

    /// Returns the system's answer to a request, or ends the process if the answer is null and the request
    /// isn't refusable.
    #[inline]
    fn answered(self, pointer: *mut u8, bytes: usize) -> *mut u8 {
        if pointer.is_null() && !ask::is_refusable() {
            self.refused(bytes);
        }
        pointer
    }

    #[cold]
    fn refused(self, bytes: usize) -> ! {
        // Unwinding out of an allocator is undefined behaviour: a panic ends the process here.
        let _guard = AbortsOnUnwind;
        (self.end)(bytes)
    }
}

struct AbortsOnUnwind;

impl Drop for AbortsOnUnwind {
    fn drop(&mut self) {
        std::process::abort();
    }
}

// SAFETY: Every request is forwarded to the system's allocator with the caller's arguments, and its result is
// returned. The only other result is null, which means that memory is refused; then the system isn't asked.
// Nothing unwinds.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for EndingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let pointer = match refusals::is_refused() {
            true => std::ptr::null_mut(),
            // SAFETY: The caller guarantees for the layout what the system's allocator requires.
            false => unsafe { System.alloc(layout) },
        };
        self.answered(pointer, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let pointer = match refusals::is_refused() {
            true => std::ptr::null_mut(),
            // SAFETY: As in `alloc`.
            false => unsafe { System.alloc_zeroed(layout) },
        };
        self.answered(pointer, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: The pointer comes from the system's allocator, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        let moved = match refusals::is_refused() {
            true => std::ptr::null_mut(),
            // SAFETY: The pointer comes from the system's allocator, with this layout. The caller guarantees
            // a valid size.
            false => unsafe { System.realloc(pointer, layout, bytes) },
        };
        self.answered(moved, bytes)
    }
}
