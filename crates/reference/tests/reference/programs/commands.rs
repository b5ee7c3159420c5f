//! Programs for microengines of a whole chip: their contexts issue commands to its memories,
//! rings, journals, queues, media buffers, hash unit and proxy, and wait for them or not.

use std::ops::Range;

use npsim_isa::{
    AluOp, Bank, CapAccess, CapCsr, Command, CommandOp, Completion, Condition, ContextMode,
    Instruction, Operand, OperandRole, Target, TransferKind, TransferRegister, Unit, cap_csr,
    encode, encode_in, msf_csr,
};
use proptest::prelude::*;
use proptest::sample::select;

use super::media::{THREAD_WAITS, media, time_out};
use super::{
    KILL, NEIGHBOURS, assemble_after, branch, defer_of, immed, polls, set, shared, straight_line,
    timer, values, with_slots, yields,
};

/// Relative registers of context 7, which does not run: address bases and override words.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fixed {
    /// Memory that all share, at its beginning.
    Zero,
    /// Memory of the second SRAM channel that all share, at its beginning.
    SecondChannel,
    /// The Q-array entry that the boot plan makes a queue.
    Queue,
    /// A microengine without a program, as the reflector names it.
    Unloaded,
    /// Registers of context 0 of the first microengine, as the reflector names them.
    Reflected,
    /// Registers of the first microengine of the second cluster.
    ReflectedFarther,
    /// Registers of the first microengine, as an override word names them.
    OtherMicroengine,
    /// Two more longwords than one.
    ThreeOfThem,
    /// The registers of context 1, whose signal is raised.
    OtherContext,
    /// Three longwords of which the last is at the beginning of the file.
    AtTheEnd,
    /// Some bytes, or a buffer of two more cells that another of its packet follows.
    SomeBytes,
    /// Other bytes, or a buffer of one more cell with which its packet ends.
    OtherBytes,
    /// The operand of an atomic operation, or two longwords, with a mask.
    Operand,
    /// The control words of TBUF elements.
    ControlWords,
    /// The bits that distinguish them.
    AnyControlWord,
    /// The freelist entry of a thread that waits for an mpacket, without the thread's number.
    ThreadWaits,
    /// The Q-array entry that is a ring, and its descriptor.
    Ring,
    /// The one that is a journal.
    Journal,
    /// The queue with its descriptor, where it alone has room for a buffer of that address.
    QueueDescriptor,
    /// The first elements of the media buffers, of which no frame comes into the very first.
    FirstElements,
    /// Elements behind them.
    FartherElements,
    /// An element of a media buffer, as an override word names it.
    Element,
    /// Three quadwords at the beginning of another one.
    ThreeOfElement,
    /// An element, the signals of context 1, and the first microengine.
    ElementOfOthers,
    /// The control word of a frame that fits into one element.
    WholeFrame,
    /// The control word of an element that is not sent.
    Skipped,
}

impl Fixed {
    const ALL: [(Self, u32); 26] = [
        (Self::Zero, 0),
        (Self::SecondChannel, 1 << 30),
        (Self::Queue, QUEUE << 24),
        (Self::Unloaded, 0x13 << 10),
        (Self::Reflected, 0),
        (Self::ReflectedFarther, 0x10 << 10),
        (Self::OtherMicroengine, 1 << 31 | 1 << 11 | 2 << 4),
        (Self::ThreeOfThem, 1 << 25 | 2 << 21),
        (Self::OtherContext, 1 << 11 | 16 << 4 | 1 << 3 | 1),
        (Self::AtTheEnd, 1 << 25 | 2 << 21 | 1 << 11 | 126 << 4),
        (Self::SomeBytes, 1 << 20 | 0x02 << 12),
        (Self::OtherBytes, 1 << 20 | 0x81 << 12),
        (
            Self::Operand,
            1 << 25 | 1 << 24 | 1 << 21 | 1 << 20 | 0x5a << 12,
        ),
        (Self::ControlWords, msf_csr::TBUF_ELEMENT_CONTROL_0 as u32),
        (Self::AnyControlWord, 127 << 3),
        (Self::ThreadWaits, THREAD_WAITS),
        (Self::Ring, RING.entry << 24 | RING.at),
        (Self::Journal, JOURNAL.entry << 24 | JOURNAL.at),
        (Self::QueueDescriptor, QUEUE << 24 | QUEUE_DESCRIPTOR),
        (Self::FirstElements, element(0)),
        (Self::FartherElements, element(2) + 40),
        (Self::Element, element(1) << 5),
        (Self::ThreeOfElement, 1 << 25 | 2 << 21 | element(2) << 5),
        (
            Self::ElementOfOthers,
            1 << 31 | element(3) << 5 | 1 << 3 | 1,
        ),
        (Self::WholeFrame, 60 << 24 | 3 << 8 | 1),
        (Self::Skipped, 1 << 11),
    ];

