//! One context of a microengine, written to be read: no decoding ahead, no
//! shared code with the engine, codes and times computed as the books say.

mod operands;
mod units;

use npsim_isa::{
    AluOp, Condition, ImmedShift, Instruction, MulPhase, MulWidth, Operand, ShfOp, Shift,
    ShiftCount, UnaryOp, csr,
};

/// Registers with a delayed write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delayed {
    Pointer(usize),
    TransferIndex,
    ByteIndex,
}

#[derive(Debug)]
pub struct Reference {
    pub a: [u32; 128],
    pub b: [u32; 128],
    pub s_in: [u32; 128],
    pub d_in: [u32; 128],
    pub s_out: [u32; 128],
    pub d_out: [u32; 128],
    pub lm: Vec<u32>,
    pub cycle: u64,
    /// N, Z, V, C
    pub codes: [bool; 4],
    pub crc: u32,
    pub tags: [u32; 16],
    pub states: [u8; 16],
    /// When each entry was last used; the smallest is replaced.
    pub used: [i64; 16],
    clock: i64,
    pointers: [usize; 2],
    transfer_index: usize,
    byte_index: u32,
    delayed: Vec<(u64, Delayed, u32)>,
    csr_value: Option<u32>,
    previous_a: u32,
    previous_result: u32,
    align_be: u32,
    align_le: u32,
    factors: (u32, u32),
    /// Post-modifications of the present instruction.
    pointer_steps: [i32; 2],
    index_step: i32,
    /// The present instruction uses an address outside local memory.
    outside: bool,
}

/// What an instruction does to control.
enum Control {
    /// It is no branch.
    None,
    /// A branch that is not taken.
    Stays,
    Leaves(Leaving),
}

/// Control transfer that waits for its defer slots.
struct Leaving {
    slots: u8,
    target: usize,
    penalty: u64,
}

impl Reference {
    pub fn new(s_in: &[u32; 128], d_in: &[u32; 128]) -> Self {
        Self {
            a: [0; 128],
            b: [0; 128],
            s_in: *s_in,
            d_in: *d_in,
            s_out: [0; 128],
            d_out: [0; 128],
            lm: vec![0; 640],
            cycle: 0,
            codes: [false, true, false, false],
            crc: 0,
            tags: [0; 16],
            states: [0; 16],
            used: std::array::from_fn(|entry| entry as i64 - 16),
            clock: 0,
            pointers: [0; 2],
            transfer_index: 0,
            byte_index: 0,
            delayed: Vec::new(),
            csr_value: None,
            previous_a: 0,
            previous_result: 0,
            align_be: 0,
            align_le: 0,
            factors: (0, 0),
            pointer_steps: [0; 2],
            index_step: 0,
            outside: false,
        }
    }

    /// Runs until the breakpoint, or until an address outside local memory is
    /// used: then gives the address and cycle of the instruction.
    pub fn run(&mut self, program: &[Instruction]) -> Option<(u16, u64)> {
        let mut pc = 0;
        let mut leaving: Option<Leaving> = None;
        let mut codes_just_set = false;
        loop {
            let now = self.cycle;
            let due: Vec<_> = self
                .delayed
                .iter()
                .filter(|write| write.0 <= now)
                .copied()
                .collect();
            self.delayed.retain(|write| write.0 > now);
            for (_, register, value) in due {
                match register {
                    Delayed::Pointer(n) => self.pointers[n] = value as usize,
                    Delayed::TransferIndex => self.transfer_index = value as usize,
                    Delayed::ByteIndex => self.byte_index = value,
                }
            }
            let instruction = &program[pc];
            if matches!(instruction, Instruction::CtxArb(_)) {
                self.cycle += 1;
                return None;
            }
            self.pointer_steps = [0; 2];
            self.index_step = 0;
            let taken = self.branch(instruction, codes_just_set);
            if matches!(taken, Control::None) {
                self.operate(instruction);
            }
            if self.outside {
                return Some((pc as u16, self.cycle));
            }
            for n in 0..2 {
                self.pointers[n] =
                    (self.pointers[n] as i32 + self.pointer_steps[n]) as usize & 1023;
            }
            self.transfer_index = (self.transfer_index as i32 + self.index_step) as usize & 127;
            self.cycle += 1;
            pc += 1;
            codes_just_set = sets_codes(instruction);
            match taken {
                Control::None => {
                    if let Some(left) = &mut leaving {
                        left.slots -= 1;
                    }
                }
                Control::Stays => codes_just_set = false,
                Control::Leaves(new) => {
                    codes_just_set = false;
                    leaving = Some(new);
                }
            }
            if let Some(left) = &leaving
                && left.slots == 0
            {
                codes_just_set &= left.penalty == 0;
                pc = left.target;
                self.cycle += left.penalty;
                leaving = None;
            }
        }
    }

