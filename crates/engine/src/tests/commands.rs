use npsim_isa::{
    AluOp, CapAccess, CapCsr, Command, CommandOp, Completion, Instruction, Operand,
    TransferRegister,
};

use super::{Bench, KILL, NONE, a, alu, immed, k, load};
use npsim_chip::core::{ContextPhase, Core};
use npsim_chip::kernel::check::Check;
use npsim_chip::kernel::fabric::{BusCommand, TransferKind};

fn command(op: CommandOp, transfer: TransferRegister, completion: Completion) -> Command {
    let info = op.info();
    let count = if info.takes_count { 2 } else { 0 };
    Command {
        op,
        transfer,
        a: a(15),
        b: k(4),
        count,
        completion,
        indirect: false,
        ignore_data_error: false,
    }
}

/// The bus command of an instruction that follows one whose result is `word`.
fn issued(word: Option<u32>, context: u8, instruction: Instruction) -> BusCommand {
    let mut program = Vec::new();
    if let Some(word) = word {
        program.extend(load(a(0), word));
        program.push(alu(NONE, a(0), AluOp::Or, k(0)));
    }
    program.extend([instruction, KILL]);
    let mut bench = Bench::new(&program);
    // The contents of the registers do not matter here.
    bench.fabric.checks.allow(Check::UninitialisedRead);
    bench.start(1 << context);
    assert_eq!(bench.until(1000), None);
    assert_eq!(bench.trace.commands.len(), 1);
    bench.trace.commands[0].0
}

#[test]
fn read_command_carries_absolute_registers_and_signal() {
    let read = command(
        CommandOp::SramRead,
        TransferRegister::S(3),
        Completion::SigDone(5),
    );
    let bus = issued(None, 2, Instruction::Command(read));
    assert_eq!(
        (bus.me, bus.context, bus.pc, bus.address, bus.count),
        (0, 2, 0, 12, 2)
    );
    assert_eq!(
        (
            bus.transfer_me,
            bus.transfer,
            bus.transfer_kind,
            bus.signal_context
        ),
        (0, 35, TransferKind::S, 2)
    );
    assert_eq!(
        (bus.pull_signals, bus.push_signals, bus.byte_mask),
        (0, 1 << 5, 0xff)
    );
    assert_eq!((bus.immediate, bus.indirect), (None, None));
}

#[test]
fn four_context_mode_reuses_the_kind_bit_for_upper_registers() {
    let read = |indirect| {
        Instruction::Command(Command {
            indirect,
            ..command(
                CommandOp::SramRead,
                TransferRegister::D(4),
                Completion::SigDone(5),
            )
        })
    };
    let mut image = super::image(&[immed(a(0), 0), read(false), read(true), KILL]);
    image.contexts = npsim_image::ContextMode::Four;
    let mut bench = Bench::of_image(&image).allow(Check::TransferInFlight);
    bench.start(1 << 2);
    assert_eq!(bench.until(1000), None);
    for (bus, _) in &bench.trace.commands {
        assert_eq!((bus.transfer_kind, bus.transfer), (TransferKind::S, 52));
    }
    assert_eq!(bench.trace.commands.len(), 2);
    let bus = issued(None, 2, read(false));
    assert_eq!((bus.transfer_kind, bus.transfer), (TransferKind::D, 36));
}

#[test]
fn completion_signals_follow_pulls_and_pushes() {
    let masks = |op, transfer, signal| {
        let bus = issued(
            None,
            0,
            Instruction::Command(command(op, transfer, Completion::SigDone(signal))),
        );
        (bus.pull_signals, bus.push_signals)
    };
    let (s, d) = (TransferRegister::S(0), TransferRegister::D(0));
    assert_eq!(masks(CommandOp::SramWrite, s, 3), (1 << 3, 0));
    assert_eq!(masks(CommandOp::DramRead, d, 4), (0, 0b11 << 4));
    assert_eq!(masks(CommandOp::DramWrite, d, 4), (0b11 << 4, 0));
    assert_eq!(masks(CommandOp::ScratchTestAndAdd, s, 6), (1 << 6, 1 << 7));
    assert_eq!(masks(CommandOp::ScratchAdd, s, 6), (1 << 6, 0));
    assert_eq!(masks(CommandOp::ScratchGet, s, 1), (0, 1 << 1));
}

#[test]
fn indirect_override_changes_only_selected_fields() {
    let mut read = command(
        CommandOp::SramRead,
        TransferRegister::S(3),
        Completion::SigDone(5),
    );
    read.indirect = true;
    let word = 1 << 31
        | 0x12 << 26
        | 1 << 25
        | 6 << 21
        | 1 << 20
        | 0x3c << 12
        | 1 << 11
        | 99 << 4
        | 1 << 3
        | 6;
    let bus = issued(Some(word), 0, Instruction::Command(read));
    assert_eq!(
        (
            bus.transfer_me,
            bus.count,
            bus.byte_mask,
            bus.transfer,
            bus.signal_context
        ),
        (6, 7, 0x3c, 99, 6)
    );
    assert_eq!(bus.indirect, Some(word));
    let bus = issued(
        Some(word & !(1 << 31 | 1 << 25 | 1 << 20 | 1 << 11 | 1 << 3)),
        0,
        Instruction::Command(read),
    );
    assert_eq!(
        (
            bus.transfer_me,
            bus.count,
            bus.byte_mask,
            bus.transfer,
            bus.signal_context
        ),
        (0, 2, 0xff, 3, 0)
    );
}

