//! Detection of timestamp readings that are used only to compute times for timers.
//!
//! A context that waits for a time reads the timestamp, adds to it and writes the sum to its future
//! count. What it then does depends on how long it waits and not on the absolute time, so such a
//! reading does not prevent a chip from repeating a period ([`npsim_chip::periodic_skip`]). Any
//! other use of a reading may: a comparison, a branch, a value that goes to memory. The uses are
//! determined from the program alone, by following everything derived from the value along all
//! possible paths of control.

use npsim_isa::{
    Access, AluOp, Bank, Context, FlowClass, Instruction, Leaves, Operand, OperandRole, csr,
};

use crate::registers::{A, B, SINK, SLOTS};
use npsim_chip::core::{DecodedWord, Program};

/// The purpose of each reading in a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    /// Addresses of the readings that are used for timers alone.
    readings: Vec<u16>,
    /// For each address, the registers that may hold a value derived from such a reading there, as
    /// in [`Traces`]. Their values can only become the time of a timer.
    registers: Vec<u64>,
    /// Whether such a value is written to no register at all.
    sink: bool,
}

/// The places that may hold a value derived from the timestamp at an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Traces {
    /// Context-relative general-purpose registers, those of bank B from bit 32 on.
    registers: u64,
    /// The condition codes.
    codes: bool,
    /// The A operand and the result of the previous instruction.
    previous: bool,
}

impl Traces {
    fn is_empty(self) -> bool {
        self == Self::default()
    }

    fn join(self, other: Self) -> Self {
        Self {
            registers: self.registers | other.registers,
            codes: self.codes || other.codes,
            previous: self.previous || other.previous,
        }
    }
}

/// The value is used for something other than a timer.
struct Escapes;

/// The analysis of a program for one reading.
struct ReadingFollower<'a> {
    words: &'a [DecodedWord],
    /// Number of registers of a context per bank.
    limit: u8,
    /// The traces that may exist before each address.
    before: Vec<Traces>,
    /// Addresses from which to continue.
    open: Vec<usize>,
    /// All registers that have held the value.
    touched: u64,
    sink: bool,
}

impl Timers {
    /// Analyses a program whose contexts have `limit` registers per bank.
    ///
    /// Each reading is followed separately, and one that escapes (`Escapes`, or a register that
    /// others access by its absolute number) is left out entirely. `registers` then joins what the
    /// remaining readings may have left at each address. Wrongly leaving out a reading costs speed;
    /// wrongly accepting one would let `periodic_skip.rs` of the chip skip time in which the
    /// program behaves differently.
    pub fn of(program: &Program, limit: u8) -> Self {
        let mut timers = Self::default();
        let words = program.words();
        if words.iter().any(invalidates_analysis) {
            return timers;
        }
        for (address, word) in words.iter().enumerate() {
            let Ok(Instruction::LocalCsrRead { csr }) = word else {
                continue;
            };
            // After the last defer slot, the value would be taken by an instruction elsewhere.
            let deferred = program.is_defer_slot(address) || program.is_defer_slot(address + 1);
            if *csr != csr::TIMESTAMP_LOW || deferred {
                continue;
            }
            let mut follow = ReadingFollower {
                words,
                limit,
                before: vec![Traces::default(); words.len() + 1],
                open: Vec::new(),
                touched: 0,
                sink: false,
            };
            if follow.reading(address).is_ok() && !follow.is_shared() {
                timers.readings.push(address as u16);
                timers.registers.resize(words.len() + 1, 0);
                for (all, before) in timers.registers.iter_mut().zip(&follow.before) {
                    *all |= before.registers;
                }
                timers.sink |= follow.sink;
            }
        }
        timers
    }

    /// Whether the reading at an address is used for timers alone.
    pub fn is_timer_only_reading(&self, address: u16) -> bool {
        self.readings.binary_search(&address).is_ok()
    }

