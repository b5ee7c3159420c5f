//! A processor with flat memory, for programs of a few words.

use npsim_arm::{
    Bus, ByteOrder, CoprocessorEffect, CoprocessorRegister, Cpu, Event, RunEnd, Size, Timing,
};

/// Longwords from address 0; accesses beyond them are refused, with their address.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    pub words: Vec<u32>,
    pub order: ByteOrder,
    /// Accesses from here on are refused for now.
    pub closed: u32,
    /// The cost of an access.
    pub cost: u32,
    /// A coprocessor register of the bus: coprocessor 15, c7, c0, 4.
    pub waits: bool,
}

impl Memory {
    fn longword(&mut self, address: u32) -> Result<&mut u32, u32> {
        if address >= self.closed {
            return Err(address);
        }
        self.words.get_mut(address as usize / 4).ok_or(address)
    }
}

impl Bus for Memory {
    type Refusal = u32;

    fn code(&mut self, address: u32) -> Result<u32, u32> {
        self.words.get(address as usize / 4).copied().ok_or(address)
    }

    fn begin_block(&mut self, address: u32, longwords: u32) -> Result<(), u32> {
        let last = address + 4 * (longwords - 1);
        if last >= self.closed {
            Err(last)
        } else {
            Ok(())
        }
    }

    fn read(&mut self, address: u32, size: Size) -> Result<(u32, u32), u32> {
        let (shift, mask) = self.order.lane(address, size);
        Ok((*self.longword(address)? >> shift & mask, self.cost))
    }

    fn write(&mut self, address: u32, size: Size, value: u32) -> Result<u32, u32> {
        let (shift, mask) = self.order.lane(address, size);
        let longword = self.longword(address)?;
        *longword = *longword & !(mask << shift) | (value & mask) << shift;
        Ok(self.cost)
    }

    fn coprocessor_write(
        &mut self,
        register: CoprocessorRegister,
        _: u32,
    ) -> Option<CoprocessorEffect> {
        let waits = CoprocessorRegister {
            coprocessor: 15,
            opcode1: 0,
            crn: 7,
            crm: 0,
            opcode2: 4,
        };
        (self.waits && register == waits).then_some(CoprocessorEffect::WaitForInterrupt)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    pub cpu: Cpu,
    pub memory: Memory,
}

/// Where programs begin.
pub const START: u32 = 0x100;

impl Machine {
    /// A program in ARM state at [`START`], in 4 KB of memory.
    pub fn new(program: &[u32]) -> Self {
        Self::with_order(program, ByteOrder::Big)
    }

    pub fn with_order(program: &[u32], order: ByteOrder) -> Self {
        let mut words = vec![0; 1024];
        let first = START as usize / 4;
        words[first..first + program.len()].copy_from_slice(program);
        Self {
            cpu: Cpu::new(START, order, Timing::XSCALE),
            memory: Memory {
                words,
                order,
                closed: u32::MAX,
                cost: 0,
                waits: false,
            },
        }
    }

    /// Executes an instruction; returns its cycles and event.
    pub fn step(&mut self) -> (u32, Option<Event>) {
        let step = self.cpu.step(&mut self.memory).unwrap();
        (step.cycles, step.event)
    }

    /// Executes the given number of instructions without events; returns the cycles of each.
    pub fn steps(&mut self, count: usize) -> Vec<u32> {
        (0..count)
            .map(|_| {
                let (cycles, event) = self.step();
                assert_eq!(event, None, "before {:#x}", self.cpu.pc());
                cycles
            })
            .collect()
    }

    pub fn run(&mut self, cycles: u64) -> (u64, RunEnd<u32>) {
        self.cpu.run(&mut self.memory, cycles)
    }
}
