//! Byte streams that differ from all others: random ones, from a seed and a number.

use npsim_net::Random;
use serde::{Deserialize, Serialize};

/// Bytes of a stream in order, as seen by one of its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamCounters {
    /// Number of bytes.
    pub bytes: u64,
    /// Their 64-bit FNV-1a digest.
    pub digest: u64,
    /// Number of bytes that differ from the stream.
    pub wrong: u64,
    /// Position of the first of them.
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
    random: Random,
    /// The eight bytes that contain the next one.
    word: [u8; 8],
    counters: StreamCounters,
}

impl StreamEnd {
    /// Creates an end at the beginning of the stream with this number under a seed.
    pub fn new(seed: u64, number: u64) -> Self {
        Self {
            random: Random::new(seed, number),
            word: [0; 8],
            counters: StreamCounters::default(),
        }
    }

    /// Returns the counters of the bytes so far.
    pub const fn counters(&self) -> StreamCounters {
        self.counters
    }

    /// Writes the next bytes of the stream.
    pub fn write(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.take();
            self.count(*byte);
        }
    }

    /// Compares bytes with the next ones of the stream.
    pub fn read(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if byte != self.take() {
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

    /// Returns the next byte.
    fn take(&mut self) -> u8 {
        let place = (self.counters.bytes % 8) as usize;
        if place == 0 {
            self.word = self.random.next().to_le_bytes();
        }
        self.word[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_matches_in_pieces_and_differs_by_number() {
        let (mut whole, mut pieces) = (StreamEnd::new(1, 7), StreamEnd::new(1, 7));
        let mut bytes = vec![0; 100_000];
        whole.write(&mut bytes);
        for piece in bytes.chunks(777) {
            pieces.read(piece);
        }
        assert_eq!(pieces.counters(), whole.counters());
        let mut other = StreamEnd::new(1, 8);
        other.read(&bytes);
        assert!(other.counters().wrong > 99_000, "{:?}", other.counters());
    }

    #[test]
    fn corrupted_missing_and_duplicate_bytes_are_located() {
        let mut bytes = vec![0; 5_000];
        StreamEnd::new(1, 1).write(&mut bytes);
        let read = |bytes: &[u8]| {
            let mut end = StreamEnd::new(1, 1);
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
