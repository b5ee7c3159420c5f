//! The receiving end: echoes the rate and the sender's clock, and counts.

use npsim_protocols::rcp::{RcpHeader, header};
use serde::{Deserialize, Serialize};

use super::numbers::ReceivedNumbers;
use crate::wire::{FlowEnds, Packet, PacketBody, RcpDatagram};

/// Counters of a receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RcpReceiverCounters {
    /// Data packets received.
    pub packets: u64,
    /// Data packets that had been received before.
    pub duplicates: u64,
    /// Bytes of payload, without duplicates.
    pub received: u64,
}

/// The receiving end of an RCP flow. It only responds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RcpReceiver {
    ends: FlowEnds,
    came: ReceivedNumbers,
    identification: u16,
    counters: RcpReceiverCounters,
}

impl RcpReceiver {
    /// Creates a receiver of a flow with these ends, its own first. RCP has no ports: addresses
    /// identify flows.
    #[must_use]
    pub fn new(ends: FlowEnds) -> Self {
        Self {
            ends,
            came: ReceivedNumbers::default(),
            identification: 0,
            counters: RcpReceiverCounters::default(),
        }
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> RcpReceiverCounters {
        self.counters
    }

    /// Handles a packet; appends the answer to `out`.
    pub fn receive(&mut self, packet: &Packet, out: &mut Vec<Packet>) {
        let PacketBody::Rcp { header, datagram } = &packet.body else {
            return;
        };
        let kind = match header.kind {
            header::SYN => header::SYN_ACK,
            header::REF => header::REF_ACK,
            header::DATA => header::ACK,
            header::FIN => header::FIN_ACK,
            _ => return,
        };
        if matches!(header.kind, header::DATA | header::FIN) {
            self.counters.packets += 1;
            if self.came.insert(datagram.number) {
                self.counters.received += u64::from(datagram.payload);
            } else {
                self.counters.duplicates += 1;
            }
        }
        let answer = RcpHeader {
            rate: header::UNLIMITED,
            reverse_rate: header.rate,
            rtt: 0,
            kind,
            ..*header
        };
        let datagram = RcpDatagram {
            payload: 0,
            ..*datagram
        };
        self.identification = self.identification.wrapping_add(1);
        out.push(Packet::rcp(
            self.ends,
            self.identification,
            answer,
            datagram,
        ));
    }
}
