//! The global allocator of a program that ends in an orderly way if the system refuses memory. Only this file
//! of the crate contains unsafe code, because [`GlobalAlloc`] is an unsafe trait.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::{ask, refusals};

/// The system's allocator. If the system refuses memory to code that doesn't handle a refusal, the allocator
/// ends the process.
///
/// The function `end` gets the number of bytes that were refused. The allocator calls `end` on the requesting
/// thread, which may hold any lock. Therefore `end` must neither allocate nor wait for a lock.
#[derive(Clone, Copy, Debug)]
pub struct EndingAllocator {
    end: fn(usize) -> !,
}

impl EndingAllocator {
    /// Returns an allocator that calls `end` when a request is refused, unless the request is marked as
    /// refusable ([`ask`]).
    #[must_use]
    pub const fn new(end: fn(usize) -> !) -> EndingAllocator {
        EndingAllocator { end }
    }

    /// Returns `pointer`, which the system has returned for a request of `bytes` bytes. If the pointer is null
    /// and the request isn't refusable, ends the process.
    #[inline]
    fn answered(self, pointer: *mut u8, bytes: usize) -> *mut u8 {
        if pointer.is_null() && !ask::is_refusable() {
            self.refused(bytes);
        }
        pointer
    }

    #[cold]
    fn refused(self, bytes: usize) -> ! {
        // Unwinding out of an allocator is undefined behaviour, so a panic in `end` aborts the process.
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

// SAFETY: Every request is forwarded to the system's allocator with the caller's arguments, and the result of
// the system's allocator is returned. The only exception is a simulated refusal: the system isn't called, and
// the result is null, which is a valid answer. Nothing unwinds.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for EndingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let pointer = match refusals::is_refused() {
            true => std::ptr::null_mut(),
            // SAFETY: The caller guarantees that the layout meets the requirements of the system's allocator.
            false => unsafe { System.alloc(layout) },
        };
        self.answered(pointer, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let pointer = match refusals::is_refused() {
            true => std::ptr::null_mut(),
            // SAFETY: As in `alloc`, the caller guarantees that the layout is valid.
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
