//! Proptest strategies that produce encodable instructions in canonical form, and how many cases
//! properties are tried on.
//!
//! Corner values are as frequent as all the others together: random numbers
//! alone seldom meet them.
//!
//! A crate of its own, not a feature of `npsim-isa`: a feature that only tests turn on
//! would compile everything that knows instructions a second time for them.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

use npsim_isa::{
    AluOp, Bank, ByteOrder, CamLmTarget, CapAccess, CapCsr, Command, CommandOp, Completion,
    ContextMode, CrcBytes, CrcKind, CtxArb, Form, Generation, ImmedShift, IndexStep, InputState,
    Instruction, MulPhase, MulWidth, Operand, Operands, ShfOp, Shift, ShiftCount, SignalRule,
    Target, TransferRegister, encode_in, mnemonics,
};

/// How many random cases a property is tried on: `usual` in a change's own tests, ten times as
/// many where the environment has `NPSIM_THOROUGH`, as the nightly gate does.
#[must_use]
pub fn cases(usual: u32) -> u32 {
    if std::env::var_os("NPSIM_THOROUGH").is_some() {
        usual * 10
    } else {
        usual
    }
}

/// Numbers from `min` to `max`, often the ends.
fn number(min: u16, max: u16) -> BoxedStrategy<u16> {
    prop_oneof![Just(min), Just(max), min..=max, min..=max].boxed()
}

/// As [`number`], for bytes.
fn byte(min: u8, max: u8) -> BoxedStrategy<u8> {
    prop_oneof![Just(min), Just(max), min..=max, min..=max].boxed()
}

fn bank() -> impl Strategy<Value = Bank> {
    select(vec![Bank::A, Bank::B])
}

fn step() -> impl Strategy<Value = IndexStep> {
    select(vec![
        IndexStep::Keep,
        IndexStep::Increment,
        IndexStep::Decrement,
    ])
}

/// Any operand, legal somewhere or not.
pub fn operand() -> BoxedStrategy<Operand> {
    prop_oneof![
        1 => Just(Operand::None),
        6 => (bank(), byte(0, 31)).prop_map(|(bank, n)| Operand::Gpr(bank, n)),
        2 => (bank(), byte(0, 127)).prop_map(|(bank, n)| Operand::GprAbsolute(bank, n)),
        2 => byte(0, 31).prop_map(Operand::STransfer),
        2 => byte(0, 31).prop_map(Operand::DTransfer),
        1 => step().prop_map(Operand::SIndexed),
        1 => step().prop_map(Operand::DIndexed),
        2 => (0..2u8, byte(0, 15))
            .prop_map(|(pointer, offset)| Operand::LocalMemory { pointer, offset }),
        1 => (0..2u8, select(vec![IndexStep::Increment, IndexStep::Decrement]))
            .prop_map(|(pointer, step)| Operand::LocalMemoryStep { pointer, step }),
        1 => Just(Operand::NnPeek),
        1 => Just(Operand::NnRing),
        1 => byte(0, 31).prop_map(Operand::Nn),
        3 => prop_oneof![byte(0, 127), byte(128, 255)].prop_map(Operand::Constant),
    ]
    .boxed()
}

fn shift() -> BoxedStrategy<Shift> {
    prop_oneof![
        Just(Shift::None),
        byte(1, 31).prop_map(Shift::Left),
        byte(1, 31).prop_map(Shift::Right),
        byte(1, 31).prop_map(Shift::RotateRight),
        Just(Shift::LeftIndirect),
        Just(Shift::RightIndirect),
    ]
    .boxed()
}

fn count() -> BoxedStrategy<ShiftCount> {
    prop_oneof![
        Just(ShiftCount::Indirect),
        byte(1, 31).prop_map(ShiftCount::By)
    ]
    .boxed()
}

fn order() -> impl Strategy<Value = ByteOrder> {
    select(vec![ByteOrder::Big, ByteOrder::Little])
}

fn width() -> impl Strategy<Value = MulWidth> {
    select(vec![MulWidth::W24x8, MulWidth::W16x16, MulWidth::W32x32])
}

fn target() -> BoxedStrategy<u16> {
    number(0, 8191)
}

fn transfer() -> BoxedStrategy<TransferRegister> {
    prop_oneof![
        1 => Just(TransferRegister::None),
        2 => byte(0, 31).prop_map(TransferRegister::S),
        2 => byte(0, 31).prop_map(TransferRegister::D),
    ]
    .boxed()
}

fn completion() -> BoxedStrategy<Completion> {
    prop_oneof![
        Just(Completion::Silent),
        byte(1, 15).prop_map(Completion::SigDone),
        (byte(0, 15), byte(0, 2)).prop_map(|(signal, defer)| Completion::CtxSwap { signal, defer }),
    ]
    .boxed()
}

