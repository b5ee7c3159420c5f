//! Identifies TCP segments by the numbers that their senders gave them.

use std::collections::BTreeMap;

use etherparse::{LaxSlicedPacket, TransportSlice};

use super::{FlowId, FlowKey, Tuple};

/// Start of a connection's sequence numbers here, far enough above 0 to leave room for earlier ones.
const BASE: u64 = 1 << 40;

/// Numbers TCP segments by their content: in each direction of a connection by their sequence numbers,
/// extended beyond 2^32.
///
/// Segments without data (pure acknowledgements) have no number of their own and are ignored, and so are
/// probes of an idle connection (keep-alives). A segment whose data were sent before, in any
/// segmentation, gets the number of the first segment that sent them. The same endpoints with another
/// initial sequence number are another connection.
#[derive(Clone, Debug, Default)]
pub struct TcpSegments {
    /// The latest connection of each pair of endpoints.
    connections: BTreeMap<Tuple, Connection>,
    /// Number of connections so far.
    count: u32,
}

/// One direction of a connection.
#[derive(Clone, Debug)]
struct Connection {
    flow: FlowId,
    /// The initial sequence number, if its segment was seen.
    initial: Option<u32>,
    /// The largest sequence number so far.
    largest: u64,
    /// The data sent so far: where segments begin and end.
    sent: BTreeMap<u64, u64>,
    /// End of the last of them.
    end: u64,
}

/// The part of the sequence space that a segment covers.
struct Span {
    number: u32,
    length: u64,
    syn: bool,
    fin: bool,
}

impl TcpSegments {
    /// Returns the flow and the sequence number of the next frame; `None` if it is not a segment with a
    /// number of its own.
    pub fn next(&mut self, frame: &[u8]) -> Option<(FlowId, u64)> {
        let packet = LaxSlicedPacket::from_ethernet(frame).ok()?;
        let Some(TransportSlice::Tcp(segment)) = &packet.transport else {
            return None;
        };
        let (syn, fin) = (segment.syn(), segment.fin());
        let length = segment.payload().len() as u64 + u64::from(syn) + u64::from(fin);
        if length == 0 {
            return None;
        }
        let span = Span {
            number: segment.sequence_number(),
            length,
            syn,
            fin,
        };
        let tuple = Tuple::of_packet(&packet)?;
        let known = self.connections.get(&tuple);
        if known.is_none_or(|known| known.is_followed_by(&span)) {
            let ends = match known.map_or(1, |known| known.nth() + 1) {
                1 => FlowKey::Tuple(tuple),
                nth => FlowKey::Reconnection(tuple, nth),
            };
            let number = self.count;
            let connection = Connection::new(FlowId { number, ends }, &span);
            self.connections.insert(tuple, connection);
            self.count += 1;
        }
        let connection = self.connections.get_mut(&tuple)?;
        let sequence = connection.number(&span)?;
        Some((connection.flow.clone(), sequence))
    }
}

impl Connection {
    fn new(flow: FlowId, span: &Span) -> Self {
        Self {
            flow,
            initial: None,
            largest: BASE + u64::from(span.number),
            sent: BTreeMap::new(),
            end: 0,
        }
    }

    /// Returns the number of this connection between its endpoints, from 1.
    const fn nth(&self) -> u32 {
        match self.flow.ends {
            FlowKey::Reconnection(_, nth) => nth,
            _ => 1,
        }
    }

    /// Whether a segment begins another connection between the same endpoints.
    fn is_followed_by(&self, span: &Span) -> bool {
        let first = self.sent.keys().next();
        span.syn
            && match (self.initial, first) {
                (Some(initial), _) => span.number != initial,
                // The connection's own SYN may be late: it directly precedes the first data seen.
                (None, Some(first)) => span.number.wrapping_add(1) != *first as u32,
                (None, None) => false,
            }
    }

    /// Returns the number of a segment; `None` for a probe of an idle connection.
    fn number(&mut self, span: &Span) -> Option<u64> {
        if span.syn {
            self.initial = Some(span.number);
        }
        // RFC 9293, section 3.4: of two numbers, the later one is less than half the number space ahead.
        let ahead = span.number.wrapping_sub(self.largest as u32).cast_signed();
        let begin = self.largest.saturating_add_signed(ahead.into());
        let end = begin + span.length;
        // RFC 1122, section 4.2.3.6: at most one octet, already sent, just before any new data.
        if span.length == 1 && !span.syn && !span.fin && self.end == end {
            return None;
        }
        self.largest = begin.max(self.largest);
        self.end = end.max(self.end);
        let (first, covered) = self.covered(begin);
        if let Some(first) = first.filter(|_| covered >= end) {
            return Some(first);
        }
        // New data begin where the data already sent end.
        let fresh = begin.max(covered);
        let known = self.sent.entry(fresh).or_insert(end);
        *known = end.max(*known);
        Some(fresh)
    }

    /// Returns the segment that sent the byte at `from`, and the end of the contiguous data sent from
    /// there on.
    fn covered(&self, from: u64) -> (Option<u64>, u64) {
        let mut first = None;
        let mut covered = from;
        while let Some((&begin, &end)) = self.sent.range(..=covered).next_back()
            && end > covered
        {
            first = first.or(Some(begin));
            covered = end;
        }
        (first, covered)
    }
}
