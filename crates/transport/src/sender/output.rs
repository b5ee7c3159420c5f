//! What to send next, and when.

use crate::control::SendLimit;
use crate::handshake;
use crate::sequence;
use crate::wire::{Flags, Packet, Segment, TcpOptions};
use npsim_protocols::time::Time;

use super::{ConnectionPhase, ReceiverPeer, Recovery, Sender};

/// The window that a sender announces, although it receives no data.
const OWN_WINDOW: u16 = u16::MAX;

/// Why a segment is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SendReason {
    /// Its turn has come: new data, or old data after a timeout.
    InSequence,
    /// The segment was lost.
    Repair,
    /// No other segment may be sent and the end of the window may be lost (RFC 6675, `NextSeg` rule 4).
    Rescue,
}

/// A segment to send.
#[derive(Debug, Clone, Copy)]
struct SegmentChoice {
    offset: u64,
    length: u64,
    fin: bool,
    reason: SendReason,
}

impl Sender {
    /// Sends everything that may be sent.
    pub(super) fn output(&mut self, now: Time, out: &mut Vec<Packet>) {
        if self.phase != ConnectionPhase::Open {
            return;
        }
        self.restart_after_idle(now);
        let mut paced = None;
        while let Some(choice) = self.choose() {
            let rate = self.control.law().rate();
            let due = rate.map_or(now, |rate| self.pacer.due(now, rate));
            let fires = match self.pace_at {
                Some((armed, fires)) if armed == due => fires,
                Some(_) => self.pacer.wait(self.host.clock, now, due),
                None if due > now => self.pacer.wait(self.host.clock, now, due),
                None => now,
            };
            if rate.is_some() && fires > now {
                paced = Some((due, fires));
                break;
            }
            self.pace_at = None;
            self.transmit(now, choice, out);
            if rate.is_some() {
                let bytes = out.last().map_or(0, Packet::length);
                self.pacer.sent(due, bytes as u64);
            }
        }
        self.pace_at = paced;
        if paced.is_none() {
            self.pacer.rest();
        }
        self.probe_if_closed(now);
    }

    /// Closes the window if nothing was sent for a timeout (RFC 5681, section 4.1).
    fn restart_after_idle(&mut self, now: Time) {
        let idle = self.acknowledged == self.highest && self.highest < self.end();
        if self.host.restart_after_idle
            && idle
            && self.highest > 1
            && now - self.last_sent > self.rtt.timeout()
        {
            let moment = self.moment(now);
            self.control.law_mut().idle(&moment);
            self.last_sent = now;
        }
    }

    /// Returns the segment to send next; if there is none, sets the reason.
    fn choose(&mut self) -> Option<SegmentChoice> {
        if self.repair {
            return Some(self.repair_at(self.acknowledged));
        }
        let in_flight = self.in_flight();
        let fast = self.recovery != Recovery::None && self.sack();
        if fast && !self.fits(in_flight, self.mss) {
            return None;
        }
        let start = self.acknowledged.max(self.scoreboard.repaired);
        let (hole, _) = self.scoreboard.hole(start);
        if fast && hole < self.scoreboard.lost_before(self.mss) {
            return Some(self.repair_at(hole));
        }
        let next = self.next_in_sequence(in_flight);
        if next.is_some() || !fast {
            return next;
        }
        if hole < self.scoreboard.end() {
            return Some(self.repair_at(hole));
        }
        self.rescue()
    }

    /// Whether `length` more bytes fit into the window. One segment always does.
    fn fits(&mut self, in_flight: u64, length: u64) -> bool {
        let window = self.window();
        let fits = in_flight == 0 || in_flight + length <= window;
        if !fits {
            let limited = self.host.window_limit.is_some_and(|limit| limit <= window);
            self.limit = if limited {
                SendLimit::Peer
            } else {
                SendLimit::Window
            };
        }
        fits
    }

    /// Returns the segment at `offset`: up to the next range that has arrived, with the FIN if it
    /// reaches that.
    fn segment_at(&self, offset: u64, reason: SendReason) -> SegmentChoice {
        let until = self.scoreboard.hole(offset).1.unwrap_or(u64::MAX);
        let length = self
            .data_end
            .min(until)
            .saturating_sub(offset)
            .min(self.mss);
        SegmentChoice {
            offset,
            length,
            fin: self.closing && offset + length == self.data_end,
            reason,
        }
    }

    fn repair_at(&self, offset: u64) -> SegmentChoice {
        self.segment_at(offset, SendReason::Repair)
    }

