//! Transfer registers that others reach: those that the reflector writes and reads, and those that
//! the media interface will write.

use npsim_chip::Cycle;
use npsim_chip::chip::Stop;
use npsim_chip::core::CoreKind;
use npsim_chip::kernel::check::{Check, WATCHDOG_CYCLES};
use npsim_chip::kernel::fault_injection::Perturbations;
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::kernel::port_io::NoTraffic;
use npsim_engine::ENGINE;
use npsim_isa::{
    AluOp, Bank, Command, CommandOp, Completion, Condition, Instruction, Operand, ShfOp, Shift,
    TransferRegister, msf_csr,
};
use npsim_reference::REFERENCE;

use super::chips::course::{Ended, Steps, ended};
use super::chips::{Bench, MAX_CYCLES, chip};
use super::programs::{KILL, immed, set};

/// All contexts but the first kill themselves; the first continues after these two.
fn first_context_only() -> Vec<Instruction> {
    let rest = Instruction::BranchCtx {
        equal: true,
        context: 0,
        target: 2,
        defer: 0,
    };
    vec![rest, KILL]
}

const ADDRESS: Operand = Operand::Gpr(Bank::A, 0);

/// A command of one longword at [`ADDRESS`].
fn sends(op: CommandOp, transfer: TransferRegister) -> Instruction {
    Instruction::Command(command(op, transfer))
}

fn command(op: CommandOp, transfer: TransferRegister) -> Command {
    Command {
        op,
        transfer,
        a: ADDRESS,
        b: Operand::Constant(0),
        count: u8::from(op.info().takes_count),
        completion: Completion::Silent,
        indirect: false,
        ignore_data_error: false,
    }
}

/// The cause of a run's end: the check, the address and the cycle of a fault.
type FaultSite = (Option<Check>, Option<u16>, Cycle);

/// The end of a chip on both cores, run through and in steps of any size, which must be the same.
fn end_of(programs: Vec<Vec<Instruction>>) -> Result<Stop, FaultSite> {
    let bench = Bench {
        chip: "ixp2400",
        places: (0..programs.len() as u8).collect(),
        programs,
        four_contexts: 0,
        frames: Vec::new(),
        surprised: false,
        tasks: Vec::new(),
        disturbances: Perturbations::default(),
        strict: true,
    };
    let end = |kind: CoreKind, cycles, saved| {
        let steps = Steps {
            cycles,
            saved,
            ..Steps::AT_ONCE
        };
        let Ended { chip, stop, .. } = ended(kind, &bench, &steps, &mut NoObserver);
        let fault = chip.fault().map(|it| (it.check, it.pc, it.cycle));
        (chip.now(), fault.map_or(Ok(stop), Err))
    };
    let (now, end_of_all) = end(REFERENCE, MAX_CYCLES, false);
    for (cycles, saved) in [
        (MAX_CYCLES, false),
        (1, false),
        (7, false),
        (100, false),
        (3, true),
        (50, true),
    ] {
        let expected = (now, end_of_all.clone());
        assert_eq!(end(ENGINE, cycles, saved), expected, "steps of {cycles}");
    }
    end_of_all
}

/// A context may poll its registers for data from another microengine.
#[test]
fn polling_loop_sees_reflected_register_writes() {
    let flag = Operand::STransfer(3);
    let mut waits = first_context_only();
    waits.extend([
        Instruction::BranchByte {
            equal: false,
            src: flag,
            byte: 0,
            value: 0x55,
            target: 2,
            defer: 0,
        },
        KILL,
    ]);
    let mut reflects = first_context_only();
    reflects.push(immed(ADDRESS, 3 << 2));
    for (register, value) in [(0, 0x11), (1, 0x55)] {
        reflects.push(immed(Operand::STransfer(register), value));
        reflects.push(sends(
            CommandOp::CapReflectWrite,
            TransferRegister::S(register),
        ));
        reflects.extend([Instruction::Nop; 200]);
    }
    reflects.push(KILL);
    assert_eq!(end_of(vec![waits, reflects]), Ok(Stop::Quiet));
}

/// A thread that another microengine puts on a freelist no longer owns its registers, even while it
/// polls one of them.
#[test]
fn polling_loop_faults_once_its_thread_is_put_on_a_freelist() {
    let status = Operand::STransfer(3);
    let mut waits = first_context_only();
    waits.extend([
        Instruction::BranchByte {
            equal: false,
            src: status,
            byte: 1,
            value: 2,
            target: 2,
            defer: 0,
        },
        KILL,
    ]);
    let mut lists = first_context_only();
    let list = u32::from(msf_csr::RX_THREAD_FREELIST_0);
    lists.extend([Instruction::Nop; 200]);
    lists.extend(set(ADDRESS, (1 << 12 | 3) << 16 | list));
    lists.push(sends(CommandOp::MsfFastWr, TransferRegister::None));
    lists.push(KILL);
    let (check, pc, cycle) = end_of(vec![waits, lists]).unwrap_err();
    assert_eq!((check, pc), (Some(Check::TransferInFlight), Some(2)));
    assert!(cycle > 200, "{cycle}");
}

