//! The contribution of a packet to the sums of an interval, and the feedback that it takes from the
//! pools.

use serde::{Deserialize, Serialize};

use super::header::{DELTA_OFFSET, XcpHeader};
use super::scale::Factor;
use crate::thread_counters::ThreadRecord;

/// Round-trip times are counted in units of 2^12 x 2^-28 s (15.3 us), so that a sum of products fits
/// in 64 bits.
pub const RTT_SHIFT: u32 = 12;

/// The largest pool and the largest feedback: the maximum of a signed longword.
pub const MAX_POOL: u32 = i32::MAX as u32;

/// What arrived in an interval, modulo 2^32 and 2^64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sums {
    /// Bytes of all packets (IP total lengths).
    pub input_traffic: u32,
    /// Sum of the times between packets.
    pub sum_x: u64,
    /// Sum of time between packets x round-trip time, the latter limited and shifted right by
    /// [`RTT_SHIFT`].
    pub sum_xrtt: u64,
}

impl Sums {
    /// Steps 1 to 6: counts a packet of `size` bytes (IP total length). `header` is its congestion
    /// header, if it has one; only packets that take feedback contribute to the sums of times. A
    /// round-trip time of 0 (unknown) contributes to neither sum, so that their quotient is the mean
    /// of the known round-trip times.
    pub fn arrive(&mut self, size: u16, header: Option<&XcpHeader>, max_interval: u32) {
        self.input_traffic = self.input_traffic.wrapping_add(u32::from(size));
        let timed = |header: &&XcpHeader| header.accepts_feedback() && header.rtt != 0;
        if let Some(header) = header.filter(timed) {
            self.sum_x = self.sum_x.wrapping_add(u64::from(header.x));
            let rtt = header.rtt.min(max_interval) >> RTT_SHIFT;
            self.sum_xrtt = self
                .sum_xrtt
                .wrapping_add(u64::from(header.x) * u64::from(rtt));
        }
    }
}

impl ThreadRecord<5> for Sums {
    fn from_words([input_traffic, x_low, x_high, xrtt_low, xrtt_high]: [u32; 5]) -> Self {
        let wide = |low: u32, high: u32| u64::from(high) << 32 | u64::from(low);
        Self {
            input_traffic,
            sum_x: wide(x_low, x_high),
            sum_xrtt: wide(xrtt_low, xrtt_high),
        }
    }

    fn since(&self, earlier: &Self) -> Self {
        Self {
            input_traffic: self.input_traffic.wrapping_sub(earlier.input_traffic),
            sum_x: self.sum_x.wrapping_sub(earlier.sum_x),
            sum_xrtt: self.sum_xrtt.wrapping_sub(earlier.sum_xrtt),
        }
    }

    fn add(&mut self, other: &Self) {
        self.input_traffic = self.input_traffic.wrapping_add(other.input_traffic);
        self.sum_x = self.sum_x.wrapping_add(other.sum_x);
        self.sum_xrtt = self.sum_xrtt.wrapping_add(other.sum_xrtt);
    }
}

/// The feedback left to hand out in the interval, in bytes per second, and the factors by which it is
/// shared out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FeedbackPools {
    /// Positive feedback left, below 2^31.
    pub residue_pos: u32,
    /// Negative feedback left, below 2^31.
    pub residue_neg: u32,
    /// Positive feedback per 2^-28 s between packets.
    pub cp: Factor,
    /// Negative feedback per byte.
    pub cn: Factor,
}

/// The outcome of a packet's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feedback {
    /// Amount taken from the positive pool; negative if something was added to it.
    pub positive: i64,
    /// Amount taken from the negative pool.
    pub negative: u32,
    /// The feedback of this router alone.
    pub feedback: i32,
    /// The packet's `delta_throughput` afterwards.
    pub delta: i32,
}

impl FeedbackPools {
    /// Steps 20 to 31 for a packet in the standard format, given its time between packets `x`, its
    /// size in bytes (IP total length) and its `delta` on arrival.
    ///
    /// Both shares are limited to what is left in their pools. A packet that arrives with less than
    /// its share keeps its value; the difference is taken from the negative pool as far as possible,
    /// and the rest is returned to the positive pool, which is kept below 2^31.
    pub fn depart(&mut self, x: u32, size: u16, delta: i32) -> Feedback {
        let mut positive = self.cp.times(x).min(u64::from(self.residue_pos)) as i64;
        let mut negative = self
            .cn
            .times(u32::from(size))
            .min(u64::from(self.residue_neg)) as i64;
        let feedback = positive - negative;
        let request = i64::from(delta);
        let after = if request > feedback {
            feedback
        } else {
            negative = (negative + (feedback - request)).min(i64::from(self.residue_neg));
            positive = request + negative;
            request
        };
        let left = i64::from(self.residue_pos) - positive;
        self.residue_pos = left.clamp(0, i64::from(MAX_POOL)) as u32;
        self.residue_neg -= negative as u32;
        if self.residue_pos == 0 {
            self.cp = Factor::ZERO;
        }
        if self.residue_neg == 0 {
            self.cn = Factor::ZERO;
        }
        Feedback {
            positive,
            negative: negative as u32,
            feedback: feedback as i32,
            delta: after as i32,
        }
    }

