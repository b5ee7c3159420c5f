//! Counts the packets that the microengines hand to the core, by reason, says each on the UART, and frees their
//! buffers. What `exceptions` of `[gpp]` does, in Rust.

#![no_std]
#![no_main]

mod ixp;

use core::fmt::Write;

use ixp::{Uart, halt, queue_enqueue, ring_get};

import!(EXCEPTION_RING_NUMBER, "import_EXCEPTION_RING_NUMBER");
import!(FREE_BUFFERS_CHANNEL, "import_FREE_BUFFERS_CHANNEL");
import!(FREE_BUFFERS_ENTRY, "import_FREE_BUFFERS_ENTRY");

#[unsafe(no_mangle)]
extern "C" fn main() -> ! {
    let mut counts = [0_u32; 256];
    loop {
        let Some(exception) = ring_get(EXCEPTION_RING_NUMBER.value()) else {
            continue;
        };
        // The reason is in bits 31-24, the handle of the buffer below.
        let (reason, handle) = (exception >> 24, exception & 0xff_ffff);
        let count = &mut counts[reason as usize];
        *count += 1;
        // Text always goes out.
        let _ = writeln!(Uart, "reason {reason}: {count}");
        queue_enqueue(
            FREE_BUFFERS_CHANNEL.value(),
            FREE_BUFFERS_ENTRY.value(),
            handle,
        );
    }
}

#[panic_handler]
fn panic(why: &core::panic::PanicInfo<'_>) -> ! {
    let _ = writeln!(Uart, "{why}");
    halt()
}
