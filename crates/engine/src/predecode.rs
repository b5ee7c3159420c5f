//! One instruction to its dense form: operands to slots, options to numbers,
//! and what keeps it from the interpreter's loop.

use npsim_isa::{
    AluOp, ByteOrder, Condition, ImmedShift, Instruction, MulPhase, MulWidth, Operand, ShfOp,
    Shift, ShiftCount, Step,
};

use crate::action::Action;
use crate::crc;
use crate::csr_order::csr_is_sync_point;
use crate::form::Trace;
use crate::operation::{Kind, Old, Op, Side, Special};
use crate::registers::{
    CONSTANT, D_IN, D_OUT, KEEP, S_IN, S_OUT, TEMP_A, TEMP_B, TEMP_D, byte_mask, destination_slot,
    source_slot,
};
use crate::timing::Timing;

/// Builds one operation.
pub(crate) struct Maker<'a> {
    pub op: Op,
    pub side: Side,
    limit: u8,
    timing: &'a Timing,
    end: usize,
    /// The word before sets the codes.
    pub after_codes: bool,
}

impl<'a> Maker<'a> {
    pub fn new(limit: u8, timing: &'a Timing, end: usize) -> Self {
        let op = Op {
            kind: Kind::Outside,
            n: 0,
            action: Action::Stop,
            marks: 0,
            d: 0,
            a: CONSTANT,
            b: CONSTANT,
            y: 0,
            x: 0,
        };
        let side = Side {
            reads: [Operand::None; 2],
            old: Old::Nothing,
            dest: Operand::None,
            special_a: Special::None,
            special_b: Special::None,
            special_d: Special::None,
            merges: false,
            polls: false,
            always: false,
            guarded: false,
            local: false,
            steps: false,
            ring: false,
            sets_codes: false,
            trace: Trace::Other,
            slot_of: None,
        };
        Self {
            op,
            side,
            limit,
            timing,
            end,
            after_codes: false,
        }
    }

    /// An operand that is no plain register, as a source.
    fn special(&mut self, operand: Operand, incoming: bool) -> Special {
        self.side.always = true;
        let by = |step| match step {
            Step::Keep => 0,
            Step::Increment => 1,
            Step::Decrement => -1,
        };
        match operand {
            Operand::LocalMemory { pointer, offset } => Special::Local {
                pointer: pointer & 1,
                offset,
            },
            Operand::LocalMemoryStep { pointer, step } => Special::LocalStep {
                pointer: pointer & 1,
                step: by(step),
            },
            Operand::SIndexed(step) => Special::Indexed {
                file: if incoming { S_IN } else { S_OUT },
                step: by(step),
            },
            Operand::DIndexed(step) => Special::Indexed {
                file: if incoming { D_IN } else { D_OUT },
                step: by(step),
            },
            Operand::NnPeek => {
                self.side.polls = true;
                Special::Ring { take: false }
            }
            Operand::NnRing => {
                self.side.polls = true;
                Special::Ring { take: true }
            }
            Operand::Nn(register) => {
                self.side.polls = true;
                Special::Neighbour {
                    register: register % self.limit,
                }
            }
            _ => Special::None,
        }
    }

    fn watch(&mut self, operand: Operand) {
        match operand {
            Operand::Gpr(..) | Operand::GprAbsolute(..) => self.op.marks |= Op::WATCHED,
            Operand::STransfer(_) | Operand::DTransfer(_) => self.side.always = true,
            Operand::Nn(_) => {
                self.side.always = true;
                self.side.polls = true;
            }
            _ => {}
        }
    }

    fn a(&mut self, operand: Operand) {
        self.side.reads[0] = operand;
        self.watch(operand);
        self.op.a = source_slot(operand, self.limit).unwrap_or_else(|| {
            self.side.special_a = self.special(operand, true);
            TEMP_A
        });
    }

    fn b(&mut self, operand: Operand) {
        self.side.reads[1] = operand;
        self.watch(operand);
        self.op.b = source_slot(operand, self.limit).unwrap_or_else(|| {
            self.side.special_b = self.special(operand, true);
            TEMP_B
        });
    }

    fn d(&mut self, operand: Operand) {
        self.side.dest = operand;
        if !matches!(operand, Operand::Nn(_)) {
            self.watch(operand);
        }
        self.op.d = destination_slot(operand, self.limit).unwrap_or_else(|| {
            self.side.special_d = self.special(operand, false);
            TEMP_D
        });
    }

