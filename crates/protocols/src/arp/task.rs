//! ARP on the slow path.
//!
//! A next hop for which the project gives only the IPv4 address is in the next-hop table with the
//! router itself as next hop, and with that address in place of the hardware address: the fast
//! path hands packets for it to the core. The first one makes the task send a request; the latest
//! one waits. When the next hop is heard, its entry is written in a single access and the waiting
//! packet leaves. From then on the fast path forwards on its own.
//!
//! Packets taken from the ring `exceptions` are offered to this task before others: ARP messages,
//! and packets for the router itself that are for none of its addresses.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use npsim_chip::Cycle;
use npsim_chip::gpp::exceptions::{Exception, HEADER_BYTES};
use npsim_chip::gpp::lookup::{Lookup, LookupStep, RouteEntry, TablePlace};
use npsim_chip::gpp::packets::{Descriptor, Outgoing, PacketSender, SendOutcome, reason};
use npsim_chip::gpp::routes::NEXT_HOP_LONGWORDS;
use npsim_chip::gpp::{Access, LoadError, Memories, NextAction, Start, Task};
use npsim_chip::kernel::row::Row;
use serde::{Deserialize, Serialize};

use super::message::{ArpMessage, Mac, Operation};
use super::neighbours::{DueWork, Neighbours};
use crate::checksum;
use crate::icmp::{Datagram, LINK_HEADER};
use crate::job::own_addresses;

/// Maximum number of packets waiting for the task; more are refused.
const MAX_WAITING: usize = 64;
/// Bytes of an IPv4 header without options.
const HEADER: usize = 20;

/// A port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArpPort {
    /// The hardware address.
    pub mac: Mac,
    /// The IPv4 addresses: one, or one per router of a chain.
    pub addresses: Vec<Ipv4Addr>,
}

/// An entry of the next-hop table that belongs to a neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArpEntry {
    /// The index in the table.
    pub index: u32,
    /// The neighbour: its port and address.
    pub neighbour: (u8, Ipv4Addr),
    /// The MTU in bytes of IP.
    pub mtu: u16,
}

/// Configuration of the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArpSetup {
    /// Buffers and the ring to the microengines.
    pub sender: PacketSender,
    /// The microcode's reason code for frames that are not IPv4.
    pub arp_reason: u8,
    /// The reason code for packets for the router itself.
    pub local_reason: Option<u8>,
    /// The ports, by number.
    pub ports: Vec<ArpPort>,
    /// The entries to resolve.
    pub entries: Vec<ArpEntry>,
    /// The routing table.
    pub table: TablePlace,
    /// Cycles from one request for a next hop to the next.
    pub retry: Cycle,
    /// Requests after which a next hop counts as silent.
    pub tries: u32,
}

/// Counters of the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArpCounts {
    /// Requests sent.
    pub requests: u64,
    /// Replies sent.
    pub replies: u64,
    /// Times that a next hop was learnt, or an address of one changed.
    pub learnt: u64,
    /// Waiting packets that were sent.
    pub forwarded: u64,
    /// Packets that were displaced by a later one.
    pub displaced: u64,
    /// Packets dropped because their next hop did not answer.
    pub unanswered: u64,
    /// Work abandoned for lack of a route or of room.
    pub given_up: u64,
}

/// A packet on its way to a next hop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct WaitingPacket {
    packet: Exception,
    way: RouteEntry,
}

/// Work of the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum ArpWork {
    /// Process a received message.
    Heard(Exception, ArpMessage),
    /// Resolve the next hop of a packet.
    Unresolved(Exception),
    /// Send a packet whose next hop is now known.
    Forward(WaitingPacket),
    /// Send a request.
    Ask(usize),
    /// Give up a packet whose next hop is silent.
    GiveUp(Exception),
}

/// The next step of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum ArpStep {
    Begin,
    /// Write the remaining entries of a next hop, then continue with the boxed step.
    Publish(Vec<u32>, usize, Box<ArpStep>),
    Find(Lookup, Exception),
    Take(usize),
    Send(Outgoing, OutgoingKind),
    Free(u32),
    Over,
}

