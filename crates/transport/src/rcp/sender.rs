//! The sending end: opens the flow, paces at the rate that is returned, retransmits what is
//! missing.

use std::collections::VecDeque;

use npsim_protocols::rcp::{RcpHeader, header};
use serde::{Deserialize, Serialize};

use super::numbers::ReceivedNumbers;
use super::{RcpParameters, rtt_field};
use crate::pacing::Pacer;
use crate::sender::Supply;
use crate::wire::{DATAGRAM_PROTOCOL, FlowEnds, Packet, PacketBody, RcpDatagram};
use npsim_protocols::time::{self, Time};

/// Header bytes of a packet.
const HEADERS: u64 = 40;

/// Parameters of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RcpSenderParameters {
    /// The host.
    pub host: RcpParameters,
    /// The addresses; ports are not transmitted.
    pub ends: FlowEnds,
    /// The data to send; [`Supply::Offered`] stands for none.
    pub supply: Supply,
}

/// The phase of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum RcpPhase {
    /// Not opened yet.
    New,
    /// The SYN has been sent.
    SynSent,
    /// The routers granted no rate; the sender asks again from time to time.
    Congested,
    /// Data are being sent.
    Running,
    /// All data have been sent; waits for answers, and retransmits unanswered packets.
    Draining,
    /// Everything was answered.
    Closed,
    /// Given up: there were no answers.
    Failed,
}

/// Counters of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RcpSenderCounters {
    /// Data packets, including retransmissions.
    pub segments: u64,
    /// Retransmitted data packets.
    pub retransmitted: u64,
    /// Packets that only requested the rate.
    pub requests: u64,
    /// Bytes of payload that were answered.
    pub acknowledged: u64,
    /// When the flow was opened, if it was.
    pub opened_at: Option<Time>,
    /// When everything had been answered, if it has.
    pub completed_at: Option<Time>,
}

/// The sending end of an RCP flow; used like a [`Sender`](crate::Sender).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RcpSender {
    host: RcpParameters,
    ends: FlowEnds,
    phase: RcpPhase,
    /// Number of data packets, and payload bytes of the last one.
    total: u32,
    last_payload: u16,
    /// The next number to be sent for the first time.
    next: u32,
    again: VecDeque<u32>,
    answered: ReceivedNumbers,
    /// Rate in bytes of IP per second.
    rate: u64,
    smoothed: Option<Time>,
    least_rtt: Option<Time>,
    pacer: Pacer,
    pace_at: Option<(Time, Time)>,
    /// Time of the next SYN or rate request, or the end of waiting for answers.
    retry_at: Option<Time>,
    /// Retries since the last answer.
    attempts: u32,
    identification: u16,
    counters: RcpSenderCounters,
}

impl RcpSender {
    /// Creates a sender that has not opened yet.
    #[must_use]
    pub fn new(parameters: &RcpSenderParameters) -> Self {
        let payload = u64::from(parameters.host.payload.max(1));
        let (total, last_payload) = match parameters.supply {
            Supply::Bytes(bytes) if bytes > 0 => {
                let total = u32::try_from(bytes.div_ceil(payload)).unwrap_or(u32::MAX);
                (
                    total,
                    (bytes - (u64::from(total) - 1) * payload).min(payload),
                )
            }
            Supply::Endless => (u32::MAX, payload),
            // A flow without data consists of its FIN.
            Supply::Bytes(_) | Supply::Offered => (1, 0),
        };
        Self {
            host: parameters.host,
            ends: parameters.ends,
            phase: RcpPhase::New,
            total,
            last_payload: last_payload as u16,
            next: 0,
            again: VecDeque::new(),
            answered: ReceivedNumbers::default(),
            rate: 0,
            smoothed: None,
            least_rtt: None,
            pacer: Pacer::default(),
            pace_at: None,
            retry_at: None,
            attempts: 0,
            identification: 0,
            counters: RcpSenderCounters::default(),
        }
    }

