//! Steps, breakpoints and queries on shipped systems.

use std::path::Path;

use npsim_chip::Cycle;
use npsim_debug::breakpoints::{Access, Breakpoint, BreakpointKind};
use npsim_debug::console::completions;
use npsim_debug::timeline::TimePoint;
use npsim_debug::{Debugger, Direction, Step, StopCause, Thread};
use npsim_net::Random;

use crate::rig::{System, changed, commands, error_text, met, state};

/// The debugger's position: moment, context, address, and number of stack frames.
type Position = (TimePoint, Thread, u16, usize);

fn position_of(debugger: &Debugger) -> Position {
    let thread = debugger.thread();
    let frames = debugger.frames(thread).len();
    (
        debugger.timeline().moment(),
        thread,
        debugger.pc(thread),
        frames,
    )
}

/// Steps forward, then back: the places occur in reverse order.
fn there_and_back(system: &System, steps: usize, seed: u64) {
    let mut debugger = system.debugger();
    debugger.goto(20_000);
    let mut random = Random::new(seed, 0);
    let kinds = [
        Step::Line,
        Step::Line,
        Step::Into,
        Step::Instruction,
        Step::Out,
        Step::Run,
    ];
    let mut made = Vec::new();
    for _ in 0..steps {
        let mut step = kinds[random.below(kinds.len() as u64) as usize];
        if step == Step::Out && debugger.frames(debugger.thread()).len() < 2 {
            step = Step::Line;
        }
        let from = position_of(&debugger);
        let stop = debugger.step(step, Direction::Forward);
        if stop.reason != StopCause::Step {
            break;
        }
        assert_ne!(position_of(&debugger), from, "{step:?} goes on");
        made.push((step, from));
    }
    assert!(made.len() >= steps / 2, "{}", made.len());
    while let Some((step, from)) = made.pop() {
        debugger.step(step, Direction::Back);
        assert_eq!(position_of(&debugger), from, "{step:?} back");
        if made.len().is_multiple_of(100) {
            let here = state(debugger.timeline());
            assert!(here == system.at_cycle(debugger.cycle()), "{step:?} back");
        }
    }
}

#[test]
fn step_back_undoes_a_step() {
    there_and_back(&System::wire8(), 150, 1);
    there_and_back(&System::forward(), 100, 2);
    there_and_back(&System::router(), 60, 3);
}

/// Steps back without a record of the steps: a second debugger, which did not make them, goes back
/// through the line beginnings that the first one passed going forward.
fn without_memory(system: &System, step: Step, steps: usize) {
    let mut debugger = system.debugger();
    debugger.goto(15_000);
    // To where a line begins.
    debugger.step(step, Direction::Forward);
    let thread = debugger.thread();
    let mut there = vec![debugger.timeline().moment()];
    for _ in 0..steps {
        assert_eq!(
            debugger.step(step, Direction::Forward).reason,
            StopCause::Step
        );
        if there.last() != Some(&debugger.timeline().moment()) {
            there.push(debugger.timeline().moment());
        }
    }
    let mut other = system.debugger();
    other.select(thread).unwrap();
    other.goto_place(debugger.timeline().moment(), None);
    let mut back = vec![other.timeline().moment()];
    while back.len() < there.len() {
        assert_eq!(other.step(step, Direction::Back).reason, StopCause::Step);
        if back.last() != Some(&other.timeline().moment()) {
            back.push(other.timeline().moment());
        }
    }
    back.reverse();
    assert_eq!(there, back, "{step:?}");
}

#[test]
fn steps_back_need_no_record_of_steps_forward() {
    let system = System::wire8();
    without_memory(&system, Step::Instruction, 120);
    without_memory(&system, Step::Into, 120);
    without_memory(&system, Step::Run, 30);
    without_memory(&System::forward(), Step::Into, 60);
}

