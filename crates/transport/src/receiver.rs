//! The receiving end of a TCP connection: answers the SYN, acknowledges data, and answers the FIN with
//! its own, since it has nothing to send.

mod assembly;
mod echo;

use npsim_net::Random;
use serde::{Deserialize, Serialize};

use crate::handshake;
use crate::host::HostParameters;
use crate::sequence;
use crate::wire::{Flags, FlowEnds, Packet, PacketFormat, Segment, TcpOptions};
use assembly::StreamAssembly;
use echo::Echo;
use npsim_protocols::round_trip::RoundTrip;
use npsim_protocols::time::Time;

/// The random stream of a receiver, under its seed.
const STREAM: u64 = 0x7463_7001;
/// In-order segments after which a delayed ACK is sent (RFC 5681, section 4.2).
const SEGMENTS_PER_ACK: u32 = 2;

/// How a receiver answers XCP as a TCP option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct XcpAnswer {
    /// Encoding of packet counts in the option; the same as the sender's.
    pub format: PacketFormat,
    /// Initial window that is announced, in bytes; it grows with the feedback, up to the buffer.
    /// `None` to announce the buffer at once.
    pub first_window: Option<u32>,
}

/// Parameters of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceiverParameters {
    /// The host.
    pub host: HostParameters,
    /// The addresses and ports.
    pub ends: FlowEnds,
    /// Whether the application reads data as they arrive; otherwise it calls [`Receiver::read`].
    pub reads_at_once: bool,
    /// The answer to XCP as a TCP option, if the receiver supports it.
    pub xcp_option: Option<XcpAnswer>,
    /// Seed of the initial sequence number.
    pub seed: u64,
}

/// The phase of a connection at the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReceiverPhase {
    /// No SYN has arrived yet.
    Listen,
    /// The SYN/ACK has been sent.
    SynReceived,
    /// Data are being received.
    Open,
    /// All data have arrived; the own FIN has been sent.
    LastAck,
    /// The connection has ended.
    Closed,
    /// Given up: the peer does not answer or has reset the connection.
    Failed,
}

/// Counters of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ReceiverCounters {
    /// Segments with data received.
    pub segments: u64,
    /// Data segments that arrived before an earlier one.
    pub out_of_order: u64,
    /// Data segments that contained nothing new.
    pub duplicates: u64,
    /// Data segments beyond the window.
    pub beyond_window: u64,
    /// Bytes of data received without a gap.
    pub received: u64,
    /// Packets sent.
    pub packets: u64,
    /// When the FIN was reached, if it was.
    pub completed_at: Option<Time>,
}

/// Properties of the sender from its SYN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct SenderPeer {
    initial: u32,
    /// Options offered in its SYN.
    options: TcpOptions,
    sack: bool,
    /// The timestamp to echo next, if both ends send them.
    timestamp: Option<u32>,
}

/// The receiving end of a connection; used like a [`Sender`](crate::Sender), but without `open`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receiver {
    host: HostParameters,
    ends: FlowEnds,
    reads_at_once: bool,
    xcp_option: Option<XcpAnswer>,
    phase: ReceiverPhase,
    initial: u32,
    peer: Option<SenderPeer>,
    /// Data received; offset 1 is the first byte.
    assembly: StreamAssembly,
    /// The offset of the sender's FIN, once known.
    fin: Option<u64>,
    /// Bytes that the application has not read.
    unread: u64,
    /// The announced window while it grows, in bytes.
    granted: u64,
    /// The end of the window announced last.
    edge: u64,
    /// Information to return with the next packet.
    echo: Echo,
    /// In-order segments that have not been acknowledged yet.
    waiting: u32,
    acknowledge_at: Option<Time>,
    rtt: RoundTrip,
    expires_at: Option<Time>,
    retries: u8,
    identification: u16,
    counters: ReceiverCounters,
}

