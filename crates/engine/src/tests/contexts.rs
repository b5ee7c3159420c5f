use npsim_isa::{AluOp, CONTEXTS, Context, CtxArb, InputState, Instruction, Operand, csr};

use super::{Bench, HALT, KILL, NONE, a, alu, arb, b, immed, k};
use npsim_chip::core::{ContextPhase, Core};
use npsim_chip::kernel::check::Check;

const fn csr_wr(csr: u16, src: Operand) -> Instruction {
    Instruction::LocalCsrWrite { csr, src }
}

#[test]
fn voluntary_swaps_rotate_through_all_contexts() {
    let mut bench = Bench::new(&[arb(1, 0, false), arb(1, 0, false), KILL]);
    bench.start(0xff);
    assert_eq!(bench.until(10_000), None);
    let order: Vec<_> = bench
        .trace
        .instructions
        .iter()
        .map(|it| (it.0, it.1))
        .collect();
    let expected: Vec<_> = (0..3)
        .flat_map(|pc| (0..CONTEXTS).map(move |context| (context, pc)))
        .collect();
    assert_eq!(order, expected);
    // One instruction and two aborted slots each.
    assert!(
        bench
            .trace
            .instructions
            .iter()
            .enumerate()
            .all(|(n, it)| it.2 == 3 * n as u64)
    );
}

#[test]
fn context_wakes_once_all_signals_arrive_and_consumes_them() {
    let mut bench = Bench::new(&[arb(0b1010, 0, false), immed(a(0), 1), KILL]);
    bench.start(1);
    assert_eq!(bench.until(100), None);
    bench.mes[0].signal(0, 0b0010, &mut bench.fabric);
    assert_eq!(bench.mes[0].waiting(0).unwrap().missing, ["signal 3"]);
    assert_eq!(bench.until(200), None);
    assert_eq!(bench.mes[0].context(0).phase, ContextPhase::Sleeping);
    bench.mes[0].signal(0, 0b1000, &mut bench.fabric);
    assert_eq!(bench.until(300), None);
    // The wake-up latency of the profile is 3.
    assert_eq!(bench.cycles(1), [203]);
    assert!(bench.mes[0].waiting(0).unwrap().is_killed());
    assert_eq!(bench.mes[0].waiting(0).unwrap().arrived & !1, 0);
}

#[test]
fn ctx_arb_any_leaves_signals_for_br_signal() {
    let any = Instruction::CtxArb(CtxArb {
        mask: 0b1100,
        any: true,
        breakpoint: false,
        keep_mask: false,
        resume: None,
        defer: 0,
    });
    let mut bench = Bench::new(&[
        any,
        Instruction::BranchSignal {
            set: true,
            signal: 2,
            target: 4,
            defer: 0,
        },
        Instruction::BranchSignal {
            set: true,
            signal: 3,
            target: 5,
            defer: 0,
        },
        HALT,
        HALT,
        Instruction::BranchSignal {
            set: false,
            signal: 3,
            target: 7,
            defer: 0,
        },
        HALT,
        immed(a(0), 1),
        KILL,
    ]);
    bench.start(1);
    assert_eq!(bench.until(50), None);
    bench.mes[0].signal(0, 1 << 3, &mut bench.fabric);
    assert_eq!(bench.until(100), None);
    assert_eq!(bench.get(a(0)), 1);
}

#[test]
fn ctx_arb_runs_defer_slots_and_resumes_at_its_label() {
    let arb = Instruction::CtxArb(CtxArb {
        mask: 1,
        any: false,
        breakpoint: false,
        keep_mask: false,
        resume: Some(4),
        defer: 2,
    });
    let bench = Bench::run(&[arb, immed(a(0), 1), immed(a(1), 2), HALT, KILL]);
    assert_eq!((bench.get(a(0)), bench.get(a(1))), (1, 2));
    // Two slots fill the penalty of two.
    assert_eq!(bench.cycles(4), [3]);
}