/// An instruction with `--` where its word says the same of the first source.
fn with_implied_source(mut instruction: Instruction) -> Instruction {
    let a = match &mut instruction {
        Instruction::Alu { op, a, .. } if op.is_unary() => a,
        Instruction::AluShf { op, a, .. } if op.is_unary() => a,
        _ => return instruction,
    };
    let written = std::mem::replace(a, Operand::None);
    if instruction.first_source() != Some(written)
        && let Instruction::Alu { a, .. } | Instruction::AluShf { a, .. } = &mut instruction
    {
        *a = written;
    }
    instruction
}

fn datapath() -> Vec<BoxedStrategy<Instruction>> {
    let immed_shift = select(vec![ImmedShift::None, ImmedShift::By8, ImmedShift::By16]);
    vec![
        (select(AluOp::ALL.to_vec()), operand(), operand(), operand())
            .prop_map(|(op, dest, a, b)| with_implied_source(Instruction::Alu { op, dest, a, b }))
            .boxed(),
        (
            select(ShfOp::ALL.to_vec()),
            operand(),
            operand(),
            operand(),
            shift(),
        )
            .prop_map(|(op, dest, a, b, shift)| {
                with_implied_source(Instruction::AluShf {
                    op,
                    dest,
                    a,
                    b,
                    shift,
                })
            })
            .boxed(),
        (
            operand(),
            byte(0, 15),
            operand(),
            shift(),
            any::<bool>(),
            any::<bool>(),
        )
            .prop_map(
                |(dest, mask, src, shift, clear, load_cc)| Instruction::LdField {
                    dest,
                    mask,
                    src,
                    shift,
                    clear,
                    load_cc,
                },
            )
            .boxed(),
        (operand(), number(0, 0xffff), immed_shift, any::<bool>())
            .prop_map(|(dest, value, shift, invert)| Instruction::Immed {
                dest,
                value,
                shift,
                invert,
            })
            .boxed(),
        (operand(), byte(0, 3), byte(0, 255))
            .prop_map(|(dest, byte, value)| Instruction::ImmedByte { dest, byte, value })
            .boxed(),
        (operand(), byte(0, 1), number(0, 0xffff))
            .prop_map(|(dest, word, value)| Instruction::ImmedWord { dest, word, value })
            .boxed(),
        (width(), byte(0, 4), operand(), operand())
            .prop_map(|(width, step, a, b)| Instruction::MulStep {
                phase: match step {
                    0 => MulPhase::Start,
                    step => MulPhase::Step(width, step),
                },
                a,
                b,
            })
            .boxed(),
        (width(), any::<bool>(), operand())
            .prop_map(|(width, high, dest)| Instruction::MulLast { width, high, dest })
            .boxed(),
    ]
}

/// Every form that the table alone describes, its operands at random.
fn table_forms() -> Vec<BoxedStrategy<Instruction>> {
    let operands = || {
        let registers = (operand(), operand(), operand(), operand());
        let numbers = (byte(0, 255), byte(0, 255), target(), byte(0, 3));
        (registers, count(), numbers)
    };
    let form = |form: &'static Form| {
        let make = form.make?;
        let most = form.operands.iter().find_map(|operand| operand.info.max);
        let strategy = operands().prop_map(move |(registers, count, numbers)| {
            let (dest, a, b, src) = registers;
            let (number, value, target, defer) = numbers;
            make(&Operands {
                dest,
                a,
                b,
                src,
                entry: a,
                count,
                number: number % (most.unwrap_or(u8::MAX - 1) + 1),
                value,
                target,
                defer: defer % (form.max_defer + 1),
            })
        });
        Some(strategy.boxed())
    };
    mnemonics()
        .iter()
        .flat_map(|row| row.forms)
        .filter_map(form)
        .collect()
}

fn special() -> Vec<BoxedStrategy<Instruction>> {
    let lm_addr = proptest::option::of(
        (0..2u8, byte(0, 3)).prop_map(|(pointer, block)| CamLmTarget { pointer, block }),
    );
    vec![
        (operand(), operand(), lm_addr)
            .prop_map(|(dest, src, lm_addr)| Instruction::CamLookup { dest, src, lm_addr })
            .boxed(),
        (
            order(),
            select(CrcKind::ALL.to_vec()),
            operand(),
            operand(),
            select(CrcBytes::ALL.to_vec()),
            any::<bool>(),
        )
            .prop_map(
                |(order, kind, dest, src, bytes, bit_swap)| Instruction::Crc {
                    order,
                    kind,
                    dest,
                    src,
                    bytes,
                    bit_swap,
                },
            )
            .boxed(),
    ]
}

