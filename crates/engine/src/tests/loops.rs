//! Loops of one basic block, run with and without an observer.

use npsim_isa::{AluOp, Condition, Instruction, ShfOp, Shift};

use super::{Bench, HALT, NONE, a, alu, b, immed, k};
use npsim_chip::Cycle;
use npsim_chip::core::Core;
use npsim_chip::kernel::trace_event::EventKinds;

/// The first word of the loop.
const FIRST: u16 = 3;

/// A program whose loop runs `rounds` times.
fn program(rounds: u16) -> [Instruction; 9] {
    program_with(
        rounds,
        alu(a(1), a(1), AluOp::Sub, k(1)),
        branch(Condition::Ne),
    )
}

fn branch(condition: Condition) -> Instruction {
    Instruction::Branch {
        condition,
        target: FIRST,
        defer: 0,
    }
}

/// The loop with this last operation and this branch.
fn program_with(rounds: u16, last: Instruction, back: Instruction) -> [Instruction; 9] {
    let shift = Instruction::AluShf {
        op: ShfOp::B,
        dest: b(0),
        a: NONE,
        b: a(0),
        shift: Shift::Left(13),
    };
    [
        immed(a(0), 0x9e37),
        immed(b(1), 0),
        immed(a(1), rounds),
        shift,
        alu(a(0), a(0), AluOp::Xor, b(0)),
        alu(b(1), b(1), AluOp::Add, a(0)),
        last,
        back,
        HALT,
    ]
}

/// A program run up to a cycle, in steps.
fn run(program: &[Instruction], observed: bool, until: Cycle, step: Cycle) -> Bench {
    let mut bench = Bench::new(program);
    if !observed {
        bench.fabric.watch(EventKinds::NONE);
    }
    bench.start(1);
    let mut at = 0;
    while at < until {
        at = until.min(at + step);
        assert_eq!(bench.until(at), None);
    }
    bench
}

fn seen(bench: &Bench) -> impl PartialEq + std::fmt::Debug + use<> {
    let me = &bench.mes[0];
    let registers = [a(0), b(0), a(1), b(1)].map(|register| bench.get(register));
    (
        registers,
        me.condition_codes(),
        me.context(0),
        me.local_time(),
        me.halted(),
    )
}

#[test]
fn one_block_loops_match_with_and_without_observer_at_any_step_size() {
    for rounds in [1, 2, 3, 150] {
        let observed = run(&program(rounds), true, 4000, 4000);
        assert_eq!(observed.mes[0].halted(), Some(0));
        assert_eq!(observed.cycles(FIRST).len(), usize::from(rounds));
        for step in [4000, 97, 40, 1] {
            let unobserved = run(&program(rounds), false, 4000, step);
            assert_eq!(seen(&unobserved), seen(&observed), "{rounds} by {step}");
        }
    }
}

/// Conditions of fused branches, and others; operations with a shift, and with half of an operand.
#[test]
fn one_block_loops_match_for_every_last_operation_and_branch() {
    let shifted = |op| Instruction::AluShf {
        op,
        dest: a(1),
        a: a(1),
        b: b(1),
        shift: Shift::Right(3),
    };
    let bit = |set, bit| Instruction::BranchBit {
        set,
        src: a(0),
        bit,
        target: FIRST,
        defer: 0,
    };
    let lasts = [
        alu(a(1), a(1), AluOp::Sub, k(7)),
        alu(a(1), k(200), AluOp::SubReverse, a(1)),
        alu(NONE, a(1), AluOp::Add16, b(1)),
        alu(a(1), a(1), AluOp::And, b(1)),
        alu(NONE, a(0), AluOp::Xor, b(1)),
        shifted(ShfOp::And),
        shifted(ShfOp::B),
    ];
    let branches = Condition::ALL
        .into_iter()
        .map(branch)
        .chain([bit(true, 3), bit(false, 17)]);
    for back in branches {
        for last in lasts {
            let program = program_with(150, last, back);
            let observed = run(&program, true, 900, 900);
            for step in [900, 61] {
                let unobserved = run(&program, false, 900, step);
                assert_eq!(
                    seen(&unobserved),
                    seen(&observed),
                    "{last:?} {back:?} by {step}"
                );
            }
        }
    }
}

#[test]
fn one_block_loop_statistics_are_exact_despite_running_ahead() {
    let program = program(900);
    let (observed, unobserved) = (
        run(&program, true, 800, 800),
        run(&program, false, 800, 800),
    );
    assert!(unobserved.mes[0].local_time() >= 800);
    for now in 0..800 {
        let counts = unobserved.mes[0].stats_at(now);
        assert_eq!(counts, observed.mes[0].stats_at(now), "at {now}");
        let issued = observed.trace.instructions.iter();
        let before = issued.filter(|it| it.2 < now).count();
        assert_eq!(counts.instructions, before as u64, "before {now}");
    }
}
