//! The pacing system on a chip: frames that arrive at given cycles, and the actions of its stages.

use std::collections::VecDeque;
use std::path::Path;

use npsim::engine::ENGINE;
use npsim::project::{Overrides, Project};
use npsim::simulation::{RunSettings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop, PortIo};
use npsim_chip::kernel::trace_event::TraceEvent;
use npsim_isa::CommandOp;
use npsim_protocols::checksum;

use npsim_systems::names;
use npsim_systems::project::{assembled, load};
use npsim_testkit::microcode::shipped;

/// Cycles per step of the timestamp.
pub const STEP: Cycle = 16;
/// Cycles per byte at a gigabit per second, in tenths.
const BYTE_TENTHS: Cycle = 48;
/// Bytes of a frame on the line besides those that arrivals carry: check sequence, preamble, gap.
const LINE_OVERHEAD: usize = 24;

/// The flows of most tests: UDP from 10.0.0.2 to 10.1.0.2, source ports from this one on.
pub const FIRST_PORT: u16 = 1024;
const SOURCE: [u8; 4] = [10, 0, 0, 2];
const DESTINATION: [u8; 4] = [10, 1, 0, 2];

/// A pacing system that is ready.
pub struct Bench {
    pub project: Project,
    pub chip: Chip,
    pub seen: Seen,
}

/// The actions of the stages.
#[derive(Default)]
pub struct Seen {
    /// Microengines of the pacer and the wheel; where the records are.
    pacer: u8,
    wheel: u8,
    records: std::ops::Range<u32>,
    /// Flow and cycle of each reading of a record for a packet, in order.
    pub paced: Vec<(u32, Cycle)>,
    /// Cycle of each packet that the wheel handed to the transmit stage.
    pub released: Vec<Cycle>,
    /// Instructions that the wheel issued.
    pub wheel_instructions: u64,
    /// Issue slots that it aborted.
    pub wheel_aborted: u64,
    /// Memory commands of the wheel.
    pub wheel_commands: u64,
}

impl Observer for Seen {
    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        match *event {
            TraceEvent::Command { command, .. } => {
                let record = command.op == CommandOp::SramRead
                    && command.me == self.pacer
                    && self.records.contains(&command.address);
                let place = command.address.wrapping_sub(self.records.start);
                if record && place % 64 == 0 {
                    self.paced.push((place / 64, at));
                }
                if command.me == self.wheel {
                    self.wheel_commands += 1;
                    if command.op == CommandOp::ScratchPut {
                        self.released.push(at);
                    }
                }
            }
            TraceEvent::Issued { me, count, .. } if me == self.wheel => {
                self.wheel_instructions += u64::from(count);
            }
            TraceEvent::Aborted { me, slots, .. } if me == self.wheel => {
                self.wheel_aborted += slots;
            }
            _ => {}
        }
    }
}

/// Frames to arrive, and those that left: number of the arrival, port, first bit, bytes.
#[derive(Default)]
pub struct Traffic {
    pub arrivals: VecDeque<Arrival>,
    pub left: Vec<(u64, u8, Cycle, Vec<u8>)>,
}

impl PortIo for Traffic {
    fn next_arrival(&mut self) -> Option<Arrival> {
        self.arrivals.pop_front()
    }

    fn departed(&mut self, departure: Departure<'_>) {
        let frame = departure.frame.unwrap();
        let bytes = departure.bytes.to_vec();
        self.left
            .push((frame, departure.port, departure.start, bytes));
    }

    fn dropped(&mut self, at: Cycle, port: u8, frame: Option<u64>, why: MediaDrop) {
        panic!("frame {frame:?} dropped at {at} on port {port}: {why:?}");
    }
}

impl Bench {
    /// The shipped system with additions to its project file. `[[flow]]` and `[[gpp.srp.class]]` replace the shipped
    /// ones.
    pub fn new(more: &str, set: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("npsim.toml");
        let extends = shipped().canonicalize().unwrap().join("pacing");
        let text = format!("extends = '{}'\n{more}", extends.display());
        std::fs::write(&file, text).unwrap();
        Self::of(&file, set)
    }

