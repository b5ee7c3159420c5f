//! Programs for microengines of a whole chip: their contexts issue commands to its memories,
//! rings, queues, hash unit and proxy, and wait for them or not.

use std::ops::Range;

use npsim_isa::{
    AluOp, Bank, CapAccess, CapCsr, Command, CommandOp, Completion, Condition, Instruction,
    Operand, TransferKind, TransferRegister, Unit, cap_csr, encode,
};
use proptest::prelude::*;
use proptest::sample::select;

use super::{
    KILL, NEIGHBOURS, assemble_behind, branch, defer_of, immed, polls, shared, straight, timer,
    values, with_slots, yields,
};

/// Registers that are relative ones of context 7, which does not run: what addresses begin
/// with, and override words.
#[derive(Clone, Copy, Debug)]
enum Fixed {
    /// Memory that all share, at the beginning.
    Zero,
    /// The same in the second SRAM channel.
    SecondChannel,
    /// The Q-array entry that the boot plan makes a queue.
    Queue,
    /// A microengine without a program, as the reflector names it.
    Unloaded,
    /// Registers of context 0 of the first microengine, as the reflector names them.
    Reflected,
    /// The same as an override word names them.
    OtherMicroengine,
    /// Two more longwords than one.
    ThreeOfThem,
    /// The registers of context 1, whose signal is raised.
    OtherContext,
    /// Three longwords of which the last is at the beginning of the file.
    AtTheEnd,
}

impl Fixed {
    const ALL: [(Self, u32); 9] = [
        (Self::Zero, 0),
        (Self::SecondChannel, 1 << 30),
        (Self::Queue, QUEUE << 24),
        (Self::Unloaded, 0x13 << 10),
        (Self::Reflected, 0),
        (Self::OtherMicroengine, 1 << 31 | 1 << 11 | 2 << 4),
        (Self::ThreeOfThem, 1 << 25 | 2 << 21),
        (Self::OtherContext, 1 << 11 | 16 << 4 | 1 << 3 | 1),
        (Self::AtTheEnd, 1 << 25 | 2 << 21 | 1 << 11 | 126 << 4),
    ];

    fn register(self) -> Operand {
        Operand::GprAbsolute(Bank::A, 112 + self as u8)
    }
}

/// The Q-array entry of channel 0 that is a queue.
pub const QUEUE: u32 = 5;

/// The scratch rings that there are.
pub const RINGS: Range<u8> = 0..2;

/// Context 7 kills itself; the others set the fixed registers, which all do alike, and what
/// commands may send.
fn beginning() -> Vec<Instruction> {
    let mut program = vec![
        Instruction::BranchCtx {
            equal: false,
            context: 7,
            target: 2,
            defer: 0,
        },
        KILL,
    ];
    for (register, value) in Fixed::ALL {
        let dest = register.register();
        program.push(immed(dest, value as u16));
        let value = (value >> 16) as u16;
        program.push(Instruction::ImmedWord {
            dest,
            word: 1,
            value,
        });
    }
    for n in 0..16 {
        program.push(immed(Operand::STransfer(n), u16::from(n) * 0x111));
        program.push(immed(Operand::DTransfer(n), u16::from(n) * 0x101));
    }
    program
}

/// What a command works on: what its address begins with, and what is added to it.
fn places(op: CommandOp) -> Option<BoxedStrategy<(Fixed, u8)>> {
    let words = |bases: &'static [Fixed]| (select(bases), (0..12_u8).prop_map(|n| 4 * n)).boxed();
    Some(match op {
        CommandOp::SramEnqueue | CommandOp::SramEnqueueTail | CommandOp::SramDequeue => {
            (Just(Fixed::Queue), 1..12_u8).boxed()
        }
        CommandOp::ScratchGet | CommandOp::ScratchPut => {
            (Just(Fixed::Zero), RINGS.prop_map(|ring| 4 * ring)).boxed()
        }
        CommandOp::CapReflectRead | CommandOp::CapReflectWrite => {
            words(&[Fixed::Unloaded, Fixed::Reflected])
        }
        CommandOp::DramRead | CommandOp::DramWrite => {
            (Just(Fixed::Zero), (0..12_u8).prop_map(|n| 8 * n)).boxed()
        }
        _ if op.info().unit == Unit::Hash => (Just(Fixed::Zero), Just(0)).boxed(),
        CommandOp::SramRead | CommandOp::SramWrite => words(&[Fixed::Zero, Fixed::SecondChannel]),
        CommandOp::ScratchRead | CommandOp::ScratchWrite => words(&[Fixed::Zero]),
        _ if op.is_atomic() && op.info().unit == Unit::Sram => {
            words(&[Fixed::Zero, Fixed::SecondChannel])
        }
        _ if op.is_atomic() => words(&[Fixed::Zero]),
        _ => return None,
    })
}

