//! ICMP on the slow path: packets that the task `exceptions` takes off its ring are answered in
//! their own buffers.
//!
//! A packet about which no message may be sent, or for which no token is left in the bucket, is
//! refused and handled as if there were no such task. For others, the core decides and makes
//! the message (`reply_work`), reads the part of the packet that it needs, looks up the route,
//! and writes and sends the message and its descriptor. An echo request is read completely for
//! its checksum; only the headers of the reply are written, since the rest is already in the
//! buffer.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use npsim_chip::Cycle;
use npsim_chip::gpp::exceptions::Exception;
use npsim_chip::gpp::lookup::{Lookup, LookupStep, TablePlace};
use npsim_chip::gpp::packets::{Descriptor, PacketSender, reason};
use npsim_chip::gpp::{Access, LoadError, Memories, NextAction, Start, Task};
use npsim_chip::kernel::row::Row;
use serde::{Deserialize, Serialize};

use super::TokenBucket;
use super::datagram::{Datagram, HEADER, ICMP, LINK_HEADER, UDP};
use super::message::{self, ECHO_REQUEST, IcmpError, IpHeaderFields, MESSAGE_HEADER};
use super::rules::{self, RouterInterface};
use crate::job::own_addresses;
use crate::routed_reply::{ReplyOutcome, RoutedReply};

/// Maximum number of packets waiting for the task; more are refused.
const MAX_WAITING: usize = 64;

/// The microcode's reason codes that the task answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReasonCodes {
    /// The time to live has expired.
    pub ttl: Option<u8>,
    /// The packet is for the router itself.
    pub local: Option<u8>,
    /// There is no route.
    pub no_route: Option<u8>,
    /// The packet is larger than the next hop's MTU.
    pub too_big: Option<u8>,
}

/// Configuration of the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IcmpSetup {
    /// Buffers and the ring to the microengines.
    pub sender: PacketSender,
    /// The reasons for which packets are answered.
    pub reasons: ReasonCodes,
    /// The interfaces of each port: one, or one per router of a chain.
    pub ports: Vec<Vec<RouterInterface>>,
    /// The routing table.
    pub table: TablePlace,
    /// Time to live of the router's messages.
    pub ttl: u8,
    /// Average cycles between error messages.
    pub interval: Cycle,
    /// Maximum burst of error messages.
    pub burst: u32,
}

/// The kind of answer to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum IcmpAnswer {
    Error(IcmpError),
    /// An error message that includes the link's MTU, which must be looked up first.
    TooBig,
    Echo,
}

impl IcmpAnswer {
    /// Number of bytes of the packet that are needed to make it.
    fn bytes_needed(self, about: &Datagram<'_>) -> usize {
        match self {
            Self::Echo => about.length(),
            Self::Error(_) | Self::TooBig => message::quoted(about),
        }
    }
}

/// Counters of the task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct IcmpCounts {
    /// Messages that a time to live expired.
    pub time_exceeded: u64,
    /// Messages that a destination is unreachable, other than `too_big`.
    pub unreachable: u64,
    /// Messages that a packet is too big and must not be fragmented.
    pub too_big: u64,
    /// Answers to echo requests.
    pub echo_replies: u64,
    /// Packets that must not be answered.
    pub silent: u64,
    /// Packets not answered because of the rate limit or a full queue.
    pub limited: u64,
    /// Answers abandoned for lack of a route or of room, or because the request was broken.
    pub given_up: u64,
}

impl IcmpCounts {
    /// Messages sent.
    #[must_use]
    pub const fn sent(&self) -> u64 {
        self.time_exceeded + self.unreachable + self.too_big + self.echo_replies
    }
}

/// A packet that is being answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct IcmpJob {
    packet: Exception,
    answer: IcmpAnswer,
    /// The bytes of the packet that its answer needs.
    frame: Vec<u8>,
    reply: Option<RoutedReply>,
}

/// The next step of the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum IcmpStep {
    Begin,
    Read,
    Limit(Lookup),
    Reply,
}

/// The ICMP task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Icmp {
    setup: IcmpSetup,
    /// The networks of this router, by port.
    networks: Vec<RouterInterface>,
    limit: TokenBucket,
    waiting: VecDeque<(Exception, IcmpAnswer)>,
    job: Option<IcmpJob>,
    step: IcmpStep,
    identification: u16,
    counts: IcmpCounts,
    /// Messages handed on to another task.
    handed_on: u64,
}

impl Icmp {
    /// Creates the task.
    #[must_use]
    pub fn new(setup: IcmpSetup) -> Self {
        Self {
            networks: Vec::new(),
            limit: TokenBucket::new(setup.interval, setup.burst),
            waiting: VecDeque::new(),
            job: None,
            step: IcmpStep::Begin,
            identification: 0,
            counts: IcmpCounts::default(),
            handed_on: 0,
            setup,
        }
    }

    /// The configuration.
    #[must_use]
    pub const fn setup(&self) -> &IcmpSetup {
        &self.setup
    }

    /// The counters.
    #[must_use]
    pub const fn counts(&self) -> &IcmpCounts {
        &self.counts
    }

