//! A profile accounts for every cycle.

use npsim_inspect::stats::Stats;
use npsim_observe::profile::{Collector, CycleBreakdown, Profile, stages, to_json};
use npsim_session::simulation::Ending;

use crate::runs::{Run, crowd};

pub fn profile(run: &Run, until: Option<u64>) -> (Profile, Stats, Ending) {
    let mut simulation = run.simulation(until);
    let mut collector = Collector::new(simulation.chip());
    let ending = run.watch(&mut simulation, &mut collector);
    (
        collector.finish(simulation.now()),
        simulation.stats(),
        ending,
    )
}

/// Every cycle of a microengine and of each context is spent on one thing, in agreement with the
/// chip's own counts.
pub fn assert_accounted(profile: &Profile, stats: &Stats) {
    assert_eq!(profile.cycles, stats.cycles);
    for me in &profile.microengines {
        let index = me.index;
        let spent = me.spent();
        assert_eq!(
            spent.pipeline() + me.idle,
            profile.cycles,
            "microengine {index} at {}: {spent:?}, idle {}",
            profile.cycles,
            me.idle
        );
        for (context, spent) in me.contexts.iter().enumerate() {
            assert_eq!(
                spent.total(),
                profile.cycles,
                "microengine {index} context {context}: {spent:?}"
            );
        }
        let mut words = CycleBreakdown::default();
        me.words.iter().for_each(|word| words.add(word));
        words.inactive = spent.inactive;
        assert_eq!(words, spent, "microengine {index}: by word and by context");
        let waits: u64 = me.waits.iter().map(|wait| wait.cycles).sum();
        assert_eq!(waits, spent.waiting, "microengine {index}");
        let counted = &stats.microengines[usize::from(index)];
        assert_eq!(
            (spent.issued, spent.aborted, spent.stalled, me.idle),
            (
                counted.instructions,
                counted.aborted,
                counted.stalled,
                counted.idle
            ),
            "microengine {index} at {}",
            profile.cycles
        );
    }
    for stage in stages(profile) {
        let mut lines = CycleBreakdown::default();
        stage.lines.iter().for_each(|line| lines.add(&line.own));
        let all = CycleBreakdown {
            inactive: 0,
            ..stage.spent
        };
        assert_eq!(lines, all, "{}: by line", stage.source);
    }
}

#[test]
fn forwarder_profile_accounts_for_every_cycle_at_any_stop() {
    let run = Run::forwarder();
    let (whole, stats, ending) = profile(&run, None);
    assert_eq!(ending, Ending::Drained);
    assert_accounted(&whole, &stats);
    assert!(whole.packets > 1000, "{}", whole.packets);
    for until in (0..40).map(|n| 1 + n * n * 31 + n) {
        let (part, stats, _) = profile(&run, Some(until));
        assert_accounted(&part, &stats);
    }
}

#[test]
fn ixp2800_profile_accounts_for_every_cycle() {
    let run = Run::forwarder_on_2800();
    let (whole, stats, _) = profile(&run, None);
    assert_accounted(&whole, &stats);
    assert!(whole.packets > 100, "{}", whole.packets);
    for until in [1, 77_777, 333_331] {
        let (part, stats, _) = profile(&run, Some(until));
        assert_accounted(&part, &stats);
    }
}

#[test]
fn stalls_and_defer_slots_are_accounted_for_at_any_stop() {
    let (run, _folder) = Run::source(&crowd(), "0-3");
    let mut stalled = 0;
    for until in (2000..2100).chain([20_000, 20_001]) {
        let (part, stats, _) = profile(&run, Some(until));
        assert_accounted(&part, &stats);
        stalled += part
            .microengines
            .iter()
            .map(|me| me.spent().stalled)
            .sum::<u64>();
    }
    assert!(stalled > 0, "the command FIFOs were never full");
}

#[test]
fn profile_excludes_cycles_after_a_fault() {
    // One microengine runs for itself while the other reads before it writes.
    let text = "\
.reg n x never
    immed[n, 0]
    local_csr_rd[active_ctx_sts]
    immed[x, 0]
    alu[x, x, AND, 0x38]
    bne[ahead#]
wait#:
    alu[n, n, +, 1]
    alu[--, n, -, 200]
    blt[wait#]
    alu[n, n, +, never]
ahead#:
    alu[n, n, +, 1]
    br[ahead#]
";
    let (run, _folder) = Run::source(text, "0-1");
    let (part, stats, ending) = profile(&run, Some(100_000));
    assert!(matches!(ending, Ending::Fault(_)), "{ending:?}");
    assert!(part.cycles < 100_000);
    for me in &part.microengines {
        assert_eq!(me.spent().pipeline() + me.idle, stats.cycles);
    }
}

#[test]
fn macro_cycles_include_nested_macros() {
    let (run, _folder) = Run::source(&crowd(), "0");
    let (part, _, _) = profile(&run, Some(20_000));
    let stages = stages(&part);
    let find = |name| {
        stages[0]
            .macros
            .iter()
            .find(|it| it.name == name)
            .expect(name)
    };
    let (outer, inner) = (find("twice"), find("bump"));
    assert_eq!((outer.uses, inner.uses), (1, 2));
    assert_eq!(
        outer.all, inner.all,
        "all words of the outer are the inner's"
    );
    let line = stages[0]
        .lines
        .iter()
        .find(|line| line.all == outer.all && line.own == CycleBreakdown::default());
    assert!(
        line.is_some(),
        "the line that uses the macro has its cycles"
    );
}

#[test]
fn profile_is_repeatable_and_does_not_affect_the_run() {
    let run = Run::forwarder();
    let (one, with, _) = profile(&run, Some(300_000));
    let (other, ..) = profile(&run, Some(300_000));
    assert_eq!(to_json(&one).unwrap(), to_json(&other).unwrap());
    let mut plain = run.simulation(Some(300_000));
    run.watch(&mut plain, &mut npsim_chip::kernel::observer::NoObserver);
    assert_eq!(plain.stats(), with, "watching changed the run");
}
