//! The exercises of the course: the exercises as given miss goals, the solutions meet all of them,
//! and each wrong approach misses the goal that it should.

use std::path::Path;

use npsim_testkit::microcode::{Edit, changed};
use serde_json::Value;

use crate::harness::{CommandOutput, Dir, root};

const EXERCISES: [&str; 7] = [
    "eight-chains",
    "one-reader",
    "enough-engines",
    "lost-additions",
    "short-lock",
    "keep-order",
    "short-queue",
];

/// The goals that a run missed.
fn missed(done: &CommandOutput) -> Vec<String> {
    let verdict: Value = serde_json::from_str(&done.out)
        .unwrap_or_else(|error| panic!("{error}:\n{}\n{}", done.out, done.err));
    let goals = verdict["goals"].as_array().expect("goals");
    assert_eq!(
        verdict["passed"].as_bool(),
        Some(done.code == 0),
        "{}",
        done.out
    );
    let missed = goals.iter().filter(|goal| goal["passed"] == false);
    missed
        .map(|goal| goal["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn exercises_miss_goals_and_solutions_meet_them() {
    let course = root().join("microcode/course");
    let dir = Dir::new();
    for name in EXERCISES {
        let check = |path: &Path| {
            let done = dir.npsim(&format!("check-exercise {} --format json", path.display()));
            missed(&done)
        };
        assert!(
            !check(&course.join(name)).is_empty(),
            "{name} is done already"
        );
        let solution = course.join("solutions").join(name);
        assert_eq!(check(&solution), [""; 0], "the solution of {name}");
    }
}

#[test]
fn every_course_exercise_is_tested_and_documented() {
    let course = root().join("microcode/course");
    let mut found: Vec<_> = std::fs::read_dir(&course)
        .expect("the course")
        .map(|entry| entry.expect("an entry"))
        .filter(|entry| entry.path().join("npsim.toml").is_file())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    found.sort();
    let mut known = EXERCISES.to_vec();
    known.sort_unstable();
    assert_eq!(found, known);
    let overview = std::fs::read_to_string(root().join("docs/src/course.md")).expect("a page");
    let pages: String = (1..=3)
        .map(|evening| root().join(format!("docs/src/course-{evening}.md")))
        .map(|path| std::fs::read_to_string(path).expect("a page"))
        .collect();
    for name in EXERCISES {
        assert!(overview.contains(&format!("`{name}`")), "{name}");
        assert!(
            pages.contains(&format!("check-exercise microcode/course/{name}\n")),
            "{name}"
        );
    }
}

/// Checks that a changed solution misses these goals and no others.
#[track_caller]
fn wrong(name: &str, goals: &[&str], edits: &[(&'static str, &'static str, &'static str)]) {
    let dir = Dir::new();
    let edits: Vec<_> = edits
        .iter()
        .map(|&(file, from, to)| Edit { file, from, to })
        .collect();
    changed(&dir.path("microcode"), &edits);
    let done = dir.npsim(&format!(
        "check-exercise microcode/course/solutions/{name} --format json"
    ));
    assert_eq!(done.code, 1, "{}\n{}", done.out, done.err);
    assert_eq!(missed(&done), goals, "{name}: {}", done.out);
}

#[test]
fn wrong_eight_chains_solutions_miss_goals() {
    const SOURCE: &str = "course/solutions/eight-chains/chains.uc";
    const PROJECT: &str = "course/solutions/eight-chains/npsim.toml";
    // Only the last context's sum is left.
    let add = "scratch[add, $sum, place, 0], ctx_swap[done]";
    let write = "scratch[write, $sum, place, 0, 1], ctx_swap[done]";
    wrong(
        "eight-chains",
        &["the sum is right"],
        &[(SOURCE, add, write)],
    );
    // A second microengine without work.
    let lists = "    alu_shf[node, --, B, node, <<3]\n";
    let none =
        "    alu_shf[node, --, B, node, <<3]\n#if (ME_INDEX == 1)\n    ctx_arb[kill]\n#endif\n";
    wrong(
        "eight-chains",
        &["one microengine"],
        &[
            (SOURCE, lists, none),
            (PROJECT, "source =", "id = \"0-1\"\nsource ="),
        ],
    );
    // Each context waits until the one before it is done.
    let turn = "    immed[sum, 0]\n    br!=ctx[0, mine#]\n    turn_start(turn)\nmine#:\n    ctx_arb[turn]\n";
    wrong(
        "eight-chains",
        &["done in time"],
        &[
            (
                SOURCE,
                "#include \"constant.uc\"\n",
                "#include \"constant.uc\"\n#include \"turn.uc\"\n",
            ),
            (SOURCE, ".sig done\n", ".sig done\n.sig volatile turn\n"),
            (SOURCE, "    immed[sum, 0]\n", turn),
            (
                SOURCE,
                "    ; Eight contexts add",
                "    turn_pass(turn)\n    ; Eight contexts add",
            ),
        ],
    );
}

#[test]
fn wrong_one_reader_solutions_miss_goals() {
    const SOURCE: &str = "course/solutions/one-reader/reader.uc";
    // The last part is missing.
    let last = "last#:\n    ctx_arb[odd]\n    add_eight($$odd)\n";
    wrong(
        "one-reader",
        &["the sum is right"],
        &[(SOURCE, last, "last#:\n    ctx_arb[odd]\n")],
    );
    // All eight contexts read everything.
    wrong(
        "one-reader",
        &["one context", "few commands", "done in time"],
        &[(
            SOURCE,
            "    ctx_arb[kill]                       ; the other",
            "    br[start#]                          ; the other",
        )],
    );
    // Long commands, and sleep after each of them.
    wrong(
        "one-reader",
        &["done in time"],
        &[
            (SOURCE, "sig_done[even]", "ctx_swap[even]"),
            (SOURCE, "sig_done[odd]", "ctx_swap[odd]"),
            (SOURCE, "    ctx_arb[even]\n", ""),
            (SOURCE, "    ctx_arb[odd]\n", ""),
        ],
    );
}

#[test]
fn wrong_microengine_counts_miss_goals() {
    const PROJECT: &str = "course/solutions/enough-engines/npsim.toml";
    let slow = ["as fast as they come", "nothing is lost"];
    let id = "id = \"0-2\"";
    wrong("enough-engines", &slow, &[(PROJECT, id, "id = \"0-1\"")]);
    wrong(
        "enough-engines",
        &["no microengine too many"],
        &[(PROJECT, id, "id = \"0-3\"")],
    );
    // Enough microengines, with half of their contexts.
    let half = "id = \"0-2\"\ndefine = { CONTEXTS = 4 }";
    wrong("enough-engines", &slow, &[(PROJECT, id, half)]);
}

const ADD: &str = "course/solutions/lost-additions/add.uc";
const ADDS: &str = "    scratch[add, $one, place, 0], ctx_swap[done]\n";
const UPDATE: &str = "    scratch[read, $old, place, 0, 1], ctx_swap[done]\n    alu[sum, $old, +, 1]\n    alu[$new, --, B, sum]\n    scratch[write, $new, place, 0, 1], ctx_swap[done]\n";
const REGISTERS: (&str, &str, &str) = (
    ADD,
    ".reg write $one\n.reg place left\n",
    ".reg write $one $new\n.reg read $old\n.reg $bit\n.reg place left sum lock\n.sig taken rung\n",
);

/// The edits that replace the addition by `update`.
fn added_by(update: String) -> Vec<(&'static str, &'static str, &'static str)> {
    vec![
        REGISTERS,
        (
            ADD,
            "#include \"constant.uc\"\n",
            "#include \"constant.uc\"\n#include \"lock.uc\"\n",
        ),
        (
            ADD,
            "    load_constant(place, SUM)\n",
            "    load_constant(place, SUM)\n    load_constant(lock, SUM_LOCK)\n",
        ),
        (ADD, ADDS, Box::leak(update.into_boxed_str())),
    ]
}

#[test]
fn wrong_lost_additions_solutions_miss_goals() {
    let release = "    lock_release($bit, lock, 0, scratch, done)\n    ctx_arb[done]\n";
    // Correct but slow.
    let locked = format!("    lock_take($bit, lock, 0, scratch, taken, rung)\n{UPDATE}{release}");
    wrong("lost-additions", &["done in time"], &added_by(locked));
    // A lock whose bit no context checks.
    let unread = format!(
        "    immed[$bit, 1]\n    scratch[test_and_set, $bit, lock, 0], ctx_swap[taken]\n    .use $bit\n{UPDATE}{release}"
    );
    wrong(
        "lost-additions",
        &["every addition counts", "no race", "done in time"],
        &added_by(unread),
    );
    // One round too few.
    wrong(
        "lost-additions",
        &["every addition counts"],
        &[(ADD, "#define ROUNDS 50", "#define ROUNDS 49")],
    );
}

#[test]
fn wrong_short_lock_solutions_miss_goals() {
    const SOURCE: &str = "course/solutions/short-lock/record.uc";
    let take = "    lock_take($bit, lock, 0, scratch, taken, rung)\n";
    let release = "    lock_release($bit, lock, 0, scratch, done)\n    ctx_arb[done]\n";
    let write = "    scratch[write, $new_count, record, 0, 3], ctx_swap[done]\n";
    let backwards = "    lock_release($bit, lock, 0, scratch, done)\n    ctx_arb[done]\n    scratch[write, $new_count, record, 0, 3], ctx_swap[done]\n";
    // No lock at all.
    wrong(
        "short-lock",
        &[
            "all frames are counted",
            "the longest length",
            "the longest frame",
            "no race",
            "the lock is held briefly",
        ],
        &[(SOURCE, take, ""), (SOURCE, release, "")],
    );
    // Released before the write: the result is right by luck.
    wrong(
        "short-lock",
        &["no race"],
        &[(SOURCE, release, ""), (SOURCE, write, backwards)],
    );
    // Waiting contexts poll too rarely.
    wrong(
        "short-lock",
        &["done in time"],
        &[(
            SOURCE,
            "#include \"lock.uc\"",
            "#define LOCK_GAP 200\n#include \"lock.uc\"",
        )],
    );
}

#[test]
fn wrong_keep_order_designs_miss_goals() {
    const PROJECT: &str = "course/solutions/keep-order/npsim.toml";
    for (design, goals) in [
        ("contiguous.toml", &["in order"][..]),
        ("its.toml", &["fast enough", "nothing is lost", "quick"]),
        ("packet-sort.toml", &["nothing is lost", "quick"]),
        (
            "global.toml",
            &["in order", "fast enough", "nothing is lost", "quick"],
        ),
    ] {
        wrong("keep-order", goals, &[(PROJECT, "in-order.toml", design)]);
    }
}

#[test]
fn wrong_queue_lengths_miss_goals() {
    const PROJECT: &str = "course/solutions/short-queue/npsim.toml";
    let limit = "QUEUE_LIMIT = 24576";
    wrong(
        "short-queue",
        &["nothing waits long"],
        &[(PROJECT, limit, "QUEUE_LIMIT = 49152")],
    );
    wrong(
        "short-queue",
        &["bursts find room"],
        &[(PROJECT, limit, "QUEUE_LIMIT = 16384")],
    );
    // Early detection uses an average, which such short bursts hardly change.
    wrong(
        "short-queue",
        &["nothing waits long"],
        &[(PROJECT, limit, "QUEUE_LIMIT = 1048576, EARLY_DETECTION = 1")],
    );
}

#[test]
fn goals_are_reported_as_text_and_json() {
    let dir = Dir::new();
    changed(&dir.path("microcode"), &[]);
    let told = dir
        .npsim("check-exercise microcode/course/lost-additions")
        .expect(
            1,
            &[
                "FAILED  every addition counts",
                "exactly 800",
                "hint: between the read and the write",
                "goal: microcode/course/lost-additions/npsim.toml:",
                "lost-additions: 0 of 3 goals are met",
                "error[lost-update]",
            ],
        );
    assert!(told.err.contains("add.uc"), "{}", told.err);
    dir.npsim("check-exercise microcode/course/solutions/lost-additions")
        .expect(0, &["passed  no race", "all 3 goals are met"]);
    let done = dir.npsim("check-exercise microcode/course/solutions/enough-engines --format json");
    let verdict: Value = serde_json::from_str(&done.out).expect("JSON");
    let first = &verdict["goals"][0];
    assert_eq!(first["measure"], "throughput");
    assert_eq!(first["at_least"], 5_800_000);
    assert!(first["figure"].as_u64() > Some(5_800_000), "{first}");
    let file = first["file"].as_str().expect("a file");
    assert!(file.ends_with("enough-engines/npsim.toml"), "{file}");
    assert_eq!(first["line"], 15, "{first}");
}

#[test]
fn exercise_can_be_observed_like_a_run() {
    let exercise = root().join("microcode/course/solutions/enough-engines");
    let dir = Dir::new();
    let command = format!("check-exercise {}", exercise.display());
    let alone = dir.npsim(&command).expect(0, &["goals are met"]);
    let watched = dir
        .npsim(&format!(
            "{command} --report page --profile --packets rows.csv"
        ))
        .expect(
            0,
            &["goals are met", "bottleneck ", "profile of ", "waited for"],
        );
    assert!(watched.out.starts_with(&alone.out), "{}", watched.out);
    let page = String::from_utf8(dir.read("page/index.html")).expect("UTF-8");
    assert!(page.contains("id=\"bottleneck\""));
    let rows = String::from_utf8(dir.read("rows.csv")).expect("UTF-8");
    assert!(rows.lines().count() > 100, "{rows}");
    dir.npsim(&format!("{command} --packets no/rows.csv"))
        .expect(1, &["no/rows.csv"]);
}

#[test]
fn projects_without_valid_goals_are_refused() {
    let dir = Dir::new()
        .with("loop.uc", crate::harness::LOOP)
        .with("none.toml", "[[me]]\nid = 0\nsource = \"loop.uc\"\n")
        .with("long.toml", "[[me]]\nid = 0\nsource = \"loop.uc\"\n[[goal]]\nname = \"soon\"\nmeasure = \"time\"\nat_most = 100\n")
        .with("wrong.toml", "[[me]]\nid = 0\nsource = \"loop.uc\"\n[[goal]]\nname = \"g\"\nmeasure = \"speed\"\nat_most = 100\n")
        .with("bad.uc", "    alu[a, b\n")
        .with("bad.toml", "[[me]]\nid = 0\nsource = \"bad.uc\"\n[[goal]]\nname = \"g\"\nmeasure = \"time\"\nat_most = 100\n")
        .with("fault.uc", ".sig s\n    ctx_arb[s]\n    ctx_arb[kill]\n")
        .with("fault.toml", "[[me]]\nid = 0\nsource = \"fault.uc\"\n[[goal]]\nname = \"g\"\nmeasure = \"time\"\nat_most = 1000000\n");
    dir.npsim("check-exercise none.toml")
        .expect(1, &["has no goals", "[[goal]]"]);
    dir.npsim("check-exercise long.toml").expect(
        1,
        &["FAILED  soon", "it was still running when it was stopped"],
    );
    dir.npsim("check-exercise wrong.toml")
        .expect(1, &["`measure` cannot be \"speed\"", "wrong.toml:6:"]);
    dir.npsim("check-exercise bad.toml")
        .expect(1, &["bad.uc:1"]);
    dir.npsim("check-exercise fault.toml").expect(
        3,
        &["a check stopped the run", "error[deadlock]", "fault.uc:2"],
    );
    dir.npsim("check-exercise").expect(2, &[]);
}

/// Every measure that the statistics have, with a bound that any figure meets.
const ALL_MEASURES: &str = r#"
extends = "microcode/ordering/its.toml"
[load]
rate = "5.859375Mpps"
time = "300us"
[[goal]]
name = "frames"
measure = "throughput"
at_least = "1pps"
[[goal]]
name = "bits"
measure = "throughput"
at_least = "1Mbps"
[[goal]]
name = "mean"
measure = "latency"
at_least = "0ns"
[[goal]]
name = "p99"
measure = "latency"
of = "p99"
at_least = "0ns"
[[goal]]
name = "drops"
measure = "drops"
at_least = 0
[[goal]]
name = "time"
measure = "time"
at_least = 0
[[goal]]
name = "cycles"
measure = "cycles"
stage = "forward"
at_least = 0
[[goal]]
name = "instructions"
measure = "instructions"
at_least = 0
[[goal]]
name = "words"
measure = "words"
at_least = 1
[[goal]]
name = "dram"
measure = "commands"
unit = "dram"
at_least = 1
[[goal]]
name = "sram"
measure = "commands"
unit = "sram"
at_least = 1
[[goal]]
name = "microengines"
measure = "microengines"
equals = 8
[[goal]]
name = "contexts"
measure = "contexts"
equals = 64
[[goal]]
name = "counter"
measure = "memory"
memory = "DROP_TTL"
equals = 0
[[goal]]
name = "reordered"
measure = "reordered"
equals = 0
"#;

#[test]
fn goal_measures_equal_the_statistics() {
    let dir = Dir::new().with("all.toml", ALL_MEASURES);
    changed(&dir.path("microcode"), &[]);
    let done = dir
        .npsim("check-exercise all.toml --format json")
        .expect(0, &[]);
    let verdict: Value = serde_json::from_str(&done.out).expect("JSON");
    dir.npsim("run all.toml --stats stats.json -q")
        .expect(0, &[]);
    let stats: Value = serde_json::from_slice(&dir.read("stats.json")).expect("JSON");
    let figure = |name: &str| {
        let goals = verdict["goals"].as_array().expect("goals");
        let goal = goals.iter().find(|goal| goal["name"] == name);
        goal.expect(name)["figure"].as_u64().expect(name)
    };
    let at = |pointer: &str| {
        let value = stats
            .pointer(pointer)
            .unwrap_or_else(|| panic!("{pointer}"));
        value.as_u64().unwrap_or_else(|| panic!("{pointer}"))
    };
    assert_eq!(figure("frames"), at("/rates/sent_packets_per_second"));
    assert_eq!(figure("bits"), at("/rates/sent_bits_per_second"));
    assert_eq!(figure("mean"), at("/latency/mean_ns"));
    assert_eq!(figure("p99"), at("/latency/p99_ns"));
    assert!(at("/packets/dropped_media") > 0, "the load is too much");
    assert_eq!(
        figure("drops"),
        at("/packets/dropped_media") + at("/packets/dropped_microcode")
    );
    assert_eq!(figure("time"), at("/nodes/0/chip/cycles"));
    let chip = &stats["nodes"][0]["chip"];
    let sum = |list: &str, keys: &[&str]| -> u64 {
        let entries = chip[list].as_array().expect(list).iter();
        entries
            .flat_map(|entry| keys.iter().map(|key| entry[*key].as_u64().expect(list)))
            .sum()
    };
    let sent = at("/packets/sent");
    let cycles = sum("microengines", &["executing", "aborted", "stalled"]);
    assert_eq!(figure("cycles"), cycles.div_ceil(sent));
    let instructions = sum("microengines", &["instructions"]);
    assert_eq!(figure("instructions"), instructions.div_ceil(sent));
    for kind in ["dram", "sram"] {
        let units = chip["units"].as_array().expect("units").iter();
        let own = units.filter(|unit| unit["name"].as_str().expect("a name").starts_with(kind));
        let commands = own.flat_map(|unit| unit["commands"].as_array().expect("commands"));
        let count: u64 = commands
            .map(|it| it["count"].as_u64().expect("a count"))
            .sum();
        assert_eq!(figure(kind), count, "{kind}");
    }
    // The longest of the programs, which differ a little.
    let longest = format!("its.uc: {} of", figure("words"));
    dir.npsim("asm all.toml").expect(0, &[&longest]);
}

#[test]
fn every_goal_key_and_measure_is_documented() {
    let text = std::fs::read_to_string(root().join("docs/src/project.md")).expect("a page");
    let mut sections = text.split("\n## ");
    let section = sections.find(|section| section.starts_with("Goals\n"));
    let section = section.expect("a section on goals");
    for wrong in ["measure = \"speed\"", "speed = 1"] {
        let project =
            format!("[[me]]\nid = 0\nsource = \"a.uc\"\n[[goal]]\nname = \"g\"\n{wrong}\n");
        let dir = Dir::new().with("p.toml", project);
        let done = dir
            .npsim("check-exercise p.toml")
            .expect(1, &["choose one of "]);
        let known = done.err.split_once("choose one of ").expect("a list").1;
        let known = known.lines().next().expect("a line");
        let names: Vec<&str> = known.split(['`', '"']).skip(1).step_by(2).collect();
        assert!(names.len() > 10, "{names:?}");
        for name in names {
            assert!(section.contains(&format!("`{name}`")), "{name}");
        }
    }
}
