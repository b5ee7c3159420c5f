//! The media interface driven by hand: fake lines, and a fake thread that takes
//! every mpacket.

mod incoming;
mod outgoing;
mod spi4;

use std::collections::VecDeque;

use npsim_isa::{CommandOp, msf_csr};

use super::*;
use crate::kernel::event::Event;
use crate::kernel::fabric::{BusCommand, CommandId, TransferKind};
use crate::kernel::port_io::{Arrival, Departure, MediaDrop, PacketTag};
use crate::kernel::sideband::TransferRegisters;
use crate::kernel::unit::Unit;
use crate::units::Units;

const GIGABIT: u64 = 1_000_000_000;

/// Start, end, port, bytes, frame.
type Departed = (Cycle, Cycle, u8, Vec<u8>, Option<u64>);

#[derive(Default)]
struct FakeLines {
    arrivals: VecDeque<Arrival>,
    departed: Vec<Departed>,
    dropped: Vec<(Cycle, u8, Option<u64>, MediaDrop)>,
}

impl PortIo for FakeLines {
    fn next_arrival(&mut self) -> Option<Arrival> {
        self.arrivals.pop_front()
    }

    fn departed(&mut self, d: Departure<'_>) {
        self.departed
            .push((d.start, d.end, d.port, d.bytes.to_vec(), d.frame));
    }

    fn dropped(&mut self, cycle: Cycle, port: u8, frame: Option<u64>, reason: MediaDrop) {
        self.dropped.push((cycle, port, frame, reason));
    }
}

/// An mpacket that reached a thread.
#[derive(Clone, Debug)]
struct Mpacket {
    at: Cycle,
    status: u32,
    bytes: Vec<u8>,
    tag: PacketTag,
}

/// The bench has no transfer registers to guard.
struct NoRegisters;

impl TransferRegisters for NoRegisters {
    fn release_registers(&mut self, _: u8, _: u8, _: u8) {}
}

struct Bench {
    msf: Msf,
    fabric: Fabric,
    lines: FakeLines,
    pull_data: VecDeque<Vec<u32>>,
    received: Vec<Mpacket>,
    read: Vec<Vec<u32>>,
}

impl Bench {
    fn new(ports: usize, element_size: u16) -> Self {
        Self::on("ixp2400-plain", ports, element_size)
    }

    fn on(board: &str, ports: usize, element_size: u16) -> Self {
        let profile = Profile::load_board(board).unwrap();
        let port = PortSetup {
            bits_per_second: GIGABIT,
        };
        let setup = MediaSetup {
            ports: &vec![port; ports],
            element_size,
            transmit_element_size: 0,
        };
        Self {
            msf: Msf::new(&profile, &setup),
            fabric: Fabric::new(profile, Units::inlets),
            lines: FakeLines::default(),
            pull_data: VecDeque::new(),
            received: Vec::new(),
            read: Vec::new(),
        }
    }

    /// Frames of these sizes back to back on a gigabit port.
    fn offer(&mut self, port: u8, sizes: &[usize]) {
        let mut bit = 0_u64;
        for (frame, &size) in sizes.iter().enumerate() {
            let start = (bit * 3).div_ceil(5);
            let end = ((bit + 8 * (size as u64 + 12)) * 3).div_ceil(5);
            bit += 8 * (size as u64 + 24);
            let bytes = (0..size).map(|i| (i + frame) as u8).collect();
            self.lines.arrivals.push_back(Arrival {
                start,
                end,
                port,
                bytes,
                frame: frame as u64,
            });
        }
    }

    fn command(&mut self, op: CommandOp, address: u32, count: u8) {
        let command = BusCommand {
            op,
            me: 1,
            context: 2,
            pc: 7,
            address,
            count,
            transfer_me: 1,
            transfer: 32,
            transfer_kind: TransferKind::S,
            signal_context: 2,
            pull_signals: 0,
            push_signals: 0,
            byte_mask: 0xff,
            immediate: None,
            indirect: None,
        };
        let slot = self.fabric.open(command);
        self.msf.arrive(slot, &mut self.fabric);
    }

    fn fast_write(&mut self, register: u16, data: u32) {
        self.command(CommandOp::MsfFastWr, data << 16 | u32::from(register), 1);
    }

    fn write(&mut self, address: u32, words: &[u32]) {
        self.pull_data.push_back(words.to_vec());
        self.command(CommandOp::MsfWrite, address, words.len() as u8);
    }

    fn enlist(&mut self) {
        // Signal 1, cluster 0, microengine 1, context 2, register 0.
        self.fast_write(msf_csr::RX_THREAD_FREELIST_0, 1 << 12 | 1 << 7 | 2 << 4);
    }

    fn pushed(&mut self, slot: CommandId) {
        let flight = self.fabric.flight(slot);
        let (command, data, words) = (flight.command, flight.data, flight.words as usize);
        self.fabric.retire(slot);
        if command.push_signals == 0 {
            self.read.push(data[..words].to_vec());
            return;
        }
        assert_eq!(
            (
                command.me,
                command.context,
                command.push_signals,
                command.transfer
            ),
            (1, 2, 2, 32)
        );
        let status = data[0];
        let size = match self.fabric.profile.media() {
            MediaBus::Spi3 => u32::from(self.msf.element_bytes()),
            MediaBus::Spi4 => 64,
        };
        let length = match status >> 16 & 0xff {
            0 => 256,
            n => n as usize,
        };
        let mut words = vec![0; length.div_ceil(4)];
        let mut tag = PacketTag::default();
        if status & receive::NULL_STATUS == 0 {
            tag = self
                .msf
                .read_window(DATA_WINDOW + (status >> 24 & 0x7f) * size, &mut words)
                .unwrap();
        }
        let bytes = words
            .iter()
            .flat_map(|w| w.to_be_bytes())
            .take(length)
            .collect();
        self.received.push(Mpacket {
            at: self.fabric.now,
            status,
            bytes,
            tag,
        });
    }

    fn step(&mut self) -> bool {
        self.msf.refill(&mut self.fabric, &mut self.lines);
        let Some((time, event)) = self.fabric.events.pop() else {
            return false;
        };
        self.fabric.now = time;
        match event {
            Event::Media(code) => {
                self.msf.event(code, &mut self.fabric, &mut self.lines);
            }
            Event::Ready(slot) => self.msf.ready(slot, &mut self.fabric, &mut NoRegisters),
            Event::Push(slot, _) => self.pushed(slot),
            Event::Pull(slot, _) => {
                let words = self.pull_data.pop_front().unwrap();
                self.fabric.flight_mut(slot).data[..words.len()].copy_from_slice(&words);
                self.msf.pulled(slot, &mut self.fabric);
            }
            Event::Turn(target) => self.msf.turn(target.channel(), &mut self.fabric),
            other => panic!("{other:?}"),
        }
        true
    }

    fn run(&mut self) {
        while self.step() {}
    }

    /// Runs with a thread that frees each element at once and enlists again.
    fn drain(&mut self) {
        self.enlist();
        let mut seen = 0;
        while self.step() {
            if self.received.len() > seen {
                seen = self.received.len();
                let element = self.received[seen - 1].status >> 24;
                self.fast_write(msf_csr::RBUF_ELEMENT_DONE, element);
                self.enlist();
            }
        }
    }

    fn fault(&self) -> String {
        self.fabric
            .checks
            .fault()
            .map(|f| f.message.clone())
            .unwrap_or_default()
    }
}