/// Kinds of frames that the task sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum OutgoingKind {
    Request,
    Reply,
    Packet,
}

/// The ARP task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Arp {
    setup: ArpSetup,
    /// The addresses of this router, by port.
    addresses: Vec<Ipv4Addr>,
    neighbours: Neighbours<WaitingPacket>,
    work: VecDeque<ArpWork>,
    step: ArpStep,
    counts: ArpCounts,
}

impl Arp {
    /// Creates the task, with all next hops unknown.
    #[must_use]
    pub fn new(setup: ArpSetup) -> Self {
        let mut all: Vec<_> = setup.entries.iter().map(|entry| entry.neighbour).collect();
        all.sort_unstable();
        all.dedup();
        Self {
            addresses: Vec::new(),
            neighbours: Neighbours::new(all, setup.retry, setup.tries),
            work: VecDeque::new(),
            step: ArpStep::Begin,
            counts: ArpCounts::default(),
            setup,
        }
    }

    /// The plan of the task, for `npsim project`.
    pub(super) fn plan(&self) -> String {
        let (ports, hops) = (self.setup.ports.len(), self.neighbours.all().len());
        format!("answers for {ports} ports, finds {hops} next hops")
    }

    /// The counters.
    #[must_use]
    pub const fn counts(&self) -> &ArpCounts {
        &self.counts
    }

    /// The number of next hops with a known hardware address.
    #[must_use]
    pub fn known(&self) -> usize {
        let all = self.neighbours.all().iter();
        all.filter(|it| it.mac.is_some()).count()
    }

    /// Whether a message is worth a job: it is a request for the router's address, or it comes
    /// from a next hop.
    fn is_relevant(&self, packet: &Exception, message: &ArpMessage) -> bool {
        let port = Descriptor::of(packet).input;
        let own = self.addresses.get(port as usize) == Some(&message.target.1);
        let asked = own && message.operation == Operation::Request;
        asked
            || u8::try_from(port)
                .is_ok_and(|port| self.neighbours.find(port, message.sender.1).is_some())
    }

    /// The table entry of a next hop once its address is known.
    fn words(&self, entry: &ArpEntry) -> Option<[u32; NEXT_HOP_LONGWORDS]> {
        let (port, address) = entry.neighbour;
        let number = self.neighbours.find(port, address)?;
        let [d0, d1, d2, d3, d4, d5] = self.neighbours.all()[number].mac?;
        let [s0, s1, s2, s3, s4, s5] = self.setup.ports.get(usize::from(port))?.mac;
        Some([
            u32::from(entry.mtu) << 16 | u32::from(port),
            u32::from_be_bytes([d0, d1, d2, d3]),
            u32::from_be_bytes([d4, d5, s0, s1]),
            u32::from_be_bytes([s2, s3, s4, s5]),
        ])
    }

    fn entry(&self, index: u32) -> Option<&ArpEntry> {
        self.setup.entries.iter().find(|entry| entry.index == index)
    }

    /// Processes a received message: learns from it, and decides whether to reply.
    fn handle_message(&mut self, packet: &Exception, message: &ArpMessage) -> ArpStep {
        let handle = packet.buffer;
        let port = Descriptor::of(packet).input as u8;
        let asked = self.addresses.get(usize::from(port)) == Some(&message.target.1)
            && message.operation == Operation::Request;
        let then = match self.setup.ports.get(usize::from(port)) {
            Some(own) if asked => {
                let frame = message.reply(own.mac).to_frame();
                ArpStep::Send(outgoing(handle, frame, port), OutgoingKind::Reply)
            }
            _ => ArpStep::Free(handle),
        };
        let (mac, address) = message.sender;
        let Some((number, waited)) = self.neighbours.learn(port, address, mac) else {
            return then;
        };
        self.counts.learnt += 1;
        let entries: Vec<u32> = { self.setup.entries.iter() }
            .filter(|entry| entry.neighbour == (port, address))
            .map(|entry| entry.index)
            .collect();
        if let Some(waiting) = waited {
            self.work.push_front(ArpWork::Forward(waiting));
        }
        ArpStep::Publish(entries, number, Box::new(then))
    }

