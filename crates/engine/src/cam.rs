//! The content-addressable memory: 16 tags with 4-bit states and their order of use.

use serde::{Deserialize, Serialize};

/// Sixteen entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cam {
    tags: [u32; 16],
    states: [u8; 16],
    /// Entries from the least to the most recently used.
    order: [u8; 16],
}

impl Cam {
    pub fn new() -> Self {
        let mut order = [0; 16];
        for (entry, place) in order.iter_mut().enumerate() {
            *place = entry as u8;
        }
        Self {
            tags: [0; 16],
            states: [0; 16],
            order,
        }
    }

    /// Looks up a tag. Returns state << 8 | hit << 7 | entry << 3. A miss returns the least
    /// recently used entry and leaves the order unchanged. Of several equal tags, the lowest entry
    /// matches.
    pub fn lookup(&mut self, tag: u32) -> u32 {
        match self.tags.iter().position(|&t| t == tag) {
            Some(entry) => {
                self.touch(entry as u8);
                u32::from(self.states[entry]) << 8 | 1 << 7 | (entry as u32) << 3
            }
            None => u32::from(self.order[0]) << 3,
        }
    }

    /// Writes an entry, which becomes the most recently used.
    pub fn write(&mut self, entry: u32, tag: u32, state: u8) {
        let entry = entry as usize & 15;
        self.tags[entry] = tag;
        self.states[entry] = state & 15;
        self.touch(entry as u8);
    }

    /// Writes only the state.
    pub fn write_state(&mut self, entry: u32, state: u8) {
        self.states[entry as usize & 15] = state & 15;
    }

    pub fn tag(&self, entry: u32) -> u32 {
        self.tags[entry as usize & 15]
    }

    /// The state in the position where a lookup returns it: bits 11..8.
    pub fn state(&self, entry: u32) -> u32 {
        u32::from(self.states[entry as usize & 15]) << 8
    }

    pub fn order(&self) -> [u8; 16] {
        self.order
    }

    fn touch(&mut self, entry: u8) {
        if let Some(at) = self.order.iter().position(|&e| e == entry) {
            self.order[at..].rotate_left(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cam;

    #[test]
    fn cam_miss_returns_the_lru_entry_and_keeps_the_order() {
        let mut cam = Cam::new();
        assert_eq!(cam.lookup(7), 0);
        assert_eq!(cam.lookup(7), 0);
        cam.write(0, 7, 5);
        assert_eq!(cam.lookup(9), 1 << 3);
        assert_eq!(cam.lookup(7), 5 << 8 | 1 << 7);
    }

    #[test]
    fn cam_hit_makes_its_entry_most_recently_used() {
        let mut cam = Cam::new();
        for entry in 0..16 {
            cam.write(entry, 100 + entry, 0);
        }
        assert_eq!(cam.lookup(100), 1 << 7);
        for expected in (1..16).chain([0]) {
            assert_eq!(cam.lookup(1), expected << 3);
            cam.write(expected, 200 + expected, 0);
        }
    }

    #[test]
    fn cam_state_accesses_keep_the_lru_order() {
        let mut cam = Cam::new();
        cam.write(0, 1, 0);
        cam.write_state(1, 3);
        assert_eq!(cam.tag(0), 1);
        assert_eq!(cam.state(1), 3 << 8);
        assert_eq!(cam.lookup(99), 1 << 3);
    }
}
