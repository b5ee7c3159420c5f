use npsim_image::{RegisterSymbol, TransferDirection};
use npsim_isa::{
    AluOp, Command, CommandOp, Completion, Condition, Instruction, Operand, Shift, TransferRegister,
};

use super::{Bench, HALT, KILL, NONE, a, alu, b, image, immed, k};
use npsim_chip::core::Core;
use npsim_chip::kernel::check::{Check, Fault};
use npsim_chip::kernel::fabric::TransferKind;

fn fault_of(program: &[Instruction]) -> Fault {
    let mut bench = Bench::new(program);
    bench.start(1);
    bench.until(10_000).expect("a fault")
}

fn command(op: CommandOp, register: u8, signal: u8) -> Instruction {
    let completion = Completion::SigDone(signal);
    let transfer = TransferRegister::S(register);
    Instruction::Command(Command {
        op,
        transfer,
        a: a(15),
        b: k(4),
        count: 2,
        completion,
        indirect: false,
        ignore_data_error: false,
    })
}

#[test]
fn uninitialised_read_is_a_fault() {
    let fault = fault_of(&[immed(a(0), 1), alu(a(1), a(0), AluOp::Add, b(2)), HALT]);
    assert_eq!(
        (fault.check, fault.pc, fault.cycle, fault.context),
        (Some(Check::UninitialisedRead), Some(1), 1, Some(0))
    );
    assert!(
        fault.message.contains("b2 of context 0"),
        "{}",
        fault.message
    );
    let fault = fault_of(&[alu(a(1), NONE, AluOp::B, Operand::STransfer(3)), HALT]);
    assert_eq!(fault.check, Some(Check::UninitialisedRead));
    assert!(fault.message.contains("$3"), "{}", fault.message);
}

#[test]
fn uninitialised_read_is_checked_in_every_context() {
    let mut bench = Bench::new(&[alu(a(1), a(0), AluOp::Add, k(1)), KILL]);
    bench.mes[0].write_register(a(0), 0, 1);
    bench.start(0b101);
    let fault = bench.until(1000).unwrap();
    assert_eq!((fault.context, fault.pc), (Some(2), Some(0)));
}

#[test]
fn allowed_check_is_counted_and_execution_continues() {
    let mut bench =
        Bench::new(&[alu(a(1), a(0), AluOp::Add, k(1)), HALT]).allow(Check::UninitialisedRead);
    bench.start(1);
    assert_eq!(bench.until(100), None);
    assert_eq!(bench.get(a(1)), 1);
    assert_eq!(
        bench.fabric.checks.passed_over().collect::<Vec<_>>(),
        [(Check::UninitialisedRead, 1)]
    );
}

#[test]
fn read_before_completion_faults_and_names_the_command() {
    let mut image = image(&[
        immed(a(0), 1),
        command(CommandOp::SramRead, 2, 1),
        alu(a(1), NONE, AluOp::B, Operand::STransfer(3)),
        HALT,
    ]);
    let symbol = |name: &str, direction| RegisterSymbol {
        name: name.to_owned(),
        scope: 0,
        operand: Operand::STransfer(3),
        direction,
        live: Vec::new(),
        live_out: Vec::new(),
    };
    image.registers = vec![
        symbol("$next", TransferDirection::Read),
        symbol("$out", TransferDirection::Write),
    ];
    let mut bench = Bench::of_image(&image);
    bench.mes[0].push(TransferKind::S, 0, &[0; 8]);
    bench.start(1);
    let fault = bench.until(1000).unwrap();
    assert_eq!(
        (fault.check, fault.pc, fault.cycle),
        (Some(Check::TransferInFlight), Some(2), 2)
    );
    assert!(
        fault.message.contains("`$next` ($3 of context 0)"),
        "{}",
        fault.message
    );
    assert!(
        fault.notes[0].contains("sram[read]") && fault.notes[0].contains("cycle 1"),
        "{:?}",
        fault.notes
    );
}

/// The destination of a partial write is read; one that is cleared or written completely is not.
#[test]
fn partial_register_writes_count_as_reads() {
    let faults = |instruction| {
        let mut bench = Bench::new(&[
            immed(a(15), 0),
            command(CommandOp::SramRead, 2, 1),
            instruction,
            HALT,
        ]);
        bench.mes[0].push(TransferKind::S, 0, &[0; 8]);
        bench.start(1);
        bench.until(1000).map(|fault| (fault.check, fault.pc))
    };
    let owned = Some((Some(Check::TransferInFlight), Some(2)));
    let dest = Operand::STransfer(3);
    let field = |mask, clear| Instruction::LdField {
        dest,
        mask,
        src: a(15),
        shift: Shift::None,
        clear,
        load_cc: false,
    };
    let byte = Instruction::ImmedByte {
        dest,
        byte: 1,
        value: 7,
    };
    let word = Instruction::ImmedWord {
        dest,
        word: 0,
        value: 7,
    };
    assert_eq!(faults(byte), owned);
    assert_eq!(faults(word), owned);
    assert_eq!(faults(field(3, false)), owned);
    assert_eq!(faults(field(3, true)), None);
    assert_eq!(faults(field(15, false)), None);
    assert_eq!(faults(immed(dest, 7)), None);
}

