//! Parts of a study on several machines: `--shard`, `--point`, `--merge`, `--script`.

use std::process::Command;

use super::harness::{COUNT, Dir};

const STUDY: &str = r#"
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
values = [10, 100, 200, 300, 400, 500]
[[published]]
id = "T-1"
what = "right"
unit = "cycles"
value = 217
tolerance = 3
source = "count.uc"
evidence = "derived"
measured = { is = "at", of = "count.done", x = 100 }
"#;

/// The arguments of a command, and the files that it writes for all points.
const COMMANDS: [(&str, &[&str]); 3] = [
    (
        "sweep turns.toml",
        &["results.json", "points.csv", "means.csv", "index.html"],
    ),
    (
        "reproduce turns.toml",
        &["results.json", "points.csv", "rows.csv", "index.html"],
    ),
    (
        "sensitivity turns.toml --only sram.read --samples 1",
        &[
            "sensitivity.json",
            "sensitivity.csv",
            "sensitivity.md",
            "tornado.svg",
        ],
    ),
];

fn study_dir() -> Dir {
    Dir::new().with("count.uc", COUNT).with("turns.toml", STUDY)
}

/// The record of a task with a text replaced.
fn rewrite(dir: &Dir, path: &str, change: impl Fn(&str) -> String) {
    let text = String::from_utf8(dir.read(path)).expect("text");
    let changed = change(&text);
    assert_ne!(text, changed, "{path}");
    std::fs::write(dir.path(path), changed).expect("write");
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The points that `--list --format json` gives.
fn listed_points(dir: &Dir, command: &str) -> Vec<serde_json::Value> {
    let done = dir.npsim(&format!("{command} --list --format json"));
    let list = json(&done.expect(0, &[]).out);
    let points = if list.is_array() {
        &list
    } else {
        &list["points"]
    };
    points.as_array().expect("points").clone()
}

#[test]
fn shards_give_the_same_results_as_one_machine() {
    for (command, files) in COMMANDS {
        let dir = study_dir();
        dir.npsim(&format!("{command} --out whole")).expect(0, &[]);
        for shard in ["3/4", "1/4", "4/4", "2/4"] {
            dir.npsim(&format!("{command} --out parts --shard {shard}"))
                .expect(0, &[&format!("shard {shard}: "), "run now"]);
        }
        dir.npsim(&format!("{command} --out parts --merge"))
            .expect(0, &["0 run now"]);
        for file in files {
            assert!(
                dir.read(&format!("whole/{file}")) == dir.read(&format!("parts/{file}")),
                "{command}: {file}"
            );
        }
        for point in listed_points(&dir, command) {
            let file = format!("points/{}.json", point["key"].as_str().expect("a key"));
            assert!(
                dir.read(&format!("whole/{file}")) == dir.read(&format!("parts/{file}")),
                "{command}: {file}"
            );
        }
    }
}

#[test]
fn overlapping_shards_run_no_point_twice() {
    let dir = study_dir();
    dir.npsim("sweep turns.toml --out whole").expect(0, &[]);
    dir.npsim("sweep turns.toml --out parts --shard 1/2")
        .expect(0, &["3 points: 3 run now, 0 from before"]);
    for shard in ["1/3", "2/3", "3/3"] {
        dir.npsim(&format!("sweep turns.toml --out parts --shard {shard}"))
            .expect(0, &["2 points"]);
    }
    let again = dir.npsim("sweep turns.toml --out parts --shard 2/2 --format json");
    let again = json(&again.expect(0, &["shard 2/2"]).out);
    assert_eq!(
        (&again["points"], &again["run_now"], &again["from_before"]),
        (&3.into(), &0.into(), &3.into())
    );
    dir.npsim("sweep turns.toml --out parts --merge")
        .expect(0, &[]);
    assert_eq!(
        dir.read("whole/results.json"),
        dir.read("parts/results.json")
    );
}

#[test]
fn merge_says_which_shard_is_missing() {
    for (command, _) in COMMANDS {
        let dir = study_dir();
        dir.npsim(&format!("{command} --out r --merge"))
            .expect(1, &["were not run yet: 1-", "never run"]);
        dir.npsim(&format!("{command} --out r --shard 1/3"))
            .expect(0, &[]);
        dir.npsim(&format!("{command} --out r --shard 3/3"))
            .expect(0, &[]);
        dir.npsim(&format!("{command} --out r --merge")).expect(
            1,
            &[
                "were not run yet",
                "shard 2/3 was never started",
                "--shard K/N --out r",
            ],
        );
    }
}

#[test]
fn merge_reports_the_state_of_each_task() {
    let dir = study_dir();
    let run = "sweep turns.toml --out r";
    dir.npsim(&format!("{run} --shard 1/2")).expect(0, &[]);
    dir.npsim(&format!("{run} --shard 2/2")).expect(0, &[]);
    let points = listed_points(&dir, "sweep turns.toml --shards 2");
    let of = |shard: u64| {
        let mine = points.iter().filter(move |it| it["shard"] == shard);
        mine.map(|it| format!("r/points/{}.json", it["key"].as_str().expect("a key")))
            .collect::<Vec<_>>()
    };
    let (first, second) = (of(1), of(2));
    assert_eq!((first.len(), second.len()), (3, 3));
    // The state left by a kill while its last point ran.
    std::fs::remove_file(dir.path(&second[2])).expect("remove");
    rewrite(&dir, "r/tasks/shard-2-of-2.json", |text| {
        text.replace("\"done\"", "\"begun\"")
    });
    std::fs::remove_file(dir.path(&first[0])).expect("remove");
    std::fs::write(dir.path(&first[1]), "{\"schema\": \"npsim-po").expect("write");
    dir.npsim(&format!("{run} --merge")).expect(
        1,
        &[
            "3 of 6 points were not run yet",
            "shard 2/2 (process ",
            "began and has not ended: killed, or still running",
            "shard 1/2 (process ",
            "saved it, and its file was removed since",
            "its file in `points` is damaged",
        ],
    );
    // When restarted, they run only what is missing or damaged.
    dir.npsim(&format!("{run} --shard 2/2"))
        .expect(0, &["1 run now, 2 from before"]);
    dir.npsim(&format!("{run} --shard 1/2"))
        .expect(0, &["2 run now, 1 from before"]);
    dir.npsim(&format!("{run} --merge"))
        .expect(0, &["0 run now, 6 from before"]);
    // Records do not affect this.
    std::fs::write(dir.path("r/tasks/shard-1-of-2.json"), "no record").expect("write");
    dir.npsim(&format!("{run} --merge"))
        .expect(0, &["0 run now, 6 from before"]);
}

#[test]
fn merge_detects_results_of_other_versions_and_sources() {
    let dir = study_dir();
    let run = "sweep turns.toml --out r";
    dir.npsim(run).expect(0, &[]);
    std::fs::write(dir.path("count.uc"), format!("{COUNT}\n    nop\n")).expect("write");
    let merge = || dir.npsim(&format!("{run} --merge"));
    merge().expect(
        1,
        &[
            "6 of 6 points",
            "run before something that it reads was changed: a source",
        ],
    );
    // An earlier store, as left by another build of npsim.
    let record = "r/tasks/whole.json";
    rewrite(&dir, record, |text| {
        let (before, model) = text.split_once("\"model\": \"").expect("a model");
        let rest = &model[12..];
        format!("{before}\"model\": \"0123456789ab{rest}")
    });
    merge().expect(1, &["run by npsim with another model, 0123456789ab;"]);
    rewrite(&dir, record, |text| {
        text.replace("\"version\": \"", "\"version\": \"0.0.")
    });
    merge().expect(
        1,
        &[
            &format!("; this is npsim {}", env!("CARGO_PKG_VERSION")),
            "run by npsim 0.0.",
        ],
    );
    dir.npsim(run).expect(0, &["6 run now"]);
    merge().expect(0, &[]);
}

#[test]
fn lists_have_costs_runs_and_shards() {
    for (command, _) in COMMANDS {
        let dir = study_dir();
        let points = listed_points(&dir, &format!("{command} --shards 3"));
        assert!(points.len() >= 3, "{command}");
        for point in &points {
            assert!(point["cost"].as_u64() > Some(0), "{point}");
            assert_eq!(point["run"], point["key"], "runs of chips are not shared");
            assert!((1..=3).contains(&point["shard"].as_u64().expect("a shard")));
        }
        assert!(
            !dir.path("npsim-results").exists(),
            "{command}: nothing is made"
        );
    }
}

#[test]
fn points_of_one_network_run_stay_in_one_shard() {
    let dir = Dir::new()
        .with(
            "dumbbell.toml",
            std::fs::read_to_string(super::harness::root().join("traces/networks/dumbbell.toml"))
                .expect("the network"),
        )
        .with(
            "windows.toml",
            r#"
name = "windows"
title = "Windows"
[metric.used]
measure = "utilisation"
link = "bottleneck"
[sweep.windows]
network = "dumbbell.toml"
[[sweep.windows.axis]]
name = "seed"
key = "seed"
values = [1, 2]
[[sweep.windows.axis]]
name = "window"
key = "window"
values = ["10s..20s", "20s..30s", "30s..40s"]
x = [1, 2, 3]
"#,
        );
    let points = listed_points(&dir, "sweep windows.toml --shards 2");
    let shards_of = |run: &serde_json::Value| {
        let mine = points.iter().filter(|point| &point["run"] == run);
        mine.map(|point| point["shard"].as_u64())
            .collect::<Vec<_>>()
    };
    let (one, other) = (&points[0]["run"], &points[1]["run"]);
    assert_ne!(one, other);
    assert_eq!((shards_of(one).len(), shards_of(other).len()), (3, 3));
    for run in [one, other] {
        let shards = shards_of(run);
        assert!(shards.iter().all(|shard| shard == &shards[0]), "{shards:?}");
    }
    assert_ne!(shards_of(one)[0], shards_of(other)[0]);
}

#[test]
fn invalid_shard_options_are_refused() {
    let dir = study_dir();
    for (command, _) in COMMANDS {
        for (options, code, said) in [
            ("--shard 5/4", 2, "the shards are 1/4 to 4/4"),
            ("--shard 0/4", 2, "the shards are 1/4 to 4/4"),
            ("--shard 1/0", 2, "1 to 100000 shards"),
            ("--shard x", 2, "a shard is given as K/N"),
            (
                "--shard",
                1,
                "this process is not a task of a Slurm job array",
            ),
            ("--shard 1/2 --merge", 2, "cannot be used with"),
            ("--shard 1/2 --point 1", 2, "cannot be used with"),
            ("--shard 1/2 --list", 2, "cannot be used with"),
            ("--merge --script slurm", 2, "cannot be used with"),
            ("--script pbs", 2, "slurm"),
            ("--shards 3", 1, "`--shards` has no effect here"),
            ("--shards 3 --list", 1, "`--shards` has no effect here"),
            ("--shards 0 --script slurm", 2, "1..=100000"),
            ("--point 999", 1, "there is no point `999`"),
            ("--point x", 1, "there is no point `x`"),
        ] {
            let mut npsim = Command::new(env!("CARGO_BIN_EXE_npsim"));
            npsim.args(format!("{command} --out r {options}").split(' '));
            npsim.current_dir(dir.path(""));
            npsim.env_remove("SLURM_ARRAY_TASK_ID");
            let done = npsim.output().expect("run npsim");
            let err = String::from_utf8_lossy(&done.stderr);
            assert_eq!(done.status.code(), Some(code), "{command} {options}: {err}");
            assert!(err.contains(said), "{command} {options}: {err}");
        }
    }
    assert!(!dir.path("r").exists());
}

#[test]
fn shard_is_taken_from_a_job_array() {
    let dir = study_dir();
    let task = |id: &str| {
        let mut npsim = Command::new(env!("CARGO_BIN_EXE_npsim"));
        npsim.args(["sweep", "turns.toml", "--out", "r", "--shard"]);
        npsim.current_dir(dir.path(""));
        let variables = [
            ("SLURM_ARRAY_TASK_ID", id),
            ("SLURM_ARRAY_TASK_MIN", "0"),
            ("SLURM_ARRAY_TASK_COUNT", "2"),
            ("SLURM_ARRAY_JOB_ID", "17"),
        ];
        npsim.envs(variables);
        let done = npsim.output().expect("run npsim");
        String::from_utf8_lossy(&done.stderr).into_owned()
    };
    let said = task("1");
    assert!(said.contains("shard 2/2: 3 points: 3 run now"), "{said}");
    let said = task("2");
    assert!(said.contains("have gaps"), "{said}");
    let record = json(&String::from_utf8_lossy(
        &dir.read("r/tasks/shard-2-of-2.json"),
    ));
    let by = record["by"].as_str().expect("a process");
    assert!(by.starts_with("Slurm job 17_1 on "), "{by}");
}

/// A shell runs the script with an `sbatch` that runs jobs at once.
#[test]
#[cfg(unix)]
fn script_runs_all_shards_and_the_merge() {
    use std::os::unix::fs::PermissionsExt;
    const SBATCH: &str = r#"#!/bin/bash
script=$(cat)
echo "$@" >> "$LOG"
array=
for word in "$@"; do
    case $word in --array=1-*) array=${word#--array=1-} ;; esac
done
if [ -n "$array" ]; then
    for task in $(seq "$array"); do
        SLURM_ARRAY_TASK_ID=$task bash -c "$script" >> "$LOG" 2>&1 || exit 1
    done
    echo "17;cluster"
else
    bash -c "$script" >> "$LOG" 2>&1 || exit 1
    echo 18
fi
"#;
    for (command, files) in COMMANDS {
        let dir = study_dir().with("bin/sbatch", SBATCH);
        let program = dir.path("bin/sbatch");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("chmod");
        dir.npsim(&format!("{command} --out whole")).expect(0, &[]);
        let script = dir
            .npsim(&format!("{command} --script slurm --shards 3 --out r"))
            .expect(0, &["--array=", "1-3", "afterany"]);
        assert!(!dir.path("r").exists(), "nothing is run");
        let path = std::env::var("PATH").expect("a path");
        let done = Command::new("bash")
            .args(["-c", &script.out, "script", "--partition=main"])
            .current_dir(dir.path("bin"))
            .env("PATH", format!("{}:{path}", dir.path("bin").display()))
            .env("LOG", dir.path("log"))
            .output()
            .expect("run bash");
        let log = String::from_utf8_lossy(&dir.read("log")).into_owned();
        let said = String::from_utf8_lossy(&done.stdout);
        assert!(done.status.success(), "{said}\n{log}");
        assert!(said.contains("tasks 17, merge 18"), "{said}");
        assert!(log.contains("--dependency=afterany:17"), "{log}");
        assert_eq!(log.matches("--partition=main").count(), 2, "{log}");
        assert!(log.contains("shard 3/3: "), "{log}");
        for file in files {
            assert!(
                dir.read(&format!("whole/{file}")) == dir.read(&format!("r/{file}")),
                "{command}: {file}"
            );
        }
    }
}