    /// Registers of bank A but the counter of rounds, then those of bank B.
    pub(super) fn register(self) -> Operand {
        match self as u8 {
            n @ 0..15 => Operand::GprAbsolute(Bank::A, 112 + n),
            n => Operand::GprAbsolute(Bank::B, 112 + (n - 15)),
        }
    }
}

/// The address of an element of 64 bytes in the data window of the media interface.
const fn element(number: u32) -> u32 {
    msf_csr::RBUF_TBUF_DATA as u32 + 64 * number
}

/// The Q-array entry of channel 0 that is a queue.
pub const QUEUE: u32 = 5;

/// Longword address of its descriptor.
pub const QUEUE_DESCRIPTOR: u32 = 0x80;

/// A Q-array entry of channel 0 with what stands in its descriptor when the run begins.
pub struct Descriptor {
    entry: u32,
    /// Longword address.
    pub at: u32,
    pub words: [u32; 3],
}

/// Of 512 longwords, a few of which are free.
pub const RING: Descriptor = Descriptor {
    entry: 6,
    at: 0x84,
    words: [0x200, 0x200 + 508, 508],
};

/// A journal that soon writes over its oldest longwords.
pub const JOURNAL: Descriptor = Descriptor {
    entry: 7,
    at: 0x88,
    words: [0x400, 0x400 + 509, 509],
};

/// The existing scratch rings.
pub const RINGS: Range<u8> = 0..2;

/// Context 7 kills itself; the others set the fixed registers, which all do alike, and what
/// commands may send. The first loads ring and journal and lets threads wait for frames no longer
/// than some time.
fn beginning(reach: Reach) -> Vec<Instruction> {
    let only = |equal, context, target| Instruction::BranchCtx {
        equal,
        context,
        target,
        defer: 0,
    };
    // The command is never executed: its presence shows the chip that registers are reached by
    // others.
    let reflects = CommandOp::CapReflectWrite;
    let reflects = command_of(reflects, 0, (0, 1), Completion::Silent, false);
    let mut program = match reach {
        Reach::Own => vec![only(false, 7, 2), KILL],
        Reach::Others => vec![only(false, 7, 3), KILL, reflects],
    };
    for (register, value) in Fixed::ALL {
        program.extend(set(register.register(), value));
    }
    for n in 0..16 {
        program.push(immed(Operand::STransfer(n), u16::from(n) * 0x111));
        program.push(immed(Operand::DTransfer(n), u16::from(n) * 0x101));
    }
    let loads = [Fixed::Ring, Fixed::Journal].into_iter().flat_map(loaded);
    let loads: Vec<_> = loads.chain(time_out()).collect();
    let behind = program.len() + 1 + loads.len();
    program.push(only(false, 0, behind as u16));
    program.extend(loads);
    program
}

/// Loads a Q-array entry with all of its descriptor.
fn loaded(entry: Fixed) -> [Instruction; 3] {
    let waits = Completion::CtxSwap {
        signal: 2,
        defer: 0,
    };
    let head = command_of(CommandOp::SramRdQdescHead, 0, (0, 2), waits, false);
    let other = CommandOp::SramRdQdescOther;
    let other = command_of(other, 0, (0, 0), Completion::Silent, false);
    [copied(BASE, entry), head, other]
}

/// The owner of the transfer registers that the commands of a program move. As long as none reaches
/// those of another microengine, cores may use theirs ahead of the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Own,
    Others,
}

impl Reach {
    fn allows(self, op: CommandOp) -> bool {
        let reflects = matches!(op, CommandOp::CapReflectRead | CommandOp::CapReflectWrite);
        self == Self::Others || !reflects
    }
}

