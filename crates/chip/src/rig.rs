//! A test rig of the fabric and the units without microengines: it issues scripted commands and
//! records the times of their signals and data. A register file takes the place of each
//! microengine.

mod contention;
mod device;
mod dram_policies;
mod latency;
mod lateness;
mod semantics;

use std::collections::VecDeque;

use npsim_isa::{CommandOp, SignalRule, Unit};

use crate::Cycle;
use crate::kernel::event::Event;
use crate::kernel::fabric::{BusCommand, Fabric, Issue, TransferKind};
use crate::kernel::sideband::{InterruptLine, Interrupts, TransferRegisters};
use crate::units::msf::MediaSetup;
use crate::units::{UnitSurroundings, Units};
use npsim_profile::Profile;

/// The signal number used by rig commands.
pub const SIGNAL: u8 = 2;

/// An effect that a microengine would have seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    pub cycle: Cycle,
    /// The command's `pc`, which is its number in the test; 0 for a signal without a command.
    pub id: u16,
    pub me: u8,
    /// Signals raised.
    pub signals: u16,
    /// Data pushed.
    pub data: Vec<u32>,
    pub pull: bool,
}

/// Stands in for the microengines and the general-purpose core, which no command of the rig
/// reaches.
struct Absent;

impl TransferRegisters for Absent {
    fn release_registers(&mut self, _: u8, _: u8, _: u8) {}
}

impl Interrupts for Absent {
    fn interrupt(&mut self, _: InterruptLine, _: u8, _: &mut Fabric) {}
}

pub struct Rig {
    pub fabric: Fabric,
    pub units: Units,
    /// OUT registers by microengine and kind.
    pub out: Vec<[[u32; 128]; 2]>,
    pub notices: Vec<Notice>,
    /// Commands that each microengine issues as fast as they are accepted.
    pub work: Vec<VecDeque<(BusCommand, Vec<u32>)>>,
    /// Number of times that a microengine was held.
    pub held: u64,
}

/// A command as issued by microengine 0, context 0, with signal 2.
pub fn command(op: CommandOp, address: u32, count: u8) -> BusCommand {
    let info = op.info();
    let (pull_signals, push_signals) = match info.signals {
        SignalRule::None => (0, 0),
        SignalRule::PullPush => (1 << SIGNAL, 1 << (SIGNAL | 1)),
        SignalRule::PushOdd => (0, 1 << (SIGNAL | 1)),
        rule if info.pulls && !info.pushes => (rule.mask(SIGNAL), 0),
        rule => (0, rule.mask(SIGNAL)),
    };
    let kind = if info.unit == Unit::Dram {
        TransferKind::D
    } else {
        TransferKind::S
    };
    BusCommand {
        address,
        count,
        pull_signals,
        push_signals,
        ..BusCommand::blank(op, kind)
    }
}

impl Rig {
    pub fn new() -> Self {
        Self::with(Profile::load("ixp2400").unwrap())
    }

    pub fn with(profile: Profile) -> Self {
        let count = profile.microengines() as usize;
        Self {
            units: Units::new(&profile, &MediaSetup::default()),
            fabric: Fabric::new(profile, Units::inlets),
            out: vec![[[0; 128]; 2]; count],
            notices: Vec::new(),
            work: vec![VecDeque::new(); count],
            held: 0,
        }
    }

    /// Issues a command at a cycle, after handling everything before it.
    pub fn issue(&mut self, at: Cycle, command: BusCommand) -> Issue {
        self.run_until(at);
        self.fabric.now = at;
        self.fabric.issue(at, &command)
    }

    /// Issues a command on an idle chip with `data` in its OUT registers and runs until all is
    /// quiet. Returns the notices.
    pub fn run_command(&mut self, command: BusCommand, data: &[u32]) -> Vec<Notice> {
        self.run();
        let start = (self.fabric.now + 1000).next_multiple_of(2);
        self.out[command.transfer_me as usize][command.transfer_kind as usize]
            [command.transfer as usize..][..data.len()]
            .copy_from_slice(data);
        assert!(matches!(self.issue(start, command), Issue::Accepted(_)));
        let before = self.notices.len();
        self.run();
        let mut notices = self.notices.split_off(before);
        for notice in &mut notices {
            notice.cycle -= start;
        }
        notices
    }

    /// Returns the data that a command pushes on an idle chip.
    pub fn fetch(&mut self, command: BusCommand, data: &[u32]) -> Vec<u32> {
        self.run_command(command, data)
            .pop()
            .expect("a notice")
            .data
    }

    /// Lets microengines issue their work from now on.
    pub fn start_work(&mut self) {
        for me in 0..self.work.len() {
            self.fabric
                .events
                .post(self.fabric.now, Event::Microengine(me as u8));
        }
    }

    pub fn run(&mut self) {
        self.run_until(Cycle::MAX);
    }

    pub fn run_until(&mut self, until: Cycle) {
        while self.fabric.events.next_time() < until {
            let (time, event) = self.fabric.events.pop().unwrap();
            self.fabric.now = time;
            self.handle(event);
        }
    }

    fn handle(&mut self, event: Event) {
        let fabric = &mut self.fabric;
        match event {
            Event::CommandBus(cluster) => fabric.command_bus(cluster),
            Event::Arrive(slot) => self.units.arrive(slot, fabric),
            Event::Ready(slot) => {
                let outside = UnitSurroundings {
                    registers: &mut Absent,
                    core: &mut Absent,
                };
                self.units.ready(slot, fabric, outside);
            }
            Event::Turn(target) => self.units.turn(target, fabric),
            Event::Pull(slot, _) => {
                let (command, words) = (
                    fabric.flight(slot).command,
                    fabric.flight(slot).words as usize,
                );
                let registers =
                    &self.out[command.transfer_me as usize][command.transfer_kind as usize];
                let first = command.transfer as usize;
                fabric.flight_mut(slot).data[..words]
                    .copy_from_slice(&registers[first..first + words]);
                let (cycle, signals) = (fabric.now, command.pull_signals);
                self.notices.push(Notice {
                    cycle,
                    id: command.pc,
                    me: command.transfer_me,
                    signals,
                    data: Vec::new(),
                    pull: true,
                });
                self.units.pulled(slot, fabric);
            }
            Event::Push(slot, _) => {
                let flight = fabric.flight(slot);
                let (command, data) = (
                    flight.command,
                    flight.data[..flight.words as usize].to_vec(),
                );
                let (cycle, signals) = (fabric.now, command.push_signals);
                self.notices.push(Notice {
                    cycle,
                    id: command.pc,
                    me: command.transfer_me,
                    signals,
                    data,
                    pull: false,
                });
                fabric.retire(slot);
            }
            Event::Signal { me, signal, .. } => {
                let cycle = fabric.now;
                self.notices.push(Notice {
                    cycle,
                    id: 0,
                    me,
                    signals: 1 << signal,
                    data: Vec::new(),
                    pull: false,
                });
            }
            Event::Microengine(me) => self.offer(me),
            event => panic!("the rig has no receiver of {event:?}"),
        }
    }

    fn offer(&mut self, me: u8) {
        let Some((command, data)) = self.work[me as usize].front().cloned() else {
            return;
        };
        let now = self.fabric.now;
        match self.fabric.issue(now, &command) {
            Issue::Accepted(_) => {
                self.out[me as usize][command.transfer_kind as usize][command.transfer as usize..]
                    [..data.len()]
                    .copy_from_slice(&data);
                self.work[me as usize].pop_front();
                self.fabric.events.post(now + 1, Event::Microengine(me));
            }
            Issue::Held => self.held += 1,
        }
    }
}
