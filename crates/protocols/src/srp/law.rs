//! SRP's law: packets leave at a rate that follows from the loss event rate (Shang et al., TCP-SRP).
//!
//! The paper's formula R(p) is used with the time of slow start weighted as its packets are. The paper
//! gives neither the mean window W(p) nor the number of fast recoveries per timeout: both are Padhye's,
//! for one ACK per packet. Nor does it specify how p is measured: [`LossIntervals`] does this. Nor does
//! it specify how a flow begins: the rate doubles each round-trip time until the first loss, which then
//! counts as if it had come at the interval that gives half of that rate, as in TFRC (RFC 5348, section
//! 6.3.1).

use serde::{Deserialize, Serialize};

use super::fixed::Fixed;
use super::loss_interval::{LossIntervals, MEAN_BITS};
use crate::time::{SECOND, Time, rate_of};

/// Shortest interval that p can express, in packets: the formula's rate goes to 0 as p goes to 1.
const MIN_INTERVAL: u64 = 2;
/// Longest interval that p can express, in packets.
const MAX_INTERVAL: u64 = 1 << 30;
/// Maximum number of doublings of the sending timer.
const MAX_DOUBLINGS: u32 = 6;

/// Inputs of the law at an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LawInputs {
    /// The current time.
    pub now: Time,
    /// Payload of a full segment, bytes.
    pub mss: u64,
    /// Bytes of IP that a full segment takes.
    pub packet: u64,
    /// Smoothed round-trip time.
    pub srtt: Option<Time>,
    /// The current timeout.
    pub timeout: Time,
}

/// The rate of a paced sender, which has no window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacingLaw {
    /// Maximum pacing rate, in bytes of IP per second.
    most: Option<u64>,
    /// Number of segments in the first round-trip time.
    first: u64,
    /// The rate, in bytes of IP per second.
    rate: u64,
    intervals: LossIntervals,
    last_event: Option<Time>,
    last_update: Time,
    doublings: u32,
}

impl PacingLaw {
    /// Creates the state before the first round-trip time, in which `first` segments are sent; `most` is
    /// the maximum rate in bytes of IP per second.
    #[must_use]
    pub fn new(first: u64, most: Option<u64>) -> Self {
        Self {
            most,
            first,
            rate: 0,
            intervals: LossIntervals::default(),
            last_event: None,
            last_update: 0,
            doublings: 0,
        }
    }

    /// The rate in bytes of IP per second, at least 1.
    #[must_use]
    pub fn rate(&self) -> u64 {
        (self.rate >> self.doublings).max(1)
    }

    /// The mean interval between loss events in packets x 2^8; `None` before the first.
    #[must_use]
    pub fn interval(&self, mss: u64) -> Option<u64> {
        self.intervals.mean(mss)
    }

    /// Begins sending; with one segment per round-trip time if a packet of the handshake was `lost`.
    pub fn opened(&mut self, moment: &LawInputs, lost: bool) {
        let segments = if lost { 1 } else { self.first };
        let srtt = moment.srtt.unwrap_or(moment.timeout);
        self.set_rate(rate_of(segments * moment.packet, srtt));
        self.last_update = moment.now;
    }

    /// Processes the acknowledgement of `bytes` of new data.
    pub fn acknowledged(&mut self, moment: &LawInputs, bytes: u64) {
        self.progressed();
        self.arrived(moment, bytes);
    }

    /// Ends the back-off of the sending timer, since the acknowledgement advanced.
    pub fn progressed(&mut self) {
        self.doublings = 0;
    }

    /// Processes the news that `bytes` of data have arrived, in order or not.
    pub fn arrived(&mut self, moment: &LawInputs, bytes: u64) {
        let Some(srtt) = moment.srtt else { return };
        if self.intervals.mean(moment.mss).is_none() {
            let packet_bytes = bytes * moment.packet / moment.mss;
            self.set_rate(self.rate.saturating_add(rate_of(packet_bytes, srtt)));
            return;
        }
        self.intervals.add(bytes);
        if moment.now - self.last_update >= srtt {
            self.update(moment);
        }
    }

    /// Processes a reported loss.
    pub fn lost(&mut self, moment: &LawInputs) {
        self.event(moment);
    }

    /// Processes the expiry of the retransmission timer.
    pub fn timed_out(&mut self, moment: &LawInputs) {
        self.event(moment);
        self.doublings = (self.doublings + 1).min(MAX_DOUBLINGS);
    }

    fn set_rate(&mut self, rate: u64) {
        self.rate = rate.clamp(1, self.most.unwrap_or(u64::MAX));
    }

    fn update(&mut self, moment: &LawInputs) {
        let mean = self.intervals.mean(moment.mss);
        if let (Some(mean), Some(srtt)) = (mean, moment.srtt) {
            let rate = rate_of_mean(mean, srtt, moment.timeout);
            self.set_rate(bytes_per_second(rate, moment.packet));
            self.last_update = moment.now;
        }
    }

    /// Losses within a round-trip time are one event.
    fn event(&mut self, moment: &LawInputs) {
        let srtt = moment.srtt.unwrap_or(moment.timeout);
        if self.last_event.is_some_and(|last| moment.now - last < srtt) {
            return;
        }
        self.last_event = Some(moment.now);
        if self.intervals.mean(moment.mss).is_none() {
            let half = (self.rate / 2).max(1);
            let interval = interval_for(half, srtt, moment);
            self.intervals.begin_with(interval);
        } else {
            self.intervals.close(moment.mss);
        }
        self.update(moment);
    }
}