/// The target of a command: its address base, and the offset.
fn places(op: CommandOp) -> Option<BoxedStrategy<(Fixed, u8)>> {
    use CommandOp as Op;
    let words = |bases: &'static [Fixed]| (select(bases), (0..12_u8).prop_map(|n| 4 * n)).boxed();
    let at = |bases: &'static [Fixed]| (select(bases), Just(0)).boxed();
    Some(match op {
        Op::SramEnqueue | Op::SramEnqueueTail | Op::SramDequeue => {
            (Just(Fixed::Queue), 1..12_u8).boxed()
        }
        // A journal's words can be taken off like a ring's, and it can be full.
        Op::SramPut | Op::SramGet | Op::SramJournal => at(&[Fixed::Ring, Fixed::Journal]),
        Op::SramFastJournal => (Just(Fixed::Journal), 0..64_u8).boxed(),
        Op::SramRdQdescHead
        | Op::SramRdQdescTail
        | Op::SramRdQdescOther
        | Op::SramWrQdesc
        | Op::SramWrQdescCount => at(&[Fixed::Ring, Fixed::Journal, Fixed::QueueDescriptor]),
        Op::ScratchGet | Op::ScratchPut => {
            (Just(Fixed::Zero), RINGS.prop_map(|ring| 4 * ring)).boxed()
        }
        Op::CapReflectRead | Op::CapReflectWrite => {
            words(&[Fixed::Unloaded, Fixed::Reflected, Fixed::ReflectedFarther])
        }
        Op::DramRead | Op::DramWrite | Op::DramRbufRd | Op::DramTbufWr => {
            (Just(Fixed::Zero), (0..12_u8).prop_map(|n| 8 * n)).boxed()
        }
        // Control words are for a program that tracks which element is free.
        Op::MsfWrite | Op::MsfWrite64 => words(&[Fixed::FirstElements, Fixed::FartherElements]),
        Op::MsfRead | Op::MsfRead64 => words(&[
            Fixed::FirstElements,
            Fixed::FartherElements,
            Fixed::ControlWords,
        ]),
        _ if op.info().unit == Unit::Hash => at(&[Fixed::Zero]),
        Op::SramRead | Op::SramWrite | Op::SramCsrRd | Op::SramCsrWr => {
            words(&[Fixed::Zero, Fixed::SecondChannel])
        }
        Op::ScratchRead | Op::ScratchWrite => words(&[Fixed::Zero]),
        _ if op.is_atomic() && op.info().unit == Unit::Sram => {
            words(&[Fixed::Zero, Fixed::SecondChannel])
        }
        _ if op.is_atomic() => words(&[Fixed::Zero]),
        _ => return None,
    })
}

/// The override words of a command; most commands need none.
fn overrides(op: CommandOp, reach: Reach) -> BoxedStrategy<Option<Fixed>> {
    if matches!(op, CommandOp::DramRbufRd | CommandOp::DramTbufWr) {
        let elements = vec![
            Fixed::Element,
            Fixed::ThreeOfElement,
            Fixed::ElementOfOthers,
        ];
        return select(elements).prop_map(Some).boxed();
    }
    if reach == Reach::Own && op.info().takes_transfer {
        return Just(None).boxed();
    }
    let words = vec![
        Fixed::ThreeOfThem,
        Fixed::OtherContext,
        Fixed::AtTheEnd,
        Fixed::OtherMicroengine,
        Fixed::SomeBytes,
        Fixed::OtherBytes,
        Fixed::Operand,
    ];
    prop_oneof![4 => Just(None), 3 => select(words).prop_map(Some)].boxed()
}

pub(super) fn completion() -> impl Strategy<Value = Completion> {
    prop_oneof![
        1 => Just(Completion::Silent),
        2 => (1..16_u8).prop_map(Completion::SigDone),
        3 => (1..16_u8, 0..3_u8).prop_map(|(signal, defer)| Completion::CtxSwap { signal, defer }),
    ]
}

/// The address base of the next command: commands cannot read absolute registers.
pub(super) const BASE: Operand = Operand::Gpr(Bank::B, 14);

/// Whether it names a register of context 0 that makes addresses as one of all contexts.
fn names_address_register(instruction: &Instruction) -> bool {
    let text = instruction.to_string();
    text.contains("@b14") || text.contains("@a15")
}

/// Takes a fixed register's value.
pub(super) fn copied(dest: Operand, from: Fixed) -> Instruction {
    Instruction::Alu {
        op: AluOp::B,
        dest,
        a: Operand::None,
        b: from.register(),
    }
}

