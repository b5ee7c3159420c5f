//! The writers of a longword, a register or a signal, and the names of these.

use std::collections::BTreeSet;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{EventKinds, MemoryName, TraceEvent, TraceEventKind};
use npsim_chip::watch::Sampler;
use npsim_debug::access::Author;
use npsim_debug::{Debugger, Direction, StopCause};

use crate::rig::{System, commands, error_text, root, written};

/// The longwords reported as written.
struct Recorded(BTreeSet<(MemoryName, u32)>);

impl Sampler for Recorded {}

impl Observer for Recorded {
    fn wants(&self) -> EventKinds {
        EventKinds::of(&[TraceEventKind::Written])
    }

    fn see(&mut self, _: Cycle, event: &TraceEvent) {
        if let TraceEvent::Written {
            memory,
            address,
            words,
            ..
        } = *event
        {
            let all = (0..u32::from(words)).map(|at| (memory, address + 4 * at));
            self.0.extend(all);
        }
    }
}

/// The longwords of a memory up to its end, or to the end of the stored part.
fn longwords(chip: &Chip, memory: MemoryName, most: u32) -> Vec<u32> {
    let units = chip.units();
    let addresses = (0..most).map(|at| 4 * at);
    match memory {
        MemoryName::Scratch => addresses.map_while(|at| units.scratch.read(at)).collect(),
        MemoryName::Sram(channel) => addresses
            .map_while(|at| units.sram.read_word(u32::from(channel) << 30 | at))
            .collect(),
        MemoryName::Dram => addresses.map_while(|at| units.dram.read_word(at)).collect(),
    }
}

/// The router `forward`, some of whose routes a task of the core changes.
fn with_route_change() -> System {
    let base = root().join("microcode/forward").canonicalize().unwrap();
    let text = format!(
        "name = \"core-writes\"\nextends = {:?}\n[[route_change]]\nat = \"50us\"\nchange = \"10.1.0.0/16\"\nlocal = true\n",
        base.to_str().unwrap()
    );
    System::at(&written("core-writes.toml", &text), Some(("0.3", "100us")))
}

#[test]
fn every_memory_change_is_recorded() {
    let load = Some(("0.7", "100us"));
    for system in [
        System::of("microcode/forward/icmp.toml", load),
        System::of("microcode/router", load),
        System::of("microcode/quick-start/atomic.toml", load),
        with_route_change(),
    ] {
        let debugger = system.debugger();
        let mut timeline = system.timeline(512 << 20);
        let channels = (0..4).map(MemoryName::Sram);
        let memories = [(MemoryName::Scratch, 1 << 14), (MemoryName::Dram, 1 << 20)];
        let memories = memories.into_iter().chain(channels.map(|it| (it, 1 << 21)));
        let memories: Vec<_> = memories.collect();
        let all = |chip: &Chip| {
            let all = memories.iter().map(|it| longwords(chip, it.0, it.1));
            all.collect::<Vec<_>>()
        };
        let before = all(debugger.chip());
        timeline.goto(60_000);
        let after = all(timeline.chip());
        let recorded = timeline.replay(0, |_| Recorded(BTreeSet::new())).0;
        let mut changes = 0;
        for ((memory, _), (before, after)) in memories.iter().zip(before.iter().zip(&after)) {
            assert_eq!(before.len(), after.len());
            for (at, (before, after)) in (0u32..).zip(before.iter().zip(after)) {
                if before != after {
                    changes += 1;
                    assert!(
                        recorded.contains(&(*memory, 4 * at)),
                        "{memory:?} {:#x} was {before:#x} and is {after:#x}",
                        4 * at
                    );
                }
            }
        }
        assert!(changes > 100, "{changes}");
    }
}

/// The cycle and the text of the writer that `who` names first.
fn first_writer(debugger: &mut Debugger, what: &str) -> String {
    commands(debugger, &format!("who {what} 1")).remove(0)
}

