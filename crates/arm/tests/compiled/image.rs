//! Executables of 32 bits in either byte order.

use npsim_arm::ByteOrder;

use crate::memory::Memory;

/// The parts of an executable that a process needs.
pub struct Image {
    pub order: ByteOrder,
    pub entry: u32,
    /// The first address past the end.
    pub end: u32,
    /// The address of its program headers, and their number.
    pub headers: (u32, u32),
    segments: Vec<(u32, Vec<u8>)>,
}

impl Image {
    pub fn parse(file: &[u8]) -> Self {
        assert_eq!(&file[..5], b"\x7fELF\x01");
        let order = if file[5] == 2 {
            ByteOrder::Big
        } else {
            ByteOrder::Little
        };
        let number = |at: usize, bytes: usize| {
            let part = file[at..at + bytes].iter();
            let digit = |sum: u32, byte: &u8| sum << 8 | u32::from(*byte);
            match order {
                ByteOrder::Big => part.fold(0, digit),
                ByteOrder::Little => part.rev().fold(0, digit),
            }
        };
        let word = |at| number(at, 4);
        let (table, count) = (word(28) as usize, number(44, 2));
        let mut image = Self {
            order,
            entry: word(24),
            end: 0,
            headers: (0, count),
            segments: Vec::new(),
        };
        for header in (0..count as usize).map(|i| table + i * 32) {
            let (kind, offset, address) = (word(header), word(header + 4), word(header + 8));
            let (in_file, in_memory) = (word(header + 16), word(header + 20));
            if kind != 1 {
                continue;
            }
            if offset == 0 {
                image.headers.0 = address + table as u32;
            }
            let bytes = file[offset as usize..(offset + in_file) as usize].to_vec();
            image.segments.push((address, bytes));
            image.end = image.end.max(address + in_memory);
        }
        image
    }

    pub fn load(&self, memory: &mut Memory) -> Result<(), String> {
        self.segments
            .iter()
            .try_for_each(|(address, bytes)| memory.set_bytes(*address, bytes))
    }
}