/// The rate at which a path with this round-trip time and timeout loses one packet in every `mean` /
/// 2^8.
fn rate_of_mean(mean: u64, srtt: Time, timeout: Time) -> PacketRate {
    let mean = mean.clamp(MIN_INTERVAL << MEAN_BITS, MAX_INTERVAL << MEAN_BITS);
    let p = Fixed::ratio(1 << MEAN_BITS, mean as i64);
    packets_in_time(p, srtt, timeout)
}

/// A number of packets and the time that they take.
#[derive(Debug, Clone, Copy)]
struct PacketRate {
    packets: Fixed,
    time: i128,
}

fn bytes_per_second(rate: PacketRate, packet: u64) -> u64 {
    let bytes = rate.packets.times(packet).max(1).unsigned_abs();
    // The bytes of a cycle times a second stay far below 2^127.
    let rate = bytes * u128::from(SECOND) / rate.time.max(1).unsigned_abs();
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// The shortest interval in packets with a rate of at least `rate`.
fn interval_for(rate: u64, srtt: Time, moment: &LawInputs) -> u64 {
    let gives = |packets: u64| {
        let found = rate_of_mean(packets << MEAN_BITS, srtt, moment.timeout);
        bytes_per_second(found, moment.packet)
    };
    let (mut below, mut enough) = (MIN_INTERVAL, MAX_INTERVAL);
    while below < enough {
        let middle = u64::midpoint(below, enough);
        if gives(middle) >= rate {
            enough = middle;
        } else {
            below = middle + 1;
        }
    }
    enough
}

/// Mean window at a loss event (Padhye, b = 1): 1 + sqrt(8 (1 - p) / 3 p + 1).
fn window(p: Fixed) -> Fixed {
    let one = Fixed::ONE;
    let ratio = Fixed::integer(8) * (one - p) / (Fixed::integer(3) * p);
    one + (ratio + one).sqrt()
}

/// Probability that a loss event ends in a timeout (Padhye): the inverse of the number of fast
/// recoveries per timeout.
fn timeout_share(p: Fixed, window: Fixed) -> Fixed {
    let one = Fixed::ONE;
    let q = one - p;
    let cube = q * q * q;
    let three = Fixed::integer(3);
    let whole = one - q.power(window);
    if window <= three || whole <= Fixed::ZERO {
        return one;
    }
    let last = one - q.power(window - three);
    ((one - cube) * (one + cube * last) / whole).min(one)
}

/// Mean length of a sequence of timeouts, in timeouts, times 1 - p; each doubles, up to 64.
fn backed_off(p: Fixed) -> Fixed {
    // 1 + p (1 + 2 p (1 + 2 p (1 + ...))).
    let double = p + p;
    let series = (0..5).fold(Fixed::ONE, |series, _| Fixed::ONE + double * series);
    Fixed::ONE + p * series
}

/// R(p): the packets of a cycle, and its length in picoseconds.
fn packets_in_time(p: Fixed, srtt: Time, timeout: Time) -> PacketRate {
    let (one, two) = (Fixed::ONE, Fixed::integer(2));
    let window = window(p);
    let share = timeout_share(p, window);
    let rounds = (one + (window / Fixed::integer(4)).log2()).max(Fixed::ZERO);
    let after = one / (one - p);
    let packets = one / p + share * (after + rounds.exp2() - one);
    let avoidance = window / two + two + (window - one) * p;
    let round_trips = avoidance + share * rounds;
    let timeouts = share * backed_off(p) * after;
    PacketRate {
        packets,
        time: round_trips.times(srtt) + timeouts.times(timeout),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 / p, W, Q and R(p) in packets per second x 10^4, for a round-trip time of 100 ms and a timeout
    /// of 400 ms; computed independently in floating point.
    const TABLE: [(i64, i128, i128, i128); 6] = [
        (1_000, 526_236, 613, 3_466_031),
        (200, 240_579, 1_443, 1_323_264),
        (100, 172_788, 2_105, 826_728),
        (50, 124_746, 3_073, 491_761),
        (20, 81_880, 4_992, 227_828),
        (10, 60_000, 6_926, 120_812),
    ];

    #[test]
    fn srp_rates_match_independently_computed_values() {
        let scaled = |number: Fixed| number.times(10_000);
        for (interval, w, q, wanted) in TABLE {
            let p = Fixed::ratio(1, interval);
            assert!(scaled(window(p)).abs_diff(w) <= 1, "W of 1/{interval}");
            let share = scaled(timeout_share(p, window(p)));
            assert!(share.abs_diff(q) <= 1, "Q of 1/{interval}: {share}");
            let rate = packets_in_time(p, SECOND / 10, SECOND * 4 / 10);
            let found = scaled(rate.packets) * i128::from(SECOND) / rate.time;
            assert!(found.abs_diff(wanted) <= 20, "R of 1/{interval}: {found}");
        }
    }

    #[test]
    fn rate_scales_with_the_path() {
        for mean in [2, 10, 100, 10_000] {
            let rate = |k| rate_of_mean(mean << MEAN_BITS, SECOND / 10 / k, SECOND / k);
            let (one, fifty) = (
                bytes_per_second(rate(1), 1_500),
                bytes_per_second(rate(50), 1_500),
            );
            assert!(fifty.abs_diff(50 * one) <= 50, "{one} {fifty}");
        }
    }
}
