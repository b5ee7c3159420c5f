//! The module's memory, which is limited (`build.rs`). When the limit is reached, the module traps without a message:
//! the failed allocation is recorded here, so that the page can report it.

#![allow(
    unsafe_code,
    reason = "an allocator is one, and an exported name, since it may hide another"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The size of the last failed allocation, in bytes; 0 if none failed since a call began.
static MISSED: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, with a record of failures.
struct Heap;

#[global_allocator]
static HEAP: Heap = Heap;

impl Heap {
    fn record_failure(room: *mut u8, bytes: usize) -> *mut u8 {
        if room.is_null() {
            MISSED.store(bytes, Ordering::Relaxed);
        }
        room
    }
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        Self::record_failure(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        Self::record_failure(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, room: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above.
        Self::record_failure(unsafe { System.realloc(room, layout, bytes) }, bytes)
    }

    unsafe fn dealloc(&self, room: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(room, layout) }
    }
}

/// Begins a call: earlier failures did not end the module.
pub(crate) fn begin() {
    MISSED.store(0, Ordering::Relaxed);
}

/// The size of the failed allocation, in bytes, after a trap; 0 if memory was not the cause.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn missed() -> usize {
    MISSED.load(Ordering::Relaxed)
}
