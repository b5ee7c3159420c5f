//! A shipped router on a chip, and single frames through it.

use npsim::engine::ENGINE;
use npsim::project::{Overrides, Project};
use npsim::simulation::{RunSettings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::gpp::exceptions::Exceptions;
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop, PortIo};
use npsim_protocols::checksum;

use npsim_systems::names::value;
use npsim_systems::project::{assembled, load};
use npsim_testkit::microcode::shipped;

/// Cycles that a router takes to start.
const START: Cycle = 30_000;
/// Cycles after a frame within which its processing ends.
const REST: Cycle = 1_000;
/// Cycles after which a frame counts as lost.
const LOSS_TIMEOUT: Cycle = 60_000;
/// Cycles per byte at a gigabit per second, and slightly more.
const BYTE: Cycle = 5;
/// The maximum number of threads with their own counters.
pub const THREADS: u32 = 64;

/// An Ethernet header before an IPv4 packet.
const ETHERNET: [u8; 14] = [2, 0, 0x5e, 0, 0, 0, 2, 0, 0x5e, 0x10, 0, 0, 8, 0];
/// The shortest frame.
const MIN_FRAME: usize = 60;

/// A router that is ready.
#[derive(Clone)]
pub struct Bench {
    chip: Chip,
    project: Project,
}

/// The outcome of packets.
#[derive(Debug, PartialEq, Eq)]
pub enum Fate {
    /// The packet left by this port with these bytes.
    Left(u8, Vec<u8>),
    /// The slow path got the packet for this reason, with the bytes that it reads unchanged.
    Exception(String),
    Lost,
}

struct OneLine {
    arrivals: std::vec::IntoIter<Arrival>,
    left: Vec<(u64, u8, Vec<u8>)>,
}

impl PortIo for OneLine {
    fn next_arrival(&mut self) -> Option<Arrival> {
        self.arrivals.next()
    }

    fn departed(&mut self, departure: Departure<'_>) {
        let frame = departure.frame.unwrap();
        self.left
            .push((frame, departure.port, departure.bytes.to_vec()));
    }

    fn dropped(&mut self, _: Cycle, _: u8, _: Option<u64>, _: MediaDrop) {}
}

/// Bytes written as hexadecimal digits.
pub fn bytes(digits: &str) -> Vec<u8> {
    assert!(digits.len().is_multiple_of(2));
    let pair = |at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap();
    (0..digits.len()).step_by(2).map(pair).collect()
}

impl Bench {
    /// A project of the shipped microcode with settings as by `--set`.
    pub fn new(project: &str, set: &[&str]) -> Self {
        let overrides = Overrides {
            set: set.iter().map(|text| text.parse().unwrap()).collect(),
            ..Overrides::default()
        };
        let project = load(&shipped().join(project), &overrides);
        let programs = assembled(&project);
        let simulation = Simulation::new(&project, &programs, RunSettings::new(ENGINE)).unwrap();
        let mut bench = Self {
            chip: simulation.chip().clone(),
            project,
        };
        bench.pass(&[]);
        bench
    }

    fn address(&self, name: &str, word: u32) -> u32 {
        value(&self.project, name) + 4 * word
    }

    /// A longword of a memory in scratch or, for the coprocessor, in SRAM.
    pub fn word(&self, name: &str, word: u32) -> u32 {
        let at = self.address(name, word);
        if name.starts_with("FEEDBACK") {
            self.chip.units().sram.read_word(at).unwrap()
        } else {
            self.chip.units().scratch.read(at).unwrap()
        }
    }

    pub fn set(&mut self, name: &str, word: u32, value: u32) {
        let at = self.address(name, word);
        let done = if name.starts_with("FEEDBACK") {
            self.chip.units_mut().sram.write_word(at, value)
        } else {
            self.chip.units_mut().scratch.write(at, value)
        };
        assert!(done, "{name} {word}");
    }

    fn exceptions(&self) -> Vec<(String, u64)> {
        let task = self.chip.gpp().task::<Exceptions>().unwrap();
        task.by_reason().collect()
    }

    /// Sends packets in at port 0, each after the one before has left, and returns their outcomes.
    pub fn pass(&mut self, packets: &[Vec<u8>]) -> Vec<Fate> {
        let mut fates = Vec::new();
        let start = self.chip.now().max(START);
        self.run(
            start,
            &mut OneLine {
                arrivals: Vec::new().into_iter(),
                left: Vec::new(),
            },
        );
        for packet in packets {
            let now = self.chip.now();
            let mut frame = ETHERNET.to_vec();
            frame.extend(packet);
            frame.resize(frame.len().max(MIN_FRAME), 0);
            let long = BYTE * frame.len() as Cycle;
            let end = now + 10 + long;
            let arrival = Arrival {
                start: now + 10,
                end,
                port: 0,
                bytes: frame.clone(),
                frame: 0,
            };
            let mut lines = OneLine {
                arrivals: vec![arrival].into_iter(),
                left: Vec::new(),
            };
            let before = self.exceptions();
            self.run(end, &mut lines);
            while lines.left.is_empty()
                && self.exceptions() == before
                && self.chip.now() < end + LOSS_TIMEOUT
            {
                self.run(self.chip.now() + REST, &mut lines);
            }
            self.run(self.chip.now() + REST, &mut lines);
            let after = self.exceptions();
            let reason = after.into_iter().find(|reason| !before.contains(reason));
            fates.push(match (lines.left.pop(), reason) {
                (Some((_, port, out)), None) => {
                    assert!(lines.left.is_empty(), "a packet left twice");
                    assert_eq!(out.len(), frame.len());
                    assert_eq!(out[12..14], ETHERNET[12..]);
                    let end = ETHERNET.len() + packet.len();
                    Fate::Left(port, out[ETHERNET.len()..end].to_vec())
                }
                (None, Some((reason, _))) => {
                    let task = self.chip.gpp().task::<Exceptions>().unwrap();
                    let header = &task.last().unwrap().header;
                    let looked = header.len().min(frame.len());
                    assert!(looked >= ETHERNET.len() + 28, "{looked}");
                    assert_eq!(header[..looked], frame[..looked]);
                    Fate::Exception(reason)
                }
                (None, None) => Fate::Lost,
                both => panic!("{both:?}"),
            });
        }
        fates
    }

    fn run(&mut self, until: Cycle, lines: &mut OneLine) {
        match self.chip.run(until, lines, &mut NoObserver) {
            Stop::Reached => {}
            stop => panic!("{stop:?}"),
        }
    }
}

/// A packet with this header, followed by as many bytes as its total length requires.
pub fn packet(header: &str) -> Vec<u8> {
    filled(bytes(header))
}

/// A packet without options from 10.0.0.1 to 10.1.0.2, with `payload` and then arbitrary bytes
/// after its header.
pub fn of_protocol(protocol: u8, ttl: u8, size: u16, payload: &[u8]) -> Vec<u8> {
    let mut packet = bytes("4500000012344000000000000a0000010a010002");
    packet[2..4].copy_from_slice(&size.to_be_bytes());
    packet[8] = ttl;
    packet[9] = protocol;
    let sum = checksum::of_ipv4(&packet);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet.extend(payload);
    filled(packet)
}

fn filled(mut packet: Vec<u8>) -> Vec<u8> {
    let total = usize::from(u16::from_be_bytes([packet[2], packet[3]]));
    let known = packet.len();
    assert!(known <= total);
    packet.extend((known..total).map(|at| at as u8));
    packet
}