impl Receiver {
    /// Creates a receiver that waits for a SYN.
    #[must_use]
    pub fn new(parameters: &ReceiverParameters) -> Self {
        let host = parameters.host;
        let first = parameters.xcp_option.and_then(|answer| answer.first_window);
        Self {
            host,
            ends: parameters.ends,
            reads_at_once: parameters.reads_at_once,
            xcp_option: parameters.xcp_option,
            phase: ReceiverPhase::Listen,
            initial: Random::new(parameters.seed, STREAM).next() as u32,
            peer: None,
            assembly: StreamAssembly::default(),
            fin: None,
            unread: 0,
            granted: u64::from(first.unwrap_or(u32::MAX)),
            edge: 1,
            echo: Echo::default(),
            waiting: 0,
            acknowledge_at: None,
            rtt: RoundTrip::new(host.rto),
            expires_at: None,
            retries: 0,
            identification: 0,
            counters: ReceiverCounters::default(),
        }
    }

    /// Returns the phase of the connection.
    #[must_use]
    pub fn phase(&self) -> ReceiverPhase {
        self.phase
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> ReceiverCounters {
        self.counters
    }

    /// Returns the number of bytes that wait for the application.
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.unread
    }

    /// Returns when [`wake`](Self::wake) must be called next.
    #[must_use]
    pub fn wake_at(&self) -> Option<Time> {
        let times = [self.acknowledge_at, self.expires_at];
        times.into_iter().flatten().min()
    }

    /// Reads up to `bytes` for the application. A window update is sent if the window opens by one
    /// segment, or by half of the buffer (RFC 9293, section 3.8.6.2.2).
    pub fn read(&mut self, now: Time, bytes: u64, out: &mut Vec<Packet>) {
        self.unread -= bytes.min(self.unread);
        let opened = (self.assembly.next() + self.window()).saturating_sub(self.edge);
        let buffer = u64::from(self.host.receive_buffer);
        if self.phase == ReceiverPhase::Open
            && opened >= u64::from(self.host.mss).min(buffer / 2).max(1)
        {
            self.acknowledge(now, out);
        }
    }

    /// Handles a packet.
    pub fn receive(&mut self, now: Time, packet: &Packet, out: &mut Vec<Packet>) {
        let Some(segment) = self.ends.segment_in(packet) else {
            return;
        };
        match self.phase {
            ReceiverPhase::Listen => self.listen(now, packet, segment, out),
            ReceiverPhase::SynReceived | ReceiverPhase::Open | ReceiverPhase::LastAck => {
                self.receive_from_peer(now, packet, segment, out);
            }
            ReceiverPhase::Closed | ReceiverPhase::Failed => {}
        }
    }