    /// Continues with the entry that a packet's lookup found.
    fn found(&mut self, way: RouteEntry, packet: Exception, access: &mut Access<'_>) -> ArpStep {
        if way.leaves_router() {
            // The address was learnt after the fast path looked.
            self.work
                .push_front(ArpWork::Forward(WaitingPacket { packet, way }));
            return ArpStep::Over;
        }
        let neighbour = self.entry(way.index).map(|entry| entry.neighbour);
        let number = neighbour.and_then(|(port, address)| self.neighbours.find(port, address));
        let Some(number) = number else {
            // The router's own prefix, or a destination without a route by now.
            return offer_with_reason(&packet, packet.reason, access);
        };
        match self.neighbours.wait(number, WaitingPacket { packet, way }) {
            Some(before) => {
                self.counts.displaced += 1;
                ArpStep::Free(before.packet.buffer)
            }
            None => ArpStep::Over,
        }
    }

    /// Sends a packet as the fast path would, or offers it to the other tasks with the reason why
    /// it cannot leave.
    ///
    /// `microcode/router/processing/ipv4.uc` defines what the fast path does before it hands a
    /// packet over for ARP, and what is left to do here: the TTL has not been decremented, so it
    /// is checked and decremented here, together with the header checksum. A packet made by the
    /// router itself (`UNRESOLVED`: a message of `icmp/task.rs` that found no entry) leaves as it is.
    fn forward(&mut self, waiting: &WaitingPacket, access: &mut Access<'_>) -> ArpStep {
        let WaitingPacket { packet, way } = waiting;
        let handle = packet.buffer;
        let words = self.entry(way.index).and_then(|entry| self.words(entry));
        let way = RouteEntry {
            words: words.unwrap_or(way.words),
            ..*way
        };
        let Some(datagram) = Datagram::from_frame(&packet.header) else {
            self.counts.given_up += 1;
            return ArpStep::Free(handle);
        };
        let own = packet.reason == reason::UNRESOLVED;
        let left = packet.header[LINK_HEADER + 8];
        let trouble = if !own && left <= 1 {
            Some(reason::EXPIRED)
        } else if datagram.length() > usize::from(way.mtu()) {
            Some(reason::TOO_BIG)
        } else {
            None
        };
        if let Some(trouble) = trouble {
            return offer_with_reason(packet, trouble, access);
        }
        let mut bytes = packet.header[..LINK_HEADER + HEADER].to_vec();
        bytes[..12].copy_from_slice(&way.link());
        if !own {
            bytes[LINK_HEADER + 8] = left - 1;
            let at = LINK_HEADER + 10;
            let sum = checksum::ttl_step(u16::from_be_bytes([bytes[at], bytes[at + 1]]));
            bytes[at..at + 2].copy_from_slice(&sum.to_be_bytes());
        }
        let descriptor = Descriptor {
            output: u32::from(way.port()) << 24,
            next_hop: way.index,
            ..Descriptor::of(packet)
        };
        ArpStep::Send(
            Outgoing::new(handle, bytes, descriptor),
            OutgoingKind::Packet,
        )
    }

    /// Ends the job.
    fn end_job(&mut self, now: Cycle, cost: Cycle) -> NextAction {
        self.step = ArpStep::Begin;
        let due = now + cost;
        if !self.work.is_empty() {
            return NextAction::Done { cost, due };
        }
        let due = self.neighbours.next_due();
        NextAction::Wait { cost, due }
    }

