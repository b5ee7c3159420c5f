//! Random programs that end and use only behaviour that hardware defines. A few leave local memory:
//! then engine and reference must agree where.

pub mod commands;
pub mod media;
pub mod rounds;

use npsim_isa::{
    AluOp, Bank, ByteOrder, CamLmTarget, CapCsr, Command, Completion, Condition, CrcBytes, CrcKind,
    CtxArb, ImmedShift, IndexStep, InputState, Instruction, MulPhase, MulWidth, Operand, ShfOp,
    Shift, ShiftCount, UnaryOp, csr, encode,
};
use proptest::prelude::*;
use proptest::sample::select;

fn gpr(bank: Bank) -> BoxedStrategy<Operand> {
    prop_oneof![
        4 => (0..16_u8).prop_map(move |n| Operand::Gpr(bank, n)),
        1 => (0..16_u8).prop_map(move |n| Operand::GprAbsolute(bank, n)),
    ]
    .boxed()
}

fn step() -> impl Strategy<Value = IndexStep> {
    select(vec![
        IndexStep::Keep,
        IndexStep::Increment,
        IndexStep::Decrement,
    ])
}

fn special() -> BoxedStrategy<Operand> {
    prop_oneof![
        (0..16_u8).prop_map(Operand::STransfer),
        (0..16_u8).prop_map(Operand::DTransfer),
        step().prop_map(Operand::SIndexed),
        step().prop_map(Operand::DIndexed),
        (0..2_u8, 0..16_u8).prop_map(|(pointer, offset)| Operand::LocalMemory { pointer, offset }),
        (0..2_u8, any::<bool>()).prop_map(|(pointer, up)| Operand::LocalMemoryStep {
            pointer,
            step: if up {
                IndexStep::Increment
            } else {
                IndexStep::Decrement
            },
        }),
    ]
    .boxed()
}

fn source() -> BoxedStrategy<Operand> {
    prop_oneof![
        3 => gpr(Bank::A),
        3 => gpr(Bank::B),
        2 => special(),
        1 => any::<u8>().prop_map(Operand::Constant),
    ]
    .boxed()
}

fn dest() -> BoxedStrategy<Operand> {
    prop_oneof![
        3 => gpr(Bank::A),
        3 => gpr(Bank::B),
        2 => special(),
        1 => Just(Operand::None),
    ]
    .boxed()
}

/// A register destination, for instructions that also read it.
fn register() -> BoxedStrategy<Operand> {
    prop_oneof![3 => gpr(Bank::A), 3 => gpr(Bank::B), 1 => special()].boxed()
}

fn shift() -> BoxedStrategy<Shift> {
    prop_oneof![
        Just(Shift::None),
        (1..32_u8).prop_map(Shift::Left),
        (1..32_u8).prop_map(Shift::Right),
        (1..32_u8).prop_map(Shift::RotateRight),
        Just(Shift::LeftIndirect),
        Just(Shift::RightIndirect),
    ]
    .boxed()
}

fn count() -> BoxedStrategy<ShiftCount> {
    prop_oneof![3 => (1..32_u8).prop_map(ShiftCount::By), 1 => Just(ShiftCount::Indirect)].boxed()
}

fn order() -> impl Strategy<Value = ByteOrder> {
    select(vec![ByteOrder::Big, ByteOrder::Little])
}

fn width() -> impl Strategy<Value = MulWidth> {
    select(vec![MulWidth::W24x8, MulWidth::W16x16, MulWidth::W32x32])
}

fn alu_op() -> impl Strategy<Value = AluOp> {
    select(vec![
        AluOp::B,
        AluOp::NotB,
        AluOp::Add,
        AluOp::Add16,
        AluOp::Add8,
        AluOp::And,
        AluOp::NotAAnd,
        AluOp::AndNot,
        AluOp::Or,
        AluOp::Xor,
        AluOp::Sub,
        AluOp::SubReverse,
        AluOp::AddCarry,
        AluOp::SubCarry,
    ])
}

fn shf_op() -> impl Strategy<Value = ShfOp> {
    select(vec![
        ShfOp::B,
        ShfOp::NotB,
        ShfOp::And,
        ShfOp::NotAAnd,
        ShfOp::AndNot,
        ShfOp::Or,
    ])
}