    /// The answer that a packet calls for, if any.
    fn answer(&self, code: u8, packet: &Datagram<'_>) -> Option<IcmpAnswer> {
        let is = |wanted: Option<u8>| wanted == Some(code);
        let reasons = &self.setup.reasons;
        let trouble = if is(reasons.ttl) || code == reason::EXPIRED {
            IcmpError::TimeExceeded
        } else if is(reasons.no_route) {
            IcmpError::NetUnreachable
        } else if code == reason::NO_HOST {
            IcmpError::HostUnreachable
        } else if is(reasons.too_big) || code == reason::TOO_BIG {
            // The MTU is looked up later. A packet that may be fragmented ends here, since the
            // router does not fragment.
            return packet.dont_fragment().then_some(IcmpAnswer::TooBig);
        } else if is(reasons.local) {
            match packet.protocol() {
                ICMP => {
                    let asked = packet.payload().first() == Some(&ECHO_REQUEST);
                    return asked.then_some(IcmpAnswer::Echo);
                }
                UDP => IcmpError::PortUnreachable,
                _ => IcmpError::ProtocolUnreachable,
            }
        } else {
            return None;
        };
        Some(IcmpAnswer::Error(trouble))
    }

    /// The address of the port on which a packet arrived.
    fn address(&self, packet: &Exception) -> Option<Ipv4Addr> {
        let port = Descriptor::of(packet).input as usize;
        self.networks.get(port).map(|network| network.address)
    }

    fn header_fields(&mut self, source: Ipv4Addr) -> IpHeaderFields {
        self.identification = self.identification.wrapping_add(1);
        IpHeaderFields {
            source,
            ttl: self.setup.ttl,
            identification: self.identification,
        }
    }

    /// Makes the answer from the packet's bytes, which include all that it needs.
    fn make(&mut self, frame: &[u8]) -> Option<Vec<u8>> {
        let job = self.job.as_ref()?;
        let packet = Datagram::from_frame(frame)?;
        match job.answer {
            IcmpAnswer::TooBig => None,
            IcmpAnswer::Error(trouble) => {
                let source = self.address(&job.packet)?;
                Some(message::error(trouble, &packet, self.header_fields(source)))
            }
            IcmpAnswer::Echo => {
                let IpHeaderFields {
                    ttl,
                    identification,
                    ..
                } = self.header_fields(packet.destination());
                message::echo_reply(&packet, ttl, identification)
            }
        }
    }

    /// Makes the message from the packet's bytes, which include all that it needs, and returns
    /// the next step.
    fn resume(&mut self, frame: Vec<u8>) -> IcmpStep {
        let table = self.setup.table;
        let ends = Datagram::from_frame(&frame)
            .map(|packet| (packet.source().to_bits(), packet.destination().to_bits()));
        let is_too_big = |job: &IcmpJob| job.answer == IcmpAnswer::TooBig;
        if let Some((_, to)) = ends
            && let Some(job) = self.job.as_mut().filter(|job| is_too_big(job))
        {
            job.frame = frame;
            return IcmpStep::Limit(Lookup::new(table, to));
        }
        let made = ends.and_then(|(from, _)| Some((self.make(&frame)?, from)));
        if let Some(job) = &mut self.job {
            let packet = job.packet.clone();
            // After a header without options, the rest of an echo message stays in place.
            let in_place = job.answer == IcmpAnswer::Echo && packet.header[LINK_HEADER] & 0xf == 5;
            job.reply = Some(match made {
                None => RoutedReply::none(packet),
                Some((made, to)) if in_place => RoutedReply::new(packet, &made, to, table)
                    .writing(LINK_HEADER + HEADER + MESSAGE_HEADER),
                Some((made, to)) => RoutedReply::new(packet, &made, to, table),
            });
        }
        IcmpStep::Reply
    }

    /// The MTU was not found: ends the packet.
    fn give_up(&mut self) -> IcmpStep {
        if let Some(job) = &mut self.job {
            job.reply = Some(RoutedReply::none(job.packet.clone()));
        }
        IcmpStep::Reply
    }

    /// Makes the message now that the link's MTU is known.
    fn resume_with_mtu(&mut self, mtu: u16) -> IcmpStep {
        let Some(job) = &mut self.job else {
            return IcmpStep::Reply;
        };
        job.answer = IcmpAnswer::Error(IcmpError::TooBig { mtu });
        let frame = std::mem::take(&mut job.frame);
        self.resume(frame)
    }

    /// The buffer of the packet that is being answered.
    fn handle(&self) -> u32 {
        self.job.as_ref().map_or(0, |job| job.packet.buffer)
    }

    /// Begins with the packet that has waited longest.
    fn begin(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        let Some((packet, answer)) = self.waiting.pop_front() else {
            let next = NextAction::Wait { cost: 0, due: None };
            return ("nothing", next);
        };
        let header = packet.header.clone();
        let about = Datagram::from_frame(&header);
        let needed = about.map_or(0, |about| LINK_HEADER + answer.bytes_needed(&about));
        self.job = Some(IcmpJob {
            packet,
            answer,
            frame: Vec::new(),
            reply: None,
        });
        self.step = if needed > header.len() {
            IcmpStep::Read
        } else {
            self.resume(header)
        };
        ("make the message", NextAction::After(access.costs().reply))
    }