#[test]
fn same_me_signal_targets_a_given_or_the_next_context() {
    let mut bench = Bench::new(&[
        Instruction::BranchCtx {
            equal: false,
            context: 0,
            target: 4,
            defer: 0,
        },
        csr_wr(csr::SAME_ME_SIGNAL, k(0x80 | 5 << 3)),
        csr_wr(csr::SAME_ME_SIGNAL, k(5 << 3 | 2)),
        KILL,
        arb(1 << 5, 0, false),
        alu(
            Operand::GprAbsolute(npsim_isa::Bank::A, 127),
            Operand::GprAbsolute(npsim_isa::Bank::A, 127),
            AluOp::Add,
            k(1),
        ),
        KILL,
    ]);
    bench.mes[0].write_register(Operand::GprAbsolute(npsim_isa::Bank::A, 127), 0, 0);
    bench.start(0b1111);
    assert_eq!(bench.until(1000), None);
    assert_eq!(bench.get(Operand::GprAbsolute(npsim_isa::Bank::A, 127)), 2);
    assert_eq!(bench.mes[0].waiting(3).unwrap().missing, ["signal 5"]);
    assert!(
        bench.mes[0].waiting(1).unwrap().is_killed()
            && bench.mes[0].waiting(2).unwrap().is_killed()
    );
}

#[test]
fn signals_reach_both_neighbours() {
    let wait = [arb(1 << 2, 0, false), immed(a(0), 9), KILL];
    let mut bench = Bench::new(&wait);
    bench.load(
        1,
        &[
            csr_wr(csr::NEXT_NEIGHBOR_SIGNAL, k(2 << 3)),
            csr_wr(csr::PREV_NEIGHBOR_SIGNAL, k(2 << 3)),
            KILL,
        ],
    );
    bench.load(2, &wait);
    for me in 0..3 {
        bench.mes[me].start(Context::FIRST.into(), &mut bench.fabric);
    }
    assert_eq!(bench.until(1000), None);
    assert_eq!(
        [0, 2].map(|me: usize| bench.mes[me].read_register(a(0), 0)),
        [9, 9]
    );
}

#[test]
fn future_count_signals_when_the_timestamp_reaches_it() {
    let bench = {
        let mut bench = Bench::new(&[
            csr_wr(csr::ACTIVE_CTX_FUTURE_COUNT, k(10)),
            csr_wr(csr::ACTIVE_FUTURE_COUNT_SIGNAL, k(4)),
            arb(1 << 4, 0, false),
            Instruction::LocalCsrRead {
                csr: csr::TIMESTAMP_LOW,
            },
            immed(a(0), 0),
            KILL,
        ]);
        bench.start(1);
        assert_eq!(bench.until(1000), None);
        bench
    };
    assert_eq!(bench.cycles(3), [163]);
    assert_eq!(bench.get(a(0)), 10);
}

#[test]
fn rearmed_timer_fires_once() {
    let mut bench = Bench::new(&[
        csr_wr(csr::ACTIVE_CTX_FUTURE_COUNT, k(10)),
        csr_wr(csr::ACTIVE_FUTURE_COUNT_SIGNAL, k(4)),
        csr_wr(csr::ACTIVE_CTX_FUTURE_COUNT, k(20)),
        arb(1 << 4, 0, false),
        immed(a(0), 0),
        KILL,
    ]);
    bench.start(1);
    assert_eq!(bench.until(2000), None);
    assert_eq!(bench.cycles(4), [323]);
}

#[test]
fn changing_only_the_timer_signal_keeps_its_time() {
    let mut bench = Bench::new(&[
        csr_wr(csr::ACTIVE_FUTURE_COUNT_SIGNAL, k(4)),
        csr_wr(csr::ACTIVE_CTX_FUTURE_COUNT, k(10)),
        csr_wr(csr::ACTIVE_FUTURE_COUNT_SIGNAL, k(5)),
        arb(1 << 5, 0, false),
        immed(a(0), 0),
        csr_wr(csr::ACTIVE_CTX_FUTURE_COUNT, k(20)),
        csr_wr(csr::ACTIVE_FUTURE_COUNT_SIGNAL, k(0)),
        arb(1 << 5, 0, false),
        KILL,
    ]);
    bench.start(1);
    bench.until(4000);
    assert_eq!(bench.cycles(4), [163]);
    // Neither the first signal nor that of the cancelled timer arrived.
    assert_eq!(bench.cycles(8), []);
}