fn datapath() -> BoxedStrategy<Instruction> {
    let none_if = |none: bool, a: Operand| if none { Operand::None } else { a };
    prop_oneof![
        // What B and ~B read as A, or what their field names if that is nothing, is
        // the count of an indirect shift after them.
        6 => (alu_op(), dest(), source(), source(), any::<bool>()).prop_map(move |(op, dest, a, b, none)| {
            let unary = matches!(op, AluOp::B | AluOp::NotB);
            Instruction::Alu { op, dest, a: none_if(unary && none, a), b }
        }),
        4 => (shf_op(), dest(), source(), source(), shift(), any::<bool>()).prop_map(
            move |(op, dest, a, b, shift, none)| {
                let unary = matches!(op, ShfOp::B | ShfOp::NotB);
                Instruction::AluShf { op, dest, a: none_if(unary && none, a), b, shift }
            }
        ),
        2 => (dest(), source(), source(), count()).prop_map(|(dest, a, b, count)| Instruction::DblShf { dest, a, b, count }),
        2 => (dest(), source(), count()).prop_map(|(dest, src, count)| Instruction::Asr { dest, src, count }),
        2 => (order(), dest(), source()).prop_map(|(order, dest, src)| Instruction::ByteAlign { order, dest, src }),
        3 => (register(), 0..16_u8, source(), shift(), any::<bool>(), any::<bool>()).prop_map(
            |(dest, mask, src, shift, clear, load_cc)| Instruction::LdField { dest, mask, src, shift, clear, load_cc }
        ),
        2 => (dest(), any::<u16>(), select(vec![ImmedShift::None, ImmedShift::By8, ImmedShift::By16]), any::<bool>())
            .prop_map(|(dest, value, shift, invert)| Instruction::Immed { dest, value, shift, invert }),
        1 => (register(), 0..4_u8, any::<u8>()).prop_map(|(dest, byte, value)| Instruction::ImmedByte { dest, byte, value }),
        1 => (register(), 0..2_u8, any::<u16>()).prop_map(|(dest, word, value)| Instruction::ImmedWord { dest, word, value }),
        1 => Just(Instruction::Nop),
    ]
    .boxed()
}

fn units() -> BoxedStrategy<Instruction> {
    let lm_addr = proptest::option::weighted(
        0.2,
        (0..2_u8).prop_map(|pointer| CamLmTarget { pointer, block: 0 }),
    );
    let crc_kind = select(vec![
        CrcKind::None,
        CrcKind::Ccitt,
        CrcKind::Crc32,
        CrcKind::Iscsi,
        CrcKind::Crc10,
        CrcKind::Crc5,
    ]);
    let crc_bytes = select(vec![
        CrcBytes::All,
        CrcBytes::B1_3,
        CrcBytes::B2_3,
        CrcBytes::B3,
        CrcBytes::B0_2,
        CrcBytes::B0_1,
        CrcBytes::B0,
    ]);
    prop_oneof![
        (source(), source()).prop_map(|(a, b)| Instruction::MulStep {
            phase: MulPhase::Start,
            a,
            b
        }),
        (width(), source(), source()).prop_map(|(w, a, b)| Instruction::MulStep {
            phase: MulPhase::Step(w, 1),
            a,
            b
        }),
        (width(), any::<bool>(), dest()).prop_map(|(width, high, dest)| Instruction::MulLast {
            width,
            high: high && width == MulWidth::W32x32,
            dest,
        }),
        (select(UnaryOp::ALL.to_vec()), dest(), source()).prop_map(|(op, dest, src)| {
            let dest = if op.has_dest() { dest } else { Operand::None };
            Instruction::Unary { op, dest, src }
        }),
        Just(Instruction::CamClear),
        (dest(), source(), lm_addr).prop_map(|(dest, src, lm_addr)| Instruction::CamLookup {
            dest,
            src,
            lm_addr
        }),
        (source(), source(), 0..16_u8).prop_map(|(entry, src, state)| Instruction::CamWrite {
            entry,
            src,
            state
        }),
        (source(), 0..16_u8).prop_map(|(entry, state)| Instruction::CamWriteState { entry, state }),
        (
            order(),
            crc_kind,
            dest(),
            source(),
            crc_bytes,
            any::<bool>()
        )
            .prop_map(
                |(order, kind, dest, src, bytes, bit_swap)| Instruction::Crc {
                    order,
                    kind,
                    dest,
                    src,
                    bytes,
                    bit_swap
                }
            ),
        (select(vec![
            csr::ACTIVE_LM_ADDR_0,
            csr::ACTIVE_LM_ADDR_1,
            csr::T_INDEX,
            csr::BYTE_INDEX,
            csr::CRC_REMAINDER
        ]))
        .prop_map(|csr| Instruction::LocalCsrRead { csr }),
        // Constants keep most local memory addresses in range.
        (
            select(vec![
                csr::ACTIVE_LM_ADDR_0,
                csr::ACTIVE_LM_ADDR_1,
                csr::T_INDEX,
                csr::BYTE_INDEX
            ]),
            128..=255_u8
        )
            .prop_map(|(csr, value)| Instruction::LocalCsrWrite {
                csr,
                src: Operand::Constant(value)
            }),
        source().prop_map(|src| Instruction::LocalCsrWrite {
            csr: csr::CRC_REMAINDER,
            src
        }),
    ]
    .boxed()
}

