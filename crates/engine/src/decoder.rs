//! Decoding of an instruction's operands: slots of the register file, and for operands that are not
//! plain registers, the work left to the slow path.

use npsim_isa::{IndexStep, Instruction, Operand};

use crate::operation::{DecodeInfo, DestRead, FlagEffect, Op, SpecialOperand};
use crate::registers::{
    CONSTANT, D_IN, D_OUT, S_IN, S_OUT, TEMP_A, TEMP_B, TEMP_D, destination_slot, source_slot,
};
use crate::timing::Timing;
use crate::uop::{Handler, UopKind};

/// Builds one operation from an instruction; [`crate::predecode_instruction`] handles the
/// individual instructions.
pub(crate) struct Decoder<'a> {
    pub op: Op,
    pub info: DecodeInfo,
    /// Number of context-relative registers of a bank.
    pub limit: u8,
    pub timing: &'a Timing,
    /// The address after the last word.
    pub end: usize,
    /// Whether the previous word sets the codes.
    pub after_codes: bool,
}

impl<'a> Decoder<'a> {
    pub fn new(limit: u8, timing: &'a Timing, end: usize) -> Self {
        let op = Op {
            kind: UopKind::Slow,
            n: 0,
            handler: Handler::Slow,
            flags: 0,
            d: 0,
            a: CONSTANT,
            b: CONSTANT,
            y: 0,
            x: 0,
        };
        let info = DecodeInfo {
            reads: [Operand::None; 2],
            old: DestRead::Nothing,
            dest: Operand::None,
            special_a: SpecialOperand::None,
            special_b: SpecialOperand::None,
            special_d: SpecialOperand::None,
            merges: false,
            syncs: false,
            always: false,
            scoreboarded: false,
            local: false,
            steps: false,
            ring: false,
            sets_codes: false,
            flag_effect: FlagEffect::Other,
            slot_of: None,
        };
        Self {
            op,
            info,
            limit,
            timing,
            end,
            after_codes: false,
        }
    }
}

