//! Streams of bytes that can be told from all others: each byte follows from a key and its place.

use serde::{Deserialize, Serialize};

/// Bytes of a stream in order, as one of its ends has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamCounters {
    /// How many.
    pub bytes: u64,
    /// Their digest: FNV-1a of 64 bits.
    pub digest: u64,
    /// Bytes that are not those of the stream.
    pub wrong: u64,
    /// The place of the first of them.
    pub first_wrong: Option<u64>,
}

impl Default for StreamCounters {
    fn default() -> Self {
        Self {
            bytes: 0,
            digest: 0xcbf2_9ce4_8422_2325,
            wrong: 0,
            first_wrong: None,
        }
    }
}

/// An end of a stream.
#[derive(Debug, Clone)]
pub struct StreamEnd {
    key: u64,
    counters: StreamCounters,
}

impl StreamEnd {
    /// The begin of the stream with a key.
    pub fn new(key: u64) -> Self {
        Self {
            key,
            counters: StreamCounters::default(),
        }
    }

    /// What has gone by.
    pub const fn counters(&self) -> StreamCounters {
        self.counters
    }

    /// Writes the next bytes.
    pub fn write(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.due();
            self.count(*byte);
        }
    }

    /// Compares the next bytes.
    pub fn read(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte != self.due() {
                self.counters.wrong += 1;
                self.counters.first_wrong.get_or_insert(self.counters.bytes);
            }
            self.count(byte);
        }
    }

    fn count(&mut self, byte: u8) {
        let counters = &mut self.counters;
        counters.bytes += 1;
        counters.digest = (counters.digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }

    /// The byte at the present place.
    fn due(&self) -> u8 {
        let place = self.counters.bytes;
        let word = mixed(self.key.wrapping_add(place / 8));
        word.to_le_bytes()[(place % 8) as usize]
    }
}

/// A number in which each bit depends on all bits of another one (splitmix64).
pub fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_the_same_in_pieces_of_any_size_and_no_other() {
        let (mut whole, mut pieces) = (StreamEnd::new(7), StreamEnd::new(7));
        let mut bytes = vec![0; 100_000];
        whole.write(&mut bytes);
        for piece in bytes.chunks(777) {
            pieces.read(piece);
        }
        assert_eq!(pieces.counters(), whole.counters());
        let mut other = StreamEnd::new(8);
        other.read(&bytes);
        assert!(other.counters().wrong > 99_000, "{:?}", other.counters());
    }

    #[test]
    fn a_byte_that_is_wrong_missing_or_twice_is_found_where_it_is() {
        let mut bytes = vec![0; 5_000];
        StreamEnd::new(1).write(&mut bytes);
        let read = |bytes: &[u8]| {
            let mut end = StreamEnd::new(1);
            end.read(bytes);
            end.counters()
        };
        let mut wrong = bytes.clone();
        wrong[3_000] ^= 0x10;
        let counters = read(&wrong);
        assert_eq!((counters.wrong, counters.first_wrong), (1, Some(3_000)));
        assert_ne!(counters.digest, read(&bytes).digest);
        let missing = [&bytes[..2_000], &bytes[2_001..]].concat();
        let first = read(&missing).first_wrong;
        assert!(first.is_some_and(|first| (2_000..2_010).contains(&first)));
        let twice = [&bytes[..2_001], &bytes[2_000..]].concat();
        let first = read(&twice).first_wrong;
        assert!(first.is_some_and(|first| (2_001..2_011).contains(&first)));
    }
}
