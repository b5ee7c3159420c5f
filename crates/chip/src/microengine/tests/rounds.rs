//! Lines that branch back to their own start.

use npsim_isa::{AluOp, Condition, Instruction, ShfOp, Shift};

use super::{Bench, HALT, NONE, a, alu, b, immed, k};
use crate::Cycle;
use crate::core::Core;
use crate::kernel::trace_event::Kinds;
use crate::microengine::action::Action;

/// The first word of the line.
const FIRST: u16 = 3;

fn program(rounds: u16) -> [Instruction; 9] {
    let shift = Instruction::AluShf {
        op: ShfOp::B,
        dest: b(0),
        a: NONE,
        b: a(0),
        shift: Shift::Left(13),
    };
    let back = Instruction::Branch {
        condition: Condition::Ne,
        target: FIRST,
        defer: 0,
    };
    [
        immed(a(0), 0x9e37),
        immed(b(1), 0),
        immed(a(1), rounds),
        shift,
        alu(a(0), a(0), AluOp::Xor, b(0)),
        alu(b(1), b(1), AluOp::Add, a(0)),
        alu(a(1), a(1), AluOp::Sub, k(1)),
        back,
        HALT,
    ]
}

/// The program run up to a cycle, in steps.
fn run(rounds: u16, watched: bool, until: Cycle, step: Cycle) -> Bench {
    let mut bench = Bench::new(&program(rounds));
    if !watched {
        bench.fabric.journal.set(Kinds::NONE);
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
fn unwatched_they_end_as_watched_wherever_they_are_cut() {
    for rounds in [1, 2, 3, 150] {
        let watched = run(rounds, true, 4000, 4000);
        assert_eq!(watched.mes[0].halted(), Some(0));
        assert_eq!(watched.cycles(FIRST).len(), usize::from(rounds));
        for step in [4000, 97, 40, 1] {
            let unwatched = run(rounds, false, 4000, step);
            assert_eq!(seen(&unwatched), seen(&watched), "{rounds} by {step}");
        }
    }
}

#[test]
fn counts_are_those_of_each_cycle_that_they_were_ahead() {
    let (watched, unwatched) = (run(900, true, 800, 800), run(900, false, 800, 800));
    let action = unwatched.mes[0].lane().glance(FIRST).map(|it| it.0);
    assert_eq!(action, Some(Action::Rounds));
    assert!(unwatched.mes[0].local_time() >= 800);
    for now in 0..800 {
        let counts = unwatched.mes[0].stats_at(now);
        assert_eq!(counts, watched.mes[0].stats_at(now), "at {now}");
        let issued = watched.trace.instructions.iter();
        let before = issued.filter(|it| it.2 < now).count();
        assert_eq!(counts.instructions, before as u64, "before {now}");
    }
}