    /// The registers of the flat file that hold nothing but times for timers, given the address at
    /// which each context continues: bit r of the words stands for register r. `None` if the
    /// program has no such reading.
    pub fn registers(
        &self,
        contexts: impl Iterator<Item = (Context, u16)>,
    ) -> Option<[u64; SLOTS / 64]> {
        if self.readings.is_empty() {
            return None;
        }
        let mut registers = [0; SLOTS / 64];
        let mut mark = |slot: usize| registers[slot / 64] |= 1 << (slot % 64);
        if self.sink {
            mark(usize::from(SINK));
        }
        for (context, address) in contexts {
            let traces = self.registers.get(usize::from(address));
            let traces = traces.copied().unwrap_or(0);
            for bit in (0..64).filter(|bit| traces >> bit & 1 == 1) {
                let bank = if bit < 32 { A } else { B };
                mark(usize::from(bank) + usize::from(context.register_base()) + bit % 32);
            }
        }
        Some(registers)
    }
}

/// Whether an instruction may invalidate the assumptions made here about control flow and condition
/// codes.
fn invalidates_analysis(word: &DecodedWord) -> bool {
    matches!(
        word,
        Ok(Instruction::LocalCsrWrite {
            csr: csr::CC_ENABLE | csr::CTX_ENABLES | csr::INDIRECT_CTX_STS,
            ..
        })
    )
}

