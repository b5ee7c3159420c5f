//! Reading of operands and writing of results.

use npsim_chip::kernel::fabric::Fabric;
use npsim_isa::{Bank, IndexStep, Operand};

use crate::state::FileName;
use crate::{Reference, Stop};

/// What an operand currently refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OperandPlace {
    Register(FileName, usize),
    LocalMemory {
        pointer: usize,
        word: usize,
    },
    /// The head of this microengine's next-neighbour ring, or the neighbour's ring.
    Ring,
    /// A register of the neighbour.
    Neighbour(u8),
    Constant(u32),
    Nothing,
}

impl Reference {
    /// Resolves an operand; as a source, a transfer register is one of the IN registers, as a
    /// destination one of the OUT registers. Index modifications are recorded.
    fn place(&mut self, operand: Operand, incoming: bool) -> OperandPlace {
        let (s, d) = if incoming {
            (FileName::SIn, FileName::DIn)
        } else {
            (FileName::SOut, FileName::DOut)
        };
        let own = |n| self.state.absolute(self.state.running, n);
        match operand {
            Operand::Gpr(Bank::A, n) => OperandPlace::Register(FileName::A, own(n)),
            Operand::Gpr(Bank::B, n) => OperandPlace::Register(FileName::B, own(n)),
            Operand::GprAbsolute(Bank::A, n) => {
                OperandPlace::Register(FileName::A, (n & 127).into())
            }
            Operand::GprAbsolute(Bank::B, n) => {
                OperandPlace::Register(FileName::B, (n & 127).into())
            }
            Operand::STransfer(n) => OperandPlace::Register(s, own(n)),
            Operand::DTransfer(n) => OperandPlace::Register(d, own(n)),
            Operand::SIndexed(step) => OperandPlace::Register(s, self.indexed(step)),
            Operand::DIndexed(step) => OperandPlace::Register(d, self.indexed(step)),
            Operand::LocalMemory { pointer, offset } => self.local(pointer, offset.into()),
            Operand::LocalMemoryStep { pointer, step } => {
                self.steps.pointers[usize::from(pointer & 1)] = by(step);
                self.local(pointer, 0)
            }
            Operand::Nn(n) if incoming => OperandPlace::Register(FileName::Neighbour, own(n)),
            Operand::Nn(n) => OperandPlace::Neighbour(own(n) as u8),
            Operand::NnRing => {
                self.steps.ring |= incoming;
                OperandPlace::Ring
            }
            Operand::NnPeek => OperandPlace::Ring,
            Operand::Constant(value) => OperandPlace::Constant(value.into()),
            Operand::None => OperandPlace::Nothing,
        }
    }

    fn local(&self, pointer: u8, offset: u32) -> OperandPlace {
        let pointer = usize::from(pointer & 1);
        let word = (self.state.pointers[pointer] | offset) & 1023;
        OperandPlace::LocalMemory {
            pointer,
            word: word as usize,
        }
    }

    fn indexed(&mut self, step: IndexStep) -> usize {
        if step != IndexStep::Keep {
            self.steps.transfer_index = by(step);
        }
        (self.state.transfer_index & 127) as usize
    }

    fn check_local(&self, pointer: usize, word: usize, fabric: &mut Fabric) -> Result<(), Stop> {
        self.check_pointer(pointer, fabric)?;
        let words = self.state.local_memory.len();
        if word < words {
            return Ok(());
        }
        let message =
            format!("*l$index{pointer} points to local memory word {word}, but there are {words}");
        Err(self.fatal_fault(message, fabric))
    }