#[test]
fn buffer_moves_keep_the_raw_override() {
    let mut read = command(
        CommandOp::DramRbufRd,
        TransferRegister::None,
        Completion::SigDone(4),
    );
    read.indirect = true;
    let word = 0x10 | (16 | 7) << 21 | 1 << 18 | 9 << 11;
    let bus = issued(Some(word), 0, Instruction::Command(read));
    assert_eq!(
        (bus.count, bus.indirect, bus.byte_mask, bus.push_signals),
        (8, Some(word), 0xff, 0b11 << 4)
    );
}

#[test]
fn atomic_without_pull_carries_its_data_in_the_command() {
    let mut add = command(
        CommandOp::SramTestAndAdd,
        TransferRegister::S(0),
        Completion::SigDone(2),
    );
    add.indirect = true;
    let word = 1 << 25 | 1 << 24 | 1 << 20 | 0x34 << 12 | 5 << 21;
    let bus = issued(Some(word), 0, Instruction::Command(add));
    assert_eq!(
        (bus.immediate, bus.pull_signals, bus.push_signals),
        (Some(0x534), 0, 1 << 3)
    );
}

#[test]
fn fast_writes_carry_address_and_data() {
    let mut program = Vec::from(load(a(0), 0x0042_0044));
    let fast = Command {
        a: a(0),
        b: k(0),
        count: 0,
        ..command(
            CommandOp::MsfFastWr,
            TransferRegister::None,
            Completion::Silent,
        )
    };
    program.extend([Instruction::Command(fast), KILL]);
    let mut bench = Bench::new(&program);
    bench.start(1);
    assert_eq!(bench.until(1000), None);
    let bus = bench.trace.commands[0].0;
    assert_eq!((bus.address, bus.immediate), (0x44, Some(0x42)));
    let bus = issued(
        None,
        0,
        Instruction::CapFastWrite {
            csr: 0x4b20,
            data: 0x123,
            indirect: false,
        },
    );
    assert_eq!(
        (bus.op, bus.address, bus.immediate),
        (CommandOp::CapWrite, 0x4b20, Some(0x123))
    );
    let alu = CapCsr {
        access: CapAccess::FastWriteAlu,
        csr: 0x4b20,
        transfer: TransferRegister::None,
        count: 0,
        completion: Completion::Silent,
        indirect: false,
    };
    let bus = issued(Some(0xdead_beef), 0, Instruction::CapCsr(alu));
    assert_eq!(
        (bus.op, bus.immediate, bus.push_signals | bus.pull_signals),
        (CommandOp::CapWrite, Some(0xdead_beef), 0)
    );
}

#[test]
fn ctx_swap_waits_for_its_completion_signals() {
    let read = command(
        CommandOp::DramRead,
        TransferRegister::D(0),
        Completion::CtxSwap {
            signal: 4,
            defer: 1,
        },
    );
    let mut bench = Bench::new(&[
        Instruction::Command(read),
        immed(a(0), 1),
        alu(a(1), NONE, AluOp::B, Operand::DTransfer(1)),
        KILL,
    ]);
    bench.start(1);
    assert_eq!(bench.until(50), None);
    assert_eq!(bench.get(a(0)), 1);
    assert_eq!(bench.mes[0].waiting(0).unwrap().signals, 0b11 << 4);
    bench.mes[0].push(TransferKind::D, 0, &[1, 2, 3, 4]);
    bench.mes[0].signal(0, 0b11 << 4, &mut bench.fabric);
    assert_eq!(bench.until(100), None);
    assert_eq!(bench.get(a(1)), 2);
    assert_eq!(bench.mes[0].context(0).phase, ContextPhase::Sleeping);
}

#[test]
fn a_full_fifo_stalls_the_microengine() {
    let put = Instruction::Command(command(
        CommandOp::ScratchWrite,
        TransferRegister::S(0),
        Completion::Silent,
    ));
    let mut program = vec![put; 12];
    program.push(KILL);
    let mut bench = Bench::new(&program);
    bench.fabric.checks.allow(Check::UninitialisedRead);
    bench.start(1);
    assert_eq!(bench.until(10_000), None);
    assert_eq!(bench.trace.commands.len(), 12);
    let stats = bench.mes[0].stats_at(10_000);
    assert!(stats.stalled > 0);
    assert_eq!(
        (stats.commands(), stats.instructions, stats.total()),
        (12, 13, 10_000)
    );
}