#[test]
fn who_names_the_writer_at_a_watch_stop() {
    let forward = || System::of("microcode/forward", Some(("0.5", "100us")));
    let cases = [
        (System::wire8(), "write-watch", "dram[192]", "dram.rbuf_rd"),
        (System::wire8(), "watch", "dram[192]", "dram.rbuf_rd"),
        (forward(), "write-watch", "scratch[0]", "scratch.put"),
        (forward(), "watch", "scratch[0]", "scratch.put"),
        (System::wire8(), "watch", "$0", ""),
    ];
    for (system, watch, what, writer) in cases {
        let mut debugger = system.debugger();
        commands(&mut debugger, &format!("{watch} {what}"));
        let StopCause::Breakpoint(hits) = debugger.run(Direction::Forward).reason else {
            panic!("{watch} {what}: nothing writes it");
        };
        let cycle = debugger.cycle();
        let said = first_writer(&mut debugger, what);
        assert!(
            said.starts_with(&format!("cycle {} ", cycle - 1)),
            "{watch} {what} at {cycle}: {said}"
        );
        assert!(said.contains(writer), "{watch} {what}: {said}");
        // If a longword is watched, the stop itself reports the writer.
        if what != "$0" {
            let by: Vec<_> = hits[0]
                .by
                .iter()
                .map(|it| debugger.author_text(*it))
                .collect();
            assert!(said.ends_with(&by.join(" and ")), "{said}: {by:?}");
        }
        // The same holds after it, and on returning to it.
        debugger.goto(cycle + 1);
        assert_eq!(first_writer(&mut debugger, what), said);
        debugger.goto(cycle + 50);
        debugger.run(Direction::Back);
        while debugger.cycle() > cycle {
            debugger.run(Direction::Back);
        }
        assert_eq!(debugger.cycle(), cycle, "{watch} {what}");
        assert_eq!(first_writer(&mut debugger, what), said);
        // In the cycle of the write itself, the value is not visible yet.
        debugger.goto(cycle - 1);
        let earlier = commands(&mut debugger, &format!("who {what} 1")).remove(0);
        assert_ne!(earlier, said);
    }
}

#[test]
fn core_writes_are_attributed_and_watched() {
    let system = with_route_change();
    let mut debugger = system.debugger();
    commands(&mut debugger, "write-watch sram1[0x40424]");
    let StopCause::Breakpoint(hits) = debugger.run(Direction::Forward).reason else {
        panic!("the task's write is not met");
    };
    let by = debugger.author_text(hits[0].by[0]);
    assert!(
        by.starts_with("task `") && by.ends_with("` of the core"),
        "{by}"
    );
    let said = first_writer(&mut debugger, "sram1[0x40424]");
    assert!(said.ends_with(&by), "{said}");
    commands(&mut debugger, "delete 1");
    debugger.goto(60_000);
    assert_eq!(first_writer(&mut debugger, "sram1[0x40424]"), said);
}

#[test]
fn manual_changes_are_attributed_and_watched() {
    let system = System::wire8();
    let mut debugger = system.debugger();
    debugger.goto(5000);
    commands(
        &mut debugger,
        "set scratch[0x80] = 7\nset lm[8] = 9\nset a3 = 5",
    );
    for what in ["scratch[0x80]", "lm[8]"] {
        debugger.goto(6000);
        let said = first_writer(&mut debugger, what);
        assert!(said.starts_with("cycle 5000 "), "{said}");
        assert!(said.ends_with("the user, in the debugger"), "{said}");
    }
    debugger.goto(4999);
    let none = first_writer(&mut debugger, "scratch[0x80]");
    assert!(none.starts_with("nothing has written"), "{none}");
    debugger.goto(6000);
    for watch in ["write-watch", "watch"] {
        commands(&mut debugger, &format!("{watch} scratch[0x80]"));
        let StopCause::Breakpoint(hits) = debugger.run(Direction::Back).reason else {
            panic!("{watch}: the change is not met");
        };
        assert_eq!(debugger.cycle(), 5000);
        assert_eq!(hits[0].by, [Author::UserRequest]);
        assert_eq!(hits[0].change, (watch == "watch").then_some((0, 7)));
        let number = hits[0].number;
        debugger.remove(number).unwrap();
        debugger.goto(6000);
    }
}

#[test]
fn conditions_that_fail_to_evaluate_stop_the_run() {
    let system = System::wire8();
    let mut debugger = system.debugger();
    let lines = commands(
        &mut debugger,
        "break wire8.uc:50 if 100 / (bytes - 60) == 1\ncontinue",
    );
    assert!(
        lines
            .iter()
            .any(|it| it.contains("cannot be computed here") && it.contains("it divides by zero")),
        "{lines:?}"
    );
    let cycle = debugger.cycle();
    debugger.goto(cycle + 1);
    let stop = debugger.run(Direction::Back);
    assert!(matches!(&stop.reason, StopCause::Breakpoint(hits) if hits[0].failure.is_some()));
    // A condition that can be computed and is false does not stop it.
    commands(
        &mut debugger,
        "delete 1\nbreak wire8.uc:50 if bytes == 61\ngoto 0",
    );
    let stop = debugger.run(Direction::Forward);
    assert!(
        matches!(stop.reason, StopCause::End(_)),
        "{:?}",
        stop.reason
    );
}

