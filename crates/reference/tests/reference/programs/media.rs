//! Accesses of programs to the media interface other than commands that move data: threads that
//! wait for mpackets, freed elements, registers, and sent elements.

use npsim_isa::{
    AluOp, Bank, CommandOp, Completion, CtxArb, Instruction, Operand, ShfOp, Shift, csr, encode,
    msf_csr,
};
use proptest::prelude::*;
use proptest::sample::select;

use super::commands::{BASE, Fixed, Reach, command_of, completion, copied};
use super::{immed, set, straight_line};

/// The longword in scratch from which numbers of TBUF elements are drawn.
const DRAWN: u16 = 0x300;

/// For the cluster of the microengine.
const CLUSTER: Operand = Operand::Gpr(Bank::A, 15);

/// The signal of a thread that waits for an mpacket, and the register for its status.
const WAITS_FOR: u8 = 4;
const INTO: u8 = 6;

const DONE: u8 = msf_csr::RBUF_ELEMENT_DONE as u8;

/// A thread's freelist entry, without the thread's number.
pub const THREAD_WAITS: u32 =
    ((WAITS_FOR as u32) << 12 | INTO as u32) << 16 | msf_csr::RX_THREAD_FREELIST_0 as u32;

/// The registers that a fast write sets, and their values. Threads of other microengines are put on
/// freelists only if all microengines are known to reach others: otherwise, the cycle at which
/// their registers are given away is not defined.
fn settings(reach: Reach) -> BoxedStrategy<(u16, u16)> {
    // The last is the first one of the second cluster of an IXP2800.
    let me = select(vec![0, 1, 2, 16]);
    let thread = (1..16_u16, me, 0..7_u16, 0..16_u16)
        .prop_map(|(signal, me, context, register)| {
            signal << 12 | me << 7 | context << 4 | register
        })
        .boxed();
    // Threads of the first list get the mpackets.
    let threads = prop_oneof![
        6 => (Just(msf_csr::RX_THREAD_FREELIST_0), thread.clone()),
        1 => (Just(msf_csr::RX_THREAD_FREELIST_1), thread.clone()),
        1 => (Just(msf_csr::RX_THREAD_FREELIST_2), thread),
    ];
    let others = prop_oneof![
        2 => (
            select(vec![
                msf_csr::RX_THREAD_FREELIST_TIMEOUT_0,
                msf_csr::RX_THREAD_FREELIST_TIMEOUT_1,
                msf_csr::RX_THREAD_FREELIST_TIMEOUT_2,
            ]),
            prop_oneof![1 => Just(0), 4 => 20..200_u16],
        ),
        4 => (Just(msf_csr::RBUF_ELEMENT_DONE), 0..16_u16),
        1 => (Just(msf_csr::HWM_CONTROL), any::<u16>()),
    ];
    match reach {
        Reach::Own => others.boxed(),
        Reach::Others => prop_oneof![threads, others].boxed(),
    }
}

/// A write whose address carries the data.
fn fast_write(reach: Reach) -> impl Strategy<Value = Vec<Instruction>> {
    settings(reach).prop_map(|(register, data)| {
        let op = CommandOp::MsfFastWr;
        let write = command_of(op, 0, (0, 0), Completion::Silent, false);
        let [low, high] = set(BASE, u32::from(data) << 16 | u32::from(register));
        vec![low, high, write]
    })
}

/// An access to a register by way of transfer registers.
fn register() -> impl Strategy<Value = Vec<Instruction>> {
    let reads = select(vec![
        msf_csr::RX_THREAD_FREELIST_TIMEOUT_0,
        msf_csr::TX_SEQUENCE_0,
        msf_csr::TX_SEQUENCE_1,
        msf_csr::HWM_CONTROL,
    ]);
    let writes = select(vec![
        msf_csr::HWM_CONTROL,
        msf_csr::FC_STATUS_OVERRIDE,
        msf_csr::RX_THREAD_FREELIST_TIMEOUT_1,
    ]);
    let place = prop_oneof![
        3 => reads.prop_map(|at| (CommandOp::MsfRead, at)),
        1 => writes.prop_map(|at| (CommandOp::MsfWrite, at)),
    ];
    (place, 0..16_u8, completion()).prop_map(|((op, at), register, completion)| {
        let access = command_of(op, 0, (register, 1), completion, false);
        vec![immed(BASE, at), access]
    })
}

