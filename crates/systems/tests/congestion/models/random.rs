//! Numbers that are the same in every run.

/// Steele and others' `SplitMix64`.
pub struct Random(u64);

impl Random {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn long(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub fn word(&mut self) -> u32 {
        (self.long() >> 32) as u32
    }

    pub fn byte(&mut self) -> u8 {
        self.word() as u8
    }

    /// One of these four times in five, else any byte.
    pub fn byte_or(&mut self, of: &[u8]) -> u8 {
        if self.once_in(5) {
            self.byte()
        } else {
            self.one_of(of)
        }
    }

    /// From 0 to `end` - 1.
    pub fn below(&mut self, end: u32) -> u32 {
        ((u64::from(self.word()) * u64::from(end)) >> 32) as u32
    }

    /// Once in `times`.
    pub fn once_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }

    pub fn one_of<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }

    /// A number of any size: each number of bits as often as any other.
    pub fn of_any_size(&mut self) -> u32 {
        match self.below(33) {
            0 => 0,
            bits => self.word() >> (32 - bits) | 1 << (bits - 1),
        }
    }

    /// A number near a border of what longwords hold or of `others`.
    pub fn extreme(&mut self, others: &[u32]) -> u32 {
        let borders = [0, 1, 0xffff, 0x1_0000, i32::MAX as u32, 1 << 31, u32::MAX];
        let border = if others.is_empty() || self.once_in(3) {
            self.one_of(&borders)
        } else {
            self.one_of(others)
        };
        border.wrapping_add(self.below(3)).wrapping_sub(1)
    }
}
