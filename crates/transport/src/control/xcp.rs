//! XCP as in its draft: the congestion header makes a request, routers answer, the window follows.

use npsim_protocols::xcp::{SECOND as HEADER_SECOND, XcpHeader, header};
use serde::{Deserialize, Serialize};

use super::reno::half_of_flight;
use super::{ControlInputs, Controller, SendLimit};
use crate::host::HostParameters;
use crate::wire::{Packet, PacketBody};
use npsim_protocols::time::{SECOND, Time};

/// Fraction bits of the window: feedback is often less than a byte.
const FRACTION: u32 = 16;
/// Protocol number of TCP.
const TCP: u8 = 6;

/// Reaction of a sender to a lost packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum XcpLoss {
    /// Halves the window, which is the beginning of the draft's fallback to TCP.
    Halve,
    /// Repairs the loss and leaves the window to the routers.
    Ignore,
}

/// Parameters of an XCP sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct XcpParameters {
    /// Throughput desired by the application, in bytes of IP per second; `None` for as much as the
    /// header can request.
    pub desired: Option<u64>,
    /// Whether requests are limited to what peer and host allow in flight.
    pub cap_request: bool,
    /// Reaction to a loss.
    pub loss: XcpLoss,
    /// Share of the unused window that is given up per round-trip time, in parts per million.
    pub aging: u32,
}

impl Default for XcpParameters {
    /// Returns parameters with unlimited demand, capped by what may be in flight; a loss halves the
    /// window; half of the unused window is given up.
    fn default() -> Self {
        Self {
            desired: None,
            cap_request: true,
            loss: XcpLoss::Halve,
            aging: 500_000,
        }
    }
}

/// A window controlled by routers. Slow start and congestion avoidance are off.
///
/// The window counts payload, whereas routers count IP bytes: their feedback is scaled by payload over
/// packet size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct XcpControl {
    parameters: XcpParameters,
    /// Window in bytes x 2^16.
    window: u64,
    first: u64,
    /// The round-trip time observed for unused window: its start, the most bytes in flight, and whether
    /// the window was never the limit.
    watched: Option<(Time, u64, bool)>,
}

impl XcpControl {
    /// Creates the state before the handshake.
    #[must_use]
    pub fn new(host: &HostParameters, parameters: XcpParameters) -> Self {
        Self {
            parameters,
            window: 0,
            first: u64::from(host.initial_window),
            watched: None,
        }
    }

    fn set(&mut self, bytes: u64) {
        self.window = bytes << FRACTION;
    }

    /// Applies feedback of `change` bytes per second. As in the ns-2 reference, only ACKs of new data
    /// have an effect.
    fn apply(&mut self, moment: &ControlInputs, change: i32) {
        let Some(srtt) = moment.srtt else { return };
        let bytes = i128::from(change) * i128::from(srtt) * i128::from(moment.mss);
        let step = (bytes << FRACTION) / (i128::from(SECOND) * i128::from(moment.packet));
        let window = i128::from(self.window) + step;
        let least = i128::from(moment.mss) << FRACTION;
        self.window = window.clamp(least, i128::from(u64::MAX >> 1)) as u64;
    }

    /// Gives up unused window after each round-trip time in which the window was never the limit.
    fn age(&mut self, moment: &ControlInputs) {
        let Some(srtt) = moment.srtt else { return };
        let unused = moment.limit != SendLimit::Window;
        let (start, most, always) = self.watched.unwrap_or((moment.now, 0, true));
        let (most, always) = (most.max(moment.flight), always && unused);
        if moment.now - start < srtt {
            self.watched = Some((start, most, always));
            return;
        }
        self.watched = Some((moment.now, moment.flight, unused));
        let actual = most.max(moment.mss) << FRACTION;
        if always && actual < self.window {
            let part = u128::from(self.window - actual) * u128::from(self.parameters.aging);
            self.window -= (part / 1_000_000) as u64;
        }
    }

    /// Returns the congestion header of a packet with data.
    fn request(&self, moment: &ControlInputs) -> XcpHeader {
        let mut header = empty_header(header::STANDARD);
        let Some(srtt) = moment.srtt.filter(|&srtt| srtt > 0) else {
            return header;
        };
        let in_header = |time: u128| {
            let time = time * u128::from(HEADER_SECOND) / u128::from(SECOND);
            u32::try_from(time).unwrap_or(u32::MAX)
        };
        let window = u128::from(self.window.max(1));
        let segment = u128::from(moment.mss) << FRACTION;
        header.rtt = in_header(u128::from(srtt));
        header.x = in_header(u128::from(srtt) * segment / window);
        header.delta_throughput = self.delta(moment, srtt);
        header
    }

    /// Returns the change of throughput that a packet requests.
    fn delta(&self, moment: &ControlInputs, srtt: Time) -> i32 {
        if moment.limit == SendLimit::Data {
            return 0;
        }
        // Converts payload in flight to IP throughput.
        let throughput = |bytes: u64| {
            let bytes = u128::from(bytes) * u128::from(moment.packet) * u128::from(SECOND);
            (bytes / (u128::from(moment.mss) * u128::from(srtt))) as i128
        };
        let usable = self
            .parameters
            .cap_request
            .then(|| throughput(moment.allowed));
        let desired = self.parameters.desired.map(i128::from);
        let Some(wanted) = desired.into_iter().chain(usable).min() else {
            return i32::MAX;
        };
        let window = self.window();
        let packets = (window / moment.mss).max(1);
        let each = (wanted - throughput(window)) / i128::from(packets);
        each.clamp(i128::from(i32::MIN), i128::from(i32::MAX)) as i32
    }
}

/// Returns a header that carries and requests nothing.
pub(crate) fn empty_header(format: u8) -> XcpHeader {
    XcpHeader {
        protocol: TCP,
        length: header::LENGTH as u8,
        version: header::VERSION,
        format,
        unused: 0,
        x: 0,
        rtt: 0,
        reverse_feedback: 0,
        delta_throughput: 0,
    }
}

impl Controller for XcpControl {
    fn window(&self) -> u64 {
        self.window >> FRACTION
    }

    fn threshold(&self) -> Option<u64> {
        None
    }

    fn overhead(&self) -> u16 {
        header::LENGTH as u16
    }

    fn opened(&mut self, moment: &ControlInputs, lost: bool) {
        self.set(moment.mss * if lost { 1 } else { self.first });
    }

    fn acknowledged(&mut self, moment: &ControlInputs, _bytes: u64) {
        self.age(moment);
    }

    fn lost(&mut self, moment: &ControlInputs) {
        if self.parameters.loss == XcpLoss::Halve {
            self.set(half_of_flight(moment));
        }
    }

    fn recovered(&mut self, _moment: &ControlInputs) {}

    fn timed_out(&mut self, moment: &ControlInputs, _again: bool) {
        self.set(moment.mss);
    }

    fn mark(&mut self, moment: &ControlInputs, packet: &mut Packet, _first: bool) {
        let request = self.request(moment);
        if let PacketBody::Tcp { xcp, segment } = &mut packet.body {
            // A bare ACK makes no request, and routers leave it alone.
            *xcp = Some(if segment.payload > 0 {
                request
            } else {
                empty_header(header::MINIMAL)
            });
        }
    }

    fn read(&mut self, moment: &ControlInputs, packet: &Packet, new: bool) {
        if let (
            PacketBody::Tcp {
                xcp: Some(header), ..
            },
            true,
        ) = (&packet.body, new)
        {
            self.apply(moment, header.reverse_feedback);
        }
    }
}