#[test]
fn line_step_passes_over_macros() {
    let system = System::wire8();
    let mut debugger = system.debugger();
    let lines = commands(&mut debugger, "break wire8.uc:40 in 0.2\ncontinue");
    assert!(lines[0].starts_with("1: break"), "{lines:?}");
    let thread = debugger.thread();
    assert_eq!(thread, Thread { me: 0, context: 2 });
    debugger.remove(1).unwrap();
    let mut depths = Vec::new();
    for _ in 0..12 {
        debugger.step(Step::Line, Direction::Forward);
        let frames = debugger.frames(thread);
        depths.push(frames.len());
        assert!(frames[0].file.ends_with("wire8.uc"), "{frames:?}");
    }
    assert!(depths.iter().all(|it| *it == 1), "{depths:?}");
    // Into a macro and out of it.
    while !debugger.has_closed_macros() {
        debugger.step(Step::Line, Direction::Forward);
    }
    let before = debugger.timeline().moment();
    debugger.step(Step::Into, Direction::Forward);
    assert_eq!(
        debugger.timeline().moment(),
        before,
        "the macro is opened where it begins"
    );
    assert_eq!(debugger.frames(thread).len(), 2);
    debugger.step(Step::Out, Direction::Forward);
    assert_eq!(debugger.frames(thread).len(), 1);
    assert!(debugger.timeline().moment() > before);
}

#[test]
fn breakpoints_stop_in_both_directions() {
    let system = System::forward();
    let mut debugger = system.debugger();
    let me = system.programs[0].me;
    let pc = (system.programs[0].image.words.len() / 2) as u16;
    debugger
        .add(Breakpoint::new(
            "half",
            BreakpointKind::Code(vec![(me, pc)]),
        ))
        .unwrap();
    let mut there = Vec::new();
    for _ in 0..12 {
        let stop = debugger.run(Direction::Forward);
        assert_eq!(stop.reason, StopCause::Breakpoint(vec![met(1)]));
        assert_eq!(debugger.pc(stop.thread), pc);
        there.push((debugger.timeline().moment(), stop.thread));
    }
    there.pop();
    while let Some(last) = there.pop() {
        let stop = debugger.run(Direction::Back);
        assert_eq!((debugger.timeline().moment(), stop.thread), last);
    }
    assert_eq!(debugger.run(Direction::Back).reason, StopCause::Beginning);
    assert_eq!(debugger.cycle(), 0);
}

/// The cycles at which a breakpoint with these words stops, going forward.
fn stops(system: &System, line: &str, most: usize) -> Vec<Cycle> {
    let mut debugger = system.debugger();
    commands(&mut debugger, line);
    let mut cycles = Vec::new();
    while cycles.len() < most {
        let StopCause::Breakpoint(_) = debugger.run(Direction::Forward).reason else {
            break;
        };
        cycles.push(debugger.cycle());
    }
    cycles
}

#[test]
fn conditions_contexts_and_hit_counts_filter_hits() {
    let system = System::wire8();
    let all = stops(&system, "break wire8.uc:47", 24);
    assert_eq!(all.len(), 24);
    let of_one = stops(&system, "break wire8.uc:47 in 0.3", 3);
    let same = stops(&system, "break wire8.uc:47 if context == 3", 3);
    assert_eq!(of_one, same);
    assert!(of_one.iter().all(|it| all.contains(it)));
    assert_eq!(stops(&system, "break wire8.uc:47 hit 5", 2), [all[4]]);
    assert_eq!(
        stops(&system, "break wire8.uc:47 hit %4", 3),
        [all[3], all[7], all[11]]
    );
    // The number of a hit depends on the run, not on the path to it.
    let mut debugger = system.debugger();
    debugger.goto(all[9] + 1);
    commands(&mut debugger, "break wire8.uc:47 hit >=3");
    debugger.run(Direction::Back);
    assert_eq!(debugger.cycle(), all[9]);
    for _ in 0..7 {
        debugger.run(Direction::Back);
    }
    assert_eq!(debugger.cycle(), all[2]);
    assert_eq!(debugger.run(Direction::Back).reason, StopCause::Beginning);
}

