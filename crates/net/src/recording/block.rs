//! Blocks of pcapng as bytes, little-endian.
//!
//! Written by hand, since the types of `pcap-file` have no times finer than nanoseconds.

/// Code that ends an option list.
const END_OF_OPTIONS: u16 = 0;

/// A block under construction.
pub(super) struct Block {
    bytes: Vec<u8>,
}

impl Block {
    pub(super) fn new(kind: u32) -> Self {
        let mut block = Self { bytes: Vec::new() };
        block.u32(kind);
        // Placeholder for the length.
        block.u32(0);
        block
    }

    pub(super) fn u16(&mut self, value: u16) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn u32(&mut self, value: u32) {
        self.bytes.extend(value.to_le_bytes());
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    /// Appends bytes and the padding to a multiple of four.
    pub(super) fn padded(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let filled = self.bytes.len().next_multiple_of(4);
        self.bytes.resize(filled, 0);
    }

    /// Appends an option, truncated to the format's limit of 65,535 bytes.
    pub(super) fn option(&mut self, code: u16, value: &[u8]) {
        let value = &value[..value.len().min(usize::from(u16::MAX))];
        self.u16(code);
        self.u16(value.len() as u16);
        self.padded(value);
    }

    pub(super) fn end_options(&mut self) {
        self.option(END_OF_OPTIONS, &[]);
    }

    /// Completes the block and returns its bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let length = self.bytes.len() as u32 + 4;
        self.u32(length);
        self.bytes[4..8].copy_from_slice(&length.to_le_bytes());
        self.bytes
    }
}
