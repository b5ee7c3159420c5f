//! Random instructions of Thumb state, by form.
// All forms are functions of one type.
#![allow(clippy::unnecessary_wraps)]

use crate::case::{Code, NOP, STUB, THUMB_ARM_PAD, THUMB_PAD};
use crate::forms::{Form, State};
use crate::random::Random;

const SP: u32 = 13;

fn low(random: &mut Random) -> u32 {
    random.below(8)
}

fn thumb(half: u32) -> Option<Code> {
    Some(Code::Thumb(half as u16, NOP))
}

fn shift(random: &mut Random, _: &mut State) -> Option<Code> {
    thumb(random.below(3) << 11 | random.below(32) << 6 | random.below(64))
}

fn add_three(random: &mut Random, _: &mut State) -> Option<Code> {
    thumb(3 << 11 | random.below(0x800))
}

fn constant(random: &mut Random, _: &mut State) -> Option<Code> {
    thumb(1 << 13 | random.below(0x2000))
}

fn low_registers(random: &mut Random, _: &mut State) -> Option<Code> {
    let (op, rd, rm) = (random.below(16), low(random), low(random));
    (op != 13 || rd != rm).then_some(())?;
    thumb(1 << 14 | op << 6 | rm << 3 | rd)
}

fn high_registers(random: &mut Random, _: &mut State) -> Option<Code> {
    let (op, rd, rm) = (random.below(3), random.below(15), random.below(16));
    // The result of CMP with PC is not defined.
    (op != 1 || rm != 15).then_some(())?;
    thumb(0x4400 | op << 8 | (rd & 8) << 4 | rm << 3 | rd & 7)
}

fn to_pc(random: &mut Random, state: &mut State) -> Option<Code> {
    let rm = random.below(15);
    let add = random.one_in(2);
    let from = if add { state.at + 4 } else { 0 };
    state.registers[rm as usize] = (state.at + THUMB_PAD).wrapping_sub(from);
    thumb(0x4487 | u32::from(!add) << 9 | rm << 3)
}

fn load_relative(random: &mut Random, _: &mut State) -> Option<Code> {
    thumb(9 << 11 | low(random) << 8 | random.below(11))
}

fn register_offset(random: &mut Random, state: &mut State) -> Option<Code> {
    let (op, rm, rn, rd) = (random.below(8), low(random), low(random), low(random));
    (rm != rn).then_some(())?;
    let align = [4, 2, 1, 1, 4, 2, 1, 2][op as usize];
    let offset = state.registers[rm as usize];
    state.aim(random, rn, offset, align, 0);
    thumb(5 << 12 | op << 9 | rm << 6 | rn << 3 | rd)
}

fn constant_offset(random: &mut Random, state: &mut State) -> Option<Code> {
    let (kind, align) = random.pick(&[(0x6000, 4), (0x7000, 1), (0x8000, 2)]);
    let (five, rn, rd) = (random.below(32), low(random), low(random));
    state.aim(random, rn, five * align, align, 0);
    thumb(kind | random.below(2) << 11 | five << 6 | rn << 3 | rd)
}

fn stack_offset(random: &mut Random, state: &mut State) -> Option<Code> {
    let offset = random.below(256);
    state.aim(random, SP, offset * 4, 4, 0);
    thumb(0x9000 | random.below(2) << 11 | low(random) << 8 | offset)
}

fn address(random: &mut Random, _: &mut State) -> Option<Code> {
    thumb(0xa000 | random.below(0x1000))
}

fn move_stack(random: &mut Random, _: &mut State) -> Option<Code> {
    thumb(0xb000 | random.below(256))
}

fn push_pop(random: &mut Random, state: &mut State) -> Option<Code> {
    let pop = random.below(2);
    let list = random.below(if pop == 1 { 0x100 } else { 0x200 });
    (list != 0).then_some(())?;
    state.aim(random, SP, 0, 4, 40);
    thumb(0xb400 | pop << 11 | list)
}

