//! Random instructions of ARM state, by form.
// All forms are functions of one type.
#![allow(clippy::unnecessary_wraps)]

use crate::case::{ARM_PADS, CASE, Case, Code, FLAGS, STUB, WINDOW, WINDOW_WORDS};
use crate::random::Random;

/// A form: its name, and a function that generates an instruction from a state and the instruction's address, and sets
/// registers as it needs them. `None` if the drawn registers do not fit together.
pub struct Form {
    pub name: &'static str,
    pub make: fn(&mut Random, &mut State) -> Option<Code>,
}

/// The state before an instruction.
pub struct State {
    pub at: u32,
    pub flags: u32,
    pub registers: [u32; 15],
}

impl State {
    /// Sets a register so that with an offset it is an address in the window, with room below and above.
    pub fn aim(&mut self, random: &mut Random, rn: u32, offset: u32, align: u32, room: u32) {
        let bytes = WINDOW_WORDS as u32 * 4 - 2 * room;
        let target = WINDOW + room + random.below(bytes / align) * align;
        self.registers[rn as usize] = target.wrapping_sub(offset);
    }
}

/// A case of a form, for the address given by its number.
pub fn case(form: &Form, random: &mut Random, number: usize) -> Case {
    loop {
        let mut state = State {
            at: crate::case::address(number),
            flags: random.word() & FLAGS,
            registers: std::array::from_fn(|_| random.value()),
        };
        if let Some(code) = (form.make)(random, &mut state) {
            return Case {
                code,
                flags: state.flags,
                registers: state.registers,
            };
        }
    }
}

/// A condition, often "always".
fn condition(random: &mut Random) -> u32 {
    let condition = if random.one_in(2) {
        14
    } else {
        random.below(15)
    };
    condition << 28
}

/// A register other than PC.
fn register(random: &mut Random) -> u32 {
    random.below(15)
}

fn arm(random: &mut Random, word: u32) -> Option<Code> {
    Some(Code::Arm(condition(random) | word))
}

/// A data operation with S and its registers; comparisons have S and no destination, and MOV and MVN have no first
/// operand.
fn operation(random: &mut Random, rn: u32) -> u32 {
    let op = random.below(16);
    let compares = (8..12).contains(&op);
    let set = u32::from(random.one_in(2) || compares);
    let rd = if compares { 0 } else { register(random) };
    let rn = if op == 13 || op == 15 { 0 } else { rn };
    op << 21 | set << 20 | rn << 16 | rd << 12
}

fn data_constant(random: &mut Random, _: &mut State) -> Option<Code> {
    let rn = random.below(16);
    let word = 1 << 25 | operation(random, rn) | random.below(0x1000);
    arm(random, word)
}

fn data_register(random: &mut Random, _: &mut State) -> Option<Code> {
    let (rn, rm) = (random.below(16), random.below(16));
    let word = operation(random, rn) | random.below(128) << 5 | rm;
    arm(random, word)
}

fn data_shifted_by_register(random: &mut Random, _: &mut State) -> Option<Code> {
    let rn = register(random);
    let operand = register(random) << 8 | random.below(4) << 5 | 1 << 4 | register(random);
    let word = operation(random, rn) | operand;
    arm(random, word)
}

/// MOV, ADD, SUB, ORR of PC, to one of the landings.
fn data_to_pc(random: &mut Random, state: &mut State) -> Option<Code> {
    let target = state.at + random.pick(&ARM_PADS);
    let rm = register(random);
    let offset = random.below(256);
    let (word, value) = match random.below(4) {
        0 => (0xd << 21 | rm, target),
        1 => (1 << 25 | 4 << 21 | rm << 16 | offset, target - offset),
        2 => (1 << 25 | 2 << 21 | rm << 16 | offset, target + offset),
        _ => (1 << 25 | 12 << 21 | rm << 16, target),
    };
    state.registers[rm as usize] = value;
    arm(random, word | 15 << 12)
}