    fn of(file: &Path, set: &[&str]) -> Self {
        let overrides = Overrides {
            set: set.iter().map(|text| text.parse().unwrap()).collect(),
            ..Overrides::default()
        };
        let project = load(file, &overrides);
        let programs = assembled(&project);
        let simulation = Simulation::new(&project, &programs, RunSettings::new(ENGINE)).unwrap();
        let chip = simulation.chip().clone();
        let records = names::value(&project, "FLOW_RECORDS");
        let size = names::value(&project, "FLOW_RECORDS_SIZE");
        let seen = Seen {
            pacer: names::value(&project, "PACER_FIRST") as u8,
            wheel: names::value(&project, "WHEEL_FIRST") as u8,
            records: records..records + size,
            ..Seen::default()
        };
        Self {
            project,
            chip,
            seen,
        }
    }

    /// A longword of a flow's record.
    pub fn record(&self, flow: u32, byte: u32) -> u32 {
        let at = names::value(&self.project, "FLOW_RECORDS") + flow * 64 + byte;
        self.chip.units().sram.read_word(at).unwrap()
    }

    /// Writes a longword of a flow's record, as the core does.
    pub fn set_record(&mut self, flow: u32, byte: u32, value: u32) {
        let at = names::value(&self.project, "FLOW_RECORDS") + flow * 64 + byte;
        assert!(self.chip.units_mut().sram.write_word(at, value));
    }

    /// A counter in scratch.
    pub fn counter(&self, name: &str) -> u32 {
        let at = names::value(&self.project, name);
        self.chip.units().scratch.read(at).unwrap()
    }

    /// Runs to a cycle.
    pub fn run(&mut self, until: Cycle, traffic: &mut Traffic) {
        match self.chip.run(until, traffic, &mut self.seen) {
            Stop::Reached => {}
            stop => panic!("{stop:?}"),
        }
    }
}

/// A UDP frame of `size` bytes without check sequence of flow `number` of those from [`FIRST_PORT`] on,
/// from 1.
pub fn udp(number: u32, size: usize) -> Vec<u8> {
    let port = FIRST_PORT + number as u16 - 1;
    let mut payload = port.to_be_bytes().to_vec();
    payload.extend(5001_u16.to_be_bytes());
    payload.extend([0, 0, 0, 0]);
    frame(SOURCE, DESTINATION, 17, &payload, size - 14)
}

/// A frame with an IPv4 packet of `total` bytes whose payload begins with `payload`.
pub fn frame(
    source: [u8; 4],
    destination: [u8; 4],
    protocol: u8,
    payload: &[u8],
    total: usize,
) -> Vec<u8> {
    let mut frame = vec![2, 0, 0x5e, 0, 0, 0, 2, 0, 0x5e, 0x10, 0, 0, 8, 0];
    let size = (total + 14).max(60);
    let total = total as u16;
    let mut header = vec![0x45, 0];
    header.extend(total.to_be_bytes());
    header.extend([0, 0, 0, 0, 64, protocol, 0, 0]);
    header.extend(source);
    header.extend(destination);
    let sum = checksum::of_ipv4(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    frame.extend(header);
    frame.extend(payload);
    frame.resize(size, 0);
    frame
}

/// Frames that arrive on port 0, each no earlier than its cycle and no earlier than the line
/// allows.
pub fn arrivals(frames: impl IntoIterator<Item = (Cycle, Vec<u8>)>) -> Traffic {
    let mut free = 0;
    let mut traffic = Traffic::default();
    for (frame, (at, bytes)) in (0..).zip(frames) {
        let start = at.max(free);
        let end = start + (bytes.len() + LINE_OVERHEAD - 12) as Cycle * BYTE_TENTHS / 10;
        free = end + 12 * BYTE_TENTHS / 10 + 1;
        traffic.arrivals.push_back(Arrival {
            start,
            end,
            port: 0,
            bytes,
            frame,
        });
    }
    traffic
}