    /// What a branch leads to.
    fn branch(&mut self, instruction: &Instruction, codes_just_set: bool) -> Control {
        let [n, z, v, c] = self.codes;
        let (taken, target, defer, slots) = match *instruction {
            Instruction::Branch {
                condition: Condition::Always,
                target,
                defer,
            } => (true, target, defer, 2),
            Instruction::Branch {
                condition,
                target,
                defer,
            } => {
                let taken = match condition {
                    Condition::Eq => z,
                    Condition::Ne => !z,
                    Condition::Mi => n,
                    Condition::Pl => !n,
                    Condition::Cs => c,
                    Condition::Cc => !c,
                    Condition::Vs => v,
                    Condition::Vc => !v,
                    Condition::Ge => n == v,
                    Condition::Lt => n != v,
                    Condition::Le => z || n != v,
                    _ => !z && n == v,
                };
                (taken, target, defer, if codes_just_set { 3 } else { 2 })
            }
            Instruction::BranchBit {
                set,
                src,
                bit,
                target,
                defer,
            } => (
                (self.read(src) >> bit) % 2 == u32::from(set),
                target,
                defer,
                3,
            ),
            Instruction::BranchByte {
                equal,
                src,
                byte,
                value,
                target,
                defer,
            } => {
                let found = self.read(src).to_le_bytes()[byte as usize];
                ((found == value) == equal, target, defer, 3)
            }
            Instruction::BranchCtx {
                equal,
                context,
                target,
                defer,
            } => ((context == 0) == equal, target, defer, 2),
            _ => return Control::None,
        };
        self.csr_value = None;
        let penalty = if u64::from(defer) > slots {
            0
        } else {
            slots - u64::from(defer)
        };
        if !taken {
            return Control::Stays;
        }
        Control::Leaves(Leaving {
            slots: defer,
            target: target as usize,
            penalty,
        })
    }