fn straight_line() -> BoxedStrategy<Instruction> {
    prop_oneof![3 => datapath(), 1 => units()]
        .prop_filter("not encodable", |instruction| encode(instruction).is_ok())
        .boxed()
}

/// A write of a CSR that raises a signal of a context, of the own microengine or a neighbour:
/// the signal's number above the context's, or with bit 7 of the next context.
fn raise(whose: &'static [u16]) -> BoxedStrategy<Instruction> {
    (select(whose), 1..16_u8, 0..7_u8, any::<bool>())
        .prop_map(|(csr, signal, context, next)| Instruction::LocalCsrWrite {
            csr,
            src: Operand::Constant(signal << 3 | context | if next { 0x80 } else { 0 }),
        })
        .boxed()
}

/// Where signals of the own microengine are raised.
const OWN: &[u16] = &[csr::SAME_ME_SIGNAL];

/// Where signals of the own microengine and of both neighbours are raised.
const NEIGHBOURS: &[u16] = &[
    csr::SAME_ME_SIGNAL,
    csr::NEXT_NEIGHBOR_SIGNAL,
    csr::PREV_NEIGHBOR_SIGNAL,
];

/// Instructions that read state changed by other contexts or by time, or raise signals of the
/// microengines that these CSRs address.
fn shared(whose: &'static [u16]) -> BoxedStrategy<Instruction> {
    let read = select(vec![
        csr::CTX_ARB_CNTL,
        csr::CTX_ENABLES,
        csr::ACTIVE_CTX_STS,
        csr::ACTIVE_CTX_SIG_EVENTS,
        csr::ACTIVE_CTX_WAKEUP_EVENTS,
        csr::INDIRECT_CTX_STS,
        csr::INDIRECT_CTX_SIG_EVENTS,
        csr::INDIRECT_LM_ADDR_0,
        csr::TIMESTAMP_LOW,
        csr::PROFILE_COUNT,
        csr::PSEUDO_RANDOM_NUMBER,
        csr::NN_PUT,
        csr::NN_GET,
    ]);
    let ring = |take: bool| {
        if take {
            Operand::NnRing
        } else {
            Operand::NnPeek
        }
    };
    let write = select(vec![csr::CSR_CTX_POINTER, csr::PROFILE_COUNT]);
    prop_oneof![
        4 => raise(whose),
        2 => read.prop_map(|csr| Instruction::LocalCsrRead { csr }),
        1 => (write, any::<u8>())
            .prop_map(|(csr, value)| Instruction::LocalCsrWrite { csr, src: Operand::Constant(value) }),
        1 => (dest(), any::<bool>()).prop_map(move |(dest, take)| {
            Instruction::Alu { op: AluOp::B, dest, a: Operand::None, b: ring(take) }
        }),
        1 => (source(), any::<bool>(), 0..16_u8).prop_map(|(b, put, register)| {
            let dest = if put { Operand::NnRing } else { Operand::Nn(register) };
            Instruction::Alu { op: AluOp::NotB, dest, a: Operand::None, b }
        }),
    ]
    .prop_filter("not encodable", |instruction| encode(instruction).is_ok())
    .boxed()
}

/// The future count of the running context and the signal that it raises.
fn timer() -> impl Strategy<Value = Vec<Instruction>> {
    (1..16_u8, 0..255_u8).prop_map(|(signal, count)| {
        let write = |csr, value| Instruction::LocalCsrWrite {
            csr,
            src: Operand::Constant(value),
        };
        vec![
            write(csr::ACTIVE_FUTURE_COUNT_SIGNAL, signal),
            write(csr::ACTIVE_CTX_FUTURE_COUNT, count),
        ]
    })
}

/// The context lets others run, or waits for signals that may never come.
fn yields() -> BoxedStrategy<Instruction> {
    let mask = prop_oneof![3 => Just(1_u16), 1 => (1..16_u16, 1..16_u16).prop_map(|(a, b)| 1 << a | 1 << b)];
    (mask, any::<bool>(), 0..3_u8)
        .prop_map(|(mask, any, defer)| {
            Instruction::CtxArb(CtxArb {
                mask,
                any,
                breakpoint: false,
                keep_mask: false,
                resume: None,
                defer,
            })
        })
        .prop_filter("not encodable", |instruction| encode(instruction).is_ok())
        .boxed()
}

