//! Information from routers that a receiver returns: XCP feedback, the answer to a rate request.

use npsim_protocols::quick_start::option::RATE_REQUEST;
use npsim_protocols::xcp::header;
use serde::{Deserialize, Serialize};

use super::XcpAnswer;
use crate::control::empty_header;
use crate::wire::{Packet, PacketBody, PacketFormat, QuickStartResponse, TcpOptions, XcpOption};

/// Information to return with the next packet.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Echo {
    /// The answer to a rate request, until it has been sent.
    response: Option<QuickStartResponse>,
    /// With XCP's congestion header: the sum of feedback since the last packet returned, in bytes per
    /// second.
    header: Option<i64>,
    /// With XCP as an option: its format, and the sum of feedback since the last packet returned, in
    /// packets x 2^10.
    option: Option<(PacketFormat, i64)>,
}

impl Echo {
    /// Handles a SYN.
    pub fn begin(&mut self, packet: &Packet, answer: Option<XcpAnswer>) {
        *self = Self::default();
        let request = packet
            .quick_start
            .filter(|option| option.function == RATE_REQUEST && option.rate > 0);
        self.response = request.map(|option| QuickStartResponse {
            rate: option.rate,
            ttl_difference: packet.ttl.wrapping_sub(option.ttl),
            nonce: option.nonce,
        });
        let PacketBody::Tcp { xcp, segment } = &packet.body else {
            return;
        };
        self.header = xcp.map(|_| 0);
        let asked = segment.options.xcp.is_some();
        self.option = answer.filter(|_| asked).map(|answer| (answer.format, 0));
    }

    /// Handles a packet of the open connection.
    pub fn take(&mut self, packet: &Packet, answer: Option<XcpAnswer>) {
        let PacketBody::Tcp { xcp, segment } = &packet.body else {
            return;
        };
        let asks = xcp.filter(|header| header.accepts_feedback());
        if let (Some(sum), Some(header)) = (&mut self.header, asks) {
            *sum += i64::from(header.delta_throughput);
        }
        let forward = segment.options.xcp;
        if let (Some((format, sum)), Some(XcpOption::Forward { feedback, .. }), Some(_)) =
            (&mut self.option, forward, answer)
        {
            *sum += format.decode(feedback);
        }
    }

    /// Writes the TCP options; returns the feedback given in them, in packets x 2^10.
    pub fn mark(&mut self, options: &mut TcpOptions, syn: bool) -> i64 {
        if syn {
            options.quick_start = self.response.take();
        }
        let Some((format, sum)) = &mut self.option else {
            return 0;
        };
        let feedback = std::mem::take(sum);
        options.xcp = Some(XcpOption::Reverse {
            feedback: format.encode(feedback),
        });
        feedback
    }

    /// Puts the congestion header before the segment, if the peer uses it.
    pub fn wrap(&mut self, packet: &mut Packet) {
        let Some(sum) = &mut self.header else { return };
        let feedback = std::mem::take(sum);
        let mut header = empty_header(header::MINIMAL);
        header.reverse_feedback = feedback.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
        if let PacketBody::Tcp { xcp, .. } = &mut packet.body {
            *xcp = Some(header);
        }
    }
}