fn completion() -> impl Strategy<Value = Completion> {
    prop_oneof![
        1 => Just(Completion::Silent),
        2 => (1..16_u8).prop_map(Completion::SigDone),
        3 => (1..16_u8, 0..3_u8).prop_map(|(signal, defer)| Completion::CtxSwap { signal, defer }),
    ]
}

/// What the address of the next command begins with: commands read no absolute registers.
const BASE: Operand = Operand::Gpr(Bank::B, 14);

/// Takes a fixed register's value.
fn copied(dest: Operand, from: Fixed) -> Instruction {
    Instruction::Alu {
        op: AluOp::B,
        dest,
        a: Operand::None,
        b: from.register(),
    }
}

/// A command with the transfer registers from a number on.
fn command_of(
    op: CommandOp,
    plus: u8,
    (register, count): (u8, u8),
    completion: Completion,
    indirect: bool,
) -> Instruction {
    let info = op.info();
    let transfer = match (info.takes_transfer, info.default_transfer) {
        (false, _) => TransferRegister::None,
        (true, TransferKind::S) => TransferRegister::S(register),
        (true, TransferKind::D) => TransferRegister::D(register),
    };
    let (a, b) = if info.takes_operands {
        (BASE, Operand::Constant(plus))
    } else {
        (Operand::None, Operand::None)
    };
    Instruction::Command(Command {
        op,
        transfer,
        a,
        b,
        count: if info.takes_count {
            count.min(info.max_count)
        } else {
            0
        },
        completion,
        indirect,
        ignore_data_error: false,
    })
}

/// The commands that there are, with their places.
fn commands() -> Vec<(CommandOp, BoxedStrategy<(Fixed, u8)>)> {
    let all = CommandOp::ALL.into_iter();
    all.filter_map(|op| Some((op, places(op)?))).collect()
}

/// Takes what an address begins with, leaves an override word if there is one, and issues a
/// command.
fn command() -> BoxedStrategy<Vec<Instruction>> {
    let commands = commands();
    let place =
        (0..commands.len()).prop_flat_map(move |n| (Just(commands[n].0), commands[n].1.clone()));
    let override_with = prop_oneof![
        6 => Just(None),
        1 => Just(Some(Fixed::ThreeOfThem)),
        1 => Just(Some(Fixed::OtherContext)),
        1 => Just(Some(Fixed::AtTheEnd)),
        1 => Just(Some(Fixed::OtherMicroengine)),
    ];
    let moved = (0..16_u8, 1..5_u8);
    (place, moved, completion(), override_with)
        .prop_map(|((op, (base, plus)), moved, completion, word)| {
            let command = command_of(op, plus, moved, completion, word.is_some());
            let word = word.map(|word| copied(Operand::None, word));
            [copied(BASE, base)]
                .into_iter()
                .chain(word)
                .chain([command])
                .collect()
        })
        .prop_filter("not encodable", |instructions: &Vec<Instruction>| {
            instructions.iter().all(|it| encode(it).is_ok())
        })
        .boxed()
}

