//! Reproducible random numbers, including corner values.

/// `SplitMix64`.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    pub fn word(&mut self) -> u32 {
        self.bits() as u32
    }

    pub fn below(&mut self, end: u32) -> u32 {
        ((u64::from(self.word()) * u64::from(end)) >> 32) as u32
    }

    pub fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u32) as usize]
    }

    /// A register's value: corner values as often as other values.
    pub fn value(&mut self) -> u32 {
        match self.below(6) {
            0 => self.pick(&[
                0,
                1,
                2,
                31,
                32,
                33,
                255,
                256,
                0x7fff,
                0x8000,
                0xffff,
                0x7fff_ffff,
                0x8000_0000,
                0x8000_0001,
                0xffff_fffe,
                0xffff_ffff,
                0x8000_7fff,
                0x7fff_8000,
                0x8000_8000,
            ]),
            1 => self.below(64),
            2 => self.below(0x1_0000) as u16 as i16 as u32,
            _ => self.word(),
        }
    }
}