    /// Begins the oldest job, or work that is due.
    fn begin(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        let now = access.now();
        let work = self.work.pop_front().or_else(|| {
            self.neighbours.take_due(now).map(|due| match due {
                DueWork::Request(number) => ArpWork::Ask(number),
                DueWork::GiveUp(waiting) => ArpWork::GiveUp(waiting.packet),
            })
        });
        let (doing, step) = match work {
            None => return ("nothing", self.end_job(now, 0)),
            Some(ArpWork::Heard(packet, message)) => (
                "read an ARP message",
                self.handle_message(&packet, &message),
            ),
            Some(ArpWork::Unresolved(packet)) => {
                let to = &packet.header[LINK_HEADER + 16..LINK_HEADER + 20];
                let to = to.iter().fold(0, |all, byte| all << 8 | u32::from(*byte));
                let lookup = Lookup::new(self.setup.table, to);
                ("take a packet", ArpStep::Find(lookup, packet))
            }
            Some(ArpWork::Forward(waiting)) => ("forward a packet", self.forward(&waiting, access)),
            Some(ArpWork::Ask(number)) => ("ask for a next hop", ArpStep::Take(number)),
            Some(ArpWork::GiveUp(packet)) => {
                self.counts.unanswered += 1;
                let step = offer_with_reason(&packet, reason::NO_HOST, access);
                ("give a next hop up", step)
            }
        };
        self.step = step;
        (doing, NextAction::After(access.costs().reply))
    }
}

/// Offers a packet to the other tasks, with a reason that replaces the microcode's.
fn offer_with_reason(packet: &Exception, reason: u8, access: &mut Access<'_>) -> ArpStep {
    // No error message is sent about the router's own packets.
    let own = packet.reason == reason::UNRESOLVED;
    let packet = Exception {
        reason,
        ..packet.clone()
    };
    if !own && access.offer(&packet) {
        ArpStep::Over
    } else {
        ArpStep::Free(packet.buffer)
    }
}

/// A frame made by the core that leaves by a port.
fn outgoing(handle: u32, frame: Vec<u8>, port: u8) -> Outgoing {
    let descriptor = Descriptor {
        length: frame.len() as u32,
        input: u32::from(port),
        output: u32::from(port) << 24,
        next_hop: 0,
    };
    Outgoing::new(handle, frame, descriptor)
}