fn multiply(random: &mut Random, _: &mut State) -> Option<Code> {
    let (rd, rm, rs) = (register(random), register(random), register(random));
    (rd != rm).then_some(())?;
    let accumulate = random.below(2);
    let rn = register(random) * accumulate;
    let kind = accumulate << 21 | random.below(2) << 20;
    let word = kind | rd << 16 | rn << 12 | rs << 8 | 9 << 4 | rm;
    arm(random, word)
}

fn multiply_long(random: &mut Random, _: &mut State) -> Option<Code> {
    let (hi, lo) = (register(random), register(random));
    let (rs, rm) = (register(random), register(random));
    (hi != lo && hi != rm && lo != rm).then_some(())?;
    let kind = (8 + random.below(8)) << 20;
    arm(random, kind | hi << 16 | lo << 12 | rs << 8 | 9 << 4 | rm)
}

fn multiply_halves(random: &mut Random, op: u32) -> Option<Code> {
    let (rd, rn) = (register(random), register(random));
    let (rs, rm) = (register(random), register(random));
    (op != 2 || rd != rn).then_some(())?;
    let halves = random.below(4) << 5;
    // Those without an accumulator have zeros in its place.
    let rn = if op == 3 || op == 1 && halves & 0x20 != 0 {
        0
    } else {
        rn
    };
    let word = 0x0100_0080 | op << 21 | halves | rd << 16 | rn << 12 | rs << 8 | rm;
    arm(random, word)
}

fn saturate(random: &mut Random, _: &mut State) -> Option<Code> {
    let registers = register(random) << 16 | register(random) << 12 | register(random);
    let word = 0x0100_0050 | random.below(4) << 21 | registers;
    arm(random, word)
}

fn count_leading_zeros(random: &mut Random, _: &mut State) -> Option<Code> {
    let registers = register(random) << 12 | register(random);
    arm(random, 0x016f_0f10 | registers)
}

fn read_status(random: &mut Random, _: &mut State) -> Option<Code> {
    let rd = register(random);
    arm(random, 0x010f_0000 | rd << 12)
}

/// The flags, and in user mode control bits that are not written.
fn write_status(random: &mut Random, _: &mut State) -> Option<Code> {
    let fields = random.pick(&[8, 9, 1]) << 16;
    let word = if random.one_in(2) {
        0x0320_f000 | fields | random.below(0x1000)
    } else {
        0x0120_f000 | fields | register(random)
    };
    arm(random, word)
}

/// U, P and W of an addressing mode, at their bits; whether the base changes, and whether the offset is applied first.
fn addressing(random: &mut Random) -> (u32, bool, bool) {
    let (bits, changes, first) = random.pick(&[
        (1 << 24, false, true),
        (1 << 24 | 1 << 21, true, true),
        (0, true, false),
    ]);
    (bits | random.below(2) << 23, changes, first)
}

/// The signed offset of an addressing mode.
fn signed(mode: u32, offset: u32) -> u32 {
    if mode & 1 << 23 == 0 {
        offset.wrapping_neg()
    } else {
        offset
    }
}

fn single_constant(random: &mut Random, state: &mut State, kind: u32) -> Option<Code> {
    let (mode, changes, first) = addressing(random);
    let (rn, rd) = (register(random), register(random));
    (!changes || rn != rd).then_some(())?;
    let offset = random.below(0x1000);
    let align = if kind & 1 << 22 == 0 { 4 } else { 1 };
    let before = if first { signed(mode, offset) } else { 0 };
    state.aim(random, rn, before, align, 0);
    arm(random, 1 << 26 | kind | mode | rn << 16 | rd << 12 | offset)
}

/// A shifted register's value, computed independently.
fn shifted(state: &State, rm: u32, kind: u32, amount: u32) -> u32 {
    let value = state.registers[rm as usize];
    match (kind, amount) {
        (0, _) => value << amount,
        (1, 0) => 0,
        (1, _) => value >> amount,
        (2, 0) => ((value as i32) >> 31) as u32,
        (2, _) => ((value as i32) >> amount) as u32,
        (_, 0) => value >> 1 | (state.flags >> 29 & 1) << 31,
        _ => value.rotate_right(amount),
    }
}

