use npsim_isa::{AluOp, IndexStep, Instruction, Operand, csr};

use super::{Bench, HALT, NONE, a, alu, b, immed, k};
use npsim_chip::core::Core;
use npsim_chip::kernel::check::Check;

const fn lm(pointer: u8, offset: u8) -> Operand {
    Operand::LocalMemory { pointer, offset }
}

const fn csr_wr(csr: u16, src: Operand) -> Instruction {
    Instruction::LocalCsrWrite { csr, src }
}

#[test]
fn lm_addr_is_delayed_three_instructions_and_ored_with_offset() {
    let bench = Bench::run(&[
        immed(a(0), 0x44 << 2),
        csr_wr(csr::ACTIVE_LM_ADDR_0, a(0)),
        Instruction::Nop,
        Instruction::Nop,
        Instruction::Nop,
        immed(lm(0, 1), 0x99),
        immed(lm(0, 4), 0x77),
        HALT,
    ]);
    assert_eq!(bench.mes[0].local_memory()[0x45], 0x99);
    assert_eq!(bench.mes[0].local_memory()[0x44], 0x77);
}

#[test]
fn early_lm_access_faults_and_uses_the_old_address() {
    let program = [
        immed(a(0), 64),
        csr_wr(csr::ACTIVE_LM_ADDR_0, a(0)),
        Instruction::Nop,
        Instruction::Nop,
        immed(lm(0, 0), 0x99),
        HALT,
    ];
    let mut bench = Bench::new(&program);
    bench.start(1);
    let fault = bench.until(100).unwrap();
    assert_eq!(
        (fault.check, fault.pc, fault.cycle),
        (Some(Check::LocalMemoryEarly), Some(4), 4)
    );
    let mut bench = Bench::new(&program).allow(Check::LocalMemoryEarly);
    bench.start(1);
    assert_eq!(bench.until(100), None);
    assert_eq!(
        (
            bench.mes[0].local_memory()[0],
            bench.mes[0].local_memory()[16]
        ),
        (0x99, 0)
    );
    assert_eq!(
        bench.fabric.checks.passed_over().collect::<Vec<_>>(),
        [(Check::LocalMemoryEarly, 1)]
    );
}

#[test]
fn back_to_back_lm_addr_writes_serve_successive_uses() {
    let mut program: Vec<_> = (0..4)
        .map(|n| immed(a(n), 64 * (u16::from(n) + 1)))
        .collect();
    program.extend((0..4).map(|n| csr_wr(csr::ACTIVE_LM_ADDR_1, a(n))));
    program.extend((0..4).map(|n| immed(lm(1, 0), 100 + n)));
    program.push(HALT);
    let bench = Bench::run(&program);
    assert_eq!(
        [16, 32, 48, 64].map(|at: usize| bench.mes[0].local_memory()[at]),
        [100, 101, 102, 103]
    );
}

#[test]
fn lm_pointer_steps_once_per_instruction_after_the_write() {
    let step = Operand::LocalMemoryStep {
        pointer: 0,
        step: IndexStep::Increment,
    };
    let mut bench = Bench::new(&[
        alu(step, step, AluOp::Add, k(1)),
        alu(step, step, AluOp::Add, k(1)),
        alu(
            Operand::LocalMemoryStep {
                pointer: 0,
                step: IndexStep::Decrement,
            },
            NONE,
            AluOp::B,
            k(9),
        ),
        immed(lm(0, 0), 5),
        HALT,
    ]);
    bench.mes[0].local_memory_mut()[..4].copy_from_slice(&[10, 20, 30, 40]);
    bench.start(1);
    assert_eq!(bench.until(100), None);
    assert_eq!(bench.mes[0].local_memory()[..4], [11, 5, 9, 40]);
}

#[test]
fn lm_address_out_of_range_is_a_fault() {
    let mut bench = Bench::new(&[
        immed(a(0), 640 * 4),
        csr_wr(csr::ACTIVE_LM_ADDR_0, a(0)),
        Instruction::Nop,
        Instruction::Nop,
        Instruction::Nop,
        immed(lm(0, 0), 1),
    ]);
    bench.start(1);
    let fault = bench.until(100).unwrap();
    assert_eq!((fault.check, fault.pc), (None, Some(5)));
    assert!(fault.message.contains("word 640"), "{}", fault.message);
}