    /// Sends the SYN. Does nothing if it was sent before.
    pub fn open(&mut self, now: Time, out: &mut Vec<Packet>) {
        if self.phase == RcpPhase::New {
            self.phase = RcpPhase::SynSent;
            self.counters.opened_at = Some(now);
            self.send_request(now, header::SYN, out);
        }
    }

    /// Returns the phase of the flow.
    #[must_use]
    pub fn phase(&self) -> RcpPhase {
        self.phase
    }

    /// Returns the pacing rate in bytes of IP per second; 0 before it is known.
    #[must_use]
    pub fn rate(&self) -> u64 {
        self.rate
    }

    /// Returns the smoothed round-trip time.
    #[must_use]
    pub fn srtt(&self) -> Option<Time> {
        self.smoothed
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> RcpSenderCounters {
        self.counters
    }

    /// Returns when [`wake`](Self::wake) must be called next.
    #[must_use]
    pub fn wake_at(&self) -> Option<Time> {
        let paced = self.pace_at.map(|(_, fires)| fires);
        [paced, self.retry_at].into_iter().flatten().min()
    }

    /// Handles a packet.
    pub fn receive(&mut self, now: Time, packet: &Packet, out: &mut Vec<Packet>) {
        let PacketBody::Rcp { header, datagram } = &packet.body else {
            return;
        };
        let over = matches!(
            self.phase,
            RcpPhase::New | RcpPhase::Closed | RcpPhase::Failed
        );
        let answer = matches!(
            header.kind,
            header::SYN_ACK | header::REF_ACK | header::ACK | header::FIN_ACK
        );
        if over || !answer {
            return;
        }
        self.attempts = 0;
        self.sample(now, datagram.stamp);
        if matches!(header.kind, header::ACK | header::FIN_ACK) {
            self.take_answer(datagram.number);
            if self.answered.next() >= self.total {
                self.phase = RcpPhase::Closed;
                self.counters.completed_at = Some(now);
                (self.pace_at, self.retry_at) = (None, None);
                return;
            }
        }
        self.take_rate(now, u64::from(header.reverse_rate));
        self.output(now, out);
    }

    /// Does everything due at `now`.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Packet>) {
        if self.retry_at.is_some_and(|at| at <= now) {
            self.retry(now, out);
        }
        if self.pace_at.is_some_and(|(_, fires)| fires <= now) {
            self.pace_at = None;
            self.output(now, out);
        }
    }

    fn retry(&mut self, now: Time, out: &mut Vec<Packet>) {
        self.retry_at = None;
        self.attempts += 1;
        if self.attempts > self.host.most_attempts {
            self.phase = RcpPhase::Failed;
            self.pace_at = None;
            return;
        }
        match self.phase {
            RcpPhase::SynSent => self.send_request(now, header::SYN, out),
            RcpPhase::Congested | RcpPhase::Running => self.send_request(now, header::REF, out),
            RcpPhase::Draining => {
                let missing: Vec<_> = self.answered.missing(self.next).collect();
                self.again.extend(missing);
                self.phase = RcpPhase::Running;
                self.output(now, out);
            }
            _ => {}
        }
    }

    fn take_answer(&mut self, number: u32) {
        if number < self.next && self.answered.insert(number) {
            self.counters.acknowledged += u64::from(self.payload_of(number));
        }
    }

    fn take_rate(&mut self, now: Time, rate: u64) {
        if rate == 0 {
            if matches!(self.phase, RcpPhase::SynSent | RcpPhase::Running) {
                self.phase = RcpPhase::Congested;
                self.pace_at = None;
                self.retry_at = Some(now + self.host.retry);
            }
            return;
        }
        self.rate = rate.max(self.host.least_rate).max(1);
        if matches!(self.phase, RcpPhase::SynSent | RcpPhase::Congested) {
            self.phase = RcpPhase::Running;
            self.retry_at = None;
        }
        if self.phase == RcpPhase::Running {
            self.schedule_probe(now);
        }
    }