#[test]
fn expired_timer_is_not_cancelled_by_rearming() {
    // The context runs ahead of the chip, and of the timer, up to the last write.
    let mut program = vec![
        csr_wr(csr::ACTIVE_CTX_FUTURE_COUNT, k(1)),
        csr_wr(csr::ACTIVE_FUTURE_COUNT_SIGNAL, k(4)),
    ];
    program.extend([Instruction::Nop; 30]);
    program.extend([
        csr_wr(csr::ACTIVE_CTX_FUTURE_COUNT, k(200)),
        arb(1 << 4, 0, false),
        immed(a(0), 0),
        KILL,
    ]);
    let mut bench = Bench::new(&program);
    bench.start(1);
    assert_eq!(bench.until(1000), None);
    let cycles = bench.cycles(34);
    assert!(
        cycles.iter().all(|it| *it < 60) && cycles.len() == 1,
        "{cycles:?}"
    );
}

#[test]
fn a_breakpoint_stops_all_contexts() {
    let mut bench = Bench::new(&[
        Instruction::BranchCtx {
            equal: true,
            context: 1,
            target: 2,
            defer: 0,
        },
        arb(1, 0, false),
        HALT,
    ]);
    bench.start(0b11);
    assert_eq!(bench.until(1000), None);
    assert!((0..8).all(|context| bench.mes[0].context(context).phase == ContextPhase::Inactive));
    assert!(bench.mes[0].state_report().is_empty());
}

#[test]
fn four_contexts_have_twice_the_registers() {
    let mut image = super::image(&[immed(a(31), 5), KILL]);
    image.contexts = npsim_image::ContextMode::Four;
    let mut bench = Bench::of_image(&image);
    bench.start(0xff);
    assert_eq!(bench.until(1000), None);
    let contexts: Vec<_> = bench
        .trace
        .instructions
        .iter()
        .filter(|it| it.1 == 0)
        .map(|it| it.0)
        .collect();
    assert_eq!(contexts, [0, 2, 4, 6]);
    assert_eq!(bench.get(Operand::GprAbsolute(npsim_isa::Bank::A, 31)), 5);
    assert_eq!(bench.get(Operand::GprAbsolute(npsim_isa::Bank::A, 127)), 5);
}

#[test]
fn raising_an_unconsumed_signal_again_is_a_fault() {
    let mut bench = Bench::new(&[arb(0b110, 0, false), KILL]);
    bench.start(1);
    assert_eq!(bench.until(20), None);
    bench.mes[0].signal(0, 2, &mut bench.fabric);
    bench.mes[0].signal(0, 2, &mut bench.fabric);
    let fault = bench.fabric.checks.fault().unwrap();
    assert_eq!(
        (fault.check, fault.context, fault.pc),
        (Some(Check::SignalRaisedTwice), Some(0), Some(0))
    );
    assert!(fault.message.contains("signal 1"));
}

#[test]
fn next_neighbour_ring_delivers_words_in_order() {
    let put = |n| immed(Operand::NnRing, n);
    let mut bench = Bench::new(&[put(11), put(12), put(13), KILL]);
    let get = |dest| alu(dest, NONE, AluOp::B, Operand::NnRing);
    bench.load(
        1,
        &[
            Instruction::BranchInputState {
                set: true,
                state: InputState::NnEmpty,
                target: 0,
                defer: 0,
            },
            get(a(0)),
            arb(1 << 1, 0, false),
            alu(a(1), NONE, AluOp::B, Operand::NnPeek),
            get(a(2)),
            get(a(3)),
            Instruction::BranchInputState {
                set: false,
                state: InputState::NnEmpty,
                target: 8,
                defer: 0,
            },
            immed(a(4), 1),
            KILL,
        ],
    );
    bench.mes[1].write_register(a(4), 0, 0);
    bench.start(1);
    bench.mes[1].start(Context::FIRST.into(), &mut bench.fabric);
    assert_eq!(bench.until(100), None);
    bench.mes[1].signal(0, 2, &mut bench.fabric);
    assert_eq!(bench.until(200), None);
    assert_eq!(
        [0, 1, 2, 3, 4].map(|n| bench.mes[1].read_register(a(n), 0)),
        [11, 12, 12, 13, 1]
    );
}