    /// Reads a source.
    pub(crate) fn read(&mut self, operand: Operand, fabric: &mut Fabric) -> Result<u32, Stop> {
        Ok(match self.place(operand, true) {
            OperandPlace::Register(file, register) => {
                self.check_unowned(file, register, fabric)?;
                self.check_written(file, register, fabric)?;
                self.state.file(file).values[register]
            }
            OperandPlace::LocalMemory { pointer, word } => {
                self.check_local(pointer, word, fabric)?;
                self.accesses.push((word as u16, false));
                self.state.local_memory[word]
            }
            OperandPlace::Ring => self.ring_head(fabric),
            OperandPlace::Constant(value) => value,
            OperandPlace::Neighbour(_) | OperandPlace::Nothing => 0,
        })
    }

    /// Reads the old value of a destination that an instruction partly keeps. Registers are checked
    /// only if `needed`: constants are loaded in halves, so the other half may be unwritten. Local
    /// memory addresses are checked on the write.
    pub(crate) fn old(
        &mut self,
        operand: Operand,
        needed: bool,
        fabric: &mut Fabric,
    ) -> Result<u32, Stop> {
        if matches!(operand, Operand::NnRing | Operand::NnPeek) {
            return Ok(0);
        }
        let indexed = matches!(operand, Operand::SIndexed(_) | Operand::DIndexed(_));
        Ok(match self.place(operand, true) {
            OperandPlace::Register(..) if needed || indexed => self.read(operand, fabric)?,
            OperandPlace::Register(file, register) => self.state.file(file).values[register],
            OperandPlace::LocalMemory { word, .. } => {
                self.accesses.push((word as u16, false));
                self.state.local_memory.get(word).copied().unwrap_or(0)
            }
            OperandPlace::Constant(value) => value,
            OperandPlace::Ring | OperandPlace::Neighbour(_) | OperandPlace::Nothing => 0,
        })
    }

    /// Reads the value of a register into which an instruction merges bytes. No unit may own it,
    /// since the other bytes would be lost.
    pub(crate) fn merged(&mut self, operand: Operand, fabric: &mut Fabric) -> Result<u32, Stop> {
        let transfer = matches!(operand, Operand::STransfer(_) | Operand::DTransfer(_));
        if let (true, OperandPlace::Register(file, register)) =
            (transfer, self.place(operand, true))
        {
            self.check_unowned(file, register, fabric)?;
        }
        self.old(operand, false, fabric)
    }

    /// Writes a result.
    pub(crate) fn write(
        &mut self,
        operand: Operand,
        value: u32,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        match self.place(operand, false) {
            OperandPlace::Register(file, register) => {
                self.check_unowned(file, register, fabric)?;
                self.state.file_mut(file).set(register, value);
            }
            OperandPlace::LocalMemory { pointer, word } => {
                self.check_local(pointer, word, fabric)?;
                self.accesses.push((word as u16, true));
                self.state.local_memory[word] = value;
            }
            OperandPlace::Ring => self.put_on_ring(value, fabric),
            OperandPlace::Neighbour(register) => self.write_neighbour(register, value, fabric),
            OperandPlace::Constant(_) | OperandPlace::Nothing => {}
        }
        Ok(())
    }

    /// Writes a result and records what the next instruction may refer to: the first operand and
    /// the result.
    pub(crate) fn store(
        &mut self,
        dest: Operand,
        a: u32,
        result: u32,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        self.write(dest, result, fabric)?;
        self.state.previous_a = a;
        self.state.previous_result = result;
        Ok(())
    }

    /// Writes a logical result, which sets N and Z and clears V and C.
    pub(crate) fn logical(
        &mut self,
        dest: Operand,
        a: u32,
        result: u32,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        self.store(dest, a, result, fabric)?;
        self.set_codes([result >> 31 == 1, result == 0, false, false]);
        Ok(())
    }

    /// Sets N, Z, V and C unless `CC_ENABLE` disables changes.
    pub(crate) fn set_codes(&mut self, codes: [bool; 4]) {
        if self.state.codes_on {
            self.state.codes = codes;
        }
    }
}

fn by(step: IndexStep) -> i32 {
    match step {
        IndexStep::Keep => 0,
        IndexStep::Increment => 1,
        IndexStep::Decrement => -1,
    }
}