    fn operate(&mut self, instruction: &Instruction) {
        let csr_value = self.csr_value.take();
        match *instruction {
            Instruction::Alu { op, dest, a, b } => {
                let (x, y) = (self.read(a), self.read(b));
                self.alu(op, dest, x, y);
            }
            Instruction::AluShf {
                op,
                dest,
                a,
                b,
                shift,
            } => {
                let (x, y) = (self.read(a), self.read(b));
                let y = self.shifted(y, shift);
                let result = match op {
                    ShfOp::B => y,
                    ShfOp::NotB => !y,
                    ShfOp::And => x & y,
                    ShfOp::NotAAnd => !x & y,
                    ShfOp::AndNot => x & !y,
                    ShfOp::Or => x | y,
                };
                self.logical(dest, x, result);
            }
            Instruction::DblShf { dest, a, b, count } => {
                let (x, y) = (self.read(a), self.read(b));
                let count = self.count(count);
                let result = if count == 0 {
                    y
                } else {
                    x << (32 - count) | y >> count
                };
                self.logical(dest, x, result);
            }
            Instruction::Asr { dest, src, count } => {
                let y = self.read(src);
                let count = self.count(count);
                let mut result = y;
                for _ in 0..count {
                    result = result >> 1 | self.previous_result & 0x8000_0000;
                }
                self.logical(dest, 0, result);
            }
            Instruction::ByteAlign { order, dest, src } => self.byte_align(order, dest, src),
            Instruction::LdField {
                dest,
                mask,
                src,
                shift,
                clear,
                load_cc,
            } => {
                let value = self.read(src);
                let value = self.shifted(value, shift).to_le_bytes();
                let old = self.read(dest);
                let mut bytes = if clear { [0; 4] } else { old.to_le_bytes() };
                for n in 0..4 {
                    if mask & 1 << n != 0 {
                        bytes[n] = value[n];
                    }
                }
                let result = u32::from_le_bytes(bytes);
                let codes = self.codes;
                self.logical(dest, old, result);
                if !load_cc {
                    self.codes = codes;
                }
            }
            Instruction::Immed {
                dest,
                value,
                shift,
                invert,
            } => {
                let value = u32::from(value);
                let value = match shift {
                    ImmedShift::None => value,
                    ImmedShift::By8 => value * 0x100,
                    ImmedShift::By16 => value * 0x1_0000,
                };
                let value = csr_value.unwrap_or(if invert { u32::MAX - value } else { value });
                self.plain(dest, value);
            }
            Instruction::ImmedByte { dest, byte, value } => {
                let mut bytes = self.read(dest).to_le_bytes();
                bytes[byte as usize] = value;
                self.plain(dest, u32::from_le_bytes(bytes));
            }
            Instruction::ImmedWord { dest, word, value } => {
                let old = self.read(dest);
                let value = u32::from(value);
                let result = if word == 0 {
                    old / 0x1_0000 * 0x1_0000 + value
                } else {
                    old % 0x1_0000 + value * 0x1_0000
                };
                self.plain(dest, result);
            }
            Instruction::Nop => (self.previous_a, self.previous_result) = (0, 0),
            Instruction::MulStep { phase, a, b } => {
                let (x, y) = (self.read(a), self.read(b));
                if phase == MulPhase::Start {
                    self.factors = (x, y);
                }
                self.previous_a = x;
            }
            Instruction::MulLast { width, high, dest } => {
                let (x, y) = self.factors;
                let (x, y) = match width {
                    MulWidth::W24x8 => (x % (1 << 24), y % (1 << 8)),
                    MulWidth::W16x16 => (x % (1 << 16), y % (1 << 16)),
                    MulWidth::W32x32 => (x, y),
                };
                let product = u128::from(x) * u128::from(y);
                self.logical(dest, 0, (product >> if high { 32 } else { 0 }) as u32);
            }
            Instruction::Unary { op, dest, src } => self.unary(op, dest, src),
            Instruction::CamClear => {
                self.tags = [0; 16];
                self.states = [0; 16];
                self.used = std::array::from_fn(|entry| entry as i64 - 16);
                self.clock = 0;
            }
            Instruction::CamLookup { dest, src, lm_addr } => {
                let tag = self.read(src);
                let result = self.lookup(tag);
                if let Some(target) = lm_addr {
                    let address = u32::from(target.block) << 10 | result & 0x3ff;
                    let register = Delayed::Pointer(target.pointer as usize);
                    self.delayed.push((self.cycle + 4, register, address >> 2));
                }
                self.logical(dest, tag, result);
            }
            Instruction::CamWrite { entry, src, state } => {
                let (tag, entry) = (self.read(src), self.read(entry) as usize % 16);
                self.tags[entry] = tag;
                self.states[entry] = state;
                self.clock += 1;
                self.used[entry] = self.clock;
                self.previous_a = tag;
            }
            Instruction::CamWriteState { entry, state } => {
                let entry = self.read(entry) as usize % 16;
                self.states[entry] = state;
                self.previous_a = 0;
            }
            Instruction::Crc {
                order,
                kind,
                dest,
                src,
                bytes,
                bit_swap,
            } => {
                let x = self.read(src);
                self.crc_step(order, kind, bytes, bit_swap, x);
                self.logical(dest, 0, x);
            }
            Instruction::LocalCsrRead { csr } => self.csr_value = Some(self.read_csr(csr)),
            Instruction::LocalCsrWrite { csr, src } => {
                let value = self.read(src);
                let then = self.cycle + 4;
                match csr {
                    csr::ACTIVE_LM_ADDR_0 => {
                        self.delayed
                            .push((then, Delayed::Pointer(0), value >> 2 & 1023));
                    }
                    csr::ACTIVE_LM_ADDR_1 => {
                        self.delayed
                            .push((then, Delayed::Pointer(1), value >> 2 & 1023));
                    }
                    csr::T_INDEX => {
                        self.delayed
                            .push((then, Delayed::TransferIndex, value >> 2 & 127));
                    }
                    csr::BYTE_INDEX => self.delayed.push((then, Delayed::ByteIndex, value & 3)),
                    csr::CRC_REMAINDER => self.crc = value,
                    other => panic!("the generator makes no write of {other:#x}"),
                }
            }
            other => panic!("the generator makes no {other}"),
        }
    }