impl ReadingFollower<'_> {
    /// Follows the value of the reading at an address.
    fn reading(&mut self, address: usize) -> Result<(), Escapes> {
        // The register of a reading is named by the `immed` after it.
        let Some(Ok(Instruction::Immed { dest, .. })) = self.words.get(address + 1) else {
            return Err(Escapes);
        };
        let traces = self.written(Traces::default(), *dest)?;
        let traces = Traces {
            previous: true,
            ..traces
        };
        self.flow_to(address + 2, traces);
        while let Some(at) = self.open.pop() {
            self.step(at)?;
        }
        Ok(())
    }

    /// Records that control may reach an address with these traces.
    fn flow_to(&mut self, address: usize, traces: Traces) {
        let Some(before) = self.before.get_mut(address) else {
            return;
        };
        let joined = before.join(traces);
        if joined != *before {
            *before = joined;
            self.open.push(address);
        }
    }

    /// Follows one instruction to everything that may come after it.
    fn step(&mut self, at: usize) -> Result<(), Escapes> {
        let Some(Ok(instruction)) = self.words.get(at) else {
            return Ok(());
        };
        let after = self.through(instruction, self.before[at])?;
        let flow = instruction.form().flow;
        let swaps = instruction.swaps();
        if flow == FlowClass::Next || flow == FlowClass::Command && !swaps {
            self.flow_to(at + 1, after);
            return Ok(());
        }
        // When control leaves, it has passed through the defer slots.
        let slots = usize::from(instruction.defer());
        let mut left = after;
        for slot in 1..=slots {
            if let Some(Ok(instruction)) = self.words.get(at + slot) {
                left = self.through(instruction, left)?;
            }
        }
        if flow == FlowClass::Jump {
            (0..=self.words.len()).for_each(|to| self.flow_to(to, left));
            return Ok(());
        }
        if let Some(target) = instruction.target() {
            self.flow_to(usize::from(target), left);
        }
        if swaps {
            if instruction.target().is_none() {
                self.flow_to(at + 1 + slots, left);
            }
            // Codes and previous operands belong to no context: whichever context continues sees
            // them.
            let shared = Traces {
                registers: 0,
                ..left
            };
            if !shared.is_empty() {
                self.all_resume(shared);
            }
        } else if flow != FlowClass::Branch {
            self.flow_to(at + 1, after);
        }
        Ok(())
    }

    /// Propagates traces to all addresses at which a context can continue after a swap.
    fn all_resume(&mut self, traces: Traces) {
        self.flow_to(0, traces);
        for at in 0..self.words.len() {
            if let Ok(instruction) = &self.words[at]
                && instruction.swaps()
            {
                let next = at + 1 + usize::from(instruction.defer());
                let target = instruction.target().map_or(next, usize::from);
                self.flow_to(target, traces);
            }
        }
    }

    /// Whether any context can access the registers by their absolute numbers.
    fn is_shared(&self) -> bool {
        let touched = Traces {
            registers: self.touched,
            ..Traces::default()
        };
        self.words.iter().any(|word| {
            let Ok(instruction) = word else {
                return false;
            };
            let mut operands = instruction.register_operands();
            operands.any(|(_, operand)| {
                matches!(operand, Operand::GprAbsolute(..)) && self.has(touched, operand)
            })
        })
    }

    /// The traces after an instruction, given those before it.
    fn through(&mut self, instruction: &Instruction, before: Traces) -> Result<Traces, Escapes> {
        if before.codes && instruction.reads_codes()
            || before.previous && instruction.takes().is_some()
        {
            return Err(Escapes);
        }
        let mut reads = false;
        let mut dest = Operand::None;
        for (role, operand) in instruction.register_operands() {
            let access = instruction.form().operand(role).map(|info| info.access);
            if role == OperandRole::Dest {
                dest = operand;
            }
            reads |= access != Some(Access::Write) && self.has(before, operand);
        }
        if reads {
            return self.derived(instruction, before);
        }
        let mut after = before;
        if instruction.sets_codes() {
            after.codes = false;
        }
        match instruction.form().leaves {
            Leaves::Nothing | Leaves::OperandA => {}
            Leaves::Result | Leaves::Zero => after.previous = false,
        }
        if let Some(bit) = self.bit(dest) {
            after.registers &= !bit;
        }
        Ok(after)
    }

    /// [`Self::through`] for an instruction that reads the value: it either contributes to a
    /// timer's time, or the value escapes.
    fn derived(&mut self, instruction: &Instruction, before: Traces) -> Result<Traces, Escapes> {
        match *instruction {
            Instruction::LocalCsrWrite { csr, .. } if csr == csr::ACTIVE_CTX_FUTURE_COUNT => {
                Ok(before)
            }
            Instruction::Alu { op, dest, a, b } => {
                let (from_a, from_b) = (self.has(before, a), self.has(before, b));
                let shifts_alone = match op {
                    AluOp::Add => from_a != from_b,
                    AluOp::Sub => from_a && !from_b,
                    AluOp::B => from_b,
                    _ => false,
                };
                if !shifts_alone {
                    return Err(Escapes);
                }
                let after = self.written(before, dest)?;
                Ok(Traces {
                    codes: true,
                    previous: true,
                    ..after
                })
            }
            _ => Err(Escapes),
        }
    }

    /// The traces after the value has been written to an operand.
    fn written(&mut self, before: Traces, dest: Operand) -> Result<Traces, Escapes> {
        if dest == Operand::None {
            self.sink = true;
            return Ok(before);
        }
        let bit = self.bit(dest).ok_or(Escapes)?;
        self.touched |= bit;
        Ok(Traces {
            registers: before.registers | bit,
            ..before
        })
    }

    /// The bit of a context-relative general-purpose register.
    fn bit(&self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Gpr(Bank::A, n) => Some(1 << (n % self.limit)),
            Operand::Gpr(Bank::B, n) => Some(1 << (32 + n % self.limit)),
            _ => None,
        }
    }

    /// Whether an operand may hold the value; an absolute register may belong to any context.
    fn has(&self, traces: Traces, operand: Operand) -> bool {
        let relative = match operand {
            Operand::GprAbsolute(bank, n) => Operand::Gpr(bank, n % self.limit),
            other => other,
        };
        self.bit(relative)
            .is_some_and(|bit| traces.registers & bit != 0)
    }
}