/// A command with the transfer registers from a number on.
pub(super) fn command_of(
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

/// All commands, with their targets.
fn commands(reach: Reach) -> Vec<(CommandOp, BoxedStrategy<(Fixed, u8)>)> {
    let all = CommandOp::ALL.into_iter().filter(|op| reach.allows(*op));
    all.filter_map(|op| Some((op, places(op)?))).collect()
}

/// Loads an address base, provides an override word if there is one, and issues a command.
fn command(reach: Reach) -> BoxedStrategy<Vec<Instruction>> {
    let commands = commands(reach);
    let place = (0..commands.len()).prop_flat_map(move |n| {
        let (op, place) = &commands[n];
        (Just(*op), place.clone(), overrides(*op, reach))
    });
    let moved = (0..16_u8, 1..5_u8);
    (place, moved, completion())
        .prop_map(|((op, (base, plus), word), moved, completion)| {
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

/// The commands include all operations of memories, queues and the hash unit, and each can be
/// encoded with one of the ways to end.
#[test]
fn generated_programs_cover_every_command() {
    let units = [Unit::Sram, Unit::Scratch, Unit::Dram, Unit::Hash, Unit::Msf];
    let absent = CommandOp::ALL
        .into_iter()
        .filter(|op| places(*op).is_none());
    let absent: Vec<_> = absent
        .filter(|op| units.contains(&op.info().unit))
        .collect();
    // The data of these is in their address: `media` generates them.
    assert_eq!(absent, [CommandOp::MsfFastWr]);
    for (op, _) in commands(Reach::Others) {
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
    // The last is the first one of the second cluster.
    let me = select(vec![0, 1, 16]);
    let signal = (me, 0..7_u16, 1..16_u16).prop_map(|(me, context, signal)| {
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

/// An access with the instructions in the defer slots of its swap.
fn access(reach: Reach) -> impl Strategy<Value = Vec<Instruction>> {
    let access = prop_oneof![16 => command(reach), 2 => proxy(), 3 => media(reach)];
    (access, proptest::collection::vec(straight_line(), 2)).prop_map(|(mut access, mut slots)| {
        let slots_of = access.last().map_or(0, defer_of);
        slots.truncate(slots_of);
        access.extend(slots);
        access
    })
}

/// Whether it yields, which is not allowed in a defer slot.
fn swaps(command: &Instruction) -> bool {
    let Instruction::Command(command) = command else {
        return false;
    };
    matches!(command.completion, Completion::CtxSwap { .. })
}

/// The program of one of several microengines, seven of whose contexts run it.
pub fn chip_program(reach: Reach) -> impl Strategy<Value = Vec<Instruction>> {
    let block = prop_oneof![
        6 => access(reach),
        6 => straight_line().prop_map(|it| vec![it]),
        1 => shared(NEIGHBOURS).prop_map(|it| vec![it]),
        1 => timer(),
        1 => with_slots(branch(), straight_line()),
        // A command in a defer slot of a branch.
        1 => command(reach).prop_map(|mut access| {
            let taken = Instruction::Branch { condition: Condition::Always, target: 1, defer: 1 };
            let last = access.len() - 1;
            if swaps(&access[last]) {
                access[last] = Instruction::Nop;
            }
            access.insert(last, taken);
            access
        }),
        1 => with_slots(polls(), straight_line()),
        2 => with_slots(yields(), straight_line()),
    ]
    .prop_filter("uses the addresses of context 0", |block| {
        !block.iter().any(names_address_register)
    });
    (values(), proptest::collection::vec(block, 1..30), 1..5_u16).prop_map(
        move |(values, blocks, rounds)| {
            assemble_after(beginning(reach), &values, blocks, rounds, KILL)
        },
    )
}

/// Registers of programs that move up to those that contexts have only where there are four.
#[derive(Clone, Copy, Debug)]
pub struct Upper {
    /// Bit n: general-purpose registers n but those that have a meaning.
    pub general: u16,
    pub s_transfer: bool,
    pub d_transfer: bool,
}

impl Upper {
    const fn general(self, n: u8) -> u8 {
        if n < 12 && self.general >> n & 1 == 1 {
            n + 16
        } else {
            n
        }
    }

    fn operand(self, operand: Operand) -> Operand {
        match operand {
            Operand::Gpr(bank, n) => Operand::Gpr(bank, self.general(n)),
            Operand::STransfer(n) if self.s_transfer => Operand::STransfer(n + 16),
            Operand::DTransfer(n) if self.d_transfer => Operand::DTransfer(n + 16),
            other => other,
        }
    }

    fn transfer(self, register: TransferRegister) -> TransferRegister {
        match register {
            TransferRegister::S(n) if self.s_transfer => TransferRegister::S(n + 16),
            TransferRegister::D(n) if self.d_transfer => TransferRegister::D(n + 16),
            other => other,
        }
    }

    fn instruction(self, mut it: Instruction) -> Instruction {
        for role in [
            OperandRole::Dest,
            OperandRole::A,
            OperandRole::B,
            OperandRole::Src,
            OperandRole::Entry,
        ] {
            // One register may have two roles.
            if role == OperandRole::Entry && matches!(it, Instruction::Unary { .. }) {
                continue;
            }
            if let Some(operand) = it.operand_mut(role) {
                *operand = self.operand(*operand);
            }
        }
        match &mut it {
            Instruction::Command(command) => command.transfer = self.transfer(command.transfer),
            Instruction::CapCsr(access) => access.transfer = self.transfer(access.transfer),
            // The fixed registers are those of the last context.
            Instruction::BranchCtx { context, .. } if *context == 7 => *context = 6,
            _ => {}
        }
        it
    }

    /// The program of a microengine in four-context mode, whose contexts 0, 2 and 4 run it.
    pub fn program(self, program: Vec<Instruction>) -> Vec<Instruction> {
        let each = program.into_iter().map(|it| {
            let moved = self.instruction(it);
            assert!(
                encode_in(&moved, Target::with_mode(ContextMode::Four)).is_ok(),
                "{moved}"
            );
            moved
        });
        each.collect()
    }
}