/// Takes the next number of a TBUF element and makes it valid: contexts that chose numbers
/// themselves would soon make one valid that waits to be sent.
fn send() -> impl Strategy<Value = Vec<Instruction>> {
    let control = prop_oneof![3 => Just(Fixed::WholeFrame), 1 => Just(Fixed::Skipped)];
    (control, (0..16_u8, 0..15_u8), completion()).prop_map(
        |(control, (number, word), completion)| {
            let drawn = Completion::CtxSwap {
                signal: 2,
                defer: 0,
            };
            let op = CommandOp::ScratchTestAndIncr;
            let draw = command_of(op, 0, (number, 0), drawn, false);
            let valid = command_of(CommandOp::MsfWrite, 0, (word, 2), completion, false);
            vec![
                immed(BASE, DRAWN),
                draw,
                // Two words for each of 128.
                shifted(Operand::STransfer(number), Shift::Left(3)),
                combined(AluOp::And, Fixed::AnyControlWord.register()),
                combined(AluOp::Add, Fixed::ControlWords.register()),
                copied(Operand::STransfer(word), control),
                immed(Operand::STransfer(word + 1), 0),
                valid,
            ]
        },
    )
}

fn shifted(from: Operand, shift: Shift) -> Instruction {
    Instruction::AluShf {
        op: ShfOp::B,
        dest: BASE,
        a: Operand::None,
        b: from,
        shift,
    }
}

/// Takes some bits of what the next address begins with, or adds to them.
fn combined(op: AluOp, a: Operand) -> Instruction {
    Instruction::Alu {
        op,
        dest: BASE,
        a,
        b: BASE,
    }
}

/// The cluster of a microengine, whose status is at hand, as a freelist has it: of an IXP2400
/// it stands right above the place in it, for which status has four bits.
const CLUSTER_OF_IXP2400: Instruction = Instruction::AluShf {
    op: ShfOp::And,
    dest: CLUSTER,
    a: Operand::Constant(1 << 5),
    b: BASE,
    shift: Shift::Right(2),
};

/// The cluster of an IXP2800, where it stands as in the status.
const CLUSTER_OF_IXP2800: Instruction = Instruction::Alu {
    op: AluOp::And,
    dest: CLUSTER,
    a: Operand::Constant(1 << 7),
    b: BASE,
};

/// The program for an IXP2800.
pub fn for_ixp2800(mut program: Vec<Instruction>) -> Vec<Instruction> {
    for it in &mut program {
        if *it == CLUSTER_OF_IXP2400 {
            *it = CLUSTER_OF_IXP2800;
        }
    }
    program
}

/// The thread's number, in the position of a fast write to a freelist.
fn this_thread() -> [Instruction; 6] {
    let status = csr::ACTIVE_CTX_STS;
    [
        Instruction::LocalCsrRead { csr: status },
        immed(BASE, 0),
        CLUSTER_OF_IXP2400,
        combined(AluOp::And, Operand::Constant(0x3f)),
        combined(AluOp::Or, CLUSTER),
        shifted(BASE, Shift::Left(16 + 4)),
    ]
}

/// A thread puts itself on the first freelist, waits for its mpacket, and reads its data or frees
/// its element.
fn receive() -> impl Strategy<Value = Vec<Instruction>> {
    let fast_write = command_of(CommandOp::MsfFastWr, 0, (0, 0), Completion::Silent, false);
    let waits = Instruction::CtxArb(CtxArb {
        mask: 1 << WAITS_FOR,
        any: false,
        breakpoint: false,
        keep_mask: false,
        resume: None,
        defer: 0,
    });
    let status = Operand::STransfer(INTO);
    (
        proptest::collection::vec(straight_line(), 0..4),
        any::<bool>(),
        proptest::bool::weighted(0.7),
    )
        .prop_map(move |(meanwhile, waits_at_once, frees)| {
            let mut received = this_thread().to_vec();
            received.extend([
                combined(AluOp::Or, Fixed::ThreadWaits.register()),
                fast_write,
            ]);
            if waits_at_once {
                received.push(waits);
                received.extend(meanwhile);
            } else {
                received.extend(meanwhile);
                received.push(waits);
            }
            if frees {
                received.extend([
                    shifted(status, Shift::Right(24)),
                    shifted(BASE, Shift::Left(16)),
                    combined(AluOp::Or, Operand::Constant(DONE)),
                    fast_write,
                ]);
            }
            received
        })
}

/// Threads do not wait for frames forever.
pub fn time_out() -> [Instruction; 3] {
    let register = u32::from(msf_csr::RX_THREAD_FREELIST_TIMEOUT_0);
    let op = CommandOp::MsfFastWr;
    let write = command_of(op, 0, (0, 0), Completion::Silent, false);
    let [low, high] = set(BASE, 300 << 16 | register);
    [low, high, write]
}

/// An access to the media interface.
pub fn media(reach: Reach) -> BoxedStrategy<Vec<Instruction>> {
    prop_oneof![4 => fast_write(reach), 2 => register(), 2 => send(), 3 => receive()]
        .prop_filter("not encodable", |it: &Vec<Instruction>| {
            it.iter().all(|it| encode(it).is_ok())
        })
        .boxed()
}
