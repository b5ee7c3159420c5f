//! TCP segments are numbered by their senders.

use std::collections::BTreeMap;

use etherparse::{LaxSlicedPacket, TransportSlice};

use super::{FlowId, FlowKey, Tuple};

/// Where sequence numbers of a connection begin here, far enough above 0 that earlier ones have room.
const BASE: u64 = 1 << 40;

/// Numbers TCP segments by what they carry: in each direction of a connection by their sequence numbers,
/// which are followed when they pass 2^32.
///
/// Segments that carry nothing, pure acknowledgements, have no number of their own and are none. A segment
/// that its sender sends again has the number of the first one.
#[derive(Clone, Debug, Default)]
pub struct TcpSegments {
    /// The flow's number and the largest sequence number so far.
    flows: BTreeMap<Tuple, (u32, u64)>,
}

impl TcpSegments {
    /// Flow and sequence number of the next frame; `None` if it is no segment with a number of its own.
    pub fn next(&mut self, frame: &[u8]) -> Option<(FlowId, u64)> {
        let packet = LaxSlicedPacket::from_ethernet(frame).ok()?;
        let Some(TransportSlice::Tcp(segment)) = &packet.transport else {
            return None;
        };
        if segment.payload().is_empty() && !segment.syn() && !segment.fin() {
            return None;
        }
        let tuple = Tuple::of_packet(&packet)?;
        let number = segment.sequence_number();
        let seen = self.flows.len() as u32;
        let entry = self.flows.entry(tuple);
        let (flow, largest) = entry.or_insert_with(|| (seen, BASE + u64::from(number)));
        // RFC 9293, section 3.4: of two numbers the later one is less than half the circle ahead.
        let ahead = number.wrapping_sub(*largest as u32).cast_signed();
        let sequence = largest.saturating_add_signed(ahead.into());
        *largest = sequence.max(*largest);
        let flow = FlowId {
            number: *flow,
            ends: FlowKey::Tuple(tuple),
        };
        Some((flow, sequence))
    }
}
