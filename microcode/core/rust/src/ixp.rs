//! The chip as the core sees it: what the program needs of `../lib/ixp.h`.

use core::arch::{asm, global_asm};
use core::ptr;

// Vectors, stacks, and the call of `main`, as programs in C have them.
global_asm!(include_str!("../../lib/crt0.s"), options(raw));

const RINGS: u32 = 0xcb40_0000;
const QUEUES: u32 = 0xcc00_0100;
const UART: u32 = 0xc003_0000;
/// The UART can take a byte.
const UART_READY: u32 = 0x20;

/// A longword that has the value of a name of the project before the program starts.
#[repr(transparent)]
pub struct Import(u32);

impl Import {
    /// As long as nothing has loaded the program.
    pub const OPEN: Self = Self(0);

    /// What the loader wrote.
    pub fn value(&self) -> u32 {
        // SAFETY: `self` is a longword that is there. The compiler would take it for 0 otherwise.
        unsafe { ptr::read_volatile(&self.0) }
    }
}

/// Declares names of the project: `import!(RING, import_RING)` is `RING.value()`, of the project's name `RING`.
#[macro_export]
macro_rules! import {
    ($name:ident, $symbol:literal) => {
        #[unsafe(export_name = $symbol)]
        #[unsafe(link_section = concat!(".imports.", stringify!($name)))]
        static $name: $crate::ixp::Import = $crate::ixp::Import::OPEN;
    };
}

fn load(address: u32) -> u32 {
    // SAFETY: a register of the chip, which is no object of this program.
    unsafe { ptr::read_volatile(address as *const u32) }
}

fn store(address: u32, value: u32) {
    // SAFETY: as for `load`.
    unsafe { ptr::write_volatile(address as *mut u32, value) }
}

/// The next longword of a ring, none if it is empty.
pub fn ring_get(number: u32) -> Option<u32> {
    match load(RINGS + 4 * number) {
        0 => None,
        longword => Some(longword),
    }
}

/// Puts a buffer into a queue of an SRAM channel.
pub fn queue_enqueue(channel: u32, entry: u32, buffer: u32) {
    store(QUEUES + channel * 0x40_0000 + 4 * entry, buffer);
}

/// The UART, as something that text is written to.
pub struct Uart;

impl core::fmt::Write for Uart {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        for byte in text.bytes() {
            while load(UART + 0x14) & UART_READY == 0 {}
            store(UART, u32::from(byte));
        }
        Ok(())
    }
}

/// Stops for good: the core waits for an interrupt that is never enabled.
pub fn halt() -> ! {
    loop {
        // SAFETY: the XScale's idle mode changes nothing but time.
        unsafe { asm!("mcr p14, 0, {0}, c7, c0, 0", in(reg) 1) }
    }
}
