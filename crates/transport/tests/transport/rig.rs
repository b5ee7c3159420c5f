//! Two hosts and the path between them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use npsim_transport::time::{MILLISECOND, SECOND, Time};
use npsim_transport::wire::{Flags, FlowEnds, Packet};
use npsim_transport::{
    ConnectionPhase, HostParameters, Receiver, ReceiverParameters, Scheme, Sender,
    SenderParameters, Supply,
};

/// The effect of a path on a packet in addition to its delay: one copy arrives for each element,
/// later by that time.
pub type Fate = Vec<Time>;

/// Decides on each packet of a direction, by its number from 0 on.
pub type Fates = dyn FnMut(u64, &Packet) -> Fate;

/// A function that may change a packet in flight.
pub type Router = dyn FnMut(Time, &mut Packet);

/// The usual outcome.
pub fn arrives() -> Fate {
    vec![0]
}

/// A line with a queue before it.
pub struct Line {
    /// Bytes per second.
    pub rate: u64,
    /// The maximum number of waiting packets, including the one on the line.
    pub limit: usize,
    departures: std::collections::VecDeque<Time>,
    free_at: Time,
}

impl Line {
    pub fn new(rate: u64, limit: usize) -> Self {
        Self {
            rate,
            limit,
            departures: std::collections::VecDeque::new(),
            free_at: 0,
        }
    }

    /// The time at which a packet of `bytes` has left; `None` if there is no room.
    fn pass(&mut self, now: Time, bytes: usize) -> Option<Time> {
        while self.departures.front().is_some_and(|&at| at <= now) {
            self.departures.pop_front();
        }
        if self.departures.len() >= self.limit {
            return None;
        }
        let takes = bytes as u128 * u128::from(SECOND) / u128::from(self.rate);
        self.free_at = self.free_at.max(now) + takes as Time;
        self.departures.push_back(self.free_at);
        Some(self.free_at)
    }

    /// The number of waiting packets, including the one on the line.
    pub fn waiting(&self, now: Time) -> usize {
        self.departures.iter().filter(|&&at| at > now).count()
    }
}

/// One direction.
pub struct Path {
    pub delay: Time,
    pub line: Option<Line>,
    pub fate: Box<Fates>,
    pub router: Box<Router>,
    count: u64,
}

impl Path {
    pub fn new(delay: Time) -> Self {
        Self {
            delay,
            line: None,
            fate: Box::new(|_, _| arrives()),
            router: Box::new(|_, _| {}),
            count: 0,
        }
    }
}

/// A segment with data, or the FIN, that the sender sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sent {
    pub at: Time,
    /// Number of the segment in the stream, from 0 on.
    pub number: u64,
}

pub struct Rig {
    pub sender: Sender,
    pub receiver: Receiver,
    pub now: Time,
    pub forward: Path,
    pub backward: Path,
    /// Segments with data in the order in which they were sent.
    pub sent: Vec<Sent>,
    /// Packets of the receiver, with their times.
    pub answers: Vec<(Time, Packet)>,
    /// All packets of the sender.
    pub packets: Vec<(Time, Packet)>,
    /// Whether packets and segments are kept; long runs have too many.
    pub keeps: bool,
    pub delivered: u64,
    pub dropped: u64,
    pub copies: u64,
    flying: BinaryHeap<Reverse<(Time, u64, bool)>>,
    cargo: std::collections::HashMap<u64, Packet>,
    serial: u64,
    initial: u32,
    mss: u64,
}

pub const RTT: Time = 100 * MILLISECOND;

pub fn ends() -> FlowEnds {
    FlowEnds {
        source: [10, 0, 0, 1].into(),
        destination: [10, 1, 0, 1].into(),
        source_port: 1024,
        destination_port: 5001,
    }
}

/// Segments of 1000 bytes in packets of 1040, so that numbers are easy to read; a first window of one
/// segment.
pub fn host() -> HostParameters {
    HostParameters {
        mss: 1000,
        initial_window: 1,
        ..HostParameters::default()
    }
}

impl Rig {
    pub fn new(host: HostParameters, scheme: Scheme, supply: Supply) -> Self {
        Self::with_receiver(host, host, scheme, supply)
    }

    pub fn with_receiver(
        host: HostParameters,
        receiver: HostParameters,
        scheme: Scheme,
        supply: Supply,
    ) -> Self {
        let sender = SenderParameters {
            host,
            scheme,
            ends: ends(),
            supply,
            seed: 1,
        };
        let receiver = ReceiverParameters {
            host: receiver,
            ends: ends().reversed(),
            reads_at_once: true,
            xcp_option: None,
            seed: 2,
        };
        Self::of(&sender, &receiver)
    }

    pub fn of(sender: &SenderParameters, receiver: &ReceiverParameters) -> Self {
        Self {
            sender: Sender::new(sender),
            receiver: Receiver::new(receiver),
            now: 0,
            forward: Path::new(RTT / 2),
            backward: Path::new(RTT / 2),
            sent: Vec::new(),
            answers: Vec::new(),
            packets: Vec::new(),
            keeps: true,
            delivered: 0,
            dropped: 0,
            copies: 0,
            flying: BinaryHeap::new(),
            cargo: std::collections::HashMap::new(),
            serial: 0,
            initial: 0,
            mss: u64::from(sender.host.mss),
        }
    }

    pub fn open(&mut self) {
        let mut out = Vec::new();
        self.sender.open(self.now, &mut out);
        self.send(true, out);
    }

    /// Drops the first transmission of each of these segments.
    pub fn drop_once(&mut self, segments: &[u64]) {
        let times: Vec<_> = segments.iter().map(|&segment| (segment, 1)).collect();
        self.drop_times(&times);
    }