/// A branch on state that others change, whose target is a number of blocks ahead.
fn polls() -> BoxedStrategy<Instruction> {
    prop_oneof![
        3 => (any::<bool>(), 1..16_u8, 1..6_u16, 0..3_u8)
            .prop_map(|(set, signal, target, defer)| Instruction::BranchSignal { set, signal, target, defer }),
        1 => (any::<bool>(), 0..4_u8, 1..6_u16, 0..3_u8).prop_map(|(set, number, target, defer)| {
            let state = InputState::from_number(number).unwrap();
            Instruction::BranchInputState { set, state, target, defer }
        }),
    ]
    .prop_filter("not encodable", |instruction| encode(instruction).is_ok())
    .boxed()
}

/// A branch whose target is a number of blocks ahead.
fn branch() -> BoxedStrategy<Instruction> {
    let condition = select(vec![
        Condition::Eq,
        Condition::Ne,
        Condition::Mi,
        Condition::Pl,
        Condition::Cs,
        Condition::Cc,
        Condition::Vs,
        Condition::Vc,
        Condition::Ge,
        Condition::Lt,
        Condition::Le,
        Condition::Gt,
        Condition::Always,
    ]);
    let source = || prop_oneof![gpr(Bank::A), gpr(Bank::B), special()];
    prop_oneof![
        4 => (condition, 1..6_u16, 0..4_u8).prop_map(|(condition, target, defer)| {
            let most = if condition == Condition::Always { 2 } else { 3 };
            Instruction::Branch { condition, target, defer: defer.min(most) }
        }),
        1 => (any::<bool>(), source(), 0..32_u8, 1..6_u16, 0..4_u8)
            .prop_map(|(set, src, bit, target, defer)| Instruction::BranchBit { set, src, bit, target, defer }),
        1 => (any::<bool>(), source(), 0..4_u8, any::<u8>(), 1..6_u16, 0..4_u8).prop_map(
            |(equal, src, byte, value, target, defer)| Instruction::BranchByte { equal, src, byte, value, target, defer }
        ),
        1 => (any::<bool>(), 0..2_u8, 1..6_u16, 0..3_u8)
            .prop_map(|(equal, context, target, defer)| Instruction::BranchCtx { equal, context, target, defer }),
    ]
    .prop_filter("not encodable", |instruction| encode(instruction).is_ok())
    .boxed()
}

fn defer_of(instruction: &Instruction) -> usize {
    match *instruction {
        Instruction::Branch { defer, .. }
        | Instruction::BranchBit { defer, .. }
        | Instruction::BranchByte { defer, .. }
        | Instruction::BranchCtx { defer, .. }
        | Instruction::BranchSignal { defer, .. }
        | Instruction::BranchInputState { defer, .. } => defer.into(),
        Instruction::CtxArb(arb) => arb.defer.into(),
        Instruction::Command(Command { completion, .. })
        | Instruction::CapCsr(CapCsr { completion, .. }) => match completion {
            Completion::CtxSwap { defer, .. } => defer.into(),
            Completion::Silent | Completion::SigDone(_) => 0,
        },
        _ => 0,
    }
}

/// Counts the iterations; nothing else in a program uses it.
const COUNTER: Operand = Operand::GprAbsolute(Bank::A, 127);

/// A control instruction with the instructions in its defer slots.
fn with_slots(
    control: BoxedStrategy<Instruction>,
    slot: BoxedStrategy<Instruction>,
) -> impl Strategy<Value = Vec<Instruction>> {
    (control, proptest::collection::vec(slot, 3)).prop_map(|(control, mut slots)| {
        slots.truncate(defer_of(&control));
        slots.insert(0, control);
        slots
    })
}

fn values() -> impl Strategy<Value = Vec<u32>> {
    let value = prop_oneof![any::<u32>(), 0..40_u32, Just(1 << 31), Just(u32::MAX)];
    proptest::collection::vec(value, 32)
}

/// A program: all general registers and both pointers are set; blocks of one instruction, or of one
/// branch with its defer slots, are repeated several times, because the engine runs code that it
/// has run before in another way; then comes a breakpoint.
pub fn single_context() -> impl Strategy<Value = Vec<Instruction>> {
    let block = prop_oneof![
        5 => straight_line().prop_map(|it| vec![it]),
        1 => with_slots(branch(), straight_line()),
    ];
    (values(), proptest::collection::vec(block, 1..60), 1..5_u16)
        .prop_map(|(values, blocks, rounds)| assemble(&values, blocks, rounds, BREAKPOINT))
}

