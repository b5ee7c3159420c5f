//! `npsim sweep`, `npsim reproduce` and `--set`.

use std::process::Stdio;
use std::time::Duration;

use super::harness::{COUNT, Dir, LOOP};

const SWEEP: &str = r#"
name = "turns"
title = "Turns"
[window]
measure = "20us"
[metric.done]
measure = "count"
of = ["microengines.0.executing"]
[sweep.count]
system = "count.uc"
[[sweep.count.axis]]
name = "turns"
key = "define.TURNS"
values = [10, 100, 200]
"#;

fn sweep_dir() -> Dir {
    Dir::new().with("count.uc", COUNT).with("turns.toml", SWEEP)
}

#[test]
fn sweep_writes_tables_and_reuses_results() {
    let dir = sweep_dir();
    dir.npsim("sweep turns.toml --jobs 2").expect(
        0,
        &[
            "turns",
            "3 points: 3 run now, 0 from before",
            "npsim-results/turns/index.html",
        ],
    );
    let csv = String::from_utf8(dir.read("npsim-results/turns/points.csv")).expect("text");
    let values: Vec<&str> = csv
        .lines()
        .skip(1)
        .filter_map(|line| line.split(',').nth(7))
        .collect();
    // Two instructions per iteration, and seventeen around them.
    assert_eq!(values.len(), 3, "{csv}");
    let number = |at: usize| values[at].parse::<u64>().expect("a number");
    assert_eq!(
        (number(1) - number(0), number(2) - number(1)),
        (180, 200),
        "{csv}"
    );
    dir.npsim("sweep turns.toml")
        .expect(0, &["0 run now, 3 from before"]);
}

#[test]
fn identical_points_are_run_once_and_counted_separately() {
    let text = SWEEP.replace("[10, 100, 200]", "[10, 100, 10, 10]\nx = [1, 2, 3, 4]");
    let dir = Dir::new().with("count.uc", COUNT).with("turns.toml", text);
    dir.npsim("sweep turns.toml").expect(
        0,
        &["4 points: 2 run now, 0 from before, 2 the same as another"],
    );
}

#[test]
fn metric_without_a_matching_count_is_reported() {
    let text = SWEEP.replace("0.executing", "0.exekuting");
    let dir = Dir::new().with("count.uc", COUNT).with("turns.toml", text);
    let said = "note: `done` has no value at 3 points, first in \"count\" at turns 10: there is no count `microengines.0.exekuting`";
    dir.npsim("sweep turns.toml").expect(0, &[said]);
    dir.npsim("sweep turns.toml --point 2").expect(
        0,
        &["note: `done` has no value in \"count\" at turns 100: there is no count"],
    );
    let done = sweep_dir().npsim("sweep turns.toml").expect(0, &[]);
    assert!(!done.err.contains("note:"), "{}", done.err);
}

#[test]
fn points_run_one_by_one_give_the_same_results() {
    let dir = sweep_dir();
    dir.npsim("sweep turns.toml --out whole").expect(0, &[]);
    dir.npsim("sweep turns.toml --list").expect(
        0,
        &["1  count: turns 10  define.TURNS=10", "3  count: turns 200"],
    );
    let list = dir
        .npsim("sweep turns.toml --list --format json")
        .expect(0, &[]);
    let list: serde_json::Value = serde_json::from_str(&list.out).expect("JSON");
    let key = list[2]["key"].as_str().expect("a key").to_owned();
    dir.npsim("sweep turns.toml --out parts --merge")
        .expect(1, &["3 of 3 points were not run yet: 1, 2, 3"]);
    dir.npsim("sweep turns.toml --out parts --point 2")
        .expect(0, &["1 point: 1 run now"]);
    dir.npsim(&format!("sweep turns.toml --out parts --point {key}"))
        .expect(0, &[]);
    dir.npsim("sweep turns.toml --out parts --merge")
        .expect(1, &["1 of 3 points were not run yet: 1"]);
    dir.npsim("sweep turns.toml --out parts --point 1")
        .expect(0, &[]);
    dir.npsim("sweep turns.toml --out parts --merge")
        .expect(0, &["0 run now, 3 from before"]);
    for file in [
        "results.json",
        "points.csv",
        "index.html",
        "figures/count-done.svg",
    ] {
        assert_eq!(
            dir.read(&format!("whole/{file}")),
            dir.read(&format!("parts/{file}")),
            "{file}"
        );
    }
    dir.npsim("sweep turns.toml --point 4")
        .expect(1, &["no point `4`", "1 to 3"]);
    dir.npsim("sweep turns.toml --point x")
        .expect(1, &["no point `x`"]);
}

