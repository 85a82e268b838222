//! The allocator of a program that wants to end in order where memory is refused. The only file with unsafe code of this crate:
//! an allocator has no other interface.

use std::alloc::{GlobalAlloc, Layout, System};

use crate::{ask, refusals};

/// The system's allocator, which ends the process where it refuses memory to code that doesn't handle a refusal.
///
/// `end` is called with the number of bytes that were refused, on the thread that asked, wherever that thread is. So it
/// must not allocate, and it can't rely on any lock: the thread may hold it.
#[derive(Clone, Copy, Debug)]
pub struct EndingAllocator {
    end: fn(usize) -> !,
}

impl EndingAllocator {
    /// Returns an allocator that calls `end` for what can't go on without memory.
    #[must_use]
    pub const fn new(end: fn(usize) -> !) -> EndingAllocator {
        EndingAllocator { end }
    }

    /// The pointer that the caller gets for an answer of the system.
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

// SAFETY: Every request goes to the system's allocator with the caller's own arguments, and what that returns is returned. The only
// other result is null, which says that memory is refused, in place of a request that isn't made. Nothing unwinds.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for EndingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let pointer = match refusals::is_refused() {
            true => std::ptr::null_mut(),
            // SAFETY: The layout is the caller's, who promises what the system's allocator asks for.
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
            // SAFETY: The pointer comes from the system's allocator, with this layout; the size is the caller's.
            false => unsafe { System.realloc(pointer, layout, bytes) },
        };
        self.answered(moved, bytes)
    }
}
