//! Operands of the slow path: the checks before an instruction, and the fetching and storing of
//! operands that are not plain registers (local memory, indexed transfer registers, next-neighbour
//! rings).

use npsim_chip::kernel::fabric::Fabric;
use npsim_isa::Operand;

use crate::microengine::{LoopExit, Microengine};
use crate::operation::{DecodeInfo, DestRead, Op, SpecialOperand};
use crate::registers::{D_IN, D_OUT, S_IN, S_OUT, TEMP_A, TEMP_B, TEMP_D};

impl Microengine {
    /// Checks operands and fetches those that are not plain registers.
    #[inline(never)]
    pub(crate) fn prepare(
        &mut self,
        pc: usize,
        op: &Op,
        fabric: &mut Fabric,
    ) -> Result<(), LoopExit> {
        let info = self.program.infos[pc];
        let mut clean = true;
        let [a, b] = info.reads;
        let old = if info.old == DestRead::Written {
            info.dest
        } else {
            Operand::None
        };
        for (operand, slot) in [(a, op.a), (b, op.b), (old, op.a)] {
            let transfer = matches!(operand, Operand::STransfer(_) | Operand::DTransfer(_));
            if !transfer && operand.bank().is_none() {
                continue;
            }
            let slot = usize::from(slot);
            if transfer {
                self.check_owner(slot, fabric)?;
            }
            if !self.initialised.has(slot) {
                clean = false;
                self.uninitialised(slot, fabric)?;
            }
        }
        match info.old {
            DestRead::Merged => self.check_owner(usize::from(op.a), fabric)?,
            // Ownership by a unit is not an error here, but the register is read as of the present.
            DestRead::Left if self.scoreboard.is_reserved(op.a) && !self.can_observe(fabric) => {
                return Err(LoopExit::Post);
            }
            DestRead::Nothing | DestRead::Written | DestRead::Left => {}
        }
        // Operands in registers need no copy.
        if info.local {
            let a = self.fetch(info.special_a, fabric)?;
            let b = self.fetch(info.special_b, fabric)?;
            let d = self.check_destination(&info, fabric)?;
            let file = &mut self.datapath.file;
            for (slot, value) in [(TEMP_A, a), (TEMP_B, b), (TEMP_D, d)] {
                if let Some(value) = value {
                    file[slot as usize] = value;
                }
            }
        }
        if info.dest != Operand::None && info.special_d == SpecialOperand::None {
            let slot = usize::from(op.d);
            if matches!(info.dest, Operand::STransfer(_) | Operand::DTransfer(_)) {
                self.check_owner(slot, fabric)?;
            }
            self.initialised.mark(slot);
        }
        if clean && (info.scoreboarded || info.ring || !info.always) {
            self.bound[self.datapath.context.index()].clear_checks(pc);
        }
        Ok(())
    }

    /// Fetches the value of a special source.
    #[inline(always)]
    fn fetch(
        &mut self,
        special: SpecialOperand,
        fabric: &mut Fabric,
    ) -> Result<Option<u32>, LoopExit> {
        Ok(match special {
            SpecialOperand::None | SpecialOperand::Neighbour { .. } => None,
            SpecialOperand::Local { .. } | SpecialOperand::LocalStep { .. } => {
                let address = self.local_address(special, fabric)?;
                Some(self.memory.words[address])
            }
            SpecialOperand::Indexed { file, .. } => {
                let slot = self.indexed(file);
                if file < S_OUT {
                    self.check_owner(slot, fabric)?;
                    if !self.initialised.has(slot) {
                        self.uninitialised(slot, fabric)?;
                    }
                }
                Some(self.datapath.file[slot])
            }
            SpecialOperand::Ring { .. } => Some(self.ring_head(fabric)),
        })
    }

    /// Checks a special destination. Returns its old value if it is merged.
    fn check_destination(
        &mut self,
        info: &DecodeInfo,
        fabric: &mut Fabric,
    ) -> Result<Option<u32>, LoopExit> {
        match info.special_d {
            SpecialOperand::Local { .. } | SpecialOperand::LocalStep { .. } => {
                let address = self.local_address(info.special_d, fabric)?;
                Ok(info.merges.then(|| self.memory.words[address]))
            }
            SpecialOperand::Indexed { file, step } => {
                self.check_owner(self.indexed(file), fabric)?;
                if !info.merges {
                    return Ok(None);
                }
                let incoming = if file == S_OUT { S_IN } else { D_IN };
                debug_assert!(
                    file == S_OUT || file == D_OUT,
                    "destinations are OUT registers"
                );
                self.fetch(
                    SpecialOperand::Indexed {
                        file: incoming,
                        step,
                    },
                    fabric,
                )
            }
            _ => Ok(None),
        }
    }

    fn indexed(&self, file: u16) -> usize {
        file as usize + (self.memory.transfer_index & 127) as usize
    }

    /// The local memory address of an operand, in words.
    #[inline(always)]
    fn local_address(
        &mut self,
        special: SpecialOperand,
        fabric: &mut Fabric,
    ) -> Result<usize, LoopExit> {
        let (pointer, offset) = match special {
            SpecialOperand::Local { pointer, offset } => (pointer, offset),
            SpecialOperand::LocalStep { pointer, .. } => (pointer, 0),
            _ => (0, 0),
        };
        if let Some(written) = self.memory.early(pointer) {
            self.local_memory_early(pointer, written, fabric)?;
        }
        let address = (self.memory.pointers[pointer as usize] | u32::from(offset)) as usize & 1023;
        if address >= self.memory.words.len() {
            return Err(self.local_memory_missing(pointer, address, fabric));
        }
        Ok(address)
    }

    /// Stores a special destination and moves each index once.
    #[inline]
    pub(crate) fn finish(&mut self, pc: usize, op: &Op, fabric: &mut Fabric) {
        if op.flags & Op::FINISHES != 0 {
            self.finish_specials(pc, fabric);
        }
    }

    /// Rare, and kept out of line so that the test before it can be inlined.
    #[inline(never)]
    pub(crate) fn finish_specials(&mut self, pc: usize, fabric: &mut Fabric) {
        let info = &self.program.infos[pc];
        let [a, b, d] = [info.special_a, info.special_b, info.special_d];
        let value = self.datapath.file[TEMP_D as usize];
        match d {
            SpecialOperand::None => {}
            SpecialOperand::Local { .. } | SpecialOperand::LocalStep { .. } => {
                self.memory.set_word(d, value);
            }
            SpecialOperand::Indexed { file, .. } => {
                let slot = self.indexed(file);
                self.datapath.file[slot] = value;
                self.initialised.mark(slot);
            }
            SpecialOperand::Ring { .. } => self.ring_put(value, fabric),
            SpecialOperand::Neighbour { register } => self.neighbour_write(register, value, fabric),
        }
        if [a, b, d].into_iter().any(SpecialOperand::moves_an_index) {
            self.move_indices([a, b, d]);
        }
        if [a, b].contains(&SpecialOperand::Ring { take: true }) {
            self.ring_take(fabric);
        }
    }

    /// Moves each index stepped by operands of one instruction once.
    fn move_indices(&mut self, specials: [SpecialOperand; 3]) {
        self.memory.step(specials);
        let step = specials
            .into_iter()
            .rev()
            .find_map(|special| match special {
                SpecialOperand::Indexed { step, .. } if step != 0 => Some(step),
                _ => None,
            });
        if let Some(step) = step {
            let index = &mut self.memory.transfer_index;
            *index = index.wrapping_add_signed(i32::from(step)) & 127;
        }
    }
}
