//! A flow's record, shared by the microcode of `microcode/pacing` and the task.

use crate::time::Time;

/// Bytes of a flow's record.
pub const RECORD_BYTES: u32 = 64;
/// Offset of the part of a record that the task reads, in bytes.
pub(crate) const READ_FROM: u32 = 8;
/// Offset of the gap in a record, in bytes.
pub(crate) const GAP: u32 = 12;
/// Cycles per timestamp step.
const STEP: u64 = 16;
/// Units of a gap per timestamp step.
const PARTS: u64 = 256;

/// The microcode's counters of a flow, modulo 2^32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct FlowRecord {
    /// Packets that got a due time.
    pub packets: u32,
    /// Bytes of acknowledged data.
    pub bytes: u32,
    /// Third duplicate acknowledgements.
    pub losses: u32,
    /// The last round-trip time, in timestamp steps.
    pub rtt: u32,
    /// Number of round-trip times measured.
    pub rtts: u32,
}

impl FlowRecord {
    /// Reads it from the eight longwords at [`READ_FROM`].
    pub fn of(words: [u32; 8]) -> Self {
        let [packets, _gap, _acked, _repeated, bytes, losses, rtt, rtts] = words;
        Self {
            packets,
            bytes,
            losses,
            rtt,
            rtts,
        }
    }
}

/// The gap between packets of `packet` bytes at `rate` bytes per second, for microengines of `mhz`
/// megahertz: in 2^-8 steps of 16 cycles, rounded up, at most 2^32 - 256.
#[must_use]
pub fn gap(packet: u64, rate: u64, mhz: u64) -> u32 {
    let parts = u128::from(packet) * u128::from(mhz) * u128::from(1_000_000 / STEP * PARTS);
    let gap = parts.div_ceil(u128::from(rate.max(1)));
    u32::try_from(gap).map_or(u32::MAX - 0xff, |gap| gap.min(u32::MAX - 0xff))
}

/// Converts cycles at `mhz` megahertz to time, rounded down.
pub(crate) fn time_of(cycles: u64, mhz: u64) -> Time {
    let time = u128::from(cycles) * 1_000_000 / u128::from(mhz);
    Time::try_from(time).unwrap_or(Time::MAX)
}

/// Converts timestamp steps to time.
pub(crate) fn time_of_steps(steps: u32, mhz: u64) -> Time {
    time_of(u64::from(steps) * STEP, mhz)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gap_is_the_transmission_time_of_a_packet() {
        // 12 us are 450 steps of 26.67 ns.
        assert_eq!(gap(1_500, 125_000_000, 600), 450 << 8);
        assert_eq!(gap(46, 46_000, 600), 37_500 << 8, "a millisecond");
        assert_eq!(gap(1, 1_000_000_000, 600), 10, "9.6 parts");
        assert_eq!(gap(1_500, 1, 1_400), u32::MAX - 0xff);
        assert_eq!(time_of_steps(450, 600), 12_000_000);
    }
}