    /// The instructions with one source.
    fn unary(&mut self, op: UnaryOp, dest: Operand, src: Operand) {
        let x = self.read(src);
        let entry = x as usize % 16;
        match op {
            UnaryOp::Ffs => {
                let found = (0..32).find(|bit| x & 1 << bit != 0);
                self.logical(dest, 0, found.unwrap_or(0));
                self.codes = [x >> 31 == 1, found.is_none(), false, false];
            }
            UnaryOp::PopCount1 | UnaryOp::PopCount2 => self.previous_a = 0,
            UnaryOp::PopCount3 => self.logical(dest, 0, (0..32).map(|bit| x >> bit & 1).sum()),
            UnaryOp::CamReadTag => self.logical(dest, 0, self.tags[entry]),
            UnaryOp::CamReadState => {
                self.logical(dest, 0, u32::from(self.states[entry]) * 256);
            }
        }
    }

    fn read_csr(&self, csr: u16) -> u32 {
        match csr {
            csr::ACTIVE_LM_ADDR_0 => self.pointers[0] as u32 * 4,
            csr::ACTIVE_LM_ADDR_1 => self.pointers[1] as u32 * 4,
            csr::T_INDEX => self.transfer_index as u32 * 4,
            csr::BYTE_INDEX => self.byte_index,
            csr::CRC_REMAINDER => self.crc,
            other => panic!("the generator makes no read of {other:#x}"),
        }
    }

    fn alu(&mut self, op: AluOp, dest: Operand, x: u32, y: u32) {
        let carry = i64::from(self.codes[3]);
        let logical = match op {
            AluOp::B => Some(y),
            AluOp::NotB => Some(!y),
            AluOp::And => Some(x & y),
            AluOp::NotAAnd => Some(!x & y),
            AluOp::AndNot => Some(x & !y),
            AluOp::Or => Some(x | y),
            AluOp::Xor => Some(x ^ y),
            _ => None,
        };
        if let Some(result) = logical {
            self.logical(dest, x, result);
            return;
        }
        // Sums of signed and of unsigned values; a difference adds a negative.
        let signed = |v: u32| i64::from(v as i32);
        let unsigned = |v: u32| i64::from(v);
        let (true_signed, true_unsigned, no_borrow) = match op {
            AluOp::Add => (signed(x) + signed(y), unsigned(x) + unsigned(y), false),
            AluOp::Add16 => (
                signed(x) + unsigned(y % 0x1_0000),
                unsigned(x) + unsigned(y % 0x1_0000),
                false,
            ),
            AluOp::Add8 => (
                signed(x) + unsigned(y % 0x100),
                unsigned(x) + unsigned(y % 0x100),
                false,
            ),
            AluOp::AddCarry => (
                signed(x) + signed(y) + carry,
                unsigned(x) + unsigned(y) + carry,
                false,
            ),
            AluOp::Sub => (signed(x) - signed(y), unsigned(x) - unsigned(y), true),
            AluOp::SubReverse => (signed(y) - signed(x), unsigned(y) - unsigned(x), true),
            _ => (
                signed(x) - signed(y) - (1 - carry),
                unsigned(x) - unsigned(y) - (1 - carry),
                true,
            ),
        };
        let result = true_unsigned as u32;
        let c = if no_borrow {
            true_unsigned >= 0
        } else {
            true_unsigned > i64::from(u32::MAX)
        };
        self.codes = [
            (result as i32) < 0,
            result == 0,
            true_signed != signed(result),
            c,
        ];
        self.store(dest, x, result);
    }

    fn shifted(&self, value: u32, shift: Shift) -> u32 {
        let indirect = self.previous_a % 32;
        match shift {
            Shift::None => value,
            Shift::Left(n) => value << n,
            Shift::Right(n) => value >> n,
            Shift::RotateRight(n) => value.rotate_right(n.into()),
            Shift::LeftIndirect => value << indirect,
            Shift::RightIndirect => value >> indirect,
        }
    }

    fn count(&self, count: ShiftCount) -> u32 {
        match count {
            ShiftCount::By(n) => u32::from(n),
            ShiftCount::Indirect => self.previous_a % 32,
        }
    }
}

/// Whether an instruction writes the condition codes.
fn sets_codes(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::LdField { load_cc, .. } => *load_cc,
        Instruction::Unary { op, .. } => !matches!(op, UnaryOp::PopCount1 | UnaryOp::PopCount2),
        Instruction::Alu { .. }
        | Instruction::AluShf { .. }
        | Instruction::DblShf { .. }
        | Instruction::Asr { .. }
        | Instruction::ByteAlign { .. }
        | Instruction::MulLast { .. }
        | Instruction::CamLookup { .. }
        | Instruction::Crc { .. } => true,
        _ => false,
    }
}
