//! Changes to the chip, after which the run takes a different course.

use npsim_chip::chip::Chip;
use npsim_image::TransferDirection as Side;
use npsim_isa::Operand;

use crate::breakpoints::Edit;
use crate::debugger::Debugger;
use crate::error::DebugError;
use crate::expression::{Expression, Lvalue};
use crate::names::Memory;
use crate::thread::Thread;

impl Debugger {
    /// Sets a register or a longword at the present point. Everything recorded about later times is
    /// forgotten.
    ///
    /// # Errors
    /// Returns an error if the expression does not name anything that can be written from outside.
    pub fn set(&mut self, text: &str, value: u32, thread: Thread) -> Result<(), DebugError> {
        self.can_change()?;
        let expression: Expression = text.parse()?;
        let scope = self.scope(thread);
        let refused = |what: &str| Err(DebugError::new(format!("{what} cannot be written")));
        match expression.location(&scope)? {
            Lvalue::Signal(_) => refused("signals"),
            Lvalue::Register(_, Side::Write) => refused("OUT transfer registers"),
            Lvalue::Register(
                operand @ (Operand::Gpr(..)
                | Operand::GprAbsolute(..)
                | Operand::STransfer(_)
                | Operand::DTransfer(_)
                | Operand::Nn(_)),
                side,
            ) => {
                let location = Lvalue::Register(operand, side);
                let edit = self.edit(location, thread, value);
                self.change(vec![edit], |chip| {
                    if let Some(core) = chip.microengine_mut(thread.me) {
                        core.write_register(operand, thread.context, value);
                    }
                });
                Ok(())
            }
            Lvalue::Register(..) => refused("this register"),
            Lvalue::Word(memory, address) => {
                let edit = self.edit(Lvalue::Word(memory, address), thread, value);
                self.change(vec![edit], |chip| {
                    put(chip, memory, address, value, thread.me);
                });
                Ok(())
            }
        }
    }

    /// Checks that the chip can be changed: within a job of the core, only a copy is shown, from
    /// which no run continues.
    fn can_change(&self) -> Result<(), DebugError> {
        if self.timeline().moment().core().is_none() {
            return Ok(());
        }
        Err(
            DebugError::new("nothing can be changed in the middle of a job of the core")
                .help("go to a cycle: `goto +1` goes past the job"),
        )
    }

    /// A change that is about to be made at the present point.
    fn edit(&self, location: Lvalue, thread: Thread, value: u32) -> Edit {
        let scope = self.scope(thread);
        let before = match location {
            Lvalue::Word(memory, address) => scope.word(memory, address),
            Lvalue::Register(operand, side) => scope.register(operand, side),
            Lvalue::Signal(_) => Ok(0),
        };
        Edit {
            cycle: self.cycle(),
            location,
            thread,
            before: before.unwrap_or(0),
            value,
        }
    }

    /// Writes longwords of a memory from a byte address on.
    ///
    /// # Errors
    /// Returns an error if there is no memory at an address; nothing is written
    /// then.
    pub fn write(
        &mut self,
        memory: Memory,
        address: u32,
        words: &[u32],
        thread: Thread,
    ) -> Result<(), DebugError> {
        self.can_change()?;
        let scope = self.scope(thread);
        for at in 0..words.len() as u32 {
            scope.word(memory, address.saturating_add(4 * at))?;
        }
        let edits = (0..).zip(words).map(|(at, word)| {
            let location = Lvalue::Word(memory, address + 4 * at);
            self.edit(location, thread, *word)
        });
        let edits = edits.collect();
        // A single change, since each keeps a state of the chip.
        self.change(edits, |chip| {
            for (at, word) in (0..).zip(words) {
                put(chip, memory, address + 4 * at, *word, thread.me);
            }
        });
        Ok(())
    }
}

/// Writes a longword of a memory; local memory is that of microengine `me`.
fn put(chip: &mut Chip, memory: Memory, address: u32, value: u32, me: u8) {
    let units = chip.units_mut();
    match memory {
        Memory::Scratch => {
            units.scratch.write(address, value);
        }
        Memory::Sram(channel) => {
            let address = u32::from(channel) << 30 | address;
            units.sram.write_word(address, value);
        }
        Memory::Dram => {
            units.dram.write_word(address, value);
        }
        Memory::Local => {
            let core = chip.microengine_mut(me);
            let words = core.map(npsim_chip::core::Core::local_memory_mut);
            if let Some(word) = words.and_then(|it| it.get_mut(address as usize / 4)) {
                *word = value;
            }
        }
    }
}
