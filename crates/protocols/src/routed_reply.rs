//! A reply to a packet that came to the core: it leaves in that packet's buffer, by the route to
//! its destination.

use npsim_chip::Cycle;
use npsim_chip::gpp::Access;
use npsim_chip::gpp::exceptions::Exception;
use npsim_chip::gpp::lookup::{Lookup, LookupStep, RouteEntry, TablePlace};
use npsim_chip::gpp::packets::{Descriptor, Outgoing, PacketSender, SendOutcome, reason};
use serde::{Deserialize, Serialize};

use crate::icmp::{IPV4, LINK_HEADER};

/// Bytes of a minimum-size frame, without its frame check sequence.
const MIN_FRAME: usize = 60;

/// A reply on its way out, one access at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutedReply {
    /// The packet being answered.
    packet: Exception,
    /// The frame of the reply. Its Ethernet addresses come from the route.
    frame: Vec<u8>,
    /// Number of its bytes to write; the rest is already in the buffer.
    written: usize,
    out: Option<Outgoing>,
    step: ReplyStep,
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum ReplyStep {
    Find(Lookup),
    Send,
    /// The next hop is unknown: the reply is written, and another task sends it.
    Delegate,
    GiveBack,
}

/// The stage that a reply has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyOutcome {
    /// More accesses are needed.
    InProgress,
    /// It was put on the ring to a microengine.
    Sent,
    /// Another task sends it once its next hop is known.
    Delegated,
    /// There was no route or no room; the buffer was freed.
    GivenUp,
}

impl RoutedReply {
    /// Creates a reply to a packet: an IPv4 datagram to an address.
    #[must_use]
    pub fn new(packet: Exception, datagram: &[u8], to: u32, table: TablePlace) -> Self {
        let mut frame = vec![0; LINK_HEADER];
        frame[12..].copy_from_slice(&IPV4);
        frame.extend_from_slice(datagram);
        Self {
            packet,
            frame,
            written: usize::MAX,
            out: None,
            step: ReplyStep::Find(Lookup::new(table, to)),
        }
    }

    /// Creates an empty reply, which only frees the packet's buffer.
    #[must_use]
    pub const fn none(packet: Exception) -> Self {
        Self {
            packet,
            frame: Vec::new(),
            written: 0,
            out: None,
            step: ReplyStep::GiveBack,
        }
    }

    /// Limits writing to the first bytes of the frame; the rest is already in the buffer.
    #[must_use]
    pub const fn writing(mut self, bytes: usize) -> Self {
        self.written = bytes;
        self
    }

    /// Makes the next access; returns its purpose, the stage reached, and the cycles that it takes.
    pub fn step(
        &mut self,
        sender: &PacketSender,
        access: &mut Access<'_>,
    ) -> (&'static str, ReplyOutcome, Cycle) {
        match self.step {
            ReplyStep::Find(mut lookup) => {
                let (found, cost) = lookup.step(access);
                self.step = match found {
                    LookupStep::Pending => ReplyStep::Find(lookup),
                    LookupStep::NoRoute => ReplyStep::GiveBack,
                    LookupStep::Hop(way) => self.found(way),
                };
                ("look up the way back", ReplyOutcome::InProgress, cost)
            }
            ReplyStep::Send => self.send(sender, access),
            ReplyStep::Delegate => self.write_and_offer(sender, access),
            ReplyStep::GiveBack => {
                let cost = sender.free(self.packet.buffer, access);
                ("give the buffer back", ReplyOutcome::GivenUp, cost)
            }
        }
    }

    /// Continues with the route: the reply can leave if the route leads out.
    fn found(&mut self, way: RouteEntry) -> ReplyStep {
        let fits = self.frame.len() - LINK_HEADER <= usize::from(way.mtu());
        if !(way.leaves_router() || way.is_unresolved()) || !fits {
            return ReplyStep::GiveBack;
        }
        let mut frame = std::mem::take(&mut self.frame);
        frame[..12].copy_from_slice(&way.link());
        frame.resize(frame.len().max(MIN_FRAME), 0);
        let descriptor = Descriptor {
            length: frame.len() as u32,
            input: Descriptor::of(&self.packet).input,
            output: u32::from(way.port()) << 24,
            next_hop: way.index,
        };
        // Another task may have to send it.
        self.packet.reason = reason::UNRESOLVED;
        let begins = frame.len().min(self.packet.header.len());
        self.packet.header[..begins].copy_from_slice(&frame[..begins]);
        let [link, ..] = self.packet.descriptor;
        let Descriptor {
            length,
            input,
            output,
            ..
        } = descriptor;
        self.packet.descriptor = [link, length, input, output];
        frame.truncate(self.written);
        self.out = Some(Outgoing::new(self.packet.buffer, frame, descriptor));
        if way.is_unresolved() {
            ReplyStep::Delegate
        } else {
            ReplyStep::Send
        }
    }

    /// Makes the next access of sending.
    fn send(
        &mut self,
        sender: &PacketSender,
        access: &mut Access<'_>,
    ) -> (&'static str, ReplyOutcome, Cycle) {
        let Some(out) = &mut self.out else {
            return ("nothing", ReplyOutcome::GivenUp, 0);
        };
        let (doing, outcome, cost) = out.step(sender, access);
        let outcome = match outcome {
            SendOutcome::InProgress => ReplyOutcome::InProgress,
            SendOutcome::NoRoom => {
                self.step = ReplyStep::GiveBack;
                ReplyOutcome::InProgress
            }
            SendOutcome::Sent => ReplyOutcome::Sent,
        };
        (doing, outcome, cost)
    }

    /// Writes the reply and offers it to the task that resolves next hops.
    fn write_and_offer(
        &mut self,
        sender: &PacketSender,
        access: &mut Access<'_>,
    ) -> (&'static str, ReplyOutcome, Cycle) {
        let Some(out) = &self.out else {
            return ("nothing", ReplyOutcome::GivenUp, 0);
        };
        let cost = sender.write(self.packet.buffer, 0, &out.bytes, access);
        if access.offer(&self.packet) {
            let doing = "write the message for another task";
            return (doing, ReplyOutcome::Delegated, cost);
        }
        self.step = ReplyStep::GiveBack;
        ("write the message in vain", ReplyOutcome::InProgress, cost)
    }
}