    /// The first source. B and ~B leave it as the count of an indirect shift and use it for
    /// nothing else; where their text has `--`, it is the register that the field for
    /// nothing names. Whether it was ever written is not asked, since tools put any
    /// register there and hardly any program reads what it leaves.
    fn first(&mut self, instruction: &Instruction, written: Operand) {
        let register = matches!(written, Operand::Gpr(..) | Operand::GprAbsolute(..));
        let unused = written == Operand::None || register && instruction.passes_second();
        let named = instruction.first_source().filter(|_| unused);
        match named.and_then(|named| source_slot(named, self.limit)) {
            Some(slot) => self.op.a = slot,
            None => self.a(written),
        }
    }

    /// The destination's old value as operand A, and what is taken of it.
    fn old(&mut self, operand: Operand, old: Old) {
        if let Some(slot) = source_slot(operand, self.limit) {
            self.op.a = slot;
            if old == Old::Written || Op::is_transfer(slot) {
                self.side.old = old;
                self.watch(operand);
            }
        } else {
            self.op.a = TEMP_D;
            self.side.merges = true;
        }
    }

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

    pub fn instruction(&mut self, instruction: &Instruction) {
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
                self.counted(count, Kind::DblShf, Kind::DblShfIndirect);
                self.a(a);
                self.b(b);
                self.d(dest);
            }
            Instruction::Asr { dest, src, count } => {
                self.counted(count, Kind::Asr, Kind::AsrIndirect);
                self.b(src);
                self.d(dest);
            }
            Instruction::ByteAlign { order, dest, src } => {
                match order {
                    ByteOrder::Big => {
                        self.op.kind = Kind::ByteAlignBe;
                        self.b(src);
                    }
                    ByteOrder::Little => {
                        self.op.kind = Kind::ByteAlignLe;
                        self.a(src);
                    }
                }
                self.d(dest);
            }
            Instruction::LdField {
                dest,
                mask,
                src,
                shift,
                clear,
                load_cc,
            } => {
                self.ld_field(dest, mask, src, shift, clear, load_cc);
            }
            Instruction::Immed {
                dest,
                value,
                shift,
                invert,
            } => {
                self.op.kind = Kind::Immed;
                let value = u32::from(value)
                    << match shift {
                        ImmedShift::None => 0,
                        ImmedShift::By8 => 8,
                        ImmedShift::By16 => 16,
                    };
                self.op.x = if invert { !value } else { value };
                self.d(dest);
            }
            Instruction::ImmedByte { dest, byte, value } => {
                self.merge(dest, 1 << (byte & 3), u32::from(value) << (8 * (byte & 3)));
            }
            Instruction::ImmedWord { dest, word, value } => {
                self.merge(
                    dest,
                    if word == 0 { 0b0011 } else { 0b1100 },
                    u32::from(value) << (16 * (word & 1)),
                );
            }
            Instruction::Nop => self.op.kind = Kind::Nop,
            Instruction::MulStep { phase, a, b } => {
                self.op.kind = if phase == MulPhase::Start {
                    Kind::MulStart
                } else {
                    Kind::MulStep
                };
                self.a(a);
                self.b(b);
            }
            Instruction::MulLast { width, high, dest } => {
                self.op.kind = Kind::MulLast;
                self.op.n = match width {
                    MulWidth::W24x8 => 0,
                    MulWidth::W16x16 => 1,
                    MulWidth::W32x32 => 2,
                };
                self.op.x = u32::from(high);
                self.d(dest);
            }
            Instruction::Unary { op, dest, src } => {
                self.unary(Kind::Unary, dest, src);
                self.op.n = op as u8;
            }
            Instruction::CamClear => self.op.kind = Kind::CamClear,
            Instruction::CamLookup { dest, src, .. } => {
                self.op.kind = Kind::CamLookup;
                self.a(src);
                self.d(dest);
                // The lookup is the datapath's; the LM_ADDR it loads is not.
                self.side.always |= !instruction.indexes_written().is_empty();
            }
            Instruction::CamWrite { entry, src, state } => {
                self.op.kind = Kind::CamWrite;
                self.op.n = state;
                self.a(src);
                self.b(entry);
            }
            Instruction::CamWriteState { entry, state } => {
                self.op.kind = Kind::CamWriteState;
                self.op.n = state;
                self.b(entry);
            }
            Instruction::Crc {
                order,
                kind,
                dest,
                src,
                bytes,
                bit_swap,
            } => {
                self.unary(Kind::Crc, dest, src);
                self.op.x = crc::pack(order, kind, bytes, bit_swap);
            }
            Instruction::Branch {
                condition,
                target,
                defer,
            } => self.branch(condition, target, defer),
            Instruction::BranchCtx {
                equal,
                context,
                target,
                defer,
            } => {
                self.op.kind = if equal { Kind::BrCtx } else { Kind::BrNotCtx };
                self.op.x = u32::from(context);
                self.target(target, defer, self.timing.state);
            }
            Instruction::BranchSignal {
                set,
                signal,
                target,
                defer,
            } => {
                self.op.kind = if set {
                    Kind::BrSignal
                } else {
                    Kind::BrNoSignal
                };
                self.op.x = 1 << (signal & 15);
                self.side.polls = true;
                self.target(target, defer, self.timing.state);
            }
            Instruction::BranchInputState {
                set,
                state,
                target,
                defer,
            } => {
                self.op.kind = if set { Kind::BrState } else { Kind::BrNoState };
                self.op.x = u32::from(state.number());
                self.side.polls = true;
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
                    Kind::BrBitSet
                } else {
                    Kind::BrBitClear
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
                self.op.kind = if equal { Kind::BrByte } else { Kind::BrNotByte };
                self.op.x = u32::from(value) | u32::from(byte & 3) << 11;
                self.b(src);
                self.target(target, defer, self.timing.bit);
            }
            Instruction::Jump { src, base, defer } => {
                self.op.kind = Kind::Jump;
                self.op.x = u32::from(base);
                self.op.n = defer;
                self.a(src);
                self.op.y = u16::from(self.timing.jump.saturating_sub(defer));
            }
            Instruction::LocalCsrRead { csr } => {
                self.op.kind = Kind::CsrRead;
                self.op.x = u32::from(csr);
                self.side.polls = csr_is_sync_point(csr, false);
            }
            Instruction::LocalCsrWrite { csr, src } => {
                self.op.kind = Kind::CsrWrite;
                self.op.x = u32::from(csr);
                self.side.polls = csr_is_sync_point(csr, true);
                self.a(src);
            }
            // The program adds the template.
            Instruction::Command(command) => {
                self.side.polls = true;
                self.a(command.a);
                self.b(command.b);
            }
            Instruction::CtxArb(arb) => {
                self.side.polls = true;
                if !arb.breakpoint && arb.resume.is_none() {
                    self.op.kind = Kind::Arb;
                    self.op.n = arb.defer;
                    let bit = |set: bool, bit: u32| if set { bit } else { 0 };
                    self.op.x = u32::from(arb.mask)
                        | bit(arb.any, Op::ANY)
                        | bit(arb.keep_mask, Op::KEEP_MASK);
                }
            }
            Instruction::CapFastWrite { .. } | Instruction::CapCsr(_) => {
                self.side.polls = true;
            }
        }
        self.side.sets_codes = instruction.sets_codes();
        self.side.trace = Trace::of(instruction);
        self.side.guarded = self.is_guarded(instruction);
        self.side.ring = self.is_of_rings(instruction);
        for (mark, holds) in [
            (Op::GUARDED, self.side.guarded || self.side.ring),
            (Op::RING, self.side.ring),
            (Op::POLLS, self.side.polls),
            (Op::SETS_CODES, self.side.sets_codes),
            (Op::LOCAL, self.side.local),
        ] {
            self.op.marks |= if holds { mark } else { 0 };
        }
        if self.side.guarded && !self.op.has_a_further_slot() {
            self.further();
        }
    }

    /// Puts into the slot that the operation does not need which transfer register or which
    /// word of local memory it has, where it has one and not both.
    fn further(&mut self) {
        let transfer = self.op.transfer();
        let word = self.side.word().filter(|_| !self.has_transfers());
        self.op.y = match (transfer, word) {
            (_, Some((pointer, offset))) => Op::WORD | u16::from(pointer) << 8 | u16::from(offset),
            (Some(slot), None) if !self.side.local => slot,
            _ => self.op.y,
        };
    }

    fn unary(&mut self, kind: Kind, dest: Operand, src: Operand) {
        self.op.kind = kind;
        self.b(src);
        self.d(dest);
    }

    fn counted(&mut self, count: ShiftCount, by: Kind, indirect: Kind) {
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
            self.op.kind = Kind::ShfIndirect;
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
            ShfOp::B => Kind::ShfB,
            ShfOp::NotB => Kind::ShfNotB,
            ShfOp::And => Kind::ShfAnd,
            ShfOp::NotAAnd => Kind::ShfNotAAnd,
            ShfOp::AndNot => Kind::ShfAndNot,
            ShfOp::Or => Kind::ShfOr,
        };
        self.shift(shift);
    }

    fn ld_field(
        &mut self,
        dest: Operand,
        mask: u8,
        src: Operand,
        shift: Shift,
        clear: bool,
        load_cc: bool,
    ) {
        self.b(src);
        self.d(dest);
        let keeps = !clear && mask & 15 != 15;
        self.old(dest, if keeps { Old::Written } else { Old::Left });
        self.op.y = KEEP + if clear { 15 } else { u16::from(mask & 15) };
        self.shift(shift);
        self.op.x &= byte_mask(mask & 15);
        self.op.kind = if load_cc {
            Kind::LdFieldCc
        } else {
            Kind::LdField
        };
        // An indirect count is known only then: the attentive path puts it in.
        self.side.always |= matches!(shift, Shift::LeftIndirect | Shift::RightIndirect);
    }

    fn merge(&mut self, dest: Operand, enables: u8, value: u32) {
        self.op.kind = Kind::ImmedMerge;
        self.op.x = value;
        self.op.y = KEEP + u16::from(enables);
        self.d(dest);
        self.old(dest, Old::Merged);
    }

    fn branch(&mut self, condition: Condition, target: u16, defer: u8) {
        if condition == Condition::Always {
            self.op.kind = Kind::Br;
            self.target(target, defer, self.timing.branch);
            return;
        }
        self.op.kind = match condition {
            Condition::Eq => Kind::Beq,
            Condition::Ne => Kind::Bne,
            Condition::Mi => Kind::Bmi,
            Condition::Pl => Kind::Bpl,
            Condition::Cs => Kind::Bcs,
            Condition::Cc => Kind::Bcc,
            Condition::Vs => Kind::Bvs,
            Condition::Vc => Kind::Bvc,
            Condition::Ge => Kind::Bge,
            Condition::Lt => Kind::Blt,
            Condition::Le => Kind::Ble,
            _ => Kind::Bgt,
        };
        let (new, old) = (self.timing.condition_new, self.timing.condition_old);
        let behind = if self.after_codes { new } else { old };
        self.target(target, defer, behind);
        self.penalties(behind, new, old);
    }

    /// The slots that a taken branch throws away, which defer slots fill, when the
    /// word before ran before it, and on arrival from elsewhere with new codes and
    /// with old ones.
    fn penalties(&mut self, behind: u8, new: u8, old: u8) {
        let slots = |penalty: u8| u16::from(penalty.saturating_sub(self.op.n));
        let (behind, both) = (slots(behind), slots(new) << 8 | slots(old));
        (self.op.a, self.op.y) = (behind, both);
    }
}