/// Programs for several contexts: they use each other's registers by absolute
/// numbers, share the next-neighbour ring, raise each other's signals and wait for
/// them. Each kills itself at the end. Context 7, whose register counts the rounds
/// of all, must not run.
pub fn multi_context() -> impl Strategy<Value = Vec<Instruction>> {
    several_contexts(OWN)
}

/// Programs for a microengine among others: it also raises signals of its neighbours.
pub fn neighbouring() -> impl Strategy<Value = Vec<Instruction>> {
    several_contexts(NEIGHBOURS)
}

fn several_contexts(whose: &'static [u16]) -> impl Strategy<Value = Vec<Instruction>> {
    // Others than these two are refused there.
    let slot = || {
        prop_oneof![40 => straight_line(), 6 => shared(whose), 1 => yields(), 1 => branch()].boxed()
    };
    let block = prop_oneof![
        8 => straight_line().prop_map(|it| vec![it]),
        4 => shared(whose).prop_map(|it| vec![it]),
        1 => timer(),
        2 => with_slots(branch(), slot()),
        1 => with_slots(polls(), slot()),
        3 => with_slots(yields(), slot()),
    ];
    (values(), proptest::collection::vec(block, 1..40), 1..5_u16)
        .prop_map(|(values, blocks, rounds)| assemble(&values, blocks, rounds, KILL))
}

pub fn immed(dest: Operand, value: u16) -> Instruction {
    Instruction::Immed {
        dest,
        value,
        shift: ImmedShift::None,
        invert: false,
    }
}

/// Sets all bits of a register.
pub fn set(dest: Operand, value: u32) -> [Instruction; 2] {
    let high = Instruction::ImmedWord {
        dest,
        word: 1,
        value: (value >> 16) as u16,
    };
    [immed(dest, value as u16), high]
}

const BREAKPOINT: Instruction = Instruction::CtxArb(CtxArb {
    mask: 0,
    any: false,
    breakpoint: true,
    keep_mask: false,
    resume: None,
    defer: 0,
});

pub const KILL: Instruction = Instruction::CtxArb(CtxArb {
    mask: 0,
    any: true,
    breakpoint: false,
    keep_mask: false,
    resume: None,
    defer: 0,
});

fn assemble(
    values: &[u32],
    blocks: Vec<Vec<Instruction>>,
    rounds: u16,
    last: Instruction,
) -> Vec<Instruction> {
    assemble_after(Vec::new(), values, blocks, rounds, last)
}

/// A program of blocks after its initial instructions.
fn assemble_after(
    first: Vec<Instruction>,
    values: &[u32],
    blocks: Vec<Vec<Instruction>>,
    rounds: u16,
    last: Instruction,
) -> Vec<Instruction> {
    let mut program = first;
    program.push(immed(COUNTER, rounds - 1));
    for (n, value) in values.iter().enumerate() {
        let dest = Operand::Gpr(if n < 16 { Bank::A } else { Bank::B }, n as u8 % 16);
        program.push(Instruction::ImmedWord {
            dest,
            word: 0,
            value: *value as u16,
        });
        program.push(Instruction::ImmedWord {
            dest,
            word: 1,
            value: (value >> 16) as u16,
        });
    }
    for csr in [csr::ACTIVE_LM_ADDR_0, csr::ACTIVE_LM_ADDR_1] {
        program.push(Instruction::LocalCsrWrite {
            csr,
            src: Operand::Constant(252),
        });
    }
    program.extend([Instruction::Nop; 4]);
    let mut starts = Vec::new();
    let mut at = program.len();
    for block in &blocks {
        starts.push(at as u16);
        at += block.len();
    }
    let end = at as u16;
    for (number, block) in blocks.into_iter().enumerate() {
        for mut instruction in block {
            match &mut instruction {
                Instruction::Branch { target, .. }
                | Instruction::BranchBit { target, .. }
                | Instruction::BranchByte { target, .. }
                | Instruction::BranchCtx { target, .. }
                | Instruction::BranchSignal { target, .. }
                | Instruction::BranchInputState { target, .. } => {
                    *target = starts
                        .get(number + *target as usize)
                        .copied()
                        .unwrap_or(end);
                }
                _ => {}
            }
            program.push(instruction);
        }
    }
    program.push(Instruction::Alu {
        op: AluOp::Sub,
        dest: COUNTER,
        a: COUNTER,
        b: Operand::Constant(1),
    });
    program.push(Instruction::Branch {
        condition: Condition::Pl,
        target: starts.first().copied().unwrap_or(end),
        defer: 0,
    });
    program.push(last);
    program
}