fn single_register(random: &mut Random, state: &mut State, kind: u32) -> Option<Code> {
    let (mode, changes, first) = addressing(random);
    let (rn, rd, rm) = (register(random), register(random), register(random));
    (rn != rm && (!changes || rn != rd)).then_some(())?;
    let (shift, amount) = (random.below(4), random.below(32));
    let align = if kind & 1 << 22 == 0 { 4 } else { 1 };
    let offset = signed(mode, shifted(state, rm, shift, amount));
    state.aim(random, rn, if first { offset } else { 0 }, align, 0);
    let registers = rn << 16 | rd << 12 | amount << 7 | shift << 5 | rm;
    arm(random, 3 << 25 | kind | mode | registers)
}

fn load_constant(random: &mut Random, state: &mut State) -> Option<Code> {
    single_constant(random, state, 1 << 20)
}

fn load_byte_constant(random: &mut Random, state: &mut State) -> Option<Code> {
    single_constant(random, state, 1 << 22 | 1 << 20)
}

fn store_constant(random: &mut Random, state: &mut State) -> Option<Code> {
    single_constant(random, state, 0)
}

fn store_byte_constant(random: &mut Random, state: &mut State) -> Option<Code> {
    single_constant(random, state, 1 << 22)
}

fn load_register(random: &mut Random, state: &mut State) -> Option<Code> {
    let byte = random.below(2) << 22;
    single_register(random, state, byte | 1 << 20)
}

fn store_register(random: &mut Random, state: &mut State) -> Option<Code> {
    let byte = random.below(2) << 22;
    single_register(random, state, byte)
}

/// LDRT, LDRBT, STRT, STRBT.
fn user_access(random: &mut Random, state: &mut State) -> Option<Code> {
    let (rn, rd) = (register(random), register(random));
    (rn != rd).then_some(())?;
    let byte = random.below(2);
    state.aim(random, rn, 0, if byte == 0 { 4 } else { 1 }, 0);
    let kind = 1 << 26 | 1 << 21 | byte << 22 | random.below(2) << 20 | random.below(2) << 23;
    let word = kind | rn << 16 | rd << 12 | random.below(0x1000);
    arm(random, word)
}

/// Loads of the case's own code, relative to PC.
fn load_relative(random: &mut Random, _: &mut State) -> Option<Code> {
    let rd = register(random);
    let offset = random.below(10) * 4;
    arm(random, 0x059f_0000 | rd << 12 | offset)
}

/// The forms whose offset has eight bits: `kind` is L and the bits 6 and 5.
fn halfword(random: &mut Random, state: &mut State, kind: u32, align: u32) -> Option<Code> {
    let double = align == 8;
    let (mode, changes, first) = addressing(random);
    let (rn, mut rd, rm) = (register(random), register(random), register(random));
    if double {
        rd = random.below(7) * 2;
    }
    let last = if double { rd + 1 } else { rd };
    (!changes || rn != rd && rn != last).then_some(())?;
    let constant = random.one_in(2);
    let (offset, bits) = if constant {
        let offset = random.below(256);
        (offset, 1 << 22 | (offset & 0xf0) << 4 | offset & 15)
    } else {
        (rn != rm && (!double || rm != rd && rm != last)).then_some(())?;
        (state.registers[rm as usize], rm)
    };
    let before = if first { signed(mode, offset) } else { 0 };
    state.aim(random, rn, before, align, 0);
    arm(random, kind | mode | bits | 0x90 | rn << 16 | rd << 12)
}

fn load_half(random: &mut Random, state: &mut State) -> Option<Code> {
    let (signed, align) = random.pick(&[(1, 2), (2, 1), (3, 2)]);
    halfword(random, state, 1 << 20 | signed << 5, align)
}

fn store_half(random: &mut Random, state: &mut State) -> Option<Code> {
    halfword(random, state, 1 << 5, 2)
}