    /// Does everything due at `now`: sends a delayed ACK, or retransmits the SYN/ACK or FIN.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Packet>) {
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if due(self.acknowledge_at) {
            self.acknowledge(now, out);
        }
        if !due(self.expires_at) {
            return;
        }
        if self.retries >= self.host.most_retransmissions {
            self.phase = ReceiverPhase::Failed;
            self.expires_at = None;
            return;
        }
        self.retries += 1;
        self.rtt.back_off();
        self.send_again(now, out);
    }

    fn listen(&mut self, now: Time, packet: &Packet, segment: &Segment, out: &mut Vec<Packet>) {
        if !segment.flags.has(Flags::SYN) || segment.flags.has(Flags::ACK) {
            return;
        }
        let options = segment.options;
        let echoes = self.host.timestamps.is_some();
        self.peer = Some(SenderPeer {
            initial: segment.sequence,
            options,
            sack: self.host.sack && options.sack_permitted,
            timestamp: options
                .timestamps
                .filter(|_| echoes)
                .map(|timestamps| timestamps.value),
        });
        self.phase = ReceiverPhase::SynReceived;
        self.echo.begin(packet, self.xcp_option);
        self.send_again(now, out);
    }

    /// Sends the SYN/ACK or FIN, for the first time or again.
    fn send_again(&mut self, now: Time, out: &mut Vec<Packet>) {
        match self.phase {
            ReceiverPhase::SynReceived => self.send(now, Flags::SYN | Flags::ACK, 0, out),
            ReceiverPhase::LastAck => self.send(now, Flags::FIN | Flags::ACK, 1, out),
            _ => {
                self.expires_at = None;
                return;
            }
        }
        self.expires_at = Some(now + self.rtt.timeout());
    }

    fn receive_from_peer(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &Segment,
        out: &mut Vec<Packet>,
    ) {
        let Some(peer) = self.peer else { return };
        if segment.flags.has(Flags::SYN) {
            // The SYN/ACK or its ACK was lost.
            if self.phase == ReceiverPhase::SynReceived {
                self.echo.begin(packet, self.xcp_option);
                self.send_again(now, out);
            } else {
                self.acknowledge(now, out);
            }
            return;
        }
        let next = self.assembly.next();
        let Some(offset) = sequence::from_wire(peer.initial, next, segment.sequence) else {
            return;
        };
        if segment.flags.has(Flags::RST) {
            if offset == next {
                let done = self.phase == ReceiverPhase::LastAck;
                self.phase = if done {
                    ReceiverPhase::Closed
                } else {
                    ReceiverPhase::Failed
                };
                (self.acknowledge_at, self.expires_at) = (None, None);
            }
            return;
        }
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        self.take_acknowledgement(segment);
        self.take_timestamp(segment, offset, next);
        self.echo.take(packet, self.xcp_option);
        if self.phase == ReceiverPhase::Closed {
            return;
        }
        let length = u64::from(segment.payload);
        let fin = segment.flags.has(Flags::FIN);
        if length == 0 && !fin {
            // A probe requests the window; anything invalid gets the same answer.
            if offset != next {
                self.acknowledge(now, out);
            }
            return;
        }
        self.take_data(now, offset, length, fin, out);
    }

    /// Handles the acknowledgement of the receiver's own SYN or FIN.
    fn take_acknowledgement(&mut self, segment: &Segment) {
        let acknowledged = sequence::from_wire(self.initial, 1, segment.acknowledgement);
        match (self.phase, acknowledged) {
            (ReceiverPhase::SynReceived, Some(1..)) => {
                self.phase = ReceiverPhase::Open;
                (self.expires_at, self.retries) = (None, 0);
                self.rtt = RoundTrip::new(self.host.rto);
            }
            (ReceiverPhase::LastAck, Some(2..)) => {
                self.phase = ReceiverPhase::Closed;
                (self.expires_at, self.acknowledge_at) = (None, None);
            }
            _ => {}
        }
    }

    /// Updates the timestamp to echo: that of the segment that triggers the acknowledgement (RFC 7323,
    /// 4.3).
    fn take_timestamp(&mut self, segment: &Segment, offset: u64, next: u64) {
        let Some(peer) = &mut self.peer else { return };
        if let (Some(recent), Some(timestamps)) = (peer.timestamp, segment.options.timestamps) {
            let newer = timestamps.value.wrapping_sub(recent).cast_signed() >= 0;
            // For segments that wait for a delayed ACK, the earliest one is kept.
            if newer && offset <= next && self.waiting == 0 {
                peer.timestamp = Some(timestamps.value);
            }
        }
    }

    fn take_data(&mut self, now: Time, offset: u64, length: u64, fin: bool, out: &mut Vec<Packet>) {
        self.counters.segments += u64::from(length > 0);
        let before = self.assembly.next();
        let end = offset + length;
        let limit = before + self.window();
        if end > limit && length > 0 {
            self.counters.beyond_window += 1;
            self.acknowledge(now, out);
            return;
        }
        if fin {
            self.fin = Some(end);
        }
        let holes = self.assembly.has_holes();
        let news = self.assembly.insert(offset, end);
        let next = self.assembly.next();
        self.counters.received = next.min(self.fin.unwrap_or(next)) - 1;
        self.counters.duplicates += u64::from(news == 0 && length > 0);
        self.counters.out_of_order += u64::from(offset > before);
        if !self.reads_at_once {
            self.unread += next - before;
        }
        let in_order = offset == before && next == end && news > 0;
        if self.fin == Some(next) && self.phase == ReceiverPhase::Open {
            self.assembly.finish();
            self.counters.completed_at = Some(now);
            self.acknowledge(now, out);
            self.phase = ReceiverPhase::LastAck;
            self.send_again(now, out);
        } else if in_order && !holes && self.phase == ReceiverPhase::Open {
            self.delay_acknowledgement(now, out);
        } else {
            // Data out of order, a filled hole, or a duplicate are acknowledged at once.
            self.acknowledge(now, out);
        }
    }

    fn delay_acknowledgement(&mut self, now: Time, out: &mut Vec<Packet>) {
        self.waiting += 1;
        match self.host.delayed_ack {
            Some(delay) if self.waiting < SEGMENTS_PER_ACK => {
                self.acknowledge_at.get_or_insert(now + delay);
            }
            _ => self.acknowledge(now, out),
        }
    }

    fn acknowledge(&mut self, now: Time, out: &mut Vec<Packet>) {
        let offset = if self.phase == ReceiverPhase::LastAck {
            2
        } else {
            1
        };
        self.send(now, Flags::ACK, offset, out);
    }

    /// Returns the free bytes of the buffer that are announced.
    fn window(&self) -> u64 {
        let free = u64::from(self.host.receive_buffer).saturating_sub(self.unread);
        let shift = self.shift();
        // An announced window is not withdrawn.
        let announced = self.edge.saturating_sub(self.assembly.next());
        let window = free.min(self.granted).max(announced.min(free));
        window.min(u64::from(u16::MAX) << shift) >> shift << shift
    }

    fn shift(&self) -> u8 {
        let scaled = self
            .peer
            .is_some_and(|peer| peer.options.window_scale.is_some());
        if scaled {
            handshake::window_shift(&self.host)
        } else {
            0
        }
    }

    fn send(&mut self, now: Time, flags: Flags, offset: u64, out: &mut Vec<Packet>) {
        let Some(peer) = self.peer else { return };
        self.identification = self.identification.wrapping_add(1);
        let syn = flags.has(Flags::SYN);
        let mut options = if syn {
            handshake::options(&self.host, now, Some(&peer.options))
        } else {
            TcpOptions {
                timestamps: handshake::timestamps(&self.host, now, peer.timestamp),
                ..TcpOptions::default()
            }
        };
        let feedback = self.echo.mark(&mut options, syn);
        self.granted = self
            .granted
            .saturating_add_signed(feedback.max(0).saturating_mul(i64::from(self.host.mss)) >> 10);
        if peer.sack && !syn {
            let most = usize::from(self.host.sack_blocks).min(options.room_for_blocks());
            for (first, after) in self.assembly.recent(most) {
                let wire = |offset| sequence::to_wire(peer.initial, offset);
                options.sack.push(wire(first), wire(after));
            }
        }
        let next = self.assembly.next();
        // The window of a SYN is not scaled.
        let shift = if syn { 0 } else { self.shift() };
        let window = (self.window() >> shift).min(u64::from(u16::MAX));
        self.edge = self.edge.max(next + (window << shift));
        let segment = Segment {
            source_port: self.ends.source_port,
            destination_port: self.ends.destination_port,
            sequence: sequence::to_wire(self.initial, offset),
            acknowledgement: sequence::to_wire(peer.initial, next),
            flags,
            window: window as u16,
            options,
            payload: 0,
        };
        let mut packet = Packet::tcp(self.ends, self.identification, segment);
        self.echo.wrap(&mut packet);
        self.waiting = 0;
        self.acknowledge_at = None;
        self.counters.packets += 1;
        out.push(packet);
    }
}
