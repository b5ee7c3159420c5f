//! XCP as a TCP option at a line: windows and feedback in packets, one division per packet.
//!
//! The interval is the one of the draft ([`Control`]), whose law is that of the 2002 paper. The
//! difference is how a packet gets its share: computed from its window and its round-trip time by exact
//! divisions, as a change of its window in packets, which is then encoded in the option as far as its
//! format allows. Anything that the format cannot represent is lost.

use npsim_protocols::ParameterError;
use npsim_protocols::xcp::SECOND as TICKS;
use npsim_protocols::xcp::control::XcpSettings;
use npsim_protocols::xcp::feedback::{RTT_SHIFT, Sums};
use npsim_transport::time::{SECOND, Time};
use npsim_transport::wire::{FRACTION_BITS, PacketBody, PacketFormat, XcpOption};
use serde::{Deserialize, Serialize};

use super::LawTimer;
use super::interval::Intervals;
use crate::frame::{Content, Frame};

/// The state of one line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct XcpPerOption {
    intervals: Intervals,
    format: PacketFormat,
    /// Unit of the option's round-trip times.
    rtt_unit: Time,
    sums: Sums,
    pools: OptionPools,
}

/// Results of the previous interval, in bytes per second: what can be given and taken, and how much of
/// it is left.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct OptionPools {
    positive: u64,
    negative: u64,
    positive_left: u64,
    negative_left: u64,
    /// Divisors for the shares: the sums of that interval.
    sum_x: u64,
    input: u64,
}

/// A flow's parameters in a packet, in 2^-28 s.
#[derive(Debug, Clone, Copy)]
struct FlowHint {
    rtt: u32,
    /// Time from one packet of the flow to the next.
    x: u32,
}

impl XcpPerOption {
    pub fn new(
        parameters: XcpSettings,
        capacity: u64,
        format: PacketFormat,
        rtt_unit: Time,
    ) -> Result<Self, ParameterError> {
        Ok(Self {
            intervals: Intervals::new(parameters, capacity)?,
            format,
            rtt_unit: rtt_unit.max(1),
            sums: Sums::default(),
            pools: OptionPools::default(),
        })
    }

    pub fn timers(&self) -> Vec<(LawTimer, Time)> {
        self.intervals.timers()
    }

    fn decode_hint(&self, window: u16, rtt: u16) -> Option<FlowHint> {
        let window = u128::try_from(self.format.decode(window)).ok()?;
        let rtt = u128::from(rtt) * u128::from(self.rtt_unit) * u128::from(TICKS);
        let rtt = rtt / u128::from(SECOND);
        if window == 0 || rtt == 0 {
            return None;
        }
        let x = (rtt << FRACTION_BITS) / window;
        let ticks = |time: u128| u32::try_from(time).unwrap_or(u32::MAX);
        Some(FlowHint {
            rtt: ticks(rtt),
            x: ticks(x),
        })
    }

    pub fn arrive(&mut self, frame: &mut Frame) {
        let size = u64::from(frame.bytes);
        self.sums.input_traffic = self.sums.input_traffic.wrapping_add(size as u32);
        if let Some(XcpOption::Forward { window, rtt, .. }) = option(frame)
            && let Some(hint) = self.decode_hint(*window, *rtt)
        {
            let most = self.intervals.longest();
            let rtt = u64::from(hint.rtt.min(most) >> RTT_SHIFT);
            self.sums.sum_x += u64::from(hint.x);
            self.sums.sum_xrtt += u64::from(hint.x) * rtt;
        }
    }

    pub fn depart(&mut self, frame: &mut Frame, waiting: u64) {
        self.intervals.observe(waiting);
        let size = u64::from(frame.bytes.max(1));
        let Some(XcpOption::Forward {
            window,
            rtt,
            feedback,
        }) = option(frame)
        else {
            return;
        };
        // A packet whose round-trip time is unknown gets nothing.
        let granted = match self.decode_hint(*window, *rtt) {
            Some(hint) => self.share(hint, size),
            None => 0,
        };
        if granted < self.format.decode(*feedback) {
            *feedback = self.format.encode(granted);
        }
    }