impl Decoder<'_> {
    /// Decodes an operand that is not a plain register, as a source.
    fn special(&mut self, operand: Operand, incoming: bool) -> SpecialOperand {
        self.info.always = true;
        let by = |step| match step {
            IndexStep::Keep => 0,
            IndexStep::Increment => 1,
            IndexStep::Decrement => -1,
        };
        match operand {
            Operand::LocalMemory { pointer, offset } => SpecialOperand::Local {
                pointer: pointer & 1,
                offset,
            },
            Operand::LocalMemoryStep { pointer, step } => SpecialOperand::LocalStep {
                pointer: pointer & 1,
                step: by(step),
            },
            Operand::SIndexed(step) => SpecialOperand::Indexed {
                file: if incoming { S_IN } else { S_OUT },
                step: by(step),
            },
            Operand::DIndexed(step) => SpecialOperand::Indexed {
                file: if incoming { D_IN } else { D_OUT },
                step: by(step),
            },
            Operand::NnPeek => {
                self.info.syncs = true;
                SpecialOperand::Ring { take: false }
            }
            Operand::NnRing => {
                self.info.syncs = true;
                SpecialOperand::Ring { take: true }
            }
            Operand::Nn(register) => {
                self.info.syncs = true;
                SpecialOperand::Neighbour {
                    register: register % self.limit,
                }
            }
            _ => SpecialOperand::None,
        }
    }

    fn watch(&mut self, operand: Operand) {
        match operand {
            Operand::Gpr(..) | Operand::GprAbsolute(..) => self.op.flags |= Op::UNVERIFIED,
            Operand::STransfer(_) | Operand::DTransfer(_) => self.info.always = true,
            Operand::Nn(_) => {
                self.info.always = true;
                self.info.syncs = true;
            }
            _ => {}
        }
    }

    pub fn a(&mut self, operand: Operand) {
        self.info.reads[0] = operand;
        self.watch(operand);
        self.op.a = source_slot(operand, self.limit).unwrap_or_else(|| {
            self.info.special_a = self.special(operand, true);
            TEMP_A
        });
    }

    pub fn b(&mut self, operand: Operand) {
        self.info.reads[1] = operand;
        self.watch(operand);
        self.op.b = source_slot(operand, self.limit).unwrap_or_else(|| {
            self.info.special_b = self.special(operand, true);
            TEMP_B
        });
    }

    pub fn d(&mut self, operand: Operand) {
        self.info.dest = operand;
        if !matches!(operand, Operand::Nn(_)) {
            self.watch(operand);
        }
        self.op.d = destination_slot(operand, self.limit).unwrap_or_else(|| {
            self.info.special_d = self.special(operand, false);
            TEMP_D
        });
    }

    /// Decodes the first source. B and ~B leave it as the count of an indirect shift and use it for
    /// nothing else; if their text has `--`, it is the register named by the otherwise unused
    /// field. Whether that register was ever written is not checked, since tools put any register
    /// there and hardly any program reads what it leaves.
    pub fn first(&mut self, instruction: &Instruction, written: Operand) {
        let register = matches!(written, Operand::Gpr(..) | Operand::GprAbsolute(..));
        let unused = written == Operand::None || register && instruction.ignores_first_source();
        let named = instruction.first_source().filter(|_| unused);
        match named.and_then(|named| source_slot(named, self.limit)) {
            Some(slot) => self.op.a = slot,
            None => self.a(written),
        }
    }

    /// Decodes the destination's old value as operand A; `old` is the part that is used.
    pub fn old(&mut self, operand: Operand, old: DestRead) {
        if let Some(slot) = source_slot(operand, self.limit) {
            self.op.a = slot;
            if old == DestRead::Written || Op::is_transfer(slot) {
                self.info.old = old;
                self.watch(operand);
            }
        } else {
            self.op.a = TEMP_D;
            self.info.merges = true;
        }
    }

    /// Determines what keeps the operation from the loop, and its side effects, once its operands
    /// are known.
    ///
    /// | operands other than general-purpose registers and constants | flags | in the loop |
    /// | --- | --- | --- |
    /// | none | none | immediately |
    /// | transfer registers | `SCOREBOARDED` | if no unit has reserved them |
    /// | local memory, with or without transfer registers | `SCOREBOARDED`, `LOCAL` | likewise, and if no write of the pointer is pending |
    /// | next-neighbour rings alone | `SCOREBOARDED`, `RING`, `SYNCS` | as a synchronisation point |
    /// | any other (`T_INDEX`, next-neighbour registers, a combination of these), an indirect shift of `ld_field`, a lookup that loads `LM_ADDR` | `LOCAL` or none, and permanently `UNVERIFIED` ([`DecodeInfo::always`]) | never |
    pub fn classify(&mut self, instruction: &Instruction) {
        self.info.sets_codes = instruction.sets_codes();
        self.info.flag_effect = FlagEffect::of(instruction);
        self.info.scoreboarded = self.is_scoreboarded(instruction);
        self.info.ring = self.uses_only_rings(instruction);
        for (flag, holds) in [
            (Op::SCOREBOARDED, self.info.scoreboarded || self.info.ring),
            (Op::RING, self.info.ring),
            (Op::SYNCS, self.info.syncs),
            (Op::SETS_CODES, self.info.sets_codes),
            (Op::LOCAL, self.info.local),
        ] {
            self.op.flags |= if holds { flag } else { 0 };
        }
        if self.info.scoreboarded && !self.op.needs_second_slot() {
            self.fill_spare_slot();
        }
    }

    /// Stores the operation's only transfer register, or its only word of local memory, in the slot
    /// that it does not need otherwise; nothing if it has both.
    fn fill_spare_slot(&mut self) {
        let transfer = self.op.transfer();
        let word = self.info.word().filter(|_| !self.has_transfers());
        self.op.y = match (transfer, word) {
            (_, Some((pointer, offset))) => Op::WORD | u16::from(pointer) << 8 | u16::from(offset),
            (Some(slot), None) if !self.info.local => slot,
            _ => self.op.y,
        };
    }

    /// Whether any operand is a transfer register.
    fn has_transfers(&self) -> bool {
        let mut registers = self.info.reads.iter().chain([&self.info.dest]);
        registers.any(|it| matches!(it, Operand::STransfer(_) | Operand::DTransfer(_)))
    }

    /// Whether its special operands are all in local memory or it has transfer registers, and
    /// nothing else about it is special.
    fn is_scoreboarded(&mut self, instruction: &Instruction) -> bool {
        let transfers = self.has_transfers();
        let info = &mut self.info;
        let specials = [info.special_a, info.special_b, info.special_d];
        let indirect =
            matches!(instruction, Instruction::LdField { .. }) && instruction.shifts_indirectly();
        info.local = specials.iter().any(|it| *it != SpecialOperand::None);
        info.steps = specials
            .iter()
            .any(|it| matches!(it, SpecialOperand::LocalStep { .. }));
        (info.local || transfers)
            && specials.iter().all(|it| {
                matches!(
                    it,
                    SpecialOperand::None
                        | SpecialOperand::Local { .. }
                        | SpecialOperand::LocalStep { .. }
                )
            })
            && !info.syncs
            && !indirect
            && instruction.indexes_written().is_empty()
            && (self.op.kind.is_alu() || self.op.kind.branches() && !info.local)
    }

    /// Whether its special operands are all on next-neighbour rings, and nothing else about it is
    /// special.
    fn uses_only_rings(&self, instruction: &Instruction) -> bool {
        let info = &self.info;
        let specials = [info.special_a, info.special_b, info.special_d];
        let registers = info.reads.iter().chain([&info.dest]);
        info.local
            && specials
                .iter()
                .all(|it| matches!(it, SpecialOperand::None | SpecialOperand::Ring { .. }))
            && !self.has_transfers()
            && !registers.clone().any(|it| matches!(it, Operand::Nn(_)))
            && !info.merges
            && !matches!(instruction, Instruction::LdField { .. })
            && instruction.indexes_written().is_empty()
            && self.op.kind.is_alu()
    }
}
