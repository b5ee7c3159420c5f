//! The memory of a process: longwords from address 0, and the page of helpers that the Linux kernel provides at the
//! top.

use npsim_arm::{Bus, ByteOrder, Size};

/// Where the page of helpers begins.
const HELPERS: u32 = 0xffff_0f00;

/// The address of thread-local storage, for the helper that returns it.
const THREAD: usize = (0xff0 - 0xf00) / 4;

pub struct Memory {
    words: Vec<u32>,
    helpers: [u32; 64],
    pub order: ByteOrder,
}

impl Memory {
    pub fn new(bytes: u32, order: ByteOrder) -> Self {
        let mut helpers = [0; 64];
        // A barrier: bx lr.
        helpers[0xa0 / 4] = 0xe12f_ff1e;
        // Compare and exchange: ldr r3, [r2]; subs r3, r3, r0; streq r1, [r2]; rsbs r0, r3, #0; bx lr
        helpers[0xc0 / 4..0xd4 / 4].copy_from_slice(&[
            0xe592_3000,
            0xe053_3000,
            0x0582_1000,
            0xe273_0000,
            0xe12f_ff1e,
        ]);
        // Local storage: ldr r0, [pc, #8]; bx lr
        helpers[0xe0 / 4..0xe8 / 4].copy_from_slice(&[0xe59f_0008, 0xe12f_ff1e]);
        // The number of helpers.
        helpers[0xfc / 4] = 3;
        Self {
            words: vec![0; bytes as usize / 4],
            helpers,
            order,
        }
    }

    pub fn set_thread(&mut self, address: u32) {
        self.helpers[THREAD] = address;
    }

    fn longword(&mut self, address: u32) -> Result<&mut u32, String> {
        let longword = if address >= HELPERS {
            self.helpers.get_mut((address - HELPERS) as usize / 4)
        } else {
            self.words.get_mut(address as usize / 4)
        };
        longword.ok_or_else(|| format!("an access at {address:#x}"))
    }

    pub fn bytes(&mut self, address: u32, count: u32) -> Result<Vec<u8>, String> {
        (0..count)
            .map(|i| Ok(self.read(address + i, Size::Byte)?.0 as u8))
            .collect()
    }

    pub fn set_bytes(&mut self, address: u32, bytes: &[u8]) -> Result<(), String> {
        for (i, &byte) in bytes.iter().enumerate() {
            self.write(address + i as u32, Size::Byte, u32::from(byte))?;
        }
        Ok(())
    }

    pub fn set_word(&mut self, address: u32, value: u32) -> Result<(), String> {
        self.write(address, Size::Word, value).map(|_| ())
    }
}

impl Bus for Memory {
    type Refusal = String;

    fn code(&mut self, address: u32) -> Result<u32, String> {
        self.longword(address).copied()
    }

    fn read(&mut self, address: u32, size: Size) -> Result<(u32, u32), String> {
        let (shift, mask) = self.order.lane(address, size);
        Ok((*self.longword(address)? >> shift & mask, 0))
    }

    fn write(&mut self, address: u32, size: Size, value: u32) -> Result<u32, String> {
        let (shift, mask) = self.order.lane(address, size);
        let longword = self.longword(address)?;
        *longword = *longword & !(mask << shift) | (value & mask) << shift;
        Ok(0)
    }
}
