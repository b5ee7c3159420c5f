//! The core as a thread: stops and steps within its jobs, forward and back, which do not change the run.

use npsim_debug::timeline::TimePoint;
use npsim_debug::{Debugger, Direction, Step, StopCause, Thread};

use crate::rig::{System, commands, error_text, state};

fn at_core(system: &System) -> Debugger {
    let mut debugger = system.debugger();
    debugger.select(Thread::CORE).unwrap();
    debugger
}

/// Moment, registers and status.
fn look(debugger: &Debugger) -> (TimePoint, Vec<u32>) {
    let core = debugger.core().unwrap();
    let cpu = core.cpu();
    let mut registers: Vec<_> = (0..16).map(|number| cpu.register(number)).collect();
    registers.push(cpu.cpsr());
    (debugger.timeline().moment(), registers)
}

#[test]
fn core_steps_are_reversible() {
    let system = System::core_program();
    let mut debugger = at_core(&system);
    debugger.goto(3_000);
    let mut made = Vec::new();
    for _ in 0..200 {
        let stop = debugger.step(Step::Instruction, Direction::Forward);
        assert_eq!(stop.reason, StopCause::Step);
        assert_eq!(stop.thread, Thread::CORE);
        made.push(look(&debugger));
    }
    // One instruction after the other.
    let numbers: Vec<_> = made.iter().map(|it| it.0.core().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]));
    // Not from a record, but by the run itself.
    let mut other = at_core(&system);
    let last = made.last().unwrap().0;
    other.goto_place(last, None);
    for expected in made.iter().rev().skip(1) {
        let stop = other.step(Step::Instruction, Direction::Back);
        assert_eq!(stop.reason, StopCause::Step);
        assert_eq!(look(&other), *expected);
    }
}

#[test]
fn stopping_within_core_jobs_leaves_the_run_unchanged() {
    let system = System::core_program();
    let mut debugger = at_core(&system);
    commands(&mut debugger, "break irq");
    for _ in 0..5 {
        let stop = debugger.run(Direction::Forward);
        assert!(matches!(stop.reason, StopCause::Breakpoint(_)), "{stop:?}");
        for _ in 0..7 {
            debugger.step(Step::Instruction, Direction::Forward);
        }
    }
    let cycle = debugger.cycle() + 1_000;
    debugger.goto(cycle);
    assert!(state(debugger.timeline()) == system.at_cycle(cycle));
}

#[test]
fn core_breakpoints_stop_in_both_directions() {
    let system = System::core_program();
    let mut debugger = at_core(&system);
    commands(&mut debugger, "break irq");
    let mut met = Vec::new();
    for _ in 0..6 {
        let stop = debugger.run(Direction::Forward);
        assert!(matches!(stop.reason, StopCause::Breakpoint(_)), "{stop:?}");
        let core = debugger.core().unwrap();
        let place = core.place(core.cpu().pc());
        assert_eq!(place.function, Some(("irq".to_owned(), 0)));
        met.push(look(&debugger));
    }
    for expected in met.iter().rev().skip(1) {
        debugger.run(Direction::Back);
        assert_eq!(look(&debugger), *expected);
    }
    let stop = debugger.run(Direction::Back);
    assert_eq!(stop.reason, StopCause::Beginning);
}

#[test]
fn core_watchpoint_stops_after_the_store() {
    let system = System::core_program();
    let mut debugger = at_core(&system);
    let memories = debugger.names().memories();
    let counter = memories.iter().find(|it| it.0 == "INTERRUPTS").unwrap();
    // The counter that `irq` increments by an atomic operation, at its plain address.
    let counter = 0xca00_0000 + counter.2;
    commands(&mut debugger, &format!("context core\nwatch {counter:#x}"));
    debugger.run(Direction::Forward);
    let stop = debugger.run(Direction::Forward);
    let StopCause::Breakpoint(hits) = stop.reason else {
        panic!("{stop:?}");
    };
    let (before, now) = hits[0].change.unwrap();
    assert_eq!((before, now), (1, 2));
    assert_eq!(debugger.frames(Thread::CORE)[0].name, "irq");
    let word = |debugger: &Debugger| u64::from(debugger.core().unwrap().word(counter).unwrap());
    assert_eq!(word(&debugger), now);
    // Going back undoes the change.
    debugger.run(Direction::Back);
    assert_eq!(word(&debugger), before);
}