#[test]
fn macro_parameter_evaluates_to_its_argument() {
    let system = System::wire8();
    let mut debugger = system.debugger();
    // receive_store(element, bytes, buffer, moved), and a breakpoint with a condition on one
    // parameter.
    commands(
        &mut debugger,
        "break rbuf.uc:65 in 0.3 if address == 192\ncontinue",
    );
    let thread = debugger.thread();
    assert_eq!(debugger.frames(thread)[0].name, "receive_store");
    let value = |expression: &str| debugger.evaluate(expression, thread).unwrap();
    assert_eq!(value("address"), 192);
    assert_eq!(value("address"), value("buffer"));
    let error = debugger.evaluate("signal(done)", thread).unwrap_err();
    assert!(error.message.contains("`moved`"), "{error}");
    // Outside of the macro, the name does not exist.
    commands(&mut debugger, "out");
    assert_eq!(debugger.frames(thread)[0].name, "wire8.uc");
    assert!(debugger.evaluate("address", thread).is_err());
}

#[test]
fn macro_parameter_may_be_a_number() {
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join("add.uc");
    let text = ".reg x\n#macro add(to, much)\n    alu[to, to, +, much]\n#endm\n    immed[x, 5]\n    add(x, 3)\n    alu[--, --, B, x]\ne#: br[e#]\n";
    std::fs::write(&source, text).unwrap();
    let system = System::at(&source, None);
    let mut debugger = system.debugger();
    commands(&mut debugger, "break add.uc:3 if to + much == 8\ncontinue");
    let thread = debugger.thread();
    assert_eq!(debugger.frames(thread)[0].name, "add");
    assert_eq!(debugger.evaluate("much", thread).unwrap(), 3);
}

#[test]
fn log_point_prints_once_per_hit() {
    let system = System::wire8();
    let mut debugger = system.debugger();
    commands(
        &mut debugger,
        "log wire8.uc:47 in 0.1 say status {status:x} in {cycle}",
    );
    commands(&mut debugger, "break wire8.uc:47 in 0.1 hit 4");
    let stop = debugger.run(Direction::Forward);
    assert_eq!(stop.said.len(), 4, "{:?}", stop.said);
    let first = &stop.said[0];
    assert!(first.text.starts_with("status 0x"), "{}", first.text);
    assert!(first.text.ends_with(&format!("in {}", first.moment.cycle)));
    debugger.run(Direction::Back);
    let again = debugger.run(Direction::Forward);
    assert_eq!(again.said, []);
    assert_eq!(debugger.cycle(), stop.said[3].moment.cycle);
}

#[test]
fn a_watchpoint_stops_at_each_change() {
    let system = System::wire8();
    let mut debugger = system.debugger();
    commands(
        &mut debugger,
        "break wire8.uc:47 in 0.1\ncontinue\ndelete 1\nwatch status",
    );
    let mut seen = Vec::new();
    for _ in 0..4 {
        let StopCause::Breakpoint(points) = debugger.run(Direction::Forward).reason else {
            panic!("no change");
        };
        let (before, now) = points[0].change.unwrap();
        assert_ne!(before, now);
        seen.push((debugger.cycle(), before, now));
    }
    assert!(seen.windows(2).all(|it| it[0].2 == it[1].1), "{seen:?}");
    seen.pop();
    while let Some((cycle, before, now)) = seen.pop() {
        let reason = debugger.run(Direction::Back).reason;
        assert_eq!(reason, StopCause::Breakpoint(vec![changed(2, before, now)]));
        assert_eq!(debugger.cycle(), cycle);
    }
}