#[test]
fn watched_expressions_that_lose_their_value_stop_the_run() {
    let system = System::forward();
    let mut debugger = system.debugger();
    commands(
        &mut debugger,
        "watch ring(0).fill\ncontinue\ndelete 1\nwatch 100 / ring(0).fill",
    );
    let failure = (0..100).find_map(|_| match debugger.run(Direction::Forward).reason {
        StopCause::Breakpoint(hits) => hits[0].failure.clone(),
        other => panic!("{other:?}"),
    });
    assert_eq!(failure.as_deref(), Some("it divides by zero"));
    assert_eq!(
        commands(&mut debugger, "print ring(0).fill")[0],
        "ring(0).fill = 0 (0x0)"
    );
}

#[test]
fn oversized_values_and_unaligned_addresses_are_refused() {
    let system = System::wire8();
    let mut debugger = system.debugger();
    for (line, why) in [
        ("set scratch[0] = 0x100000000", "needs more than 32 bits"),
        ("print scratch[0x100000000]", "needs more than 32 bits"),
        ("print a3 == 0x100000001", "needs more than 32 bits"),
        ("set scratch[2] = 1", "is not a longword"),
        ("print dram[5]", "is not a longword"),
        ("write-watch sram0[1]", "is not a longword"),
        ("who lm[3]", "is not a longword"),
        ("memory scratch[6] 2", "is not a longword"),
    ] {
        let said = error_text(&mut debugger, line);
        assert!(said.contains(why), "{line}: {said}");
    }
    let cycles = commands(&mut debugger, "print cycle < 0x100000000");
    assert!(cycles[0].ends_with("= 1 (0x1)"), "{cycles:?}");
}

#[test]
fn signals_are_named_by_those_live_at_the_address() {
    let text = "\
.sig volatile one
.sig volatile two
.sig got fetched
.reg a
.reg read $x
    immed[a, 0]
next#:
    scratch[read, $x, a, 0, 1], ctx_swap[got]
    sram[read, $x, a, 0, 1], sig_done[fetched]
    ctx_arb[fetched]
    br_signal[one, next#]
    br_signal[two, next#]
    br[next#]
";
    let system = System::at(&written("signals.uc", text), None);
    let image = &system.programs[0].image;
    let mut seen = BTreeSet::new();
    for address in 0..image.words.len() as u16 {
        for used in image.signals_used(address) {
            let expected: Vec<_> = { image.signals.iter() }
                .filter(|it| it.number == used.number)
                .filter(|it| it.live.iter().any(|range| range.contains(used.point)))
                .map(|it| it.name.as_str())
                .collect();
            let name = image.signal_name(used.number, address);
            assert_eq!(
                name.into_iter().collect::<Vec<_>>(),
                expected,
                "at {address}"
            );
            seen.extend(name);
        }
    }
    assert_eq!(Vec::from_iter(seen), ["fetched", "got", "one", "two"]);
    // The signals that a context waits for, as `why` reports them.
    let mut debugger = system.debugger();
    commands(&mut debugger, "break next#\ncontinue\ngoto +4");
    let why = debugger.why(debugger.thread());
    assert!(why[0].contains("(`got`)"), "{why:?}");
}

#[test]
fn label_breakpoint_stops_before_the_macro_call() {
    let text = "\
.reg a
#macro add_twice(x)
    alu[x, x, +, 1]
    alu[x, x, +, 1]
#endm
    immed[a, 0]
next#:
    add_twice(a)
    br[next#]
";
    let system = System::at(&written("labels.uc", text), None);
    let mut debugger = system.debugger();
    let lines = commands(&mut debugger, "break next#\ncontinue");
    let at = lines.last().unwrap();
    assert!(at.contains("labels.uc:8 (address"), "{lines:?}");
    assert!(at.ends_with("before a macro"), "{lines:?}");
}

#[test]
fn packet_location_names_an_existing_ring() {
    let system = System::forward();
    let mut debugger = system.debugger();
    let mut found = 0;
    for cycle in (10_000..60_000).step_by(500) {
        debugger.goto(cycle);
        let history = npsim_debug::history::History::of(&debugger, cycle - 1000);
        for packet in npsim_debug::view::packets(&debugger, &history) {
            let Some(place) = packet.buffers else {
                continue;
            };
            if let Some(ring) = place.rsplit("on ").next().filter(|it| *it != place) {
                found += 1;
                let rings = debugger.names().rings().iter();
                assert!(rings.clone().any(|it| it.0 == ring), "{place}");
            }
        }
    }
    assert!(found > 0);
}