/// The value reflected out of a register is its value at that time, although its owner continues.
#[test]
fn reflected_reads_return_the_value_at_that_time() {
    let counter = Operand::Gpr(Bank::B, 1);
    let mut counts = first_context_only();
    counts.push(immed(counter, 0));
    let again = counts.len() as u16;
    counts.extend([
        Instruction::Alu {
            op: AluOp::Add,
            dest: counter,
            a: Operand::Constant(1),
            b: counter,
        },
        Instruction::Alu {
            op: AluOp::B,
            dest: Operand::STransfer(3),
            a: Operand::None,
            b: counter,
        },
        Instruction::BranchByte {
            equal: false,
            src: counter,
            byte: 0,
            value: 200,
            target: again,
            defer: 0,
        },
        KILL,
    ]);
    let mut reads = first_context_only();
    reads.extend([immed(ADDRESS, 3 << 2)]);
    let read = command(CommandOp::CapReflectRead, TransferRegister::S(0));
    reads.extend([
        Instruction::Command(Command {
            completion: Completion::CtxSwap {
                signal: 1,
                defer: 0,
            },
            ..read
        }),
        // Enough iterations for the time of the end to show the value read.
        Instruction::AluShf {
            op: ShfOp::B,
            dest: counter,
            a: Operand::None,
            b: Operand::STransfer(0),
            shift: Shift::Left(6),
        },
    ]);
    let again = reads.len() as u16;
    reads.extend([
        Instruction::Alu {
            op: AluOp::Sub,
            dest: counter,
            a: counter,
            b: Operand::Constant(1),
        },
        Instruction::Branch {
            condition: Condition::Gt,
            target: again,
            defer: 0,
        },
        KILL,
    ]);
    assert_eq!(end_of(vec![counts, reads]), Ok(Stop::Quiet));
}

/// A thread that puts itself on a freelist no longer owns its registers from that instruction on.
#[test]
fn freelist_entry_releases_the_threads_registers() {
    let first = u32::from(msf_csr::RX_THREAD_FREELIST_0);
    let last = u32::from(msf_csr::RX_THREAD_FREELIST_2);
    // Context 0 of microengine 0, signal 1, from register 0 on.
    let thread = 1 << 12;
    let fast = |thread: u32| (CommandOp::MsfFastWr, thread << 16 | first, 0);
    for ((op, address, count), register, gives_away) in [
        (fast(thread), 1, true),
        (fast(thread), 2, false),
        (fast(thread | 15), 15, true),
        (fast(thread | 1 << 4), 1, false),
        (fast(thread | 1 << 7), 1, false),
        ((CommandOp::MsfWrite, first, 1), 1, true),
        ((CommandOp::MsfWrite, first - 4, 2), 1, true),
        ((CommandOp::MsfWrite, first - 4, 1), 1, false),
        // The command ignores bit 2 of its address.
        ((CommandOp::MsfWrite64, last + 4, 1), 1, true),
    ] {
        let mut program = first_context_only();
        program.extend(set(ADDRESS, address));
        let from = 4;
        for n in from..from + 2 {
            program.extend(set(Operand::STransfer(n), thread));
        }
        let transfer = match count {
            0 => TransferRegister::None,
            _ => TransferRegister::S(from),
        };
        program.push(Instruction::Command(Command {
            count,
            ..command(op, transfer)
        }));
        let read = Instruction::Alu {
            op: AluOp::B,
            dest: Operand::Gpr(Bank::B, 1),
            a: Operand::None,
            b: Operand::STransfer(register),
        };
        let reads_at = program.len() as u16;
        program.extend([read, KILL]);
        let fault = end_of(vec![program]).err();
        let fault = fault.filter(|(_, pc, _)| *pc == Some(reads_at));
        let check = gives_away.then_some(Check::TransferInFlight);
        assert_eq!(fault.and_then(|it| it.0), check, "{op:?} at {address:#x}");
    }
}

/// A context may poll a register that others fill for any length of time.
#[test]
fn polling_a_remotely_written_register_satisfies_the_watchdog() {
    let spins = || {
        let mut spins = first_context_only();
        spins.push(Instruction::BranchByte {
            equal: false,
            src: Operand::STransfer(3),
            byte: 0,
            value: 0x55,
            target: 2,
            defer: 0,
        });
        spins
    };
    let mut reflects = first_context_only();
    reflects.extend([immed(ADDRESS, 3 << 2), immed(Operand::STransfer(0), 0x11)]);
    reflects.push(sends(CommandOp::CapReflectWrite, TransferRegister::S(0)));
    reflects.push(KILL);
    let end = |kind, programs: &[Vec<Instruction>]| {
        let bench = Bench {
            chip: "ixp2400",
            programs: programs.to_vec(),
            places: (0..programs.len() as u8).collect(),
            four_contexts: 0,
            frames: Vec::new(),
            surprised: false,
            tasks: Vec::new(),
            disturbances: Perturbations::default(),
            strict: true,
        };
        let mut it = chip(kind, &bench);
        it.run(WATCHDOG_CYCLES + 10_000, &mut NoTraffic, &mut NoObserver);
        it.fault().map(|it| it.check)
    };
    for kind in [ENGINE, REFERENCE] {
        let alone = end(kind, &[spins()]);
        assert_eq!(alone, Some(Some(Check::NeverYields)), "{}", kind.name);
        assert_eq!(
            end(kind, &[spins(), reflects.clone()]),
            None,
            "{}",
            kind.name
        );
    }
}