/// All that memories, queues and the hash unit do are among them, and each can be encoded in
/// one of the ways to end.
#[test]
fn each_command_is_among_those_that_are_issued() {
    let units = [Unit::Sram, Unit::Scratch, Unit::Dram, Unit::Hash];
    let absent = CommandOp::ALL
        .into_iter()
        .filter(|op| places(*op).is_none());
    let absent: Vec<_> = absent
        .filter(|op| units.contains(&op.info().unit))
        .collect();
    let expected = [
        // Rings and journals need a descriptor that is loaded, which these reload.
        CommandOp::SramPut,
        CommandOp::SramGet,
        CommandOp::SramJournal,
        CommandOp::SramFastJournal,
        CommandOp::SramCsrWr,
        CommandOp::SramCsrRd,
        CommandOp::SramWrQdesc,
        CommandOp::SramWrQdescCount,
        CommandOp::SramRdQdescOther,
        CommandOp::SramRdQdescTail,
        CommandOp::SramRdQdescHead,
        // The media interface has no frames.
        CommandOp::DramRbufRd,
        CommandOp::DramTbufWr,
    ];
    assert_eq!(absent, expected);
    for (op, _) in commands() {
        let ways = [
            Completion::Silent,
            Completion::SigDone(2),
            Completion::SigDone(3),
        ];
        let words = ways.map(|way| encode(&command_of(op, 4, (2, 1), way, false)));
        assert!(words.iter().any(Result::is_ok), "{op:?}: {words:?}");
    }
}

/// An access to a register of the proxy: a signal of a context, a message, or one that is
/// read back.
fn proxy() -> BoxedStrategy<Vec<Instruction>> {
    let signal = (0..2_u16, 0..7_u16, 1..16_u16).prop_map(|(me, context, signal)| {
        vec![Instruction::CapFastWrite {
            csr: cap_csr::INTERTHREAD_SIGNAL,
            data: me << 7 | context << 4 | signal,
            indirect: false,
        }]
    });
    let message = (0..8_u16, any::<bool>(), 0..16_u8, completion()).prop_map(
        |(thread, reads, register, completion)| {
            vec![Instruction::CapCsr(CapCsr {
                access: if reads {
                    CapAccess::Read
                } else {
                    CapAccess::Write
                },
                csr: cap_csr::THREAD_MESSAGE_0 + 4 * thread,
                transfer: TransferRegister::S(register),
                count: 1,
                completion,
                indirect: false,
            })]
        },
    );
    prop_oneof![2 => signal, 1 => message]
        .prop_filter("not encodable", |it: &Vec<Instruction>| {
            it.iter().all(|it| encode(it).is_ok())
        })
        .boxed()
}

/// An access with what stands in the defer slots of its swap.
fn access() -> impl Strategy<Value = Vec<Instruction>> {
    let access = prop_oneof![8 => command(), 1 => proxy()];
    (access, proptest::collection::vec(straight(), 2)).prop_map(|(mut access, mut slots)| {
        let slots_of = access.last().map_or(0, defer_of);
        slots.truncate(slots_of);
        access.extend(slots);
        access
    })
}

/// Whether it gives up the pipeline, which nothing may do in a defer slot.
fn swaps(command: &Instruction) -> bool {
    let Instruction::Command(command) = command else {
        return false;
    };
    matches!(command.completion, Completion::CtxSwap { .. })
}

/// The program of one of several microengines, seven of whose contexts run it.
pub fn of_chips() -> impl Strategy<Value = Vec<Instruction>> {
    let block = prop_oneof![
        6 => access(),
        6 => straight().prop_map(|it| vec![it]),
        1 => shared(NEIGHBOURS).prop_map(|it| vec![it]),
        1 => timer(),
        1 => with_slots(branch(), straight()),
        // A command where a slot of a branch stands.
        1 => command().prop_map(|mut access| {
            let taken = Instruction::Branch { condition: Condition::Always, target: 1, defer: 1 };
            let last = access.len() - 1;
            if swaps(&access[last]) {
                access[last] = Instruction::Nop;
            }
            access.insert(last, taken);
            access
        }),
        1 => with_slots(polls(), straight()),
        2 => with_slots(yields(), straight()),
    ];
    (values(), proptest::collection::vec(block, 1..30), 1..5_u16).prop_map(
        |(values, blocks, rounds)| assemble_behind(beginning(), &values, blocks, rounds, KILL),
    )
}