#[test]
fn t_index_selects_transfer_registers_and_steps() {
    let mut bench = Bench::new(&[
        immed(a(0), 5 << 2 | 3),
        csr_wr(csr::T_INDEX_BYTE_INDEX, a(0)),
        Instruction::Nop,
        Instruction::Nop,
        Instruction::Nop,
        alu(
            b(0),
            NONE,
            AluOp::B,
            Operand::SIndexed(IndexStep::Increment),
        ),
        alu(
            b(1),
            NONE,
            AluOp::B,
            Operand::SIndexed(IndexStep::Decrement),
        ),
        immed(Operand::DIndexed(IndexStep::Keep), 77),
        Instruction::LocalCsrRead {
            csr: csr::T_INDEX_BYTE_INDEX,
        },
        immed(a(1), 0),
        HALT,
    ]);
    bench.mes[0].push(npsim_chip::kernel::fabric::TransferKind::S, 5, &[111, 222]);
    bench.start(1);
    assert_eq!(bench.until(100), None);
    assert_eq!(
        (bench.get(b(0)), bench.get(b(1)), bench.get(a(1))),
        (111, 222, 5 << 2 | 3)
    );
    assert_eq!(
        bench.mes[0].read_out_register(npsim_chip::kernel::fabric::TransferKind::D, 5),
        77
    );
}

#[test]
fn indirect_csrs_access_another_context() {
    let bench = Bench::run(&[
        csr_wr(csr::CSR_CTX_POINTER, k(3)),
        csr_wr(csr::INDIRECT_LM_ADDR_0, k(128)),
        Instruction::LocalCsrRead {
            csr: csr::INDIRECT_LM_ADDR_0,
        },
        immed(a(0), 0),
        Instruction::LocalCsrRead {
            csr: csr::ACTIVE_LM_ADDR_0,
        },
        immed(a(1), 0),
        Instruction::LocalCsrRead {
            csr: csr::ACTIVE_CTX_STS,
        },
        immed(a(2), 0),
        Instruction::LocalCsrRead {
            csr: csr::CTX_ENABLES,
        },
        immed(a(3), 0),
        HALT,
    ]);
    assert_eq!(
        [0, 1, 2, 3].map(|n| bench.get(a(n))),
        [128, 0, 1 << 31 | 6 << 8, 1 << 8]
    );
}

#[test]
fn local_csr_read_replaces_only_the_next_immed() {
    let bench = Bench::run(&[
        csr_wr(csr::CRC_REMAINDER, k(42)),
        Instruction::LocalCsrRead {
            csr: csr::CRC_REMAINDER,
        },
        immed(a(0), 7),
        immed(a(1), 7),
        HALT,
    ]);
    assert_eq!((bench.get(a(0)), bench.get(a(1))), (42, 7));
}

#[test]
fn profile_count_counts_cycles_and_random_numbers_differ() {
    let random = |dest| {
        [
            Instruction::LocalCsrRead {
                csr: csr::PSEUDO_RANDOM_NUMBER,
            },
            immed(dest, 0),
        ]
    };
    let mut program = vec![
        csr_wr(csr::PROFILE_COUNT, k(0)),
        Instruction::Nop,
        Instruction::LocalCsrRead {
            csr: csr::PROFILE_COUNT,
        },
        immed(a(0), 0),
    ];
    for dest in [a(1), a(2), a(3)] {
        program.extend(random(dest));
    }
    program.push(HALT);
    let bench = Bench::run(&program);
    assert_eq!(bench.get(a(0)), 2);
    let numbers = [1, 2, 3].map(|n| bench.get(a(n)));
    assert!(numbers[0] != numbers[1] && numbers[1] != numbers[2] && !numbers.contains(&0));
    let again = Bench::run(&program);
    assert_eq!([1, 2, 3].map(|n| again.get(a(n))), numbers);
}
