//! Conversion of one instruction to its dense form: its operation, and its options as numbers.
//! [`Decoder`] handles operands and the reasons that keep an operation from the dispatch loop,
//! which are common to all instructions; `predecoded_program` handles the operations of a whole
//! program.

use npsim_isa::{
    AluOp, ByteOrder, Condition, CtxArb, ImmedShift, Instruction, MulPhase, MulWidth, Operand,
    ShfOp, Shift, ShiftCount,
};

use crate::crc;
use crate::csr_order::csr_is_sync_point;
use crate::decoder::Decoder;
use crate::operation::{DestRead, Op};
use crate::registers::{KEEP, byte_mask};
use crate::uop::UopKind;

impl Decoder<'_> {
    fn shift(&mut self, shift: Shift) {
        (self.op.n, self.op.x) = match shift {
            Shift::Left(n) => ((32 - n % 32) % 32, u32::MAX << (n % 32)),
            Shift::Right(n) => (n % 32, u32::MAX >> (n % 32)),
            Shift::RotateRight(n) => (n % 32, u32::MAX),
            _ => (0, u32::MAX),
        };
    }

    fn target(&mut self, target: u16, defer: u8, penalty: u8) {
        self.op.d = target.min(self.end as u16);
        self.op.n = defer;
        self.penalties(penalty, penalty, penalty);
    }

    /// Predecodes an instruction.
    pub fn instruction(&mut self, instruction: &Instruction) {
        match instruction {
            Instruction::Alu { .. }
            | Instruction::AluShf { .. }
            | Instruction::DblShf { .. }
            | Instruction::Asr { .. }
            | Instruction::ByteAlign { .. } => self.alu(instruction),
            Instruction::LdField { .. }
            | Instruction::Immed { .. }
            | Instruction::ImmedByte { .. }
            | Instruction::ImmedWord { .. } => self.load(instruction),
            Instruction::Nop
            | Instruction::MulStep { .. }
            | Instruction::MulLast { .. }
            | Instruction::Unary { .. }
            | Instruction::Crc { .. }
            | Instruction::CamClear
            | Instruction::CamLookup { .. }
            | Instruction::CamWrite { .. }
            | Instruction::CamWriteState { .. } => self.function_unit(instruction),
            Instruction::Branch { .. }
            | Instruction::BranchCtx { .. }
            | Instruction::BranchBit { .. }
            | Instruction::BranchByte { .. }
            | Instruction::BranchSignal { .. }
            | Instruction::BranchInputState { .. }
            | Instruction::Jump { .. } => self.control_transfer(instruction),
            Instruction::LocalCsrRead { .. }
            | Instruction::LocalCsrWrite { .. }
            | Instruction::Command(_)
            | Instruction::CtxArb(_)
            | Instruction::CapFastWrite { .. }
            | Instruction::CapCsr(_) => self.outside(instruction),
        }
        self.classify(instruction);
    }

    /// Operations of the arithmetic-logic unit and the shifter.
    fn alu(&mut self, instruction: &Instruction) {
        match *instruction {
            Instruction::Alu { op, dest, a, b } => {
                self.op.kind = alu_kind(op);
                self.first(instruction, a);
                self.b(b);
                self.d(dest);
            }
            Instruction::AluShf {
                op,
                dest,
                a,
                b,
                shift,
            } => {
                self.first(instruction, a);
                self.b(b);
                self.d(dest);
                self.alu_shf(op, shift);
            }
            Instruction::DblShf { dest, a, b, count } => {
                self.counted(count, UopKind::DblShf, UopKind::DblShfIndirect);
                self.a(a);
                self.b(b);
                self.d(dest);
            }
            Instruction::Asr { dest, src, count } => {
                self.counted(count, UopKind::Asr, UopKind::AsrIndirect);
                self.b(src);
                self.d(dest);
            }
            Instruction::ByteAlign { order, dest, src } => self.byte_align(order, dest, src),
            _ => {}
        }
    }

    /// Loads of constants and of fields. [`Self::instruction`] determines which instructions are
    /// handled here.
    fn load(&mut self, instruction: &Instruction) {
        match *instruction {
            Instruction::LdField {
                dest,
                mask,
                src,
                shift,
                clear,
                load_cc,
            } => {
                self.ld_field((dest, mask), (src, shift), clear, load_cc);
            }
            Instruction::Immed {
                dest,
                value,
                shift,
                invert,
            } => {
                self.immed(dest, value, shift, invert);
            }
            Instruction::ImmedByte { dest, byte, value } => {
                let byte = byte & 3;
                self.merge(dest, 1 << byte, u32::from(value) << (8 * byte));
            }
            Instruction::ImmedWord { dest, word, value } => {
                let enables = if word == 0 { 0b0011 } else { 0b1100 };
                self.merge(dest, enables, u32::from(value) << (16 * (word & 1)));
            }
            _ => {}
        }
    }

    /// Products, the CAM and other units of the datapath. Their executors in `functions.rs` use
    /// these fields of the operation: `n` is the unary operation (`uop.rs`) or the state of a CAM
    /// entry; `x` contains the options of a CRC as `crc.rs` packs them.
    fn function_unit(&mut self, instruction: &Instruction) {
        match *instruction {
            Instruction::Nop => self.op.kind = UopKind::Nop,
            Instruction::MulStep { phase, a, b } => {
                let starts = phase == MulPhase::Start;
                self.op.kind = if starts {
                    UopKind::MulStart
                } else {
                    UopKind::MulStep
                };
                self.a(a);
                self.b(b);
            }
            Instruction::MulLast { width, high, dest } => self.mul_last(width, high, dest),
            Instruction::Unary { op, dest, src } => {
                self.unary(UopKind::Unary, dest, src);
                self.op.n = op as u8;
            }
            Instruction::Crc {
                order,
                kind,
                dest,
                src,
                bytes,
                bit_swap,
            } => {
                self.unary(UopKind::Crc, dest, src);
                self.op.x = crc::pack(order, kind, bytes, bit_swap);
            }
            Instruction::CamClear => self.op.kind = UopKind::CamClear,
            Instruction::CamLookup { dest, src, .. } => {
                self.op.kind = UopKind::CamLookup;
                self.a(src);
                self.d(dest);
                // The lookup is part of the datapath; the LM_ADDR that it loads is not.
                self.info.always |= !instruction.indexes_written().is_empty();
            }
            Instruction::CamWrite { entry, src, state } => {
                self.op.kind = UopKind::CamWrite;
                self.op.n = state;
                self.a(src);
                self.b(entry);
            }
            Instruction::CamWriteState { entry, state } => {
                self.op.kind = UopKind::CamWriteState;
                self.op.n = state;
                self.b(entry);
            }
            _ => {}
        }
    }

    /// Branches and jumps. Their executors use these fields of the operation:
    ///
    /// | branch | `x` | `y` |
    /// | --- | --- | --- |
    /// | on context | the context | penalties, as in [`Op::y`](crate::operation::Op::y) |
    /// | on bit | the mask of the bit | penalties |
    /// | on byte | value in bits 7 to 0, shift of the byte (0, 8, 16, 24) from bit 8 | penalties |
    /// | on signal | the mask of the signal | penalties |
    /// | on input state | the number of the state | penalties |
    /// | jump | the base address | slots aborted after the defer slots |
    ///
    /// `n` is the number of defer slots and `d` the target; a jump has its target in operand A.
    fn control_transfer(&mut self, instruction: &Instruction) {
        match *instruction {
            Instruction::Branch {
                condition,
                target,
                defer,
            } => {
                self.branch(condition, target, defer);
            }
            Instruction::BranchCtx {
                equal,
                context,
                target,
                defer,
            } => {
                self.op.kind = if equal {
                    UopKind::BrCtx
                } else {
                    UopKind::BrNotCtx
                };
                self.op.x = u32::from(context);
                self.target(target, defer, self.timing.state);
            }
            Instruction::BranchBit {
                set,
                src,
                bit,
                target,
                defer,
            } => {
                self.op.kind = if set {
                    UopKind::BrBitSet
                } else {
                    UopKind::BrBitClear
                };
                self.op.x = 1 << (bit & 31);
                self.b(src);
                self.target(target, defer, self.timing.bit);
            }
            Instruction::BranchByte {
                equal,
                src,
                byte,
                value,
                target,
                defer,
            } => {
                self.op.kind = if equal {
                    UopKind::BrByte
                } else {
                    UopKind::BrNotByte
                };
                self.op.x = u32::from(value) | u32::from(byte & 3) << 11;
                self.b(src);
                self.target(target, defer, self.timing.bit);
            }
            Instruction::BranchSignal {
                set,
                signal,
                target,
                defer,
            } => {
                let kind = if set {
                    UopKind::BrSignal
                } else {
                    UopKind::BrNoSignal
                };
                self.state_branch(kind, 1 << (signal & 15), target, defer);
            }
            Instruction::BranchInputState {
                set,
                state,
                target,
                defer,
            } => {
                let kind = if set {
                    UopKind::BrState
                } else {
                    UopKind::BrNoState
                };
                self.state_branch(kind, u32::from(state.number()), target, defer);
            }
            Instruction::Jump { src, base, defer } => {
                self.op.kind = UopKind::Jump;
                self.op.x = u32::from(base);
                self.op.n = defer;
                self.a(src);
                self.op.y = u16::from(self.timing.jump.saturating_sub(defer));
            }
            _ => {}
        }
    }

    /// Operations that leave the datapath.
    fn outside(&mut self, instruction: &Instruction) {
        match *instruction {
            Instruction::LocalCsrRead { csr } => {
                self.op.kind = UopKind::CsrRead;
                self.op.x = u32::from(csr);
                self.info.syncs = csr_is_sync_point(csr, false);
            }
            Instruction::LocalCsrWrite { csr, src } => {
                self.op.kind = UopKind::CsrWrite;
                self.op.x = u32::from(csr);
                self.info.syncs = csr_is_sync_point(csr, true);
                self.a(src);
            }
            // The template is added with the program.
            Instruction::Command(command) => {
                self.info.syncs = true;
                self.a(command.a);
                self.b(command.b);
            }
            Instruction::CtxArb(arb) => self.ctx_arb(&arb),
            Instruction::CapFastWrite { .. } | Instruction::CapCsr(_) => self.info.syncs = true,
            _ => {}
        }
    }

    fn unary(&mut self, kind: UopKind, dest: Operand, src: Operand) {
        self.op.kind = kind;
        self.b(src);
        self.d(dest);
    }

    fn counted(&mut self, count: ShiftCount, by: UopKind, indirect: UopKind) {
        match count {
            ShiftCount::By(n) => {
                self.op.kind = by;
                self.op.n = n & 31;
            }
            ShiftCount::Indirect => self.op.kind = indirect,
        }
    }

    fn alu_shf(&mut self, op: ShfOp, shift: Shift) {
        if matches!(shift, Shift::LeftIndirect | Shift::RightIndirect) {
            self.op.kind = UopKind::ShfIndirect;
            self.op.n = u8::from(shift == Shift::RightIndirect);
            self.op.y = match op {
                ShfOp::B => 0,
                ShfOp::NotB => 1,
                ShfOp::And => 2,
                ShfOp::NotAAnd => 3,
                ShfOp::AndNot => 4,
                ShfOp::Or => 5,
            };
            return;
        }
        self.op.kind = match op {
            ShfOp::B => UopKind::ShfB,
            ShfOp::NotB => UopKind::ShfNotB,
            ShfOp::And => UopKind::ShfAnd,
            ShfOp::NotAAnd => UopKind::ShfNotAAnd,
            ShfOp::AndNot => UopKind::ShfAndNot,
            ShfOp::Or => UopKind::ShfOr,
        };
        self.shift(shift);
    }

    fn byte_align(&mut self, order: ByteOrder, dest: Operand, src: Operand) {
        match order {
            ByteOrder::Big => {
                self.op.kind = UopKind::ByteAlignBe;
                self.b(src);
            }
            ByteOrder::Little => {
                self.op.kind = UopKind::ByteAlignLe;
                self.a(src);
            }
        }
        self.d(dest);
    }

    fn immed(&mut self, dest: Operand, value: u16, shift: ImmedShift, invert: bool) {
        self.op.kind = UopKind::Immed;
        let shift = match shift {
            ImmedShift::None => 0,
            ImmedShift::By8 => 8,
            ImmedShift::By16 => 16,
        };
        let value = u32::from(value) << shift;
        self.op.x = if invert { !value } else { value };
        self.d(dest);
    }

    fn mul_last(&mut self, width: MulWidth, high: bool, dest: Operand) {
        self.op.kind = UopKind::MulLast;
        self.op.n = match width {
            MulWidth::W24x8 => 0,
            MulWidth::W16x16 => 1,
            MulWidth::W32x32 => 2,
        };
        self.op.x = u32::from(high);
        self.d(dest);
    }

    /// A branch on state that others change.
    fn state_branch(&mut self, kind: UopKind, number: u32, target: u16, defer: u8) {
        self.op.kind = kind;
        self.op.x = number;
        self.info.syncs = true;
        self.target(target, defer, self.timing.state);
    }

    fn ctx_arb(&mut self, arb: &CtxArb) {
        self.info.syncs = true;
        if !arb.breakpoint && arb.resume.is_none() {
            self.op.kind = UopKind::Arb;
            self.op.n = arb.defer;
            let bit = |set: bool, bit: u32| if set { bit } else { 0 };
            self.op.x =
                u32::from(arb.mask) | bit(arb.any, Op::ANY) | bit(arb.keep_mask, Op::KEEP_MASK);
        }
    }

    fn ld_field(
        &mut self,
        (dest, mask): (Operand, u8),
        (src, shift): (Operand, Shift),
        clear: bool,
        load_cc: bool,
    ) {
        self.b(src);
        self.d(dest);
        let keeps = !clear && mask & 15 != 15;
        self.old(
            dest,
            if keeps {
                DestRead::Written
            } else {
                DestRead::Left
            },
        );
        self.op.y = KEEP + if clear { 15 } else { u16::from(mask & 15) };
        self.shift(shift);
        self.op.x &= byte_mask(mask & 15);
        self.op.kind = if load_cc {
            UopKind::LdFieldCc
        } else {
            UopKind::LdField
        };
        // An indirect count is known only at execution: the slow path fills it in.
        self.info.always |= matches!(shift, Shift::LeftIndirect | Shift::RightIndirect);
    }

    fn merge(&mut self, dest: Operand, enables: u8, value: u32) {
        self.op.kind = UopKind::ImmedMerge;
        self.op.x = value;
        self.op.y = KEEP + u16::from(enables);
        self.d(dest);
        self.old(dest, DestRead::Merged);
    }

    fn branch(&mut self, condition: Condition, target: u16, defer: u8) {
        if condition == Condition::Always {
            self.op.kind = UopKind::Br;
            self.target(target, defer, self.timing.branch);
            return;
        }
        self.op.kind = match condition {
            Condition::Eq => UopKind::Beq,
            Condition::Ne => UopKind::Bne,
            Condition::Mi => UopKind::Bmi,
            Condition::Pl => UopKind::Bpl,
            Condition::Cs => UopKind::Bcs,
            Condition::Cc => UopKind::Bcc,
            Condition::Vs => UopKind::Bvs,
            Condition::Vc => UopKind::Bvc,
            Condition::Ge => UopKind::Bge,
            Condition::Lt => UopKind::Blt,
            Condition::Le => UopKind::Ble,
            _ => UopKind::Bgt,
        };
        let (new, old) = (self.timing.condition_new, self.timing.condition_old);
        let behind = if self.after_codes { new } else { old };
        self.target(target, defer, behind);
        self.penalties(behind, new, old);
    }

    /// Sets the numbers of slots that a taken branch aborts, less the defer slots: if the previous
    /// word ran before it, and on arrival from elsewhere with new and with old codes.
    fn penalties(&mut self, behind: u8, new: u8, old: u8) {
        let slots = |penalty: u8| u16::from(penalty.saturating_sub(self.op.n));
        let (behind, both) = (slots(behind), slots(new) << 8 | slots(old));
        (self.op.a, self.op.y) = (behind, both);
    }
}

fn alu_kind(op: AluOp) -> UopKind {
    match op {
        AluOp::B => UopKind::B,
        AluOp::Add => UopKind::Add,
        AluOp::NotB => UopKind::NotB,
        AluOp::Add16 => UopKind::Add16,
        AluOp::And => UopKind::And,
        AluOp::Add8 => UopKind::Add8,
        AluOp::NotAAnd => UopKind::NotAAnd,
        AluOp::SubCarry => UopKind::SubCarry,
        AluOp::AndNot => UopKind::AndNot,
        AluOp::AddCarry => UopKind::AddCarry,
        AluOp::Or => UopKind::Or,
        AluOp::Sub => UopKind::Sub,
        AluOp::Xor => UopKind::Xor,
        AluOp::SubReverse => UopKind::SubReverse,
    }
}