/// A point that takes long enough to be killed while others are done.
#[test]
fn killed_sweep_resumes_where_it_stopped() {
    let long = SWEEP
        .replace("system = \"count.uc\"", "system = \"loop.uc\"")
        .replace("define.TURNS", "seed")
        .replace("\"20us\"", "\"20ms\"")
        .replace("values = [10, 100, 200]", "values = [1, 2, 3, 4, 5, 6]");
    let dir = Dir::new().with("loop.uc", LOOP).with("turns.toml", &long);
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_npsim"))
        .args(["sweep", "turns.toml", "--jobs", "1", "--out", "r"])
        .current_dir(dir.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("start");
    let saved = || {
        let list = std::fs::read_dir(dir.path("r/points"))
            .into_iter()
            .flatten()
            .flatten();
        list.filter(|entry| entry.path().extension().is_some_and(|end| end == "json"))
            .count()
    };
    // The command finishes on its own if it is faster than this loop.
    while saved() == 0 && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("kill");
    child.wait().expect("the end");
    let before = saved();
    assert!(before > 0);
    let said = format!("6 points: {} run now, {before} from before", 6 - before);
    dir.npsim("sweep turns.toml --out r").expect(0, &[&said]);
    dir.npsim("sweep turns.toml --out whole").expect(0, &[]);
    assert_eq!(dir.read("r/results.json"), dir.read("whole/results.json"));
}

#[test]
fn errors_in_a_sweep_are_reported() {
    let dir = sweep_dir();
    dir.npsim("sweep none.toml")
        .expect(1, &["cannot read `none.toml`"]);
    let dir = dir.with("bad.toml", SWEEP.replace("[metric.done]", "[metrik.done]"));
    dir.npsim("sweep bad.toml")
        .expect(1, &["bad.toml", "metrik"]);
    let dir = dir.with("bad.toml", SWEEP.replace("define.TURNS", "me.9.id"));
    dir.npsim("sweep bad.toml").expect(
        1,
        &["no [[me]] is called `9`", "in point 1, count: turns 10"],
    );
    let dir = dir.with("bad.toml", SWEEP.replace("define.TURNS", "define.TURN"));
    dir.npsim("sweep bad.toml").expect(
        1,
        &["does not assemble", "count.uc:6", "npsim check count.uc"],
    );
    dir.npsim("sweep turns.toml --jobs 0")
        .expect(2, &["--jobs"]);
}

#[test]
fn studies_are_listed_and_similar_names_suggested() {
    let dir = Dir::new();
    dir.npsim("reproduce")
        .expect(0, &["baseline", "published values"]);
    dir.npsim("reproduce baselin")
        .expect(1, &["did you mean `baseline`?"]);
    dir.npsim("reproduce baseline H-2")
        .expect(1, &["H-20, H-30", "did you mean `H-20`?"]);
    dir.npsim("reproduce baseline")
        .expect(1, &["microcode/router", "--root"]);
}

const STUDY_ROWS: &str = r#"
[[published]]
id = "T-1"
what = "right"
unit = "cycles"
value = 217
tolerance = 3
source = "count.uc"
evidence = "derived"
calibrated = "nothing"
measured = { is = "at", of = "count.done", x = 100 }
[[published]]
id = "T-2"
what = "wrong"
unit = "cycles"
at_most = 10
source = "count.uc"
evidence = "derived"
measured = { is = "max", of = "count.done" }
"#;

#[test]
fn custom_study_is_compared() {
    let dir = sweep_dir().with("study.toml", format!("{SWEEP}{STUDY_ROWS}"));
    dir.npsim("reproduce study.toml").expect(
        0,
        &[
            "T-1",
            "hit",
            "calibrated",
            "T-2",
            "at most",
            "miss",
            "1 of 2 reproduced: 1 of 1 calibrated, 0 of 1 predicted",
        ],
    );
    dir.npsim("reproduce study.toml --strict")
        .expect(1, &["miss"]);
    let whole = dir.read("npsim-results/turns/index.html");
    let part = dir.npsim("reproduce study.toml T-1").expect(0, &["1 of 1"]);
    assert!(!part.out.contains("T-2"), "{}", part.out);
    assert!(part.err.contains("turns/index.html"), "{}", part.err);
    assert_eq!(dir.read("npsim-results/turns/index.html"), whole);
    let one = dir.npsim("reproduce study.toml T-1 --strict --format json --out one");
    let one = one.expect(0, &["1 point: 1 run now"]);
    let json: serde_json::Value = serde_json::from_str(&one.out).expect("JSON");
    assert_eq!(json["rows"].as_array().map(Vec::len), Some(2));
    assert_eq!(json["rows"][1]["id"], "profiles");
    assert_eq!(json["rows"][0]["verdict"], "hit");
    assert_eq!(json["rows"][0]["calibrated"], "nothing");
    assert!(!dir.path("one/index.html").exists());
    for file in [
        "index.html",
        "points.csv",
        "means.csv",
        "rows.csv",
        "figures/count-done.svg",
    ] {
        assert!(
            dir.path(&format!("one/parts/T-1/{file}")).exists(),
            "{file}"
        );
    }
    let page = String::from_utf8(dir.read("one/parts/T-1/index.html")).expect("text");
    assert!(
        page.contains("of it T-1 alone") && !page.contains("T-2"),
        "{page}"
    );
    // Its other points are run, which completes it.
    dir.npsim("reproduce study.toml T-2 --out one")
        .expect(0, &["2 run now, 1 from before; see one"]);
    assert_eq!(dir.read("one/index.html"), whole);
}

#[test]
fn study_on_another_chip_is_never_called_reproduced() {
    let changed = format!("{SWEEP}{STUDY_ROWS}");
    let changed = changed.replace(
        "system = \"count.uc\"",
        "system = \"count.uc\"\nset = { \"profile.sram.read\" = 180 }",
    );
    let frozen = format!("{SWEEP}{STUDY_ROWS}").replace(
        "[window]",
        "[chips]\nixp2400 = \"0123456789abcdef\"\n[window]",
    );
    let dir = sweep_dir()
        .with("study.toml", format!("{SWEEP}{STUDY_ROWS}"))
        .with("changed.toml", changed)
        .with("frozen.toml", frozen);
    for arguments in [
        "changed.toml --out a",
        "changed.toml T-1 --out a",
        "frozen.toml --out b",
        "study.toml --set profile.sram.read=180",
        "study.toml T-1 --set define.TURNS=100",
    ] {
        let done = dir.npsim(&format!("reproduce {arguments}")).expect(
            0,
            &[
                "another system",
                "compared on another chip or with other settings",
                "profiles",
            ],
        );
        let said = format!("{}{}", done.out, done.err);
        assert!(!said.contains("reproduced"), "{arguments}: {said}");
        assert!(!said.contains("calibrated"), "{arguments}: {said}");
    }
    dir.npsim("reproduce changed.toml T-1 --out a --strict")
        .expect(1, &["hit, another system"]);
    let page = String::from_utf8(dir.read("a/index.html")).expect("text");
    assert!(!page.contains("reproduced"), "{page}");
    // Results with settings are in a folder of their own.
    let own = "npsim-results/turns+profile.sram.read=180/index.html";
    assert!(dir.path(own).exists());
    dir.npsim("reproduce study.toml")
        .expect(0, &["1 of 2 reproduced"]);
    dir.npsim("reproduce study.toml --set host.s.count=2")
        .expect(
            1,
            &["`host.s.count` cannot be set in any sweep of the study `turns`"],
        );
}

#[test]
fn study_can_run_a_substitute_system() {
    // Ten instructions more.
    let begins = "    immed[n, TURNS]\n";
    let slower = COUNT.replace(
        begins,
        &(begins.to_owned() + &"    alu[n, n, +, 0]\n".repeat(10)),
    );
    let dir = sweep_dir()
        .with("slower.uc", slower)
        .with("study.toml", format!("{SWEEP}{STUDY_ROWS}"));
    let measured = |arguments: &str| -> f64 {
        let done = dir.npsim(&format!(
            "reproduce study.toml T-1 --format json {arguments}"
        ));
        let json: serde_json::Value = serde_json::from_str(&done.expect(0, &[]).out).expect("JSON");
        json["rows"][0]["measured"].as_f64().expect("a number")
    };
    let (own, other) = (measured(""), measured("--system count.uc=slower.uc"));
    assert!((9.5..=10.5).contains(&(other - own)), "{own} and {other}");
    dir.npsim("reproduce study.toml --system count.uc=slower.uc")
        .expect(0, &["Turns, with count.uc=slower.uc", "another system"]);
    assert!(
        dir.path("npsim-results/turns+count.uc=slower.uc/index.html")
            .exists()
    );
    dir.npsim("reproduce study.toml --system counts.uc=slower.uc")
        .expect(
            1,
            &[
                "no sweep of the study `turns` has the system `counts.uc`",
                "its systems are count.uc",
            ],
        );
    dir.npsim("reproduce study.toml --system count.uc=missing.uc")
        .expect(1, &["missing.uc"]);
    dir.npsim("reproduce study.toml --system count.uc")
        .expect(2, &["OWN=OTHER"]);
}

#[test]
fn study_lists_its_parts_and_can_be_exported() {
    let dir = sweep_dir().with("study.toml", format!("{SWEEP}{STUDY_ROWS}"));
    dir.npsim("reproduce study.toml --list")
        .expect(0, &["T-1", "value", "right", "count", "sweep"]);
    dir.npsim("reproduce study.toml count")
        .expect(0, &["T-1", "T-2"]);
    dir.npsim("reproduce hauger --list")
        .expect(0, &["figure", "table"]);
    dir.npsim("reproduce baseline --export my")
        .expect(0, &["my/study.toml", "--root"]);
    dir.npsim("reproduce my/study.toml --list")
        .expect(0, &["H-20"]);
    dir.npsim("reproduce baseline --export my")
        .expect(1, &["already exists"]);
}

#[test]
fn rows_of_a_study_take_two_lines() {
    let long = STUDY_ROWS.replace("\"right\"", &format!("{:?}", "what is long ".repeat(12)));
    let dir = sweep_dir().with("study.toml", format!("{SWEEP}{long}"));
    let done = dir
        .npsim("reproduce study.toml")
        .expect(0, &["published 217", "here 217"]);
    let rows: Vec<&str> = done
        .out
        .lines()
        .skip_while(|line| !line.starts_with("T-1"))
        .collect();
    assert!(
        rows[1].trim_start().starts_with("published"),
        "{}",
        done.out
    );
    assert!(
        rows[2].starts_with("T-2") && rows[4].starts_with("profiles"),
        "{}",
        done.out
    );
    assert!(
        done.out.lines().all(|line| line.chars().count() <= 100),
        "{}",
        done.out
    );
    dir.npsim("reproduce study.toml --wide")
        .expect(0, &["off by", "within"]);
}

#[test]
fn partial_study_leaves_full_results_unchanged() {
    let quick = SWEEP.replace("values = [10", "quick = [100]\nvalues = [10");
    let dir = sweep_dir().with("study.toml", format!("{quick}{STUDY_ROWS}"));
    dir.npsim("reproduce study.toml").expect(0, &[]);
    let before = dir.read("npsim-results/turns/results.json");
    dir.npsim("reproduce study.toml T-1 --quick")
        .expect(0, &["npsim-results/turns stays as it is"]);
    assert_eq!(dir.read("npsim-results/turns/results.json"), before);
    // No saved result comes from the changed program.
    let dir = dir.with("count.uc", COUNT.replace("again#:\n", "again#:\n    nop\n"));
    dir.npsim("reproduce study.toml T-1")
        .expect(0, &["1 run now", "npsim-results/turns stays as it is"]);
    assert_eq!(dir.read("npsim-results/turns/results.json"), before);
}

#[test]
fn partial_study_reports_only_its_gaps() {
    let other = "[metric.other]\nmeasure = \"count\"\nof = [\"nothing\"]\n";
    let dir = sweep_dir().with("study.toml", format!("{SWEEP}{STUDY_ROWS}{other}"));
    let part = dir.npsim("reproduce study.toml T-1").expect(0, &[]);
    assert!(!part.err.contains("note:"), "{}", part.err);
    let said = "note: `other` has no value at 3 points, first in \"count\" at turns 10:";
    dir.npsim("reproduce study.toml").expect(0, &[said]);
}

#[test]
fn settings_reach_the_run_and_its_stats() {
    let dir = sweep_dir();
    dir.npsim("run count.uc --until 20us --set define.TURNS=7 --set media.element_size=128 --stats a.json -q")
        .expect(0, &[]);
    let stats = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&dir.read(name)).expect("JSON")
    };
    let plain = stats("a.json");
    assert_eq!(plain["settings"][0], "define.TURNS=7");
    assert_eq!(plain["nodes"][0]["chip"]["media"]["element_bytes"], 128);
    assert_eq!(plain["profile_changes"].as_array().map(Vec::len), Some(0));
    dir.npsim("run count.uc --until 20us -D TURNS=7 --set profile.sram.read=120 --stats b.json")
        .expect(0, &["sram.read is 120 here"]);
    let changed = stats("b.json");
    assert_eq!(changed["profile_changes"][0]["parameter"], "sram.read");
    assert_ne!(
        changed["nodes"][0]["chip"]["profile_hash"],
        plain["nodes"][0]["chip"]["profile_hash"]
    );
    dir.npsim("run count.uc --set profile.sram.raed=1")
        .expect(1, &["did you mean `profile.sram.read`?"]);
    dir.npsim("run count.uc --set chip.profil=ixp2400")
        .expect(1, &["did you mean `profile`?"]);
    dir.npsim("run count.uc --set chip")
        .expect(2, &["port.0.rate=10Gbps"]);
}