impl Maker<'_> {
    /// Whether there are transfer registers among its operands.
    fn has_transfers(&self) -> bool {
        let mut registers = self.side.reads.iter().chain([&self.side.dest]);
        registers.any(|it| matches!(it, Operand::STransfer(_) | Operand::DTransfer(_)))
    }

    /// Whether its special operands are all in local memory or there are transfer registers
    /// among them, and nothing else about it is special.
    fn is_guarded(&mut self, instruction: &Instruction) -> bool {
        let transfers = self.has_transfers();
        let side = &mut self.side;
        let specials = [side.special_a, side.special_b, side.special_d];
        let indirect =
            matches!(instruction, Instruction::LdField { .. }) && instruction.shifts_indirectly();
        side.local = specials.iter().any(|it| *it != Special::None);
        side.steps = specials
            .iter()
            .any(|it| matches!(it, Special::LocalStep { .. }));
        (side.local || transfers)
            && specials.iter().all(|it| {
                matches!(
                    it,
                    Special::None | Special::Local { .. } | Special::LocalStep { .. }
                )
            })
            && !side.polls
            && !indirect
            && instruction.indexes_written().is_empty()
            && (self.op.kind.is_of_datapath() || self.op.kind.branches() && !side.local)
    }

    /// Whether its special operands are all on next-neighbour rings, and nothing else about it
    /// is special.
    fn is_of_rings(&self, instruction: &Instruction) -> bool {
        let side = &self.side;
        let specials = [side.special_a, side.special_b, side.special_d];
        let registers = side.reads.iter().chain([&side.dest]);
        side.local
            && specials
                .iter()
                .all(|it| matches!(it, Special::None | Special::Ring { .. }))
            && !self.has_transfers()
            && !registers.clone().any(|it| matches!(it, Operand::Nn(_)))
            && !side.merges
            && !matches!(instruction, Instruction::LdField { .. })
            && instruction.indexes_written().is_empty()
            && self.op.kind.is_of_datapath()
    }
}

fn alu_kind(op: AluOp) -> Kind {
    match op {
        AluOp::B => Kind::B,
        AluOp::Add => Kind::Add,
        AluOp::NotB => Kind::NotB,
        AluOp::Add16 => Kind::Add16,
        AluOp::And => Kind::And,
        AluOp::Add8 => Kind::Add8,
        AluOp::NotAAnd => Kind::NotAAnd,
        AluOp::SubCarry => Kind::SubCarry,
        AluOp::AndNot => Kind::AndNot,
        AluOp::AddCarry => Kind::AddCarry,
        AluOp::Or => Kind::Or,
        AluOp::Sub => Kind::Sub,
        AluOp::Xor => Kind::Xor,
        AluOp::SubReverse => Kind::SubReverse,
    }
}