fn load_double(random: &mut Random, state: &mut State) -> Option<Code> {
    halfword(random, state, 2 << 5, 8)
}

fn store_double(random: &mut Random, state: &mut State) -> Option<Code> {
    halfword(random, state, 3 << 5, 8)
}

fn swap(random: &mut Random, state: &mut State) -> Option<Code> {
    let (rn, rd, rm) = (register(random), register(random), register(random));
    (rn != rd && rn != rm).then_some(())?;
    let byte = random.below(2);
    state.aim(random, rn, 0, if byte == 0 { 4 } else { 1 }, 0);
    let word = 0x0100_0090 | byte << 22 | rn << 16 | rd << 12 | rm;
    arm(random, word)
}

fn preload(random: &mut Random, state: &mut State) -> Option<Code> {
    let rn = register(random);
    state.aim(random, rn, 0, 1, 0);
    Some(Code::Arm(0xf5d0_f000 | rn << 16 | random.below(64)))
}

fn block(random: &mut Random, state: &mut State, load: u32) -> Option<Code> {
    let rn = register(random);
    // Any number of registers, often few.
    let mut list = random.below(0x8000);
    if random.one_in(2) {
        list &= random.below(0x8000);
    }
    let write_back = random.below(2);
    let base = 1 << rn;
    (list != 0 && (write_back == 0 || list & base == 0)).then_some(())?;
    state.aim(random, rn, 0, 4, 68);
    let mode = random.below(4) << 23 | write_back << 21;
    arm(random, 1 << 27 | load | mode | rn << 16 | list)
}

fn load_block(random: &mut Random, state: &mut State) -> Option<Code> {
    block(random, state, 1 << 20)
}

fn store_block(random: &mut Random, state: &mut State) -> Option<Code> {
    block(random, state, 0)
}

fn branch(random: &mut Random, _: &mut State) -> Option<Code> {
    let offset = random.pick(&ARM_PADS).wrapping_sub(8) >> 2 & 0x00ff_ffff;
    let word = 0x0a00_0000 | random.below(2) << 24 | offset;
    arm(random, word)
}

/// The landing in Thumb state of a case in ARM state.
const THUMB_LANDING: u32 = 16;

fn branch_exchange(random: &mut Random, state: &mut State) -> Option<Code> {
    let rm = register(random);
    let target = random.pick(&[ARM_PADS[0], ARM_PADS[1], THUMB_LANDING | 1]);
    state.registers[rm as usize] = state.at + target;
    let word = 0x012f_ff10 | random.below(2) << 5 | rm;
    arm(random, word)
}

fn branch_to_thumb(_: &mut Random, _: &mut State) -> Option<Code> {
    Some(Code::Arm(0xfa00_0000 | (THUMB_LANDING - 8) >> 2))
}

/// LDR of PC from the case itself, where PC is its own address: only the code after the instruction is loaded.
fn load_pc_from_case(random: &mut Random, state: &mut State) -> Option<Code> {
    // The sixteen longwords before the code are the registers; a register with a landing's address is among them.
    let from = register(random);
    state.registers[from as usize] = state.at + random.pick(&ARM_PADS);
    let place = state.at - STUB + 4 + from * 4;
    debug_assert!(place < state.at + CASE);
    let offset = state.at + 8 - place;
    arm(random, 0x051f_f000 | offset)
}

/// LDM of PC from the registers of the case.
fn load_block_pc(random: &mut Random, state: &mut State) -> Option<Code> {
    let rn = register(random);
    let list = random.below(0x8000);
    let others = list.count_ones();
    let (before, increment, write_back) = (random.below(2), random.below(2), random.below(2));
    let from = others + random.below(15u32.checked_sub(others)?);
    (from < 15 && from != rn && (write_back == 0 || list & 1 << rn == 0)).then_some(())?;
    let target = random.pick(&[ARM_PADS[0], ARM_PADS[1], THUMB_LANDING | 1]);
    state.registers[from as usize] = state.at + target;
    let lowest = state.at - STUB + 4 + (from - others) * 4;
    state.registers[rn as usize] = match (increment, before) {
        (1, 0) => lowest,
        (1, _) => lowest - 4,
        (_, 0) => lowest + others * 4,
        _ => lowest + others * 4 + 4,
    };
    let mode = before << 24 | increment << 23 | write_back << 21;
    arm(random, 1 << 27 | 1 << 20 | mode | rn << 16 | 1 << 15 | list)
}