#[test]
fn core_watchpoint_sees_writes_by_microengines_while_asleep() {
    let system = System::core_program();
    let mut debugger = at_core(&system);
    let memories = debugger.names().memories();
    let sum = memories.iter().find(|it| it.0 == "SUM").unwrap();
    // Written when everything is done, at its plain address.
    let sum = 0xca00_0000 + sum.2;
    commands(&mut debugger, &format!("context core\nwatch {sum:#x}"));
    let word = |debugger: &Debugger| debugger.core().unwrap().word(sum);
    let whole: u32 = (2..=51).sum();
    for _ in 0..2 {
        let stop = debugger.run(Direction::Forward);
        assert!(matches!(stop.reason, StopCause::Breakpoint(_)), "{stop:?}");
        assert_eq!(word(&debugger), Some(whole));
        let stop = debugger.run(Direction::Back);
        assert!(matches!(stop.reason, StopCause::Breakpoint(_)), "{stop:?}");
        assert_eq!(word(&debugger), Some(0));
    }
    let stop = debugger.run(Direction::Back);
    assert_eq!(stop.reason, StopCause::Beginning);
}

#[test]
fn core_line_steps_pass_over_calls() {
    let system = System::core_program();
    let mut debugger = at_core(&system);
    commands(&mut debugger, "break main\ncontinue");
    let line = |debugger: &Debugger| {
        let frames = debugger.frames(Thread::CORE);
        (frames[0].name.clone(), frames[0].line)
    };
    let mut made = Vec::new();
    for _ in 0..6 {
        let before = line(&debugger);
        let stop = debugger.step(Step::Line, Direction::Forward);
        assert_eq!(stop.reason, StopCause::Step);
        assert_ne!(line(&debugger), before);
        made.push(line(&debugger));
    }
    assert!(made.iter().all(|it| it.0 == "main"), "{made:?}");
    // By the run itself, and not from a record.
    let moment = debugger.timeline().moment();
    let mut other = at_core(&system);
    other.goto_place(moment, None);
    other.select(Thread::CORE).unwrap();
    for expected in made.iter().rev().skip(1) {
        other.step(Step::Line, Direction::Back);
        assert_eq!(line(&other), *expected);
    }
}

#[test]
fn the_console_shows_the_core() {
    let system = System::core_program();
    let mut debugger = system.debugger();
    let lines = commands(
        &mut debugger,
        "break irq\ncontinue\nwhere\nregisters\ncontexts",
    );
    let text = lines.join("\n");
    for part in [
        "1: break irq of the core",
        "core program.elf running at 0x",
        "in irq",
        "IRQ mode",
        "cpsr ",
        "> core program.elf",
        "the link register leads to",
    ] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
    let lines = commands(&mut debugger, "disassemble 4\nmemory pc 2\nprint sp");
    assert!(lines[2].starts_with("> 0x"), "{lines:?}");
    assert_eq!(lines.len(), 6, "{lines:?}");
    let lines = commands(&mut debugger, "print irq\nprint 1 + 1");
    assert!(lines[0].starts_with("irq = "), "{lines:?}");
    assert_eq!(lines[1], "1 + 1 = 2 (0x2)");
    assert!(error_text(&mut debugger, "print x").contains("is not a register, a function"));
    assert!(error_text(&mut debugger, "out").contains("by lines and instructions"));
    assert!(error_text(&mut debugger, "signals").contains("the core is selected"));
    assert!(error_text(&mut debugger, "context 0.9").contains("names no context"));
}

#[test]
fn set_is_refused_within_a_core_job() {
    let system = System::core_program();
    let mut debugger = system.debugger();
    commands(&mut debugger, "break irq\ncontinue\ncontext 0.0");
    let said = error_text(&mut debugger, "set scratch[0] = 1");
    assert!(said.contains("in the middle of a job"), "{said}");
    commands(&mut debugger, "goto +1\nset scratch[0] = 1");
}