#[test]
fn register_is_readable_after_the_command_completes() {
    let mut bench = Bench::new(&[
        command(CommandOp::SramRead, 2, 1),
        super::arb(2, 0, false),
        alu(a(1), NONE, AluOp::B, Operand::STransfer(3)),
        HALT,
    ]);
    bench.start(1);
    assert_eq!(bench.until(50), None);
    bench.mes[0].push(TransferKind::S, 2, &[5, 6]);
    bench.mes[0].signal(0, 2, &mut bench.fabric);
    assert_eq!(bench.until(100), None);
    assert_eq!(bench.get(a(1)), 6);
}

#[test]
fn overlapping_transfer_register_claims_are_a_fault() {
    let fault = fault_of(&[
        command(CommandOp::SramRead, 2, 1),
        command(CommandOp::SramRead, 1, 2),
        HALT,
    ]);
    assert_eq!(
        (fault.check, fault.pc),
        (Some(Check::TransferInFlight), Some(1))
    );
    assert!(
        fault.message.contains("second command"),
        "{}",
        fault.message
    );
}

#[test]
fn command_pulling_an_unwritten_register_is_a_fault() {
    let program = [
        immed(Operand::STransfer(2), 1),
        command(CommandOp::SramWrite, 2, 1),
        HALT,
    ];
    let fault = fault_of(&program);
    assert_eq!(
        (fault.check, fault.pc),
        (Some(Check::UninitialisedRead), Some(1))
    );
    assert!(
        fault.message.starts_with("$3 of context 0 is read"),
        "{}",
        fault.message
    );
}

#[test]
fn writing_an_out_register_that_is_being_pulled_is_a_fault() {
    let program = [
        immed(Operand::STransfer(2), 1),
        immed(Operand::STransfer(3), 1),
        command(CommandOp::SramWrite, 2, 1),
        immed(Operand::STransfer(4), 1),
        immed(Operand::STransfer(3), 1),
        HALT,
    ];
    let fault = fault_of(&program);
    assert_eq!(
        (fault.check, fault.pc),
        (Some(Check::TransferInFlight), Some(4))
    );
    assert!(fault.message.contains("written"));
}

#[test]
fn entering_a_defer_slot_is_a_fault() {
    let br = |target, defer| Instruction::Branch {
        condition: Condition::Always,
        target,
        defer,
    };
    let fault = fault_of(&[
        br(3, 0),
        Instruction::Nop,
        br(5, 1),
        Instruction::Nop,
        HALT,
        HALT,
    ]);
    assert_eq!(
        (fault.check, fault.pc),
        (Some(Check::DeferSlotEntry), Some(0))
    );
    let mut bench = Bench::new(&[
        br(3, 0),
        Instruction::Nop,
        br(5, 1),
        immed(a(0), 1),
        HALT,
        HALT,
    ])
    .allow(Check::DeferSlotEntry);
    bench.start(1);
    assert_eq!(bench.until(100), None);
    assert_eq!(bench.cycles(4), [4]);
}

#[test]
fn a_taken_branch_in_a_defer_slot_is_a_fault() {
    let br = |target, defer| Instruction::Branch {
        condition: Condition::Always,
        target,
        defer,
    };
    let fault = fault_of(&[br(3, 1), br(4, 0), HALT, HALT, HALT]);
    assert_eq!((fault.check, fault.pc), (None, Some(1)));
}

#[test]
fn running_past_the_end_is_a_fault() {
    let fault = fault_of(&[Instruction::Nop, Instruction::Nop]);
    assert_eq!((fault.check, fault.pc), (None, Some(2)));
    let fault = fault_of(&[
        immed(a(0), 500),
        Instruction::Jump {
            src: a(0),
            base: 0,
            defer: 0,
        },
    ]);
    assert_eq!(fault.pc, Some(2));
}

#[test]
fn invalid_instruction_word_faults_only_when_executed() {
    let mut image = image(&[
        Instruction::Branch {
            condition: Condition::Always,
            target: 2,
            defer: 0,
        },
        Instruction::Nop,
        HALT,
    ]);
    image.words[1] = 0xff_ffff_ffff;
    let mut bench = Bench::of_image(&image);
    bench.start(1);
    assert_eq!(bench.until(100), None);
    image.words[0] = 0xff_ffff_ffff;
    let mut bench = Bench::of_image(&image);
    bench.start(1);
    let fault = bench.until(100).unwrap();
    assert_eq!((fault.check, fault.pc), (None, Some(0)));
    assert!(
        fault.message.contains("is not a valid instruction"),
        "{}",
        fault.message
    );
}

#[test]
fn loading_a_constant_by_halves_is_not_an_uninitialised_read() {
    let bench = Bench::run(&[
        Instruction::ImmedWord {
            dest: a(0),
            word: 1,
            value: 0xabcd,
        },
        Instruction::ImmedWord {
            dest: a(0),
            word: 0,
            value: 0x1234,
        },
        alu(a(1), a(0), AluOp::Add, k(0)),
        HALT,
    ]);
    assert_eq!(bench.get(a(1)), 0xabcd_1234);
}
