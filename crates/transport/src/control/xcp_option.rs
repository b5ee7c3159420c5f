//! XCP as a TCP option, as in Linux experiments (Zhang and Henderson, 2005): windows are in packets,
//! losses are repaired and otherwise ignored, and only a timeout sets the window to one.

use serde::{Deserialize, Serialize};

use super::{ControlInputs, Controller, Reno};
use crate::host::HostParameters;
use crate::scaling::{ScaleError, divided};
use crate::wire::{FRACTION_BITS, Flags, Packet, PacketBody, PacketFormat, XcpOption};
use npsim_protocols::time::{MILLISECOND, Time};

/// Bytes of the option.
const OPTION: u16 = 8;

/// Parameters of such a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct XcpOptionParameters {
    /// Encoding of windows and feedback in the option.
    pub format: PacketFormat,
    /// Unit of the option's round-trip times.
    pub rtt_unit: Time,
    /// Throughput desired by the application, in bytes of IP per second; `None` for as much as the
    /// option can request.
    pub desired: Option<u64>,
}

impl Default for XcpOptionParameters {
    fn default() -> Self {
        Self {
            format: PacketFormat::MantissaExponent,
            rtt_unit: MILLISECOND,
            desired: None,
        }
    }
}

impl XcpOptionParameters {
    pub(super) fn scaled(self, scale: u64) -> Result<Self, ScaleError> {
        let desired = self.desired.map(|rate| rate.saturating_mul(scale));
        let rtt_unit = divided("the unit of the XCP option's times", self.rtt_unit, scale)?;
        Ok(Self {
            rtt_unit,
            desired,
            ..self
        })
    }
}

/// The window in packets. Without the option in the SYN/ACK, plain TCP is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct XcpOptionControl {
    parameters: XcpOptionParameters,
    /// Window in packets x 2^10.
    window: i64,
    mss: u64,
    first: i64,
    agreed: bool,
    plain: Reno,
}

impl XcpOptionControl {
    /// Creates the state before the handshake.
    #[must_use]
    pub fn new(host: &HostParameters, parameters: XcpOptionParameters) -> Self {
        Self {
            parameters,
            window: 0,
            mss: 0,
            first: i64::from(host.initial_window),
            agreed: false,
            plain: Reno::new(host),
        }
    }

    /// Returns the window increase that a packet requests, in packets x 2^10.
    fn request(&self, moment: &ControlInputs) -> i64 {
        match (self.parameters.desired, moment.srtt) {
            (None, _) => i64::MAX,
            (Some(_), None) => 0,
            (Some(rate), Some(srtt)) => {
                let bytes = npsim_protocols::time::bytes_in(srtt, rate);
                let packets = (u128::from(bytes) << FRACTION_BITS) / u128::from(moment.packet);
                let packets = i64::try_from(packets).unwrap_or(i64::MAX);
                (packets - self.window) / (self.window >> FRACTION_BITS).max(1)
            }
        }
    }
}

impl Controller for XcpOptionControl {
    fn window(&self) -> u64 {
        if self.agreed {
            (self.window.unsigned_abs() * self.mss) >> FRACTION_BITS
        } else {
            self.plain.window()
        }
    }

    fn has_slow_start(&self) -> bool {
        !self.agreed
    }

    fn threshold(&self) -> Option<u64> {
        self.plain.threshold().filter(|_| !self.agreed)
    }

    fn overhead(&self) -> u16 {
        if self.agreed { OPTION } else { 0 }
    }

    fn opened(&mut self, moment: &ControlInputs, lost: bool) {
        self.mss = moment.mss;
        self.window = if lost { 1 } else { self.first } << FRACTION_BITS;
        self.plain.opened(moment, lost);
    }

    fn acknowledged(&mut self, moment: &ControlInputs, bytes: u64) {
        if !self.agreed {
            self.plain.acknowledged(moment, bytes);
        }
    }

    fn lost(&mut self, moment: &ControlInputs) {
        if !self.agreed {
            self.plain.lost(moment);
        }
    }

    fn recovered(&mut self, moment: &ControlInputs) {
        if !self.agreed {
            self.plain.recovered(moment);
        }
    }

    fn timed_out(&mut self, moment: &ControlInputs, again: bool) {
        self.window = 1 << FRACTION_BITS;
        self.plain.timed_out(moment, again);
    }

    fn idle(&mut self, moment: &ControlInputs) {
        self.plain.idle(moment);
    }

    fn mark(&mut self, moment: &ControlInputs, packet: &mut Packet, _first: bool) {
        let feedback = self.request(moment);
        let PacketBody::Tcp { segment, .. } = &mut packet.body else {
            return;
        };
        let option = if segment.flags.has(Flags::SYN) {
            XcpOption::Forward {
                window: 0,
                rtt: 0,
                feedback: 0,
            }
        } else if self.agreed && segment.payload > 0 {
            let format = self.parameters.format;
            let rtt = moment.srtt.unwrap_or(0) / self.parameters.rtt_unit;
            XcpOption::Forward {
                window: format.encode(self.window),
                rtt: u16::try_from(rtt).unwrap_or(u16::MAX),
                feedback: format.encode(feedback),
            }
        } else {
            return;
        };
        segment.options.xcp = Some(option);
    }

    fn read(&mut self, _moment: &ControlInputs, packet: &Packet, new: bool) {
        let Some(segment) = packet.segment() else {
            return;
        };
        let Some(XcpOption::Reverse { feedback }) = segment.options.xcp else {
            return;
        };
        if segment.flags.has(Flags::SYN) {
            self.agreed = true;
        } else if self.agreed && new {
            let change = self.parameters.format.decode(feedback);
            let most = i64::MAX >> 24;
            self.window = (self.window + change).clamp(1 << FRACTION_BITS, most);
        }
    }
}