#[test]
fn packet_trail_runs_from_arrival_to_departure() {
    let system = System::forward();
    let mut debugger = system.debugger();
    let thread = debugger.thread();
    let what = debugger.watch("dram[0]", Access::Any, thread).unwrap();
    assert!(matches!(what, BreakpointKind::Watch { .. }));
    let wrong = debugger.watch("a0", Access::Read, thread).unwrap_err();
    assert!(wrong.to_string().contains("`a0` is not one"), "{wrong}");
    // A packet's first block is written when it leaves RBUF.
    let trail = debugger.packet(0).unwrap();
    assert!(trail.over, "{trail:?}");
    let texts: Vec<_> = trail.events.iter().map(|it| it.what.as_str()).collect();
    assert!(
        texts[0].starts_with("starts to arrive at port"),
        "{texts:?}"
    );
    assert!(
        texts.last().unwrap().starts_with("has left through port"),
        "{texts:?}"
    );
    assert!(trail.events.is_sorted_by_key(|it| it.cycle));
    assert!(trail.events.iter().any(|it| it.place.is_some()));
    assert_eq!(debugger.cycle(), 0, "asking goes nowhere");
}

#[test]
fn who_lists_writers_latest_first() {
    let system = System::wire8();
    let mut debugger = system.debugger();
    commands(&mut debugger, "break wire8.uc:49 in 0.1\ncontinue");
    let thread = debugger.thread();
    let now = debugger.timeline().moment();
    let attributed = debugger.who("status", thread, 2).unwrap();
    assert_eq!(debugger.timeline().moment(), now);
    assert_eq!(attributed.len(), 2, "{attributed:?}");
    assert!(attributed[0].cycle > attributed[1].cycle);
    let writer = attributed[0].place.unwrap();
    let image = &system.programs[0].image;
    assert!(
        image.place(writer.pc).ends_with("wire8.uc:46"),
        "{}",
        image.place(writer.pc)
    );
    assert_eq!(
        attributed[0].value,
        debugger.evaluate("status", thread).ok()
    );
    let signals = debugger.who("signal(2)", thread, 1).unwrap();
    assert_eq!(signals[0].what, "mpacket");
}

#[test]
fn wake_runs_to_the_missing_signal() {
    let system = System::wire8();
    let mut debugger = system.debugger();
    debugger.goto(3000);
    let sleeping = debugger.threads().into_iter().find(|it| {
        it.view.phase == npsim_chip::core::ContextPhase::Sleeping && it.view.wakeup != 0
    });
    let thread = sleeping.unwrap().thread;
    assert!(
        debugger.why(thread)[0].contains("wait"),
        "{:?}",
        debugger.why(thread)
    );
    let wanted = debugger.chip().microengines()[0]
        .context(thread.context)
        .wakeup;
    let (woken, _) = debugger.wake(thread).unwrap();
    let woken = woken.unwrap();
    assert!(woken.at >= 3000);
    let last = woken.signals.last().unwrap();
    assert_ne!(last.1 & wanted, 0, "{woken:?}");
    let view = debugger.chip().microengines()[0].context(thread.context);
    assert_ne!(view.phase, npsim_chip::core::ContextPhase::Sleeping);
    let wrong = debugger.wake(thread).unwrap_err();
    assert!(wrong.to_string().contains("does not sleep"));
}

