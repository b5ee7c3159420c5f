//! The memory of the module, which has a bound (`build.rs`). Where it is reached, the module traps without a message:
//! what failed is kept here, so that the page can say it.

#![allow(
    unsafe_code,
    reason = "an allocator is one, and an exported name, since it may hide another"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of the last allocation that failed; 0 if none did since a call began.
static MISSED: AtomicUsize = AtomicUsize::new(0);

/// The system's allocator, and what it could not give.
struct Heap;

#[global_allocator]
static HEAP: Heap = Heap;

impl Heap {
    fn noted(room: *mut u8, bytes: usize) -> *mut u8 {
        if room.is_null() {
            MISSED.store(bytes, Ordering::Relaxed);
        }
        room
    }
}

// SAFETY: the system's allocator does it all, with what it was asked for.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        Self::noted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        Self::noted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, room: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as above.
        Self::noted(unsafe { System.realloc(room, layout, bytes) }, bytes)
    }

    unsafe fn dealloc(&self, room: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(room, layout) }
    }
}

/// A call begins: what failed before did not end the module.
pub(crate) fn begin() {
    MISSED.store(0, Ordering::Relaxed);
}

/// Bytes of the allocation that failed, after a trap; 0 if memory was not what failed.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn missed() -> usize {
    MISSED.load(Ordering::Relaxed)
}