    /// If more than a round-trip time passes between packets, requests the rate in between.
    fn schedule_probe(&mut self, now: Time) {
        let packet = u64::from(self.host.payload) + HEADERS;
        let gap = time::transfer_time(packet, self.rate);
        let every = self
            .least_rtt
            .unwrap_or(self.host.retry)
            .min(self.host.retry);
        if gap > every {
            self.retry_at.get_or_insert(now + every);
        } else {
            self.retry_at = None;
        }
    }

    fn sample(&mut self, now: Time, stamp: u32) {
        let ticks = self.clock(now).wrapping_sub(stamp);
        let rtt = u64::from(ticks) * self.host.stamp_unit;
        self.smoothed = Some(match self.smoothed {
            None => rtt,
            Some(smoothed) => smoothed - smoothed / 8 + rtt / 8,
        });
        self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
    }

    fn clock(&self, now: Time) -> u32 {
        (now / self.host.stamp_unit.max(1)) as u32
    }

    fn payload_of(&self, number: u32) -> u16 {
        if number + 1 == self.total {
            self.last_payload
        } else {
            self.host.payload
        }
    }

    /// Sends everything due.
    fn output(&mut self, now: Time, out: &mut Vec<Packet>) {
        while self.phase == RcpPhase::Running {
            while self
                .again
                .front()
                .is_some_and(|&number| self.is_acknowledged(number))
            {
                self.again.pop_front();
            }
            if self.again.is_empty() && self.next == self.total {
                self.drain(now);
                return;
            }
            let due = self.pacer.due(now, self.rate);
            let fires = match self.pace_at {
                Some((armed, fires)) if armed == due => fires,
                None if due <= now => now,
                _ => self.pacer.wait(self.host.clock, now, due),
            };
            if fires > now {
                self.pace_at = Some((due, fires));
                return;
            }
            self.pace_at = None;
            self.send_data(now, out);
            let bytes = out.last().map_or(0, Packet::length);
            self.pacer.sent(due, bytes as u64);
        }
        self.pace_at = None;
        self.pacer.rest();
    }

    fn is_acknowledged(&self, number: u32) -> bool {
        self.answered.contains(number)
    }

    /// Begins draining after all data were sent: segments that are not answered within two
    /// round-trip times are missing.
    fn drain(&mut self, now: Time) {
        self.phase = RcpPhase::Draining;
        self.pace_at = None;
        self.pacer.rest();
        let wait = self.smoothed.map_or(self.host.retry, |rtt| 2 * rtt);
        self.retry_at = Some(now + wait.max(1));
    }

    fn send_data(&mut self, now: Time, out: &mut Vec<Packet>) {
        let number = if let Some(number) = self.again.pop_front() {
            self.counters.retransmitted += 1;
            number
        } else {
            self.next += 1;
            self.next - 1
        };
        self.counters.segments += 1;
        let last = number + 1 == self.total;
        let kind = if last { header::FIN } else { header::DATA };
        let payload = self.payload_of(number);
        self.send(now, kind, number, payload, out);
    }

    /// Sends a SYN or a rate request, and sets the time of the next one.
    fn send_request(&mut self, now: Time, kind: u8, out: &mut Vec<Packet>) {
        self.counters.requests += 1;
        self.send(now, kind, self.next, 0, out);
        let every = match self.phase {
            RcpPhase::Running => self.least_rtt.unwrap_or(self.host.retry),
            _ => self.host.retry,
        };
        self.retry_at = Some(now + every.clamp(1, self.host.retry.max(1)));
    }

    fn send(&mut self, now: Time, kind: u8, number: u32, payload: u16, out: &mut Vec<Packet>) {
        self.identification = self.identification.wrapping_add(1);
        let header = RcpHeader {
            rate: header::UNLIMITED,
            reverse_rate: 0,
            rtt: rtt_field(self.smoothed),
            protocol: DATAGRAM_PROTOCOL,
            kind,
        };
        let datagram = RcpDatagram {
            number,
            stamp: self.clock(now),
            payload,
        };
        out.push(Packet::rcp(
            self.ends,
            self.identification,
            header,
            datagram,
        ));
    }
}
