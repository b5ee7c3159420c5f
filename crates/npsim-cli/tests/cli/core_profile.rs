//! The program of the core in the profile, the flame graph and the timeline of a run.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::harness::Dir;

/// A run of a program.
struct Run {
    dir: Dir,
    profile: Value,
    text: String,
}

/// A run of `calls.c`, whose function `longer` takes as long as requested.
fn run(longer: u32) -> Run {
    run_of("calls", &format!("import = {{ LONGER = {longer} }}\n"))
}

/// A run of a program of the tests, with keys of its section.
fn run_of(program: &str, keys: &str) -> Run {
    let dir = Dir::core_program(program, keys);
    let output = dir.npsim(
        "run . --until 1ms --profile=p.json --profile-lines 30 --flame f.txt --flame-waits w.txt \
         --timeline t.json --window 0us..1ms --stats s.json",
    );
    let text = output.expect(0, &[]).out;
    let profile = serde_json::from_slice(&dir.read("p.json")).expect("JSON");
    Run { dir, profile, text }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value}"))
}

impl Run {
    fn program(&self) -> &Value {
        &self.profile["programs"][0]
    }

    fn function(&self, name: &str) -> &Value {
        let all = self.program()["functions"].as_array().expect("functions");
        let found = all.iter().find(|it| it["function"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {all:?}"))
    }

    /// Busy cycles of a function, alone or including the functions it called.
    fn busy(&self, name: &str, which: &str) -> u64 {
        let spent = &self.function(name)[which];
        number(&spent["instructions"]) + number(&spent["accesses"])
    }

    fn gpp(&self) -> Value {
        let stats: Value = serde_json::from_slice(&self.dir.read("s.json")).expect("JSON");
        stats["nodes"][0]["chip"]["gpp"].clone()
    }

    fn lines(&self, file: &str) -> BTreeMap<String, u64> {
        let text = String::from_utf8(self.dir.read(file)).expect("text");
        let line = |line: &str| {
            let (stack, cycles) = line.rsplit_once(' ').expect("a stack and its cycles");
            (stack.to_owned(), cycles.parse().expect("cycles"))
        };
        text.lines().map(line).collect()
    }
}

#[test]
fn function_cycles_add_up_to_core_cycles() {
    let run = run(10);
    let program = run.program();
    let of = |name: &str| number(&program[name]);
    let busy = of("instructions") + of("accesses");
    // The program never polls: its task is busy only while it executes instructions.
    assert_eq!(busy, number(&run.gpp()["busy"]));
    let rest = ["polling", "waiting", "held", "ended"].map(of);
    assert_eq!(rest[0], 0);
    assert!(rest[1] > 0, "it waits: {rest:?}");
    let cycles = number(&run.profile["cycles"]);
    assert_eq!(busy + rest.iter().sum::<u64>(), cycles);
    // The functions add up to that, as do the two functions without a caller.
    let functions = program["functions"].as_array().expect("functions");
    let own = functions
        .iter()
        .map(|it| run.busy(it["function"].as_str().expect("a name"), "own"));
    assert_eq!(own.sum::<u64>(), busy);
    let outermost = ["_start", "halt"].map(|name| run.busy(name, "with_called"));
    assert_eq!(outermost.iter().sum::<u64>(), busy);
    // So do the stacks of the flame graph, as they do for each microengine.
    let flame = run.lines("f.txt");
    let core = { flame.iter() }.filter(|(stack, _)| stack.starts_with("core program.elf;"));
    assert_eq!(core.map(|(_, cycles)| cycles).sum::<u64>(), cycles);
}

#[test]
fn stacks_cover_calls_recursion_tail_calls_and_interrupts() {
    let run = run(10);
    for (name, calls) in [
        ("shorter", 20),
        ("longer", 20),
        ("recursive", 120),
        ("count", 20),
    ] {
        assert_eq!(number(&run.function(name)["calls"]), calls, "{name}");
    }
    let interrupts = number(&run.function("tick")["calls"]);
    assert!(interrupts > 5, "{interrupts}");
    assert_eq!(number(&run.gpp()["program"][0]["interrupts"]), interrupts);
    let flame = run.lines("f.txt");
    let has = |stack: &str| flame.keys().any(|it| it.contains(stack));
    for stack in [
        ";_start;main;shorter;count;",
        ";_start;main;longer;instructions",
        ";main;recursive;recursive;recursive;recursive;recursive;recursive;instructions",
        // `hands_over` jumps to `count`, which returns for it.
        ";_start;main;count;instructions",
        ";longer;on_irq;irq;tick;instructions",
    ] {
        assert!(has(stack), "{stack}: {flame:#?}");
    }
    // No stack contains calls that have returned.
    let depth = flame.keys().map(|it| it.split(';').count()).max();
    assert!(depth <= Some(14), "{flame:#?}");
    // The cycles of a recursive function are counted once.
    assert!(run.busy("recursive", "with_called") < run.busy("main", "with_called"));
    assert!(
        run.lines("w.txt")
            .keys()
            .any(|it| it.ends_with("main;waits for an interrupt"))
    );
}

#[test]
fn stacks_cover_mixed_thumb_and_arm_code() {
    // Big-endian, and little-endian with the compiler's own library.
    for program in ["thumb", "thumb-little"] {
        let run = run_of(program, "");
        for (name, calls) in [
            // Entered and left in each way that the compiler uses.
            ("main", 1),
            ("leaf", 213),
            ("popped", 43),
            ("variadic", 20),
            ("recursive", 120),
            // Its long jump does not count as a call of the function.
            ("far", 20),
            ("hands_over", 20),
            ("in_arm", 20),
            ("chosen", 20),
        ] {
            let found = number(&run.function(name)["calls"]);
            assert_eq!(found, calls, "{name} of {program}");
        }
        let ticks = number(&run.function("tick")["calls"]);
        assert!(ticks > 5, "{ticks}");
        assert_eq!(number(&run.gpp()["program"][0]["interrupts"]), ticks);
        let flame = run.lines("f.txt");
        for stack in [
            ";_start;main;popped;leaf;instructions",
            ";_start;main;variadic;leaf;instructions",
            ";main;recursive;recursive;recursive;recursive;recursive;recursive;instructions",
            ";_start;main;far;instructions",
            ";_start;main;far;leaf;instructions",
            ";_start;main;in_arm;popped;leaf;instructions",
            ";_start;main;chosen;popped;leaf;instructions",
            ";on_irq;irq;tick;instructions",
        ] {
            let found = flame.keys().any(|it| it.contains(stack));
            assert!(found, "{stack} of {program}: {flame:#?}");
        }
        // Linker veneers count as their targets, and no stack contains calls that have returned.
        let named = |part: &str| flame.keys().any(|it| it.contains(part));
        assert!(!named("_from_"), "{flame:#?}");
        assert_eq!(
            named("chosen;__gnu_thumb1_case_uqi"),
            program == "thumb-little"
        );
        let depth = flame.keys().map(|it| it.split(';').count()).max();
        assert!(depth <= Some(14), "{flame:#?}");
    }
}

#[test]
fn longer_function_has_a_larger_share() {
    let share = |run: &Run| run.busy("longer", "own") * 100 / run.busy("_start", "with_called");
    let (short, long) = (run(10), run(100));
    let shares = (share(&short), share(&long));
    assert!(shares.0 < 20 && shares.1 > 40, "{shares:?}");
    // It is then the first of its table.
    let first = |run: &Run| {
        let mut lines = run.text.lines();
        lines.find(|line| line.starts_with("function "));
        lines.next().unwrap_or_default().to_owned()
    };
    assert!(first(&long).starts_with("longer "), "{}", long.text);
    assert!(!first(&short).starts_with("longer "), "{}", short.text);
}

#[test]
fn timeline_has_a_function_lane() {
    let run = run(10);
    let timeline: Value = serde_json::from_slice(&run.dir.read("t.json")).expect("JSON");
    let events = timeline["traceEvents"].as_array().expect("events");
    let lane = { events.iter() }
        .find(|it| it["args"]["name"] == "functions of program.elf")
        .expect("the lane");
    let slices = { events.iter() }.filter(|it| it["ph"] == "B" && it["tid"] == lane["tid"]);
    let mut cycles: BTreeMap<&str, u64> = BTreeMap::new();
    for slice in slices {
        let name = slice["name"].as_str().expect("a name");
        *cycles.entry(name).or_default() += number(&slice["args"]["cycles"]);
    }
    let waits = cycles.remove("waits for an interrupt");
    assert_eq!(waits, Some(number(&run.program()["waiting"])));
    for (name, cycles) in cycles {
        assert_eq!(cycles, run.busy(name, "own"), "{name}");
    }
}

#[test]
fn profiling_does_not_change_the_run() {
    let dir = &run(10).dir;
    dir.npsim("run . --until 1ms -q --stats plain.json")
        .expect(0, &[]);
    assert_eq!(dir.read("plain.json"), dir.read("s.json"));
}