#[test]
fn invalid_commands_are_explained_and_change_nothing() {
    let system = System::wire8();
    let mut debugger = system.debugger();
    debugger.goto(1000);
    let at = position_of(&debugger);
    for (line, part) in [
        ("brake 12", "did you mean `break`?"),
        (
            "break wire8.uc:9999",
            "has no code at line 9999 or after it",
        ),
        ("break nothing.uc:1", "no program has a file `nothing.uc`"),
        ("break *9999", "no address 9999"),
        (
            "break wire8.uc:47 if nothing > 3",
            "nothing is called `nothing`",
        ),
        ("break wire8.uc:47 if bytes > 3", "`bytes` is not live at"),
        ("break wire8.uc:47 in 5", "none of these microengines"),
        ("break wire8.uc:47 hit 0", "not a number of hits"),
        ("watch statu", "nothing is called `statu`"),
        ("print 1 +", "is expected at the end"),
        ("print 1 / 0", "it divides by zero"),
        ("print sram0[0xfffffff0]", "sram0 ends before"),
        ("print ring(NONE).fill", "no ring or queue is called `NONE`"),
        ("print ring(0).colour", "`.fill`"),
        ("print \u{e4}", "means nothing in an expression"),
        ("goto nowhere", "`nowhere`"),
        ("goto packet 1000000", "no packet 1000000 arrives"),
        ("context 7.1", "does not run"),
        ("next never", "not a number of steps"),
        ("csrs 9.9", "`csrs` takes no arguments, but got `9.9`"),
        ("cam 99", "`cam` takes no arguments"),
        ("quit 5", "`quit` takes no arguments"),
        ("continue 2", "`continue` takes no arguments"),
        (
            "flights nosuch",
            "choose one of sram0, sram1, scratch, dram0,",
        ),
        ("flights sram2", "there is no unit `sram2`"),
        ("contexts 9", "that runs a program; choose one of 0"),
        ("delete 3", "there is no breakpoint 3"),
        ("set signal(1) = 1", "signals cannot be written"),
        ("log wire8.uc:47", "`log` needs a text to say"),
        ("log wire8.uc:47 say {", "no closing brace"),
        ("pass nothing", "no check is named `nothing`"),
        ("back goto 3", "cannot be done backwards"),
        ("who 1 + 1", "has no place of its own"),
    ] {
        let text = error_text(&mut debugger, line);
        assert!(text.contains(part), "{line}: {text}");
        assert_eq!(position_of(&debugger), at, "{line}");
    }
    assert!(debugger.breakpoints().is_empty());
    let deep = format!("print {}1{}", "(".repeat(300), ")".repeat(300));
    assert!(error_text(&mut debugger, &deep).contains("nested too deeply"));
    let deep = format!("print {}1", "-".repeat(300));
    assert!(error_text(&mut debugger, &deep).contains("nested too deeply"));
}

#[test]
fn expressions_compute_as_in_c() {
    let system = System::wire8();
    let debugger = system.debugger();
    let thread = debugger.thread();
    for (text, value) in [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("-1", 0xffff_ffff),
        ("~0 >> 28", 15),
        ("1 << 40", 0),
        ("5 - 7", 0xffff_fffe),
        ("6 & 3 == 3", 0),
        ("(6 & 3) == 2", 1),
        ("1 || 1 / 0", 1),
        ("0 && 1 / 0", 0),
        ("3 > 2 ? 10 : 20", 10),
        ("!7 | !0", 1),
        ("0x_ff % 16", 15),
        ("0b101", 5),
        ("cycle", 0),
        ("me * 10 + context", 0),
        ("cam(0).state", 0),
    ] {
        assert_eq!(debugger.evaluate(text, thread), Ok(value), "{text}");
    }
}

#[test]
fn set_affects_the_future_and_not_the_past() {
    let system = System::forward();
    let mut debugger = system.debugger();
    commands(
        &mut debugger,
        "goto 30000\nset scratch[0x3ff0] = 0x1234\nset a3 = 99",
    );
    let thread = debugger.thread();
    assert_eq!(debugger.evaluate("scratch[0x3ff0]", thread), Ok(0x1234));
    assert_eq!(debugger.evaluate("a3", thread), Ok(99));
    commands(&mut debugger, "goto 29999");
    assert_ne!(debugger.evaluate("scratch[0x3ff0]", thread), Ok(0x1234));
    commands(&mut debugger, "goto 40000");
    assert_eq!(debugger.evaluate("scratch[0x3ff0]", thread), Ok(0x1234));
}

