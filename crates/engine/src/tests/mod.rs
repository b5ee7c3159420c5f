//! Tests of the whole microengine: programs of encoded instructions run against a fabric without
//! units.

mod branches;
mod checks;
mod commands;
mod contexts;
mod datapath;
mod indices;
mod loops;
mod stalls;

use npsim_image::Image;
use npsim_isa::{
    AluOp, Bank, CONTEXTS, ContextSet, CtxArb, ImmedShift, Instruction, Operand, encode,
};

use crate::Microengine;
use npsim_chip::Cycle;
use npsim_chip::core::{Core, Program};
use npsim_chip::kernel::check::{Check, Fault};
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::{BusCommand, Fabric};
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{EventKinds, TraceEvent};
use npsim_chip::units::Units;
use npsim_profile::Profile;

const NONE: Operand = Operand::None;

const fn a(n: u8) -> Operand {
    Operand::Gpr(Bank::A, n)
}

const fn b(n: u8) -> Operand {
    Operand::Gpr(Bank::B, n)
}

const fn k(value: u8) -> Operand {
    Operand::Constant(value)
}

const fn immed(dest: Operand, value: u16) -> Instruction {
    Instruction::Immed {
        dest,
        value,
        shift: ImmedShift::None,
        invert: false,
    }
}

const fn alu(dest: Operand, a: Operand, op: AluOp, b: Operand) -> Instruction {
    Instruction::Alu { op, dest, a, b }
}

const HALT: Instruction = arb(0, 0, true);

const fn arb(mask: u16, defer: u8, breakpoint: bool) -> Instruction {
    Instruction::CtxArb(CtxArb {
        mask,
        any: false,
        breakpoint,
        keep_mask: false,
        resume: None,
        defer,
    })
}

const KILL: Instruction = Instruction::CtxArb(CtxArb {
    mask: 0,
    any: true,
    breakpoint: false,
    keep_mask: false,
    resume: None,
    defer: 0,
});

/// Two instructions that load a longword.
fn load(dest: Operand, value: u32) -> [Instruction; 2] {
    [
        Instruction::ImmedWord {
            dest,
            word: 0,
            value: value as u16,
        },
        Instruction::ImmedWord {
            dest,
            word: 1,
            value: (value >> 16) as u16,
        },
    ]
}

/// The events that an observer saw.
#[derive(Default)]
struct Trace {
    instructions: Vec<(u8, u16, Cycle)>,
    commands: Vec<(BusCommand, Cycle)>,
}

impl Observer for Trace {
    fn see(&mut self, at: Cycle, what: &TraceEvent) {
        match *what {
            TraceEvent::Issued {
                context, pc, count, ..
            } => {
                for step in 0..count {
                    self.instructions
                        .push((context, pc + step, at + Cycle::from(step)));
                }
            }
            TraceEvent::Command { command, .. } => self.commands.push((command, at)),
            _ => {}
        }
    }
}

/// A test bench of microengines and a fabric without units.
struct Bench {
    fabric: Fabric,
    mes: Vec<Microengine>,
    trace: Trace,
}

impl Bench {
    /// Creates two microengines, the first of which has the program.
    fn new(program: &[Instruction]) -> Self {
        Self::of_image(&image(program))
    }

    fn of_image(image: &Image) -> Self {
        let profile = Profile::load("ixp2400").unwrap();
        let mut mes: Vec<_> = (0..profile.microengines())
            .map(|index| Microengine::new(index, &profile))
            .collect();
        mes[0].load(Program::new(image, &profile).unwrap());
        // Address operand of the memory commands.
        (0..CONTEXTS).for_each(|context| mes[0].write_register(a(15), context, 8));
        let mut fabric = Fabric::new(profile, Units::inlets);
        fabric.watch(EventKinds::ALL);
        Self {
            fabric,
            mes,
            trace: Trace::default(),
        }
    }

    fn load(&mut self, me: usize, program: &[Instruction]) {
        let program = Program::new(&image(program), &self.fabric.profile).unwrap();
        self.mes[me].load(program);
    }

    /// Runs context 0 of the first microengine until it stops.
    fn run(program: &[Instruction]) -> Self {
        let mut bench = Self::new(program);
        bench.start(1);
        assert_eq!(bench.until(1_000_000), None);
        bench
    }

    /// Starts contexts of the first microengine: bit c starts context c.
    fn start(&mut self, contexts: u16) {
        let contexts = ContextSet::from_bits(contexts);
        self.mes[0].start(contexts, &mut self.fabric);
    }

    /// Handles events before a cycle; stops at a fault.
    fn until(&mut self, until: Cycle) -> Option<Fault> {
        self.fabric.horizon = until;
        while self.fabric.events.next_time() < until {
            let (time, event) = self.fabric.events.pop().unwrap();
            self.fabric.now = time;
            let fabric = &mut self.fabric;
            match event {
                Event::CommandBus(cluster) => fabric.command_bus(cluster),
                Event::Microengine(me) => self.mes[me as usize].run(fabric),
                Event::Signal {
                    me,
                    context,
                    signal,
                    ..
                } => self.mes[me as usize].signal(context, 1 << signal, fabric),
                Event::StallOver(me) => self.mes[me as usize].stall_over(fabric),
                Event::Timer { me, context } => self.mes[me as usize].timer(context, fabric),
                Event::NnPut {
                    me,
                    index,
                    value,
                    ring,
                } => self.mes[me as usize].nn_put(index, value, ring, fabric),
                _ => {}
            }
            self.fabric.trace.flush(Cycle::MAX, &mut self.trace);
            if let Some(fault) = self.fabric.checks.fault() {
                return Some(fault.clone());
            }
        }
        self.fabric.now = self
            .fabric
            .now
            .max(until.min(self.fabric.events.next_time()).min(1 << 40));
        None
    }

    fn get(&self, operand: Operand) -> u32 {
        self.mes[0].read_register(operand, 0)
    }

    /// The cycles at which an address was executed.
    fn cycles(&self, pc: u16) -> Vec<Cycle> {
        self.trace
            .instructions
            .iter()
            .filter(|it| it.1 == pc)
            .map(|it| it.2)
            .collect()
    }

    fn allow(mut self, check: Check) -> Self {
        self.fabric.checks.allow(check);
        self
    }
}

fn image(program: &[Instruction]) -> Image {
    let words = program
        .iter()
        .map(|i| encode(i).unwrap_or_else(|error| panic!("{i}: {error}")))
        .collect();
    Image::from_words("test", words)
}