    /// Reads the part of the packet that the message needs beyond its first bytes.
    fn read_rest(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        let now = access.now();
        let handle = self.handle();
        let Some(job) = &self.job else {
            return ("nothing", self.ends(now, 0));
        };
        // The first bytes have already been read.
        let known = job.packet.header.len();
        let mut frame = job.packet.header.clone();
        let about = Datagram::from_frame(&frame);
        let needed = about.map_or(0, |about| LINK_HEADER + job.answer.bytes_needed(&about));
        let more = needed.saturating_sub(known) as u32;
        let (bytes, cost) = self.setup.sender.read(handle, known as u32, more, access);
        frame.extend_from_slice(&bytes);
        self.step = self.resume(frame);
        ("read the rest of the packet", NextAction::After(cost))
    }

    /// Makes the next access of the reply.
    fn reply(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        let now = access.now();
        let Some(IcmpJob {
            answer,
            reply: Some(reply),
            ..
        }) = &mut self.job
        else {
            return ("nothing", self.ends(now, 0));
        };
        let answer = *answer;
        let (doing, outcome, cost) = reply.step(&self.setup.sender, access);
        match outcome {
            ReplyOutcome::InProgress => return (doing, NextAction::After(cost)),
            ReplyOutcome::GivenUp => self.counts.given_up += 1,
            ReplyOutcome::Sent => self.count(answer),
            ReplyOutcome::Delegated => {
                self.handed_on += 1;
                self.count(answer);
            }
        }
        (doing, self.ends(now, cost))
    }

    fn count(&mut self, answer: IcmpAnswer) {
        let counts = &mut self.counts;
        *match answer {
            IcmpAnswer::Echo => &mut counts.echo_replies,
            IcmpAnswer::Error(IcmpError::TimeExceeded) => &mut counts.time_exceeded,
            IcmpAnswer::TooBig | IcmpAnswer::Error(IcmpError::TooBig { .. }) => &mut counts.too_big,
            IcmpAnswer::Error(_) => &mut counts.unreachable,
        } += 1;
    }

    /// Ends the job.
    fn ends(&mut self, now: Cycle, cost: Cycle) -> NextAction {
        self.job = None;
        self.step = IcmpStep::Begin;
        NextAction::next_packet(now, cost, !self.waiting.is_empty())
    }
}

impl Task for Icmp {
    fn name(&self) -> &'static str {
        "icmp"
    }

    fn prepare(&mut self, start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        self.networks = own_addresses("icmp", self.setup.ports.iter(), start)?;
        Ok(Some(1))
    }

    fn is_timer(&self) -> bool {
        false
    }

    fn polls(&self) -> bool {
        false
    }

    fn held_buffers(&self) -> Vec<u32> {
        let waiting = self.waiting.iter().map(|(packet, _)| packet.buffer);
        let job = self.job.iter().map(|job| job.packet.buffer);
        waiting.chain(job).collect()
    }

    fn made(&self) -> u64 {
        self.counts.sent() - self.handed_on
    }

    fn offer(&mut self, packet: &Exception, now: Cycle) -> bool {
        let Some(datagram) = Datagram::from_frame(&packet.header) else {
            return false;
        };
        let Some(answer) = self.answer(packet.reason, &datagram) else {
            return false;
        };
        let silent = match answer {
            IcmpAnswer::Error(_) | IcmpAnswer::TooBig => {
                rules::suppress_reason(&datagram, &self.networks).is_some()
            }
            IcmpAnswer::Echo => !rules::is_host(datagram.source(), &self.networks),
        };
        if silent || self.address(packet).is_none() {
            self.counts.silent += 1;
            return false;
        }
        let full = self.waiting.len() >= MAX_WAITING;
        if full || answer != IcmpAnswer::Echo && !self.limit.take(now) {
            self.counts.limited += 1;
            return false;
        }
        self.waiting.push_back((packet.clone(), answer));
        true
    }

    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        match self.step {
            IcmpStep::Begin => self.begin(access),
            IcmpStep::Read => self.read_rest(access),
            IcmpStep::Limit(mut lookup) => {
                let (found, cost) = lookup.step(access);
                self.step = match found {
                    LookupStep::Pending => IcmpStep::Limit(lookup),
                    LookupStep::NoRoute => self.give_up(),
                    LookupStep::Hop(way) => self.resume_with_mtu(way.mtu()),
                };
                ("look up the link's limit", NextAction::After(cost))
            }
            IcmpStep::Reply => self.reply(access),
        }
    }

    fn rows(&self, _memories: Memories<'_>) -> Vec<Row> {
        vec![self.counts.row()]
    }

    fn summary(&self, _memories: Memories<'_>) -> Vec<String> {
        vec![self.counts.summary()]
    }

    fn is_compatible_with(&self, saved: &Self) -> bool {
        self.setup == saved.setup
    }
}
