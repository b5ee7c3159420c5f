//! The debugger's statements about causes, which `docs/src/statements.md` lists, against the run.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use npsim_chip::core::ContextPhase;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{Cause, EventKinds, TraceEvent};
use npsim_chip::watch::Sampler;
use npsim_debug::{Debugger, StopCause, Thread};
use npsim_inspect::{ContextStatus, Inspect, SignalOrigin};

use crate::rig::{System, commands, error_text, root, written};

/// Context 0 polls a longword, and signals context 2 when the longword is 1.
const SENDER: &str = "\
.num_contexts 8
.sig volatile go
.sig got
.reg at base count
.reg read $x
    br=ctx[0, sender#]
    br=ctx[2, wait#]
    ctx_arb[kill]
wait#:
    ctx_arb[go]
    ctx_arb[kill]
sender#:
    immed[at, (2 | (&go << 3))]
    immed[base, 0x80]
    immed[count, 2000]
poll#:
    scratch[read, $x, base, 0, 1], ctx_swap[got]
    alu[--, $x, -, 1]
    beq[send#]
    alu[count, count, -, 1]
    bne[poll#]
    ctx_arb[kill]
send#:
    local_csr_wr[SAME_ME_SIGNAL, at]
    .set_sig go
    ctx_arb[kill]
";

/// The line of a source that begins with the given text.
fn line_of(source: &str, begin: &str) -> String {
    let at = source.lines().position(|it| it.trim().starts_with(begin));
    format!(":{}", at.unwrap() + 1)
}

#[test]
fn wake_finds_nothing_until_the_cause_exists() {
    let system = System::at(&written("sender.uc", SENDER), None);
    let mut debugger = system.debugger();
    let none = "nothing wakes 0.2 before the run ends";
    debugger.goto(1000);
    assert_eq!(commands(&mut debugger, "wake 0.2")[0], none);
    let end = debugger.cycle();
    assert!(end > 50_000, "{end}");
    debugger.goto(1000);
    commands(&mut debugger, "set scratch[0x80] = 1");
    let lines = commands(&mut debugger, "wake 0.2");
    assert!(lines[0].starts_with("0.2 wakes in cycle "), "{lines:?}");
    let sender = line_of(SENDER, "local_csr_wr");
    assert!(lines[1].contains("(`go`)"), "{lines:?}");
    assert!(
        lines[1].contains("of 0.0 at ") && lines[1].ends_with(&sender),
        "{lines:?}"
    );
    // Without the cause, it does not wake again.
    commands(&mut debugger, "goto 1000\nset scratch[0x80] = 0");
    assert_eq!(commands(&mut debugger, "wake 0.2")[0], none);
}

#[test]
fn interrupted_wake_reports_the_cycle_reached() {
    let system = System::at(&written("broken.uc", SENDER), None);
    let mut debugger = system.debugger();
    debugger.goto(30_000);
    commands(&mut debugger, "set scratch[0x80] = 1\ngoto 1000");
    debugger.set_interrupt_check(|_| true);
    let said = commands(&mut debugger, "wake 0.2").remove(0);
    let cycle = debugger.cycle();
    assert!(cycle <= 30_000, "{cycle}");
    let expected = format!(
        "interrupted: nothing wakes 0.2 before cycle {cycle}; later cycles were not searched"
    );
    assert_eq!(said, expected);
    debugger.set_interrupt_check(|_| false);
    let (woken, _) = debugger.wake("0.2".parse().unwrap()).unwrap();
    assert!(woken.unwrap().at >= 30_000);
}

#[test]
fn interrupted_who_reports_the_range_searched() {
    let system = System::wire8();
    let mut debugger = system.debugger();
    debugger.goto(100);
    commands(&mut debugger, "set scratch[0x80] = 7");
    debugger.goto(90_000);
    debugger.set_interrupt_check(|_| true);
    let said = error_text(&mut debugger, "who scratch[0x80] 1");
    let from: Cycle = { said.split("from cycle ").nth(1) }
        .and_then(|it| it.split_whitespace().next()?.parse().ok())
        .unwrap();
    assert!((101..90_000).contains(&from), "{said}");
    debugger.set_interrupt_check(|_| false);
    let writer = debugger.who("scratch[0x80]", debugger.thread(), 1).unwrap();
    assert_eq!(writer[0].cycle, 100);
    // A manual change after that cycle is known, whatever else is not.
    commands(&mut debugger, "set scratch[0x80] = 8");
    debugger.set_interrupt_check(|_| true);
    let writer = debugger.who("scratch[0x80]", debugger.thread(), 2).unwrap();
    let said: Vec<_> = writer.iter().map(|it| (it.cycle, it.value)).collect();
    assert_eq!(said, [(90_000, Some(8))]);
}

#[test]
fn interrupted_packet_search_claims_no_absence() {
    let system = System::wire8();
    let mut debugger = system.debugger();
    debugger.set_interrupt_check(|_| true);
    let said = error_text(&mut debugger, "packet 200");
    assert!(
        said.contains("interrupted: no packet 200 arrives before cycle "),
        "{said}"
    );
    debugger.set_interrupt_check(|_| false);
    assert_eq!(commands(&mut debugger, "packet 200")[0], "packet 200");
    let said = error_text(&mut debugger, "packet 100000");
    assert!(said.contains("no packet 100000 arrives"), "{said}");
}

/// Values of a context's numbered registers, and its signals.
fn values(debugger: &Debugger, thread: Thread) -> BTreeMap<String, u64> {
    let registers = ["a", "b", "$", "$$"];
    let registers = registers
        .iter()
        .flat_map(|file| (0..16).map(move |number| format!("{file}{number}")));
    let signals = (1..16).map(|number| format!("signal({number})"));
    registers
        .chain(signals)
        .map(|name| {
            let value = debugger.evaluate(&name, thread).unwrap();
            (name, value)
        })
        .collect()
}

#[test]
fn who_names_the_last_writer_of_registers_and_signals() {
    const CYCLES: Cycle = 3000;
    for (system, threads) in [
        (System::wire8(), ["0.0", "0.3"]),
        (System::forward(), ["0.1", "1.0"]),
    ] {
        for thread in threads.map(|it| it.parse::<Thread>().unwrap()) {
            let mut debugger = system.debugger();
            let mut last = values(&debugger, thread);
            let mut changed = BTreeMap::new();
            for cycle in 1..=CYCLES {
                debugger.goto(cycle);
                let now = values(&debugger, thread);
                for (name, value) in &now {
                    if last[name] != *value && (!name.starts_with("signal") || *value == 1) {
                        changed.insert(name.clone(), cycle);
                    }
                }
                last = now;
            }
            assert!(changed.len() >= 8, "{changed:?}");
            for (name, value) in &last {
                let attributed = debugger.who(name, thread, 1).unwrap();
                let (Some(attribution), Some(&cycle)) = (attributed.first(), changed.get(name))
                else {
                    assert!(!changed.contains_key(name), "{name} of {thread} changes");
                    continue;
                };
                // The same value may have been written once more.
                assert!(
                    attribution.cycle + 1 >= cycle,
                    "{name} of {thread}: {attribution:?}, {cycle}"
                );
                if name.starts_with("signal") {
                    // A signal that is already waited for is consumed when it arrives.
                    continue;
                }
                assert_eq!(
                    attribution.value,
                    Some(*value),
                    "{name} of {thread}: {attribution:?}"
                );
                debugger.goto(cycle);
                let attribution = debugger.who(name, thread, 1).unwrap().remove(0);
                assert_eq!(
                    attribution.cycle + 1,
                    cycle,
                    "{name} of {thread}: {attribution:?}"
                );
                debugger.goto(CYCLES);
            }
        }
    }
}

#[test]
fn who_finds_writers_through_index_registers() {
    let source = "\
.num_contexts 8
.reg index value base
.reg write $a $b $c
.xfer_order $a $b $c
.sig done
    br=ctx[0, start#]
    ctx_arb[kill]
start#:
    immed[base, 0x80]
    immed[index, 4]
    immed[value, 7]
    alu[$a, --, b, value]
    alu[$b, --, b, index]
    alu[$c, --, b, index]
    local_csr_wr[T_INDEX, index]
    nop
    nop
    nop
    alu[*$index++, --, b, value]
    alu[*$index, value, +, 1]
    scratch[write, $a, base, 0, 3], ctx_swap[done]
    ctx_arb[kill]
";
    let system = System::at(&written("indexed.uc", source), None);
    let mut debugger = system.debugger();
    let at = line_of(source, "scratch[");
    commands(&mut debugger, &format!("break indexed.uc{at}\ncontinue"));
    let (stepped, kept) = (
        line_of(source, "alu[*$index++"),
        line_of(source, "alu[*$index,"),
    );
    for (name, value, writers) in [
        ("$a", 7, vec![line_of(source, "alu[$a")]),
        ("$b", 7, vec![stepped, line_of(source, "alu[$b")]),
        ("$c", 8, vec![kept, line_of(source, "alu[$c")]),
    ] {
        let said = commands(&mut debugger, &format!("who {name} 5"));
        assert_eq!(said.len(), writers.len(), "{said:?}");
        for (said, writer) in said.iter().zip(&writers) {
            assert!(said.ends_with(writer), "{name}: {said} {writer}");
        }
        assert!(said[0].contains(&format!(": {value} (")), "{said:?}");
    }
}

#[test]
fn names_that_were_never_written_have_no_writer() {
    let mut never = 0;
    let mut others = 0;
    for system in [System::wire8(), System::forward()] {
        let mut debugger = system.debugger();
        for cycle in [150, 900, 4000] {
            debugger.goto(cycle);
            let threads: Vec<_> = debugger.threads().iter().map(|it| it.thread).collect();
            for thread in threads.into_iter().step_by(3) {
                debugger.select(thread).unwrap();
                for line in commands(&mut debugger, "names") {
                    let Some((name, rest)) = line.split_once(" = ") else {
                        continue;
                    };
                    let unwritten = rest.contains(", never written");
                    let found = debugger.who(name, thread, 1).unwrap();
                    assert_eq!(
                        found.is_empty(),
                        unwritten,
                        "{thread} at {cycle}: {line} {found:?}"
                    );
                    if unwritten && never == 0 && rest.contains(" in a") {
                        commands(&mut debugger, &format!("set {name} = 77"));
                        let lines = commands(&mut debugger, "names");
                        let now = lines
                            .iter()
                            .find(|it| it.starts_with(&format!("{name} = ")));
                        let now = now.unwrap();
                        assert!(now.contains("77 ("), "{now}");
                        assert!(!now.contains("never written"), "{now}");
                        assert_eq!(debugger.who(name, thread, 1).unwrap()[0].value, Some(77));
                    }
                    never += u32::from(unwritten);
                    others += u32::from(!unwritten);
                }
            }
        }
    }
    assert!(never > 0 && others > 20, "{never} {others}");
}

/// All statements about a frame.
struct Seen {
    frame: u64,
    at: Vec<Cycle>,
}

impl Sampler for Seen {}

impl Observer for Seen {
    fn wants(&self) -> EventKinds {
        EventKinds::ALL
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        let frame = match *event {
            TraceEvent::Rbuf { frame, .. }
            | TraceEvent::Touched { frame, .. }
            | TraceEvent::Arrives { frame, .. } => Some(frame),
            TraceEvent::Tbuf { frame, .. }
            | TraceEvent::Departed { frame, .. }
            | TraceEvent::Dropped { frame, .. } => frame,
            _ => None,
        };
        if frame == Some(self.frame) {
            self.at.push(at);
        }
    }
}

#[test]
fn packet_inside_has_no_events_after_its_last_event() {
    let shipped = std::fs::read_to_string(root().join("microcode/tutorial/wire8.uc")).unwrap();
    let free = "    receive_free(element)\n";
    let dropping = shipped.replace(free, &format!("{free}    br[next#]\n"));
    assert_ne!(dropping, shipped);
    let load = Some(("0.2", "100us"));
    let last = |debugger: &mut Debugger| commands(debugger, "packet 3").pop().unwrap();
    let system = System::at(&written("shipped.uc", &shipped), load);
    let said = last(&mut system.debugger());
    assert!(said.contains("has left through port"), "{said}");
    let system = System::at(&written("dropping.uc", &dropping), load);
    let mut debugger = system.debugger();
    let said = last(&mut debugger);
    let until =
        said.strip_prefix("  it has not left, and nothing more was seen of it before cycle ");
    let until: Cycle = until.unwrap_or_else(|| panic!("{said}")).parse().unwrap();
    let trail = debugger.packet(3).unwrap();
    assert_eq!((trail.over, trail.until), (false, until));
    let event = trail.events.last().unwrap();
    assert!(event.what.ends_with("freed"), "{event:?}");
    debugger.goto(until);
    let seen = debugger.timeline().replay(0, |_| Seen {
        frame: 3,
        at: Vec::new(),
    });
    assert_eq!(seen.at.last(), Some(&event.cycle), "{:?}", seen.at);
}

#[test]
fn contexts_wake_by_the_cause_that_why_names() {
    let mut counts = [0; 5];
    for system in [System::wire8(), System::forward(), System::router()] {
        let mut debugger = system.debugger();
        for cycle in (500..9000).step_by(850) {
            debugger.goto(cycle);
            let sleeping = |it: &npsim_debug::debugger::ThreadView| {
                it.view.phase == ContextPhase::Sleeping && it.view.wakeup > 1
            };
            let threads: Vec<_> = debugger.threads().into_iter().filter(sleeping).collect();
            for thread in threads.iter().map(|it| it.thread).step_by(3) {
                debugger.goto(cycle);
                let inspect = Inspect::new(debugger.chip());
                let Some(ContextStatus::Asleep(asleep)) = inspect.why(thread.me, thread.context)
                else {
                    panic!("{thread} sleeps at {cycle}");
                };
                let issuer = |slot| {
                    let command = inspect.flight(slot).map(|it| it.command);
                    command.map(|it| (it.me, it.context, it.pc))
                };
                let sources: Vec<Vec<_>> = { asleep.missing.iter() }
                    .map(|it| {
                        it.sources
                            .iter()
                            .map(|it| {
                                (
                                    *it,
                                    match it {
                                        SignalOrigin::Command(slot)
                                        | SignalOrigin::PossibleCommand(slot) => issuer(*slot),
                                        _ => None,
                                    },
                                )
                            })
                            .collect()
                    })
                    .collect();
                let (woken, _) = debugger.wake(thread).unwrap();
                for (missing, sources) in asleep.missing.iter().zip(sources) {
                    let said = || format!("{thread} at {cycle}: {missing:?} {woken:?}");
                    let came = woken.iter().flat_map(|it| &it.signals);
                    let mut came = came.filter(|it| it.1 >> missing.signal & 1 == 1);
                    let first = came.next();
                    if sources.is_empty() {
                        assert_eq!(first, None, "{}", said());
                        counts[0] += 1;
                        continue;
                    }
                    // One that is behind others may not have arrived when the first woke the
                    // context.
                    let Some((at, _, cause)) = first else {
                        assert!(asleep.any || woken.is_none(), "{}", said());
                        continue;
                    };
                    let named = sources.iter().any(|(source, issuer)| match source {
                        SignalOrigin::OnTheWay { due, .. } | SignalOrigin::Timer { due } => {
                            due == at
                        }
                        SignalOrigin::Command(_) | SignalOrigin::PossibleCommand(_) => {
                            cause.place() == *issuer || *cause == Cause::Mpacket
                        }
                        SignalOrigin::Frame { .. } => {
                            matches!(cause, Cause::Mpacket | Cause::FreelistTimeout)
                        }
                        SignalOrigin::Sender(sender) => cause
                            .place()
                            .is_some_and(|it| (it.0, it.2) == (sender.me, sender.pc)),
                    });
                    assert!(named, "{}", said());
                    counts[match sources[0].0 {
                        SignalOrigin::OnTheWay { .. } | SignalOrigin::Timer { .. } => 1,
                        SignalOrigin::Command(_) | SignalOrigin::PossibleCommand(_) => 2,
                        SignalOrigin::Frame { .. } => 3,
                        SignalOrigin::Sender(_) => 4,
                    }] += 1;
                }
            }
        }
    }
    assert!(
        counts[2] > 5 && counts[3] > 5 && counts[4] > 5,
        "{counts:?}"
    );
}

#[test]
fn read_watches_report_what_they_cannot_see() {
    let system = System::forward();
    let mut debugger = system.debugger();
    // The first longword of a ring: gets read it.
    let unseen = "not gets from rings, dequeues or reads by the core";
    let said = commands(&mut debugger, "read-watch scratch[0]");
    assert!(said[0].ends_with(unseen), "{said:?}");
    let end = debugger.run(npsim_debug::Direction::Forward);
    assert!(!matches!(end.reason, StopCause::Breakpoint(_)), "{end:?}");
    let said = commands(&mut debugger, "delete 1\naccess-watch scratch[0]");
    assert!(said[1].ends_with(unseen), "{said:?}");
    for watch in ["watch", "write-watch"] {
        let said = commands(&mut debugger, &format!("{watch} scratch[0]"));
        assert!(!said[0].contains("seen"), "{said:?}");
    }
}

#[test]
fn buffer_without_holder_lists_what_was_searched() {
    let system = System::wire8();
    let mut debugger = system.debugger();
    commands(&mut debugger, "break wire8.uc:49 in 0.1\ncontinue");
    let none = "  no ring, queue, command in flight or register with a name has it now; memories and tasks of the core were not searched";
    let handle = 0x00ab_cdef;
    let said = |debugger: &mut Debugger| commands(debugger, &format!("buffer {handle}")).remove(1);
    assert_eq!(said(&mut debugger), none);
    commands(&mut debugger, &format!("set lm[8] = {handle}"));
    assert_eq!(said(&mut debugger), none);
    commands(&mut debugger, &format!("set status = {handle}"));
    let held = said(&mut debugger);
    assert!(held.starts_with("  now in `status`, 0.1 at "), "{held}");
}

#[test]
fn who_refuses_next_neighbour_registers() {
    let source = "\
.num_contexts 8
.reg n$word
.reg sum
    br=ctx[0, start#]
    ctx_arb[kill]
start#:
    alu[sum, --, b, n$word]
    ctx_arb[kill]
";
    let system = System::at(&written("neighbour.uc", source), None);
    let mut debugger = system.debugger();
    let at = line_of(source, "alu[");
    commands(&mut debugger, &format!("break neighbour.uc{at}\ncontinue"));
    let value = commands(&mut debugger, "print n$word").remove(0);
    assert_eq!(value, "n$word = 0 (0x0)");
    let said = error_text(&mut debugger, "who n$word");
    assert!(
        said.contains("`n$word` is a next-neighbour register: what writes it is not recorded"),
        "{said}"
    );
}

#[test]
fn ready_contexts_run_after_those_that_why_names() {
    let (mut behind, mut held_up) = (0, 0);
    for system in [System::wire8(), System::forward(), System::router()] {
        let mut debugger = system.debugger();
        let phase = |debugger: &Debugger, me: u8, context: u8| {
            debugger.chip().microengines()[usize::from(me)]
                .context(context)
                .phase
        };
        for cycle in (500..6000).step_by(37) {
            debugger.goto(cycle);
            let threads: Vec<_> = debugger.threads().iter().map(|it| it.thread).collect();
            for Thread { me, context } in threads.into_iter().step_by(5) {
                debugger.goto(cycle);
                let why = Inspect::new(debugger.chip()).why(me, context);
                match why.unwrap() {
                    ContextStatus::Ready {
                        executing, before, ..
                    } => {
                        if let Some(other) = executing {
                            assert_eq!(phase(&debugger, me, other), ContextPhase::Executing);
                        }
                        let mut ran = Vec::new();
                        let mut at = cycle;
                        while phase(&debugger, me, context) == ContextPhase::Ready {
                            at += 1;
                            debugger.goto(at);
                            let runs =
                                |it: &u8| phase(&debugger, me, *it) == ContextPhase::Executing;
                            ran.extend((0..8).find(runs));
                        }
                        let all = before.iter().all(|it| ran.contains(it));
                        assert!(all, "{me}.{context} at {cycle}: {before:?}, {ran:?}");
                        behind += before.len();
                    }
                    ContextStatus::Executing {
                        held: Some((since, _)),
                        ..
                    } => {
                        let place = debugger.pc(Thread { me, context });
                        debugger.goto(since + 1);
                        assert_eq!(phase(&debugger, me, context), ContextPhase::Executing);
                        assert_eq!(debugger.pc(Thread { me, context }), place);
                        held_up += 1;
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(behind > 20, "{behind}");
    println!("{held_up} held up");
}

#[test]
fn read_watches_stop_at_commands_that_read_the_longword() {
    let system = System::at(&written("reads.uc", SENDER), None);
    let mut debugger = system.debugger();
    for (watch, stops) in [
        ("read-watch scratch[0x80]", true),
        ("access-watch scratch[0x80]", true),
        ("read-watch scratch[0x84]", false),
        ("read-watch scratch[0x7c]", false),
        ("write-watch scratch[0x80]", false),
    ] {
        debugger.goto(0);
        commands(&mut debugger, watch);
        for _ in 0..3 {
            let before = debugger.cycle();
            let stop = debugger.run(npsim_debug::Direction::Forward).reason;
            let met = matches!(stop, StopCause::Breakpoint(_));
            assert_eq!(met, stops, "{watch}: {stop:?}");
            if met {
                // The data is there, but a different command delivered it each time.
                let brought = debugger.who("$0", "0.0".parse().unwrap(), 1).unwrap();
                assert_eq!(brought[0].what, "scratch.read");
                assert!(brought[0].cycle > before || before == 0, "{brought:?}");
            }
        }
        let number = debugger.breakpoints()[0].id;
        debugger.remove(number).unwrap();
    }
}

#[test]
fn end_of_a_drained_run_is_described() {
    let system = System::of("microcode/forward", Some(("0.2", "20us")));
    let StopCause::End(ending) = system
        .debugger()
        .run(npsim_debug::Direction::Forward)
        .reason
    else {
        panic!("the run ends otherwise");
    };
    assert_eq!(
        npsim_debug::view::end_text(&ending),
        "the run ends: all frames have come, and ports and core have rested since"
    );
}