#[test]
fn next_neighbour_writer_sees_a_nearly_full_ring() {
    let mut program = vec![immed(a(0), 0)];
    program.push(Instruction::BranchInputState {
        set: true,
        state: InputState::NnFull,
        target: 5,
        defer: 0,
    });
    program.push(alu(Operand::NnRing, a(0), AluOp::Add, k(0)));
    program.push(alu(a(0), a(0), AluOp::Add, k(1)));
    program.push(Instruction::Branch {
        condition: npsim_isa::Condition::Always,
        target: 1,
        defer: 0,
    });
    program.push(KILL);
    assert_eq!(Bench::run(&program).get(a(0)), 97);
}

#[test]
fn context_times_sum_to_elapsed_time() {
    let mut bench = Bench::new(&[
        arb(1, 0, false),
        csr_wr(csr::SAME_ME_SIGNAL, k(0x80 | 3 << 3)),
        arb(1 << 3, 1, false),
        immed(b(0), 1),
        Instruction::Branch {
            condition: npsim_isa::Condition::Always,
            target: 0,
            defer: 0,
        },
    ]);
    bench.fabric.checks.allow(Check::SignalRaisedTwice);
    bench.start(0b0101_0111);
    for until in (1..80).chain([500, 2000]) {
        assert_eq!(bench.until(until), None);
        let stats = bench.mes[0].stats_at(until);
        let elapsed = stats.total();
        assert_eq!(elapsed, until);
        for (context, times) in stats.contexts.iter().enumerate() {
            // A state entered at the end of a penalty is counted only from then on.
            assert_eq!(times.total(), elapsed, "context {context} at {until}");
        }
        let issued = bench.trace.instructions.iter().filter(|it| it.2 < until);
        assert_eq!(stats.instructions as usize, issued.count(), "at {until}");
    }
}

#[test]
fn sleeping_context_is_reported_at_its_waiting_instruction() {
    let mut bench = Bench::new(&[immed(a(0), 1), arb(1 << 3, 0, false), KILL]);
    bench.start(0b1);
    assert_eq!(bench.until(100), None);
    let wait = bench.mes[0].waiting(0).unwrap();
    assert_eq!((wait.at, wait.pc), (1, 2));
    let report = bench.mes[0].state_report();
    assert!(report[0].ends_with("(address 1)"), "{report:?}");
}

#[test]
fn contexts_in_the_same_state_share_a_report_line() {
    let bench = Bench::run(&[KILL]);
    assert_eq!(bench.mes[0].state_report().len(), 1);
    let mut bench = Bench::new(&[KILL]);
    bench.start(0xff);
    assert_eq!(bench.until(1000), None);
    let report = bench.mes[0].state_report();
    assert!(
        report.len() == 1 && report[0].contains("contexts 0 to 7: killed"),
        "{report:?}"
    );
}

#[test]
fn stepped_run_matches_uninterrupted_run() {
    let program = [
        arb(1, 0, false),
        csr_wr(csr::SAME_ME_SIGNAL, k(0x80 | 3 << 3)),
        alu(a(0), a(0), AluOp::Add, k(1)),
        arb(1 << 3, 2, false),
        alu(b(0), b(0), AluOp::Add, a(0)),
        csr_wr(csr::ACTIVE_LM_ADDR_0, b(0)),
        alu(Operand::NnRing, a(0), AluOp::Add, k(1)),
        Instruction::Branch {
            condition: npsim_isa::Condition::Always,
            target: 0,
            defer: 0,
        },
    ];
    let run = |steps: &[u64]| {
        let mut bench = Bench::new(&program).allow(Check::SignalRaisedTwice);
        for context in 0..CONTEXTS {
            bench.mes[0].write_register(a(0), context, 0);
            bench.mes[0].write_register(b(0), context, 0);
        }
        bench.load(1, &program);
        bench.start(0xff);
        for &until in steps {
            assert_eq!(bench.until(until), None);
        }
        (format!("{:?}", bench.mes), bench.trace.instructions)
    };
    let through = run(&[3000]);
    let singly: Vec<_> = (1..=3000).collect();
    assert_eq!(run(&singly).1, through.1);
    let ragged: Vec<_> = (1..3000)
        .filter(|n| n % 7 < 2 || n % 11 == 3)
        .chain([3000])
        .collect();
    assert_eq!(run(&ragged).1, through.1);
}