impl Task for Arp {
    fn name(&self) -> &'static str {
        "arp"
    }

    fn prepare(&mut self, start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        let ports = self.setup.ports.iter().map(|port| &port.addresses);
        self.addresses = own_addresses("arp", ports, start)?;
        Ok(Some(1))
    }

    fn is_timer(&self) -> bool {
        false
    }

    fn polls(&self) -> bool {
        false
    }

    fn held_buffers(&self) -> Vec<u32> {
        let work = self.work.iter().filter_map(|work| match work {
            ArpWork::Heard(packet, _) | ArpWork::Unresolved(packet) | ArpWork::GiveUp(packet) => {
                Some(packet.buffer)
            }
            ArpWork::Forward(waiting) => Some(waiting.packet.buffer),
            ArpWork::Ask(_) => None,
        });
        let waiting = self.neighbours.waiting().map(|it| it.packet.buffer);
        work.chain(waiting).collect()
    }

    fn made(&self) -> u64 {
        self.counts.requests + self.counts.replies + self.counts.forwarded
    }

    fn offer(&mut self, packet: &Exception, _now: Cycle) -> bool {
        let full = self.work.len() >= MAX_WAITING;
        let work = if packet.reason == self.setup.arp_reason {
            match ArpMessage::from_frame(&packet.header) {
                Some(message) if !full && self.is_relevant(packet, &message) => {
                    ArpWork::Heard(packet.clone(), message)
                }
                _ => return false,
            }
        } else if packet.reason == reason::UNRESOLVED && !full {
            ArpWork::Unresolved(packet.clone())
        } else if Some(packet.reason) == self.setup.local_reason {
            let datagram = Datagram::from_frame(&packet.header);
            if datagram.is_none_or(|datagram| self.addresses.contains(&datagram.destination())) {
                return false;
            }
            // It is taken even if many packets wait, so that no other task mistakes it for the
            // router's own. The number of buffers limits how many there can be.
            ArpWork::Unresolved(packet.clone())
        } else {
            return false;
        };
        self.work.push_back(work);
        true
    }

    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        let now = access.now();
        match std::mem::replace(&mut self.step, ArpStep::Over) {
            ArpStep::Begin => self.begin(access),
            ArpStep::Publish(mut entries, number, then) => {
                let entry = entries.pop().and_then(|index| self.entry(index).copied());
                let words = entry.and_then(|entry| Some((entry, self.words(&entry)?)));
                let cost = words.map_or(0, |(entry, words)| {
                    let bytes = 4 * NEXT_HOP_LONGWORDS as u32;
                    let place = self.setup.table.next_hops.after(entry.index * bytes);
                    access.write(place, &words)
                });
                self.step = if entries.is_empty() {
                    *then
                } else {
                    ArpStep::Publish(entries, number, then)
                };
                ("write the next hop", NextAction::After(cost))
            }
            ArpStep::Find(mut lookup, packet) => {
                let (found, cost) = lookup.step(access);
                self.step = match found {
                    LookupStep::Pending => ArpStep::Find(lookup, packet),
                    LookupStep::Hop(way) => self.found(way, packet, access),
                    LookupStep::NoRoute => {
                        self.counts.given_up += 1;
                        ArpStep::Free(packet.buffer)
                    }
                };
                ("look up the next hop", NextAction::After(cost))
            }
            ArpStep::Take(number) => {
                let (handle, cost) = self.setup.sender.take(access);
                let neighbour = &self.neighbours.all()[number];
                let (port, wanted) = (neighbour.port, neighbour.address);
                let own = self.setup.ports.get(usize::from(port));
                let address = self.addresses.get(usize::from(port));
                if let (Some(handle), Some(own), Some(address)) = (handle, own, address) {
                    let frame = ArpMessage::request((own.mac, *address), wanted).to_frame();
                    self.step = ArpStep::Send(outgoing(handle, frame, port), OutgoingKind::Request);
                    ("take a buffer", NextAction::After(cost))
                } else {
                    // Another request is made when it is due.
                    self.counts.given_up += 1;
                    ("find no buffer", self.end_job(now, cost))
                }
            }
            ArpStep::Send(mut out, kind) => {
                let (doing, outcome, cost) = out.step(&self.setup.sender, access);
                match outcome {
                    SendOutcome::InProgress => {
                        self.step = ArpStep::Send(out, kind);
                        (doing, NextAction::After(cost))
                    }
                    SendOutcome::NoRoom => {
                        self.counts.given_up += 1;
                        self.step = ArpStep::Free(out.handle);
                        (doing, NextAction::After(cost))
                    }
                    SendOutcome::Sent => {
                        let counts = &mut self.counts;
                        *match kind {
                            OutgoingKind::Request => &mut counts.requests,
                            OutgoingKind::Reply => &mut counts.replies,
                            OutgoingKind::Packet => &mut counts.forwarded,
                        } += 1;
                        (doing, self.end_job(now, cost))
                    }
                }
            }
            ArpStep::Free(handle) => {
                let cost = self.setup.sender.free(handle, access);
                ("give a buffer back", self.end_job(now, cost))
            }
            ArpStep::Over => ("nothing", self.end_job(now, 0)),
        }
    }

    fn rows(&self, _memories: Memories<'_>) -> Vec<Row> {
        let next_hops = self.neighbours.all().len();
        vec![self.counts.row(next_hops, self.known())]
    }

    fn summary(&self, _memories: Memories<'_>) -> Vec<String> {
        let next_hops = self.neighbours.all().len();
        vec![self.counts.summary(next_hops, self.known())]
    }

    fn is_compatible_with(&self, saved: &Self) -> bool {
        self.setup == saved.setup
    }
}

const _: () = assert!(LINK_HEADER + HEADER <= HEADER_BYTES as usize);