/// All forms.
pub const FORMS: &[Form] = &[
    Form {
        name: "data operation with a constant",
        make: data_constant,
    },
    Form {
        name: "data operation with a register shifted by a number",
        make: data_register,
    },
    Form {
        name: "data operation with a register shifted by a register",
        make: data_shifted_by_register,
    },
    Form {
        name: "data operation to PC",
        make: data_to_pc,
    },
    Form {
        name: "MUL, MLA",
        make: multiply,
    },
    Form {
        name: "UMULL, UMLAL, SMULL, SMLAL",
        make: multiply_long,
    },
    Form {
        name: "SMLAxy",
        make: |random, _| multiply_halves(random, 0),
    },
    Form {
        name: "SMLAWy, SMULWy",
        make: |random, _| multiply_halves(random, 1),
    },
    Form {
        name: "SMLALxy",
        make: |random, _| multiply_halves(random, 2),
    },
    Form {
        name: "SMULxy",
        make: |random, _| multiply_halves(random, 3),
    },
    Form {
        name: "QADD, QSUB, QDADD, QDSUB",
        make: saturate,
    },
    Form {
        name: "CLZ",
        make: count_leading_zeros,
    },
    Form {
        name: "MRS of CPSR",
        make: read_status,
    },
    Form {
        name: "MSR of CPSR's flags",
        make: write_status,
    },
    Form {
        name: "LDR with a constant",
        make: load_constant,
    },
    Form {
        name: "LDRB with a constant",
        make: load_byte_constant,
    },
    Form {
        name: "STR with a constant",
        make: store_constant,
    },
    Form {
        name: "STRB with a constant",
        make: store_byte_constant,
    },
    Form {
        name: "LDR, LDRB with a register",
        make: load_register,
    },
    Form {
        name: "STR, STRB with a register",
        make: store_register,
    },
    Form {
        name: "LDRT, LDRBT, STRT, STRBT",
        make: user_access,
    },
    Form {
        name: "LDR relative to PC",
        make: load_relative,
    },
    Form {
        name: "LDR of PC",
        make: load_pc_from_case,
    },
    Form {
        name: "LDRH, LDRSB, LDRSH",
        make: load_half,
    },
    Form {
        name: "STRH",
        make: store_half,
    },
    Form {
        name: "LDRD",
        make: load_double,
    },
    Form {
        name: "STRD",
        make: store_double,
    },
    Form {
        name: "SWP, SWPB",
        make: swap,
    },
    Form {
        name: "PLD",
        make: preload,
    },
    Form {
        name: "LDM",
        make: load_block,
    },
    Form {
        name: "LDM of PC",
        make: load_block_pc,
    },
    Form {
        name: "STM",
        make: store_block,
    },
    Form {
        name: "B, BL",
        make: branch,
    },
    Form {
        name: "BX, BLX of a register",
        make: branch_exchange,
    },
    Form {
        name: "BLX to a constant",
        make: branch_to_thumb,
    },
];

/// All forms, of both states.
pub fn all() -> impl Iterator<Item = &'static Form> {
    FORMS.iter().chain(crate::thumb_forms::FORMS)
}

/// Cases of all forms in turn, for the addresses given by their numbers.
pub fn cases(seed: u64, count: usize) -> Vec<(&'static str, Case)> {
    let mut random = Random::new(seed);
    (0..count)
        .zip(all().collect::<Vec<_>>().into_iter().cycle())
        .map(|(number, form)| (form.name, case(form, &mut random, number)))
        .collect()
}