    /// Returns a packet's share, as a change of its flow's window in packets x 2^10.
    fn share(&mut self, hint: FlowHint, size: u64) -> i64 {
        let part = |pool: u64, of: u64, all: u64| {
            let part = u128::from(pool) * u128::from(of) / u128::from(all.max(1));
            u64::try_from(part).unwrap_or(u64::MAX)
        };
        let pools = &mut self.pools;
        let positive = part(pools.positive, hint.x.into(), pools.sum_x).min(pools.positive_left);
        let negative = part(pools.negative, size, pools.input).min(pools.negative_left);
        pools.positive_left -= positive;
        pools.negative_left -= negative;
        // Bytes per second times a round-trip time are bytes of the window.
        let change = i128::from(positive) - i128::from(negative);
        let packets = (change * i128::from(hint.rtt)) << FRACTION_BITS;
        (packets / (i128::from(TICKS) * i128::from(size))) as i64
    }

    pub fn fire(&mut self, timer: LawTimer, waiting: u64) -> Time {
        match timer {
            LawTimer::Control => {
                let done = self.intervals.end(&self.sums);
                let (positive, negative) = (done.pools.residue_pos, done.pools.residue_neg);
                self.pools = OptionPools {
                    positive: positive.into(),
                    negative: negative.into(),
                    positive_left: positive.into(),
                    negative_left: negative.into(),
                    sum_x: self.sums.sum_x,
                    input: self.sums.input_traffic.into(),
                };
                self.sums = Sums::default();
                self.intervals.length()
            }
            LawTimer::Queue => self.intervals.fire_queue(waiting),
        }
    }
}

/// Returns the XCP option of a frame.
fn option(frame: &mut Frame) -> Option<&mut XcpOption> {
    match &mut frame.content {
        Content::Packet(packet) => match &mut packet.body {
            PacketBody::Tcp { segment, .. } => segment.options.xcp.as_mut(),
            PacketBody::Rcp { .. } => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 packets in the first 50 ms are 200 KB/s out of 1250: 0.4 of the remainder, 420 KB/s, is given
    /// to the next 10, which over half a second is 21 packets each.
    #[test]
    fn share_equals_the_hand_computed_value() {
        let parameters = XcpSettings::for_capacity(1);
        let decode_hint =
            |law: &XcpPerOption| law.decode_hint(law.format.encode(10 << FRACTION_BITS), 500);
        for (format, expected) in [
            (PacketFormat::MantissaExponent, 21 << FRACTION_BITS),
            (PacketFormat::Integer, 20 << FRACTION_BITS),
        ] {
            let mut law =
                XcpPerOption::new(parameters, 1_250_000, format, SECOND / 1_000).expect("a law");
            let packet = decode_hint(&law).expect("a round-trip time");
            law.sums = Sums {
                input_traffic: 10_000,
                sum_x: 10 * u64::from(packet.x),
                sum_xrtt: 10 * u64::from(packet.x) * u64::from(packet.rtt >> RTT_SHIFT),
            };
            law.fire(LawTimer::Control, 0);
            for _ in 0..10 {
                let part = law.share(packet, 1_000);
                // Rounded down by less than a thousandth of a packet.
                assert!((21_i64 << FRACTION_BITS).abs_diff(part) < 8, "{part}");
                let said = format.decode(format.encode(part));
                assert!(said.abs_diff(expected) < 8, "{said}");
            }
            assert!(
                law.share(packet, 1_000) < 1 << FRACTION_BITS,
                "all is given"
            );
        }
    }

    #[test]
    fn hint_without_valid_rtt_or_window_is_ignored() {
        let law = XcpPerOption::new(
            XcpSettings::for_capacity(1),
            1_250_000,
            PacketFormat::Integer,
            SECOND / 1_000,
        );
        let law = law.expect("a law");
        assert!(law.decode_hint(10, 0).is_none());
        assert!(law.decode_hint(0, 500).is_none());
        assert!(law.decode_hint(0xffff, 500).is_none(), "a window below 0");
    }
}