    /// Returns the segment at `next`, if the windows allow it.
    fn next_in_sequence(&mut self, in_flight: u64) -> Option<SegmentChoice> {
        if self.next < self.highest {
            // After a timeout everything is retransmitted, except for data that have arrived since.
            self.next = self.scoreboard.hole(self.next).0.min(self.highest);
        }
        let mut choice = self.segment_at(self.next, SendReason::InSequence);
        if choice.offset >= self.end() {
            self.limit = SendLimit::Data;
            return None;
        }
        if !self.fits(in_flight, choice.length) {
            return None;
        }
        let room = self.edge.saturating_sub(choice.offset);
        if choice.length > room {
            // A partial segment is sent only if the peer's window allows nothing larger and nothing is
            // in flight.
            if in_flight > 0 || room == 0 {
                self.limit = SendLimit::Peer;
                return None;
            }
            choice.length = room;
            choice.fin = false;
        }
        Some(choice)
    }

    /// Returns the last segment that has not arrived, once for each loss.
    fn rescue(&self) -> Option<SegmentChoice> {
        let end = self.highest;
        if self.acknowledged <= self.scoreboard.rescued || self.scoreboard.end() >= end {
            return None;
        }
        // The FIN occupies no payload in a segment.
        let from = end.min(self.data_end).saturating_sub(self.mss);
        let offset = from.max(self.scoreboard.end()).max(self.acknowledged);
        Some(self.segment_at(offset, SendReason::Rescue))
    }

    fn transmit(&mut self, now: Time, choice: SegmentChoice, out: &mut Vec<Packet>) {
        let end = choice.offset + choice.length + u64::from(choice.fin);
        let again = choice.offset < self.highest;
        let mut flags = Flags::ACK;
        if choice.fin {
            flags = flags | Flags::FIN;
        }
        if choice.length > 0 && choice.offset + choice.length == self.data_end {
            flags = flags | Flags::PSH;
        }
        let packet = self.packet(now, flags, choice.offset, choice.length as u16);
        match choice.reason {
            SendReason::Repair => {
                self.repair = false;
                self.scoreboard.repaired = self.scoreboard.repaired.max(end);
            }
            SendReason::Rescue => self.scoreboard.rescued = self.recover,
            SendReason::InSequence => {
                let window = self.control.law().window();
                let beyond = end - self.acknowledged > window;
                if self.recovery == Recovery::None && beyond && !again && self.duplicates > 0 {
                    self.extra += end - choice.offset;
                }
                self.next = end;
            }
        }
        if end > self.highest {
            (self.next, self.highest) = (end, end);
        }
        if again {
            self.timed = None;
        } else if self.timed.is_none() {
            self.timed = Some((end, now));
        }
        if choice.length > 0 {
            self.counters.segments += 1;
            self.counters.retransmitted += u64::from(again);
        }
        self.last_sent = now;
        self.expires_at.get_or_insert(now + self.rtt.timeout());
        self.send(now, packet, !again, out);
    }

    /// If nothing is in flight and the window is closed, only a probe can detect when it opens (RFC
    /// 9293, 3.8.6.1).
    fn probe_if_closed(&mut self, now: Time) {
        let out = self.highest > self.acknowledged;
        let waits = self.next < self.end() && self.limit == SendLimit::Peer;
        if out || !waits {
            self.probe_at = None;
        } else {
            self.probe_at.get_or_insert(now + self.rtt.timeout());
        }
    }

    /// Returns a segment with the fields that all have in common.
    pub(super) fn packet(&mut self, now: Time, flags: Flags, offset: u64, payload: u16) -> Packet {
        self.identification = self.identification.wrapping_add(1);
        let peer = self.peer;
        let options = if flags.has(Flags::SYN) {
            handshake::options(&self.host, now, None)
        } else {
            let echo = peer.and_then(|peer| peer.timestamp);
            TcpOptions {
                timestamps: handshake::timestamps(&self.host, now, echo),
                ..TcpOptions::default()
            }
        };
        let acknowledgement = |peer: ReceiverPeer| sequence::to_wire(peer.initial, peer.next);
        let segment = Segment {
            source_port: self.ends.source_port,
            destination_port: self.ends.destination_port,
            sequence: sequence::to_wire(self.initial, offset),
            acknowledgement: peer.map_or(0, acknowledgement),
            flags,
            window: OWN_WINDOW,
            options,
            payload,
        };
        Packet::tcp(self.ends, self.identification, segment)
    }

    /// Sends a packet after the controller has marked it.
    pub(super) fn send(
        &mut self,
        now: Time,
        mut packet: Packet,
        first: bool,
        out: &mut Vec<Packet>,
    ) {
        let moment = self.moment(now);
        self.control.law_mut().mark(&moment, &mut packet, first);
        self.counters.packets += 1;
        out.push(packet);
    }
}
