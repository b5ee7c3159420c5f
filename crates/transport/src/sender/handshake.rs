//! Opening and closing of the connection.

use crate::sequence;
use crate::wire::{Flags, Packet, Segment};
use npsim_protocols::time::Time;

use super::{ConnectionPhase, ReceiverPeer, Sender};

impl Sender {
    /// Sends the SYN. Does nothing if it was sent before.
    pub fn open(&mut self, now: Time, out: &mut Vec<Packet>) {
        if self.phase == ConnectionPhase::New {
            self.phase = ConnectionPhase::SynSent;
            self.counters.opened_at = Some(now);
            if let Some(timeout) = self.control.law().handshake_timeout() {
                self.rtt.begin_with(timeout);
            }
            self.timed = Some((1, now));
            self.send_syn(now, true, out);
        }
    }

    pub(super) fn send_syn(&mut self, now: Time, first: bool, out: &mut Vec<Packet>) {
        let packet = self.packet(now, Flags::SYN, 0, 0);
        (self.next, self.highest) = (1, 1);
        self.send(now, packet, first, out);
        self.expires_at = Some(now + self.rtt.timeout());
    }

    /// Handles a packet.
    pub fn receive(&mut self, now: Time, packet: &Packet, out: &mut Vec<Packet>) {
        let Some(segment) = self.ends.segment_in(packet) else {
            return;
        };
        match self.phase {
            ConnectionPhase::New | ConnectionPhase::Failed => {}
            ConnectionPhase::SynSent => self.receive_in_handshake(now, packet, segment, out),
            ConnectionPhase::Open => self.receive_open(now, packet, segment, out),
            ConnectionPhase::TimeWait | ConnectionPhase::Closed => {
                self.receive_closed(now, segment, out);
            }
        }
    }

    fn receive_in_handshake(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &Segment,
        out: &mut Vec<Packet>,
    ) {
        let answers = segment.flags.has(Flags::ACK)
            && segment.acknowledgement == sequence::to_wire(self.initial, 1);
        if answers && segment.flags.has(Flags::RST) {
            self.fail();
            return;
        }
        if !answers || !segment.flags.has(Flags::SYN) {
            return;
        }
        let options = &segment.options;
        let scaled = self.host.window_scale;
        self.peer = Some(ReceiverPeer {
            initial: segment.sequence,
            next: 1,
            shift: options.window_scale.filter(|_| scaled).unwrap_or(0),
            sack: self.host.sack && options.sack_permitted,
            timestamp: options
                .timestamps
                .filter(|_| self.host.timestamps.is_some())
                .map(|timestamps| timestamps.value),
        });
        let moment = self.moment(now);
        self.control.law_mut().read(&moment, packet, true);
        let theirs = options.mss.unwrap_or(536);
        let mss = self
            .host
            .mss
            .min(theirs)
            .saturating_sub(self.payload_overhead());
        self.mss = u64::from(mss).max(1);
        let lost = self.retries > 0;
        if let Some((_, sent)) = self.timed.take() {
            self.sample(now - sent);
        } else {
            self.rtt.after_lost_syn();
        }
        self.phase = ConnectionPhase::Open;
        self.retries = 0;
        self.acknowledged = 1;
        self.recover = 0;
        self.expires_at = None;
        // The window of a SYN is not scaled.
        self.edge = 1 + u64::from(segment.window);
        let ack = self.packet(now, Flags::ACK, 1, 0);
        self.send(now, ack, true, out);
        let moment = self.moment(now);
        self.control.law_mut().opened(&moment, lost);
        self.output(now, out);
    }

    /// Handles the parts of a packet of the open connection other than the acknowledgement: a repeated
    /// SYN/ACK, RST, FIN.
    fn receive_open(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &Segment,
        out: &mut Vec<Packet>,
    ) {
        let Some(mut peer) = self.peer else { return };
        if segment.flags.has(Flags::SYN) {
            // The ACK of the SYN/ACK was lost.
            let ack = self.packet(now, Flags::ACK, self.next, 0);
            self.send(now, ack, false, out);
            return;
        }
        let offset = sequence::from_wire(peer.initial, peer.next, segment.sequence);
        if segment.flags.has(Flags::RST) {
            if offset == Some(peer.next) {
                self.fail();
            }
            return;
        }
        if let (Some(timestamps), true) = (segment.options.timestamps, peer.timestamp.is_some()) {
            let newer = timestamps.value.wrapping_sub(peer.timestamp.unwrap_or(0));
            if newer.cast_signed() >= 0 {
                peer.timestamp = Some(timestamps.value);
            }
        }
        let fin = segment.flags.has(Flags::FIN) && offset.is_some_and(|offset| offset <= 1);
        if fin {
            peer.next = 2;
        }
        self.peer = Some(peer);
        if segment.flags.has(Flags::ACK) {
            self.acknowledge(now, packet, segment, out);
        }
        if fin {
            let ack = self.packet(now, Flags::ACK, self.next, 0);
            self.send(now, ack, true, out);
        }
        self.close_if_done(now);
    }

    /// Begins closing once all data have arrived: waits for the peer's FIN, then for its
    /// retransmissions.
    fn close_if_done(&mut self, now: Time) {
        if !self.closing || self.acknowledged != self.end() || self.phase != ConnectionPhase::Open {
            return;
        }
        if self.peer.is_some_and(|peer| peer.next == 2) {
            self.phase = ConnectionPhase::TimeWait;
            self.forget_at = Some(now + self.host.time_wait);
        } else if self.forget_at.is_none() {
            self.forget_at = Some(now + self.host.time_wait);
        }
        self.expires_at = None;
        self.pace_at = None;
        self.probe_at = None;
    }

    /// Handles a repeated FIN of the peer, whose ACK was lost.
    fn receive_closed(&mut self, now: Time, segment: &Segment, out: &mut Vec<Packet>) {
        if segment.flags.has(Flags::FIN) {
            let ack = self.packet(now, Flags::ACK, self.next, 0);
            self.send(now, ack, false, out);
            if self.phase == ConnectionPhase::TimeWait {
                self.forget_at = Some(now + self.host.time_wait);
            }
        }
    }

    pub(super) fn fail(&mut self) {
        self.phase = ConnectionPhase::Failed;
        self.expires_at = None;
        self.probe_at = None;
        self.pace_at = None;
        self.forget_at = None;
    }
}
