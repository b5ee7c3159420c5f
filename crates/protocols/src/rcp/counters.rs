//! Counters that a fast-path thread keeps for the slow path.

use serde::{Deserialize, Serialize};

use crate::thread_counters::ThreadRecord;

/// Counters that only grow, modulo 2^32 and 2^64; the slow path takes differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counters {
    /// Bytes of all packets (IP total lengths).
    pub bytes: u32,
    /// Bytes of packets that carry a round-trip time.
    pub rtt_bytes: u32,
    /// Sum of round-trip time (2^-14 s) x bytes over those packets.
    pub rtt_sum: u64,
}

impl Counters {
    /// Counts a packet of `size` bytes (IP total length) with round-trip time `rtt` in 2^-14 s, or 0
    /// if it carries none.
    pub fn arrive(&mut self, size: u16, rtt: u16) {
        let size = u32::from(size);
        self.bytes = self.bytes.wrapping_add(size);
        if rtt > 0 {
            self.rtt_bytes = self.rtt_bytes.wrapping_add(size);
            let product = u64::from(size) * u64::from(rtt);
            self.rtt_sum = self.rtt_sum.wrapping_add(product);
        }
    }
}

impl ThreadRecord<4> for Counters {
    fn from_words([bytes, rtt_bytes, low, high]: [u32; 4]) -> Self {
        Self {
            bytes,
            rtt_bytes,
            rtt_sum: u64::from(high) << 32 | u64::from(low),
        }
    }

    fn since(&self, earlier: &Self) -> Self {
        Self {
            bytes: self.bytes.wrapping_sub(earlier.bytes),
            rtt_bytes: self.rtt_bytes.wrapping_sub(earlier.rtt_bytes),
            rtt_sum: self.rtt_sum.wrapping_sub(earlier.rtt_sum),
        }
    }

    fn add(&mut self, other: &Self) {
        self.bytes = self.bytes.wrapping_add(other.bytes);
        self.rtt_bytes = self.rtt_bytes.wrapping_add(other.rtt_bytes);
        self.rtt_sum = self.rtt_sum.wrapping_add(other.rtt_sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packets_without_rtt_count_as_traffic_only() {
        let mut counters = Counters::default();
        for (size, rtt) in [(1_000, 1_638), (500, 4_915), (40, 0)] {
            counters.arrive(size, rtt);
        }
        let expected = Counters {
            bytes: 1_540,
            rtt_bytes: 1_500,
            rtt_sum: 1_638_000 + 2_457_500,
        };
        assert_eq!(counters, expected);
    }

    proptest! {
        #[test]
        fn counter_differences_survive_wraparound(bytes: u32, rtt_bytes: u32, rtt_sum: u64, packets in prop::collection::vec(any::<(u16, u16)>(), 0..20)) {
            let earlier = Counters { bytes, rtt_bytes, rtt_sum };
            let (mut now, mut alone) = (earlier, Counters::default());
            for (size, rtt) in packets {
                now.arrive(size, rtt);
                alone.arrive(size, rtt);
            }
            prop_assert_eq!(now.since(&earlier), alone);
            let mut both = earlier;
            both.add(&alone);
            prop_assert_eq!(both, now);
        }
    }
}
