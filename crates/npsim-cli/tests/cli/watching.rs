//! Profiles, flame graphs and timelines.

use serde_json::Value;

use crate::harness::{Dir, LOOP, root};

/// Waits for scratch, over and over.
const WAITER: &str = "\
.num_contexts 8
.reg read $word
.reg address
.sig done
    immed[address, 0]
again#:
    scratch[read, $word, address, 0, 1], ctx_swap[done]
    br[again#]
";

#[test]
fn profile_shows_lines_and_waits() {
    let dir = Dir::new().with("main.uc", WAITER);
    dir.npsim("run main.uc --until 10us --profile --profile-lines 1")
        .expect(
            0,
            &[
                "profile of 6,000 cycles",
                "main.uc on microengine 0",
                "scratch.read",
                "done",
                "lines more (`--profile-lines",
            ],
        );
    dir.npsim("run main.uc --until 10us --profile --profile-lines all")
        .expect(0, &["    br[again#]", "as microengine 0 runs it"]);
}

#[test]
fn outputs_are_written_and_path_conflicts_refused() {
    let dir = Dir::new().with("main.uc", WAITER);
    let options = "--profile=p.json --flame f.svg --flame f.txt --flame-waits w.txt --timeline t.json.gz --window 1us..2us";
    dir.npsim(&format!("run main.uc --until 10us --quiet {options}"))
        .expect(0, &[]);
    let mut names = dir.files();
    names.retain(|name| name != "main.uc");
    assert_eq!(names, ["f.svg", "f.txt", "p.json", "t.json.gz", "w.txt"]);
    assert!(
        dir.read("p.json")
            .starts_with(b"{\n  \"format\": \"npsim-profile-1\"")
    );
    dir.npsim("run main.uc --until 10us --profile=x --timeline x")
        .expect(1, &["--timeline and --profile both write `x`"]);
    dir.npsim("run main.uc --until 10us --timeline main.uc")
        .expect(1, &["--timeline `main.uc` would overwrite a source"]);
    dir.npsim("run main.uc --until 10us --timeline no/such/t.json")
        .expect(1, &["no/such/t.json"]);
}

/// The cycles of all stacks of a flame graph as text.
fn total_stack_cycles(flame: &[u8]) -> u64 {
    let text = str::from_utf8(flame).expect("a text");
    let counts = text.lines().map(|line| line.rsplit(' ').next());
    counts
        .map(|count| count.expect("a count").parse::<u64>().expect("a number"))
        .sum()
}

#[test]
fn flame_graphs_account_for_all_profiled_cycles() {
    let dir = Dir::new();
    let root = root();
    let root = root.display();
    dir.npsim(&format!(
        "run {root}/microcode/forward --trace {root}/traces/minsize.pcap.gz --pace line --until 333us \
         --quiet --profile=p.json --flame f.txt --flame-waits w.txt"
    ))
    .expect(0, &[]);
    let profile: Value = serde_json::from_slice(&dir.read("p.json")).expect("JSON");
    let microengines = profile["microengines"].as_array().expect("a list");
    let cycles = profile["cycles"].as_u64().expect("a number");
    assert_eq!(
        total_stack_cycles(&dir.read("f.txt")),
        cycles * microengines.len() as u64
    );
    let contexts = { microengines.iter() }
        .flat_map(|microengine| microengine["contexts"].as_array().expect("a list"));
    let waited: u64 = contexts
        .flat_map(|context| [&context["waiting"], &context["ready"]])
        .map(|cycles| cycles.as_u64().expect("a number"))
        .sum();
    assert!(waited > 0);
    assert_eq!(total_stack_cycles(&dir.read("w.txt")), waited);
}

#[test]
fn repeated_observation_gives_identical_files() {
    let dir = Dir::new().with("main.uc", WAITER);
    for n in ["1", "2"] {
        dir.npsim(&format!(
            "run main.uc --me 0-2 --until 20us -q --profile=p{n} --timeline t{n}.gz --flame f{n}.svg"
        ))
        .expect(0, &[]);
    }
    for name in ["p", "t", "f"] {
        let of = |n: &str| {
            let end = match name {
                "t" => ".gz",
                "f" => ".svg",
                _ => "",
            };
            dir.read(&format!("{name}{n}{end}"))
        };
        assert_eq!(of("1"), of("2"), "{name}");
    }
}

#[test]
fn wrong_values_are_usage_errors() {
    let dir = Dir::new().with("main.uc", LOOP);
    for (arguments, phrase) in [
        ("--profile --profile-lines 0", "`all`"),
        ("--profile-lines 5", "--profile"),
        ("--window 1us..2us", "--timeline"),
        ("--timeline t --window 2us..1us", "ends before it begins"),
        ("--timeline t --window 5us", "100us..120us"),
    ] {
        dir.npsim(&format!("run main.uc --until 1us {arguments}"))
            .expect(2, &[phrase]);
    }
}

#[test]
fn window_past_the_end_of_the_run_is_reported() {
    let dir = Dir::new().with("main.uc", LOOP);
    let said = "note: the timeline is empty: the run was over at cycle 600, and --window begins at cycle 3,000";
    dir.npsim("run main.uc --until 1us --quiet --timeline t.json --window 5us..6us")
        .expect(0, &[said]);
    let done = dir.npsim("run main.uc --until 1us --quiet --timeline t.json --window 500ns..6us");
    assert_eq!(done.expect(0, &[]).err, "");
}

#[test]
fn observations_before_a_fault_are_written() {
    let text = ".reg n m\n    immed[n, 1]\n    alu[n, n, +, m]\nend#:\n    br[end#]\n";
    let dir = Dir::new().with("main.uc", text);
    dir.npsim("run main.uc --until 1us --profile=p.json --timeline t.json")
        .expect(3, &["profile of "]);
    assert!(dir.read("t.json").ends_with(b"\n]}\n"));
    dir.read("p.json");
}