/// POP of PC, from among the registers of the case.
fn pop_pc(random: &mut Random, state: &mut State) -> Option<Code> {
    let list = random.below(256);
    let place = list.count_ones() + random.below(13 - list.count_ones());
    let target = random.pick(&[THUMB_PAD | 1, THUMB_ARM_PAD]);
    state.registers[place as usize] = state.at + target;
    state.registers[SP as usize] = state.at - STUB + 4 + (place - list.count_ones()) * 4;
    thumb(0xbd00 | list)
}

fn block(random: &mut Random, state: &mut State) -> Option<Code> {
    let (load, rn, list) = (random.below(2), low(random), random.below(256));
    let base = 1 << rn;
    (list != 0 && (load == 1 || list & base == 0 || list & (base - 1) == 0)).then_some(())?;
    state.aim(random, rn, 0, 4, 36);
    thumb(0xc000 | load << 11 | rn << 8 | list)
}

fn branch_conditional(random: &mut Random, _: &mut State) -> Option<Code> {
    thumb(0xd000 | random.below(14) << 8 | (THUMB_PAD - 4) >> 1)
}

fn branch(_: &mut Random, _: &mut State) -> Option<Code> {
    thumb(0xe000 | (THUMB_PAD - 4) >> 1)
}

fn branch_link(random: &mut Random, _: &mut State) -> Option<Code> {
    let second = if random.one_in(2) {
        0xf800 | (THUMB_PAD - 4) >> 1
    } else {
        0xe800 | (THUMB_ARM_PAD - 4) >> 1
    };
    Some(Code::Thumb(0xf000, second as u16))
}

fn link_suffix(random: &mut Random, state: &mut State) -> Option<Code> {
    let offset = random.below(0x400) * 2;
    let (half, target) = random.pick(&[(0xf800, THUMB_PAD), (0xe800, THUMB_ARM_PAD)]);
    state.registers[14] = (state.at + target).wrapping_sub(offset * 2);
    thumb(half | offset)
}

fn branch_exchange(random: &mut Random, state: &mut State) -> Option<Code> {
    let rm = random.below(15);
    let target = random.pick(&[THUMB_PAD | 1, THUMB_ARM_PAD]);
    state.registers[rm as usize] = state.at + target;
    thumb(0x4700 | random.below(2) << 7 | rm << 3)
}

/// All forms.
pub const FORMS: &[Form] = &[
    Form {
        name: "Thumb LSL, LSR, ASR by a constant",
        make: shift,
    },
    Form {
        name: "Thumb ADD, SUB of three operands",
        make: add_three,
    },
    Form {
        name: "Thumb MOV, CMP, ADD, SUB with a constant",
        make: constant,
    },
    Form {
        name: "Thumb data operation of low registers",
        make: low_registers,
    },
    Form {
        name: "Thumb ADD, CMP, MOV of any register",
        make: high_registers,
    },
    Form {
        name: "Thumb ADD, MOV to PC",
        make: to_pc,
    },
    Form {
        name: "Thumb LDR relative to PC",
        make: load_relative,
    },
    Form {
        name: "Thumb load or store with a register",
        make: register_offset,
    },
    Form {
        name: "Thumb load or store with a constant",
        make: constant_offset,
    },
    Form {
        name: "Thumb load or store relative to SP",
        make: stack_offset,
    },
    Form {
        name: "Thumb address relative to PC or SP",
        make: address,
    },
    Form {
        name: "Thumb ADD, SUB of SP",
        make: move_stack,
    },
    Form {
        name: "Thumb PUSH, POP",
        make: push_pop,
    },
    Form {
        name: "Thumb POP of PC",
        make: pop_pc,
    },
    Form {
        name: "Thumb LDM, STM",
        make: block,
    },
    Form {
        name: "Thumb B with a condition",
        make: branch_conditional,
    },
    Form {
        name: "Thumb B",
        make: branch,
    },
    Form {
        name: "Thumb BL, BLX to a constant",
        make: branch_link,
    },
    Form {
        name: "Thumb second half of BL, BLX",
        make: link_suffix,
    },
    Form {
        name: "Thumb BX, BLX of a register",
        make: branch_exchange,
    },
];