    /// Processes the departure of a packet of `size` bytes (IP total length) with congestion header
    /// `header`: updates its `delta_throughput` in place. `None`, with nothing changed, for a packet
    /// that takes no feedback.
    pub fn process(&mut self, header: &mut [u8], size: u16) -> Option<Feedback> {
        let fields = XcpHeader::from_bytes(header).filter(|fields| fields.accepts_feedback())?;
        let feedback = self.depart(fields.x, size, fields.delta_throughput);
        header[DELTA_OFFSET..DELTA_OFFSET + 4].copy_from_slice(&feedback.delta.to_be_bytes());
        Some(feedback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quick_start::tests::bytes;
    use crate::xcp::SECOND;
    use proptest::prelude::*;

    fn scale(mantissa: u32, shift: u8) -> Factor {
        Factor { mantissa, shift }
    }

    fn intervals() -> [FeedbackPools; 3] {
        let pools = |residue_pos, residue_neg, cp, cn| FeedbackPools {
            residue_pos,
            residue_neg,
            cp,
            cn,
        };
        [
            pools(25_000_000, 0, scale(1_599_987_816, 34), Factor::ZERO),
            pools(
                12_499_999,
                12_499_999,
                scale(1_599_987_688, 35),
                scale(2_147_483_476, 31),
            ),
            pools(
                5_925_000,
                13_749_999,
                scale(1_516_767_261, 36),
                scale(2_147_483_491, 31),
            ),
        ]
    }

    struct Departure {
        name: &'static str,
        interval: usize,
        residues: (u32, u32),
        packet: (u32, u16, i32),
        taken: (i64, u32),
        feedback: i32,
        delta: i32,
        after: (u32, u32),
    }

    macro_rules! departures {
        ($($name:ident $interval:literal $residues:tt $packet:tt $taken:tt $feedback:literal
            $delta:literal $after:tt)*) => {
            [$(Departure { name: stringify!($name), interval: $interval, residues: $residues,
                packet: $packet, taken: $taken, feedback: $feedback, delta: $delta,
                after: $after }),*]
        };
    }

    #[test]
    fn packet_feedback_matches_hand_computed_vectors() {
        let departures = departures! {
            X1 1 (25000000, 0) (42950, 1000, 10000) (3999, 0) 3999 3999 (24996001, 0)
            X2 1 (25000000, 0) (42950, 1000, 1000) (1000, 0) 3999 1000 (24999000, 0)
            X3 1 (2000, 0) (42950, 1000, 10000) (2000, 0) 2000 2000 (0, 0)
            X4 2 (12499999, 12499999) (21475, 1000, 5000) (999, 999) 0 0 (12499000, 12499000)
            X5 2 (12499999, 12499999) (214748, 1000, 5000) (9999, 4999) 9000 5000 (12490000, 12495000)
            X6 2 (12499999, 12499999) (5369, 1000, 5000) (250, 999) -749 -749 (12499749, 12499000)
            X7 2 (12499999, 12499999) (21475, 1000, -3000) (999, 3999) 0 -3000 (12499000, 12496000)
            X8 3 (5925000, 13749999) (19523, 1000, 0) (430, 999) -569 -569 (5924570, 13749000)
            X9 3 (5925000, 500) (19523, 1500, 0) (430, 500) -70 -70 (5924570, 0)
            X10 3 (5925000, 13749999) (0, 40, 0) (0, 39) -39 -39 (5925000, 13749960)
        };
        for departure in departures {
            let before = FeedbackPools {
                residue_pos: departure.residues.0,
                residue_neg: departure.residues.1,
                ..intervals()[departure.interval - 1]
            };
            let mut pools = before;
            let (x, size, delta) = departure.packet;
            let name = departure.name;
            let feedback = pools.depart(x, size, delta);
            let expected = Feedback {
                positive: departure.taken.0,
                negative: departure.taken.1,
                feedback: departure.feedback,
                delta: departure.delta,
            };
            assert_eq!(feedback, expected, "{name}");
            let residues = (pools.residue_pos, pools.residue_neg);
            assert_eq!(residues, departure.after, "{name}");
            let kept = |residue, scale| if residue == 0 { Factor::ZERO } else { scale };
            assert_eq!(pools.cp, kept(pools.residue_pos, before.cp), "{name}");
            assert_eq!(pools.cn, kept(pools.residue_neg, before.cn), "{name}");
        }
    }

    #[test]
    fn only_the_feedback_field_changes() {
        let mut header = bytes("061431000000a7c60199999a0000000000002710");
        let mut pools = intervals()[0];
        assert_eq!(pools.process(&mut header, 1000).unwrap().delta, 3_999);
        assert_eq!(header, bytes("061431000000a7c60199999a0000000000000f9f"));
        for text in [
            "061432000000000000000000fffffce000000000",
            "061441000000a7c60199999a0000000000002710",
        ] {
            let mut header = bytes(text);
            let before = pools;
            assert_eq!(pools.process(&mut header, 1000), None);
            assert_eq!((header, pools), (bytes(text), before));
        }
    }

    /// A large cut upstream: what the negative pool cannot cover is returned to the positive pool.
    #[test]
    fn uncovered_negative_feedback_returns_to_the_positive_pool() {
        let mut pools = FeedbackPools {
            residue_neg: 500,
            ..intervals()[2]
        };
        let feedback = pools.depart(19_523, 1_000, -5_000);
        assert_eq!((feedback.positive, feedback.negative), (-4_500, 500));
        assert_eq!(feedback.delta, -5_000);
        assert_eq!(pools.residue_pos, 5_925_000 + 4_500);
        assert_eq!(pools.cn, Factor::ZERO);
        pools.residue_pos = MAX_POOL;
        pools.depart(0, 1_000, i32::MIN);
        assert_eq!(pools.residue_pos, MAX_POOL);
    }

    #[test]
    fn only_standard_headers_contribute_to_rtt_sums() {
        let header = bytes("061431000000a7c60199999a0000000000002710");
        let standard = XcpHeader::from_bytes(&header).unwrap();
        let mut sums = Sums::default();
        sums.arrive(1_000, Some(&standard), SECOND);
        sums.arrive(40, None, SECOND);
        let minimal = XcpHeader {
            format: 2,
            ..standard
        };
        sums.arrive(60, Some(&minimal), SECOND);
        let unknown = XcpHeader { rtt: 0, ..standard };
        sums.arrive(500, Some(&unknown), SECOND);
        let slow = XcpHeader {
            rtt: u32::MAX,
            x: u32::MAX,
            ..standard
        };
        sums.arrive(500, Some(&slow), SECOND);
        let expected = Sums {
            input_traffic: 2_100,
            sum_x: 42_950 + u64::from(u32::MAX),
            sum_xrtt: 42_950 * 6_553 + (u64::from(u32::MAX) << 16),
        };
        assert_eq!(sums, expected);
        let earlier = Sums {
            input_traffic: u32::MAX,
            sum_x: u64::MAX,
            sum_xrtt: u64::MAX,
        };
        assert_eq!(sums.since(&earlier).input_traffic, 2_101);
        let mut both = earlier;
        both.add(&sums.since(&earlier));
        assert_eq!(both, sums);
    }

    fn any_scale() -> impl Strategy<Value = Factor> {
        prop_oneof![
            Just(Factor::ZERO),
            (1_u32 << 30..1 << 31, 0_u8..=62).prop_map(|(m, s)| scale(m, s)),
        ]
    }

    fn any_delta() -> impl Strategy<Value = i32> {
        prop_oneof![any::<i32>(), -20_000_i32..20_000, Just(i32::MIN), Just(0)]
    }

    proptest! {
        #[test]
        fn pools_are_never_overdrawn(
            residue_pos in 0..=MAX_POOL, residue_neg in 0..=MAX_POOL,
            cp in any_scale(), cn in any_scale(), small in 0_u32..31,
            packets in prop::collection::vec((any::<u32>(), any::<u16>(), any_delta()), 1..20),
        ) {
            let mut pools = FeedbackPools { residue_pos: residue_pos >> small, residue_neg: residue_neg >> small, cp, cn };
            for (x, size, delta) in packets {
                let before = pools;
                let done = pools.depart(x, size, delta);
                prop_assert!(done.delta <= delta && done.delta <= done.feedback);
                prop_assert!(done.delta == delta || done.delta == done.feedback);
                prop_assert!(done.positive <= i64::from(before.residue_pos));
                prop_assert!(done.negative <= before.residue_neg);
                prop_assert!(pools.residue_pos <= MAX_POOL);
                prop_assert_eq!(pools.residue_neg, before.residue_neg - done.negative);
                // The amounts taken from the pools equal what the packet carries away.
                prop_assert_eq!(done.positive - i64::from(done.negative), i64::from(done.delta));
            }
        }
    }
}