fn control() -> Vec<BoxedStrategy<Instruction>> {
    vec![
        (any::<bool>(), byte(1, 15), target(), byte(0, 3))
            .prop_map(|(set, signal, target, defer)| Instruction::BranchSignal {
                set,
                signal,
                target,
                defer,
            })
            .boxed(),
        (
            any::<bool>(),
            select(InputState::ALL.to_vec()),
            target(),
            byte(0, 3),
        )
            .prop_map(
                |(set, state, target, defer)| Instruction::BranchInputState {
                    set,
                    state,
                    target,
                    defer,
                },
            )
            .boxed(),
        ctx_arb(),
        number(0, 0x7ff)
            .prop_map(|number| Instruction::LocalCsrRead { csr: number * 4 })
            .boxed(),
        (number(0, 0x7ff), operand())
            .prop_map(|(number, src)| Instruction::LocalCsrWrite {
                csr: number * 4,
                src,
            })
            .boxed(),
    ]
}

fn ctx_arb() -> BoxedStrategy<Instruction> {
    (
        number(0, 0xffff),
        any::<bool>(),
        0..6u8,
        proptest::option::of(target()),
        byte(0, 2),
    )
        .prop_map(|(mask, any, form, resume, defer)| {
            let alone = form < 2;
            Instruction::CtxArb(CtxArb {
                mask: if alone { 0 } else { mask },
                any: any && !alone,
                breakpoint: form == 0,
                keep_mask: form == 1,
                resume,
                defer,
            })
        })
        .boxed()
}

fn commands() -> Vec<BoxedStrategy<Instruction>> {
    let command = (
        select(CommandOp::ALL.to_vec()),
        transfer(),
        operand(),
        operand(),
        byte(1, 8),
        completion(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(
            |(op, transfer, a, b, count, completion, indirect, ignore)| {
                let info = op.info();
                let silent = info.signals == SignalRule::None;
                Instruction::Command(Command {
                    op,
                    transfer: if info.takes_transfer {
                        transfer
                    } else {
                        TransferRegister::None
                    },
                    a: if info.takes_operands {
                        a
                    } else {
                        Operand::None
                    },
                    b: if info.takes_operands {
                        b
                    } else {
                        Operand::None
                    },
                    count: count.min(info.max_count),
                    completion: if silent {
                        Completion::Silent
                    } else {
                        completion
                    },
                    indirect,
                    ignore_data_error: ignore && info.ignore_error,
                })
            },
        )
        .boxed();
    let cap = (
        select(vec![
            CapAccess::Read,
            CapAccess::Write,
            CapAccess::FastWriteAlu,
        ]),
        number(0, 0xffff),
        transfer(),
        byte(1, 8),
        completion(),
        any::<bool>(),
    )
        .prop_map(|(access, csr, transfer, count, completion, indirect)| {
            let alu = access == CapAccess::FastWriteAlu;
            Instruction::CapCsr(CapCsr {
                access,
                csr,
                transfer: if alu {
                    TransferRegister::None
                } else {
                    transfer
                },
                count: if alu { 0 } else { count },
                completion: if alu { Completion::Silent } else { completion },
                indirect,
            })
        })
        .boxed();
    let fast = (number(0, 0xffff), number(0, 0x3fff), any::<bool>())
        .prop_map(|(csr, data, indirect)| Instruction::CapFastWrite {
            csr,
            data,
            indirect,
        })
        .boxed();
    // The one strategy for all commands counts as often as they deserve.
    vec![
        command.clone(),
        command.clone(),
        command.clone(),
        command,
        cap,
        fast,
    ]
}

/// Instructions whose parts are each in range, though the whole may not be
/// encodable: for tests of the encoder's refusals.
pub fn arb_unchecked() -> BoxedStrategy<Instruction> {
    let mut classes = table_forms();
    classes.extend(datapath());
    classes.extend(special());
    classes.extend(control());
    classes.extend(commands());
    Union::new(classes).boxed()
}

/// The newest generation, which has the instructions of all others, with eight contexts.
pub const NEWEST: Target = Target {
    generation: Generation::ALL[Generation::ALL.len() - 1],
    contexts: ContextMode::Eight,
};

/// Encodable instructions of every class in canonical form, for [`NEWEST`].
pub fn arb_instruction() -> BoxedStrategy<Instruction> {
    arb_instruction_in(NEWEST)
}

/// Encodable instructions of every class in canonical form.
pub fn arb_instruction_in(target: Target) -> BoxedStrategy<Instruction> {
    arb_unchecked()
        .prop_filter_map("not encodable", move |instruction| {
            let instruction = instruction.canonical();
            encode_in(&instruction, target).ok()?;
            Some(instruction)
        })
        .boxed()
}
