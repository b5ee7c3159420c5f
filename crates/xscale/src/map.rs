//! The memory map: the targets of the processor's addresses.
//!
//! The windows are data. The order of the atomic aliases and the address of the scratchpad's window are assumed.

use npsim_chip::gpp::LongwordAddress;
use npsim_chip::gpp::boot::Space;

/// The effect of a store to an alias on a longword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alias {
    /// Replaces it; SWP swaps.
    Write,
    /// Clears the bits that are set in the stored value.
    Clear,
    /// Sets the bits that are set in the stored value.
    Set,
    /// Adds the stored value.
    Add,
}

impl Alias {
    /// The aliases, in address order [assumed].
    const ORDER: [Self; 4] = [Self::Write, Self::Clear, Self::Set, Self::Add];

    /// The longword after a store.
    #[must_use]
    pub const fn apply(self, old: u32, operand: u32) -> u32 {
        match self {
            Self::Write => operand,
            Self::Clear => old & !operand,
            Self::Set => old | operand,
            Self::Add => old.wrapping_add(operand),
        }
    }
}

/// The target of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// DRAM.
    Dram,
    /// A longword of SRAM or scratch, through an alias.
    Memory(LongwordAddress, Alias),
    /// A scratch ring: a load gets, a store puts.
    Ring(u8),
    /// A queue of the Q-array: a load dequeues, a store enqueues.
    Queue {
        /// SRAM channel.
        channel: u8,
        /// Entry of the channel.
        entry: u8,
    },
    /// A register behind the CSR proxy, by the address that microengines use.
    Proxy(u16),
    /// A register of the timers, by its offset.
    Timers(u32),
    /// A register of the UART, by its offset.
    Uart(u32),
    /// A register of the interrupt controller, by its offset.
    Interrupts(u32),
    /// Registers that exist on the chip but are not modelled, by name.
    Unmodelled(&'static str),
    /// Nothing.
    Unmapped,
}

/// The part of the map that a window covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Dram,
    Sram,
    Scratch,
    Rings,
    SramRegisters,
    Proxy,
    Timers,
    Uart,
    Interrupts,
    Unmodelled(&'static str),
}

/// First and last address of each window, in ascending order. The first that contains an address applies.
const WINDOWS: &[(u32, u32, Part)] = &[
    (0x0000_0000, 0x7fff_ffff, Part::Dram),
    (0x8000_0000, 0xbfff_ffff, Part::Sram),
    (0xc000_4000, 0xc000_4fff, Part::Proxy),
    (0xc001_0000, 0xc001_7fff, Part::Unmodelled("GPIO")),
    (
        0xc001_8000,
        0xc001_ffff,
        Part::Unmodelled("the CSRs of the microengines"),
    ),
    (0xc002_0000, 0xc002_ffff, Part::Timers),
    (0xc003_0000, 0xc003_ffff, Part::Uart),
    (0xc008_0000, 0xc00f_ffff, Part::Unmodelled("the slow port")),
    (0xc400_0000, 0xc7ff_ffff, Part::Unmodelled("flash memory")),
    (
        0xc800_0000,
        0xc8ff_ffff,
        Part::Unmodelled("the media interface (MSF)"),
    ),
    // Assumed, like the size of the aliases.
    (0xca00_0000, 0xca3f_ffff, Part::Scratch),
    (0xcb40_0000, 0xcb40_003f, Part::Rings),
    (0xcc00_0000, 0xccff_ffff, Part::SramRegisters),
    (
        0xd000_0000,
        0xd0ff_ffff,
        Part::Unmodelled("the DRAM controller's CSRs"),
    ),
    (0xd600_0000, 0xd600_0fff, Part::Interrupts),
    (0xd800_0000, 0xdfff_ffff, Part::Unmodelled("PCI")),
    (0xe000_0000, 0xffff_ffff, Part::Unmodelled("memory on PCI")),
];

/// The first address after DRAM and SRAM: registers and scratch.
pub const REGISTERS: u32 = 0xc000_0000;
/// Bytes per alias of an SRAM channel [assumed].
const SRAM_ALIAS: u32 = 0x0400_0000;
/// Bytes per alias of the scratchpad [assumed].
const SCRATCH_ALIAS: u32 = 0x0010_0000;
/// Bytes from the registers of an SRAM channel to those of the next.
const SRAM_REGISTERS: u32 = 0x0040_0000;

/// The target of an address, whose lowest two bits are ignored.
#[must_use]
pub fn target(address: u32) -> Target {
    let address = address & !3;
    if address < 0x8000_0000 {
        return Target::Dram;
    }
    let mut windows = WINDOWS.iter();
    let Some((first, _, part)) = windows.find(|it| (it.0..=it.1).contains(&address)) else {
        return Target::Unmapped;
    };
    let offset = address - first;
    match *part {
        Part::Dram => Target::Dram,
        Part::Sram => {
            let channel = (offset >> 28) as u8;
            memory(Space::Sram(channel), offset & 0x0fff_ffff, SRAM_ALIAS)
        }
        Part::Scratch => memory(Space::Scratch, offset, SCRATCH_ALIAS),
        Part::Rings => Target::Ring((offset / 4) as u8),
        Part::SramRegisters => match offset % SRAM_REGISTERS {
            at @ 0x100..0x200 => Target::Queue {
                channel: (offset / SRAM_REGISTERS) as u8,
                entry: ((at - 0x100) / 4) as u8,
            },
            _ => Target::Unmodelled("the SRAM controller's CSRs"),
        },
        Part::Proxy => Target::Proxy(address as u16),
        Part::Timers => Target::Timers(offset),
        Part::Uart => Target::Uart(offset),
        Part::Interrupts => Target::Interrupts(offset),
        Part::Unmodelled(name) => Target::Unmodelled(name),
    }
}

fn memory(space: Space, offset: u32, alias: u32) -> Target {
    let place = LongwordAddress {
        space,
        address: offset % alias,
    };
    Target::Memory(place, Alias::ORDER[(offset / alias) as usize % 4])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_windows_are_sorted_and_disjoint() {
        for pair in WINDOWS.windows(2) {
            assert!(pair[0].0 <= pair[0].1 && pair[0].1 < pair[1].0, "{pair:x?}");
        }
    }

    #[test]
    fn addresses_resolve_to_their_mapped_targets() {
        let at = |space, address| LongwordAddress { space, address };
        let sram = at(Space::Sram(1), 0x1234);
        let all = [
            (0x0012_3456, Target::Dram),
            (0x9000_1234, Target::Memory(sram, Alias::Write)),
            (0x9400_1236, Target::Memory(sram, Alias::Clear)),
            (0x9800_1234, Target::Memory(sram, Alias::Set)),
            (0x9c00_1234, Target::Memory(sram, Alias::Add)),
            (
                0xca30_0010,
                Target::Memory(at(Space::Scratch, 0x10), Alias::Add),
            ),
            (0xcb40_0008, Target::Ring(2)),
            (
                0xcc40_0104,
                Target::Queue {
                    channel: 1,
                    entry: 1,
                },
            ),
            (0xc000_4804, Target::Proxy(0x4804)),
            (0xc002_0010, Target::Timers(0x10)),
            (0xd600_0008, Target::Interrupts(8)),
            (0xcb40_0040, Target::Unmapped),
        ];
        for (address, target) in all {
            assert_eq!(super::target(address), target, "{address:#x}");
        }
    }
}