/// Firmware with work in its pipeline: a write in flight, and defer slots.
const LATE: &str = "\
.reg a place
    immed[place, 8]
    local_csr_wr[active_lm_addr_0, place]
    nop
    nop
    nop
    br[on#], defer[2]
    immed[a, 1]
    immed[a, 2]
on#:
    alu[a, a, +, 1]
    ctx_arb[kill]
";

#[test]
fn pending_index_writes_and_defer_slots_are_shown() {
    let folder = std::env::temp_dir().join(format!("npsim-late-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("late.uc");
    std::fs::write(&file, LATE).unwrap();
    let system = System::at(&file, None);
    std::fs::remove_dir_all(&folder).unwrap();
    let mut debugger = system.debugger();
    let mut seen = String::new();
    for _ in 0..9 {
        seen += &commands(&mut debugger, "instruction\ncsrs\nwhere").join("\n");
    }
    for text in [
        "ACTIVE_LM_ADDR_0 becomes longword 2 at cycle ",
        "2 more defer slots of the instruction at address 5, then address 8",
        "the last defer slot of the instruction at address 5, then address 8",
    ] {
        assert!(seen.contains(text), "{text}: {seen}");
    }
    let hash = commands(&mut debugger, "hash");
    assert_eq!(hash.len(), 3);
    assert!(hash[2].starts_with("128 bits: multiplier "), "{hash:?}");
}

/// Firmware that reads a register before anything has written it.
const FAULTY: &str = "\
.reg a b
    immed[a, 5]
    nop
    alu[a, a, +, 1]
    ctx_arb[voluntary]
    alu[b, b, +, a]
    ctx_arb[kill]
";

#[test]
fn fault_stops_run_and_goto_and_can_be_passed() {
    let folder = std::env::temp_dir().join(format!("npsim-debug-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("faulty.uc");
    std::fs::write(&file, FAULTY).unwrap();
    let system = System::at(&file, None);
    std::fs::remove_dir_all(&folder).unwrap();
    let mut debugger = system.debugger();
    let StopCause::Fault(fault) = debugger.run(Direction::Forward).reason else {
        panic!("{:?}", debugger.reason());
    };
    assert_eq!(fault.check.unwrap().name(), "uninitialised-read");
    assert_eq!(debugger.cycle(), fault.cycle + 1);
    let end = position_of(&debugger);
    // The end can be left backwards and is reached again, also by a jump.
    debugger.step(Step::Instruction, Direction::Back);
    assert!(debugger.cycle() <= fault.cycle);
    assert_eq!(
        debugger.run(Direction::Forward).reason,
        StopCause::Fault(fault.clone())
    );
    assert_eq!(position_of(&debugger), end);
    debugger.goto(2);
    assert_eq!(debugger.goto(1_000_000).reason, StopCause::Fault(fault));
    commands(&mut debugger, "pass uninitialised-read\ncontinue");
    assert!(
        matches!(debugger.reason(), StopCause::End(_)),
        "{:?}",
        debugger.reason()
    );
    commands(
        &mut debugger,
        "stop-on uninitialised-read\ngoto start\ncontinue",
    );
    assert!(matches!(debugger.reason(), StopCause::Fault(_)));
}

#[test]
fn every_command_has_help_with_an_example() {
    let system = System::wire8();
    let mut debugger = system.debugger();
    for info in npsim_debug::console::COMMANDS {
        let lines = commands(&mut debugger, &format!("help {}", info.name));
        assert!(
            lines.iter().any(|it| it.contains(info.example)),
            "{lines:?}"
        );
        assert!(info.example.starts_with(info.name), "{}", info.name);
        for alias in info.aliases {
            assert_eq!(commands(&mut debugger, &format!("help {alias}")), lines);
        }
    }
    assert_eq!(
        completions(&debugger, "contin"),
        (0, vec!["continue".to_owned()])
    );
    assert_eq!(
        completions(&debugger, "pass ring-"),
        (5, vec!["ring-overflow".to_owned()])
    );
    let (from, names) = completions(&debugger, "print cyc");
    assert_eq!((from, names), (6, vec!["cycle".to_owned()]));
}

#[test]
fn search_can_be_interrupted() {
    let system = System::forward();
    let mut debugger = system.debugger();
    debugger.set_interrupt_check(|cycle| cycle >= 60_000);
    assert_eq!(
        debugger.run(Direction::Forward).reason,
        StopCause::Interrupted
    );
    assert_eq!(debugger.cycle(), 60_000);
}