    /// Drops the given number of transmissions of each of these segments.
    pub fn drop_times(&mut self, segments: &[(u64, u32)]) {
        let mut left: Vec<(u64, u32)> = segments.to_vec();
        let mut initial = (!self.packets.is_empty()).then_some(self.initial);
        let mss = self.mss as u32;
        self.forward.fate = Box::new(move |_, packet| {
            let segment = packet.segment().expect("TCP");
            if segment.flags.has(Flags::SYN) {
                initial = Some(segment.sequence);
            }
            let offset = segment
                .sequence
                .wrapping_sub(initial.unwrap_or(0))
                .wrapping_sub(1);
            let number = u64::from(offset / mss);
            let hit = left
                .iter_mut()
                .find(|(wanted, times)| segment.payload > 0 && *wanted == number && *times > 0);
            match hit {
                Some((_, times)) => {
                    *times -= 1;
                    Vec::new()
                }
                None => arrives(),
            }
        });
    }

    pub fn send(&mut self, forward: bool, packets: Vec<Packet>) {
        for packet in packets {
            self.record_packet(forward, &packet);
            let path = if forward {
                &mut self.forward
            } else {
                &mut self.backward
            };
            let mut packet = packet;
            (path.router)(self.now, &mut packet);
            let fate = (path.fate)(path.count, &packet);
            path.count += 1;
            let left = match &mut path.line {
                _ if fate.is_empty() => None,
                None => Some(self.now),
                Some(line) => line.pass(self.now, packet.length()),
            };
            let Some(left) = left else {
                self.dropped += 1;
                continue;
            };
            self.copies += fate.len() as u64 - 1;
            let arrival = left + path.delay;
            for later in fate {
                self.serial += 1;
                self.flying
                    .push(Reverse((arrival + later, self.serial, forward)));
                self.cargo.insert(self.serial, packet);
            }
        }
    }

    fn record_packet(&mut self, forward: bool, packet: &Packet) {
        let segment = *packet.segment().expect("TCP");
        if !self.keeps {
            return;
        }
        if !forward {
            self.answers.push((self.now, *packet));
            return;
        }
        self.packets.push((self.now, *packet));
        if segment.flags.has(Flags::SYN) {
            self.initial = segment.sequence;
        } else if segment.payload > 0 {
            let offset = segment.sequence.wrapping_sub(self.initial).wrapping_sub(1);
            self.sent.push(Sent {
                at: self.now,
                number: u64::from(offset) / self.mss,
            });
        }
    }

    /// The time of the next event.
    pub fn next_at(&self) -> Option<Time> {
        let packet = self.flying.peek().map(|Reverse((at, ..))| *at);
        let times = [packet, self.sender.wake_at(), self.receiver.wake_at()];
        times.into_iter().flatten().min()
    }

    /// Processes the next event; returns `false` if there is none.
    pub fn step(&mut self) -> bool {
        let Some(at) = self.next_at() else {
            return false;
        };
        assert!(at >= self.now, "time goes on: {at} after {}", self.now);
        self.now = at;
        let mut out = Vec::new();
        match self.flying.peek() {
            Some(&Reverse((time, serial, forward))) if time == at => {
                self.flying.pop();
                let packet = self.cargo.remove(&serial).expect("it flies");
                self.delivered += 1;
                if forward {
                    self.receiver.receive(at, &packet, &mut out);
                } else {
                    self.sender.receive(at, &packet, &mut out);
                }
                self.send(!forward, out);
            }
            _ => {
                self.sender.wake(at, &mut out);
                self.send(true, std::mem::take(&mut out));
                self.receiver.wake(at, &mut out);
                self.send(false, out);
            }
        }
        true
    }

    pub fn run_until(&mut self, end: Time) {
        while self.next_at().is_some_and(|at| at <= end) {
            self.step();
        }
        self.now = self.now.max(end);
    }

    /// Runs until no events are left; panics if that takes too long.
    pub fn run(&mut self) {
        for _ in 0..5_000_000 {
            if !self.step() {
                return;
            }
        }
        panic!("no end: {:?}", self.sender.view());
    }

    pub fn flying(&self) -> u64 {
        self.flying.len() as u64
    }

    /// Numbers of the segments sent, in order.
    pub fn numbers(&self) -> Vec<u64> {
        self.sent.iter().map(|sent| sent.number).collect()
    }

    /// Numbers of the segments that were sent more than once, in the order of the later transmissions.
    pub fn repeated(&self) -> Vec<u64> {
        let mut seen = std::collections::HashSet::new();
        let again = |sent: &&Sent| !seen.insert(sent.number);
        self.sent
            .iter()
            .filter(again)
            .map(|sent| sent.number)
            .collect()
    }

    /// Transmissions of a segment.
    pub fn times_of(&self, number: u64) -> Vec<Time> {
        let of = self.sent.iter().filter(|sent| sent.number == number);
        of.map(|sent| sent.at).collect()
    }

    /// Segments sent in the n-th round trip after the handshake, from 1 on.
    pub fn round(&self, n: u64) -> Vec<u64> {
        let of = self.sent.iter().filter(|sent| sent.at / RTT == n);
        of.map(|sent| sent.number).collect()
    }

    /// Asserts that the transfer of `bytes` is complete and both ends closed.
    pub fn assert_done(&self, bytes: u64) {
        assert_eq!(self.receiver.counters().received, bytes);
        assert_eq!(self.sender.counters().acknowledged, bytes);
        assert_eq!(self.sender.view().phase, ConnectionPhase::Closed);
        assert_eq!(
            self.receiver.phase(),
            npsim_transport::ReceiverPhase::Closed
        );
    }
}
