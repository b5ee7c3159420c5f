use npsim_isa::{Condition, Instruction};

use super::{Bench, KILL, a, arb, immed};
use npsim_chip::Cycle;
use npsim_chip::core::Core;
use npsim_chip::kernel::fault_injection::Stall;

/// Waits for signal 1, then writes a register and ends.
const WAITER: [Instruction; 3] = [arb(0b10, 0, false), immed(a(0), 1), KILL];

fn stall(bench: &mut Bench, context: u8, from: Cycle, until: Cycle) -> bool {
    bench.mes[0].stall(Stall {
        me: 0,
        context,
        from,
        until,
    })
}

/// The cycles at which a context executed any instruction.
fn busy(bench: &Bench, context: u8) -> Vec<Cycle> {
    let all = bench.trace.instructions.iter();
    all.filter(|it| it.0 == context).map(|it| it.2).collect()
}

const fn back(target: u16) -> Instruction {
    Instruction::Branch {
        condition: Condition::Always,
        target,
        defer: 0,
    }
}

#[test]
fn stalled_context_does_nothing_and_then_resumes() {
    let mut bench = Bench::new(&[arb(1, 0, false), back(0)]);
    bench.start(0b11);
    assert!(stall(&mut bench, 1, 1000, 5000));
    assert_eq!(bench.until(10_000), None);
    let (free, hung) = (busy(&bench, 0), busy(&bench, 1));
    let within = |times: &[Cycle], from, until| {
        let there = times.iter().filter(|at| (from..until).contains(*at));
        there.count()
    };
    // A context that had begun before continues until it yields.
    assert_eq!(within(&hung, 1010, 5000), 0);
    assert!(within(&hung, 0, 1000) > 100);
    assert!(within(&hung, 5000, 5020) > 0);
    assert!(within(&hung, 5000, 10_000) > 500);
    // The other context has the microengine to itself.
    assert!(within(&free, 1000, 5000) > 4 * within(&free, 0, 1000) * 3 / 2);
}

#[test]
fn signals_arrive_and_other_contexts_run_during_a_stall() {
    let mut bench = Bench::new(&WAITER);
    bench.start(0b11);
    assert!(stall(&mut bench, 0, 100, 1000));
    assert_eq!(bench.until(200), None);
    bench.mes[0].signal(0, 0b10, &mut bench.fabric);
    assert_eq!(bench.until(300), None);
    assert_eq!(busy(&bench, 0).last().copied(), Some(0));
    let report = bench.mes[0].state_report().join("\n");
    assert!(
        report.contains("ready, but stalled until cycle 1000"),
        "{report}"
    );
    assert_eq!(bench.until(500), None);
    bench.mes[0].signal(1, 0b10, &mut bench.fabric);
    assert_eq!(bench.until(20_000), None);
    // The wake-up latency is 3, for a signal as for the end of a stall.
    assert_eq!(bench.cycles(1), [503, 1003]);
    assert!(bench.fabric.events.is_empty());
    let stats = bench.mes[0].stats_at(2000);
    assert_eq!(stats.total(), 2000);
    assert_eq!(stats.contexts[0].ready, 803);
}

#[test]
fn stall_of_a_waiting_context_posts_no_event() {
    let mut bench = Bench::new(&WAITER);
    bench.start(1);
    assert!(stall(&mut bench, 0, 100, 1_000_000));
    assert_eq!(bench.until(500), None);
    assert!(bench.fabric.events.is_empty());
}

#[test]
fn overlapping_stalls_merge() {
    let mut bench = Bench::new(&WAITER);
    bench.start(1);
    for (from, until) in [(100, 1000), (900, 2000), (150, 300), (2100, 9000)] {
        assert!(stall(&mut bench, 0, from, until));
    }
    assert_eq!(bench.until(200), None);
    bench.mes[0].signal(0, 0b10, &mut bench.fabric);
    assert_eq!(bench.until(20_000), None);
    assert_eq!(bench.cycles(1), [2003]);
}

#[test]
fn stall_from_cycle_zero_delays_the_first_instruction() {
    let mut bench = Bench::new(&[immed(a(0), 1), KILL]);
    bench.start(0b101);
    assert!(stall(&mut bench, 0, 0, 700));
    assert_eq!(bench.until(5000), None);
    assert_eq!(busy(&bench, 2)[0], 0);
    assert_eq!(busy(&bench, 0)[0], 703);
}

#[test]
fn stall_takes_effect_only_after_the_context_yields() {
    let mut bench = Bench::new(&[immed(a(0), 1), back(0)]);
    bench.start(1);
    assert!(stall(&mut bench, 0, 100, 5000));
    assert_eq!(bench.until(1000), None);
    assert!(busy(&bench, 0).iter().filter(|&&at| at > 200).count() > 100);
}

#[test]
fn only_running_contexts_can_be_stalled() {
    let mut bench = Bench::new(&WAITER);
    bench.start(0b11);
    assert!(!stall(&mut bench, 2, 0, 10));
    assert!(stall(&mut bench, 1, 0, 10));
    assert_eq!(bench.mes[0].stalls().len(), 1);
}
