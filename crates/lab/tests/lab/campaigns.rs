//! Whole campaigns on the forwarder: the inputs of a key, the points that are run again, and the
//! files that are written.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use npsim_chip::Cycle;
use npsim_lab::campaign::Progress;
use npsim_lab::points::Point;
use npsim_lab::results::{CachedPoint, Results};
use npsim_lab::store::PointOutcome;
use npsim_lab::{output, selection, verdict};
use npsim_project::problem::Problems;

use crate::bench::Bench;
use crate::root;

const STUDY: &str = r#"
name = "load"
title = "The forwarder & its load"
about = "First paragraph.\n\nSecond <paragraph>."
[window]
warm_up = "20us"
measure = "60us"
[quick]
measure = "30us"
[metric.egress]
measure = "egress-rate"
[metric.offered]
measure = "offered-rate"
[metric.latency]
measure = "latency"
statistic = "p90"
[metric.stamp]
measure = "stamp-delay"
[sweep.forward]
title = "forward"
system = "microcode/forward"
metrics = ["egress", "offered", "latency"]
[[sweep.forward.axis]]
name = "rate"
unit = "Mpps"
key = "load.rate"
values = ["0.2Mpps", "0.4Mpps", "0.6Mpps"]
quick = [0.2, 0.4]
[sweep.unstamped]
system = "microcode/forward"
set = { "load.rate" = "0.3Mpps" }
metrics = ["stamp"]
[[published]]
id = "T-1"
what = "half of a million"
unit = "Mpps"
value = 0.4
tolerance = "10%"
source = "none"
evidence = "text"
measured = { is = "at", of = "forward.offered", x = 0.4 }
[[published]]
id = "T-2"
what = "never"
unit = "Mpps"
at_least = 9
source = "none"
evidence = "text"
measured = { is = "max", of = "forward.egress" }
[[published]]
id = "T-3"
what = "follows"
stated = "the egress follows the load"
source = "none"
evidence = "curve"
shape = { is = "follows", of = "forward.egress", within = 0.15 }
[[published]]
id = "T-4"
what = "a delay that is not there"
unit = "us"
value = 1.0
tolerance = "10%"
source = "none"
evidence = "text"
measured = { is = "max", of = "unstamped.stamp" }
"#;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("make a folder");
    for entry in fs::read_dir(from).expect("list a folder") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("copy a file");
        }
    }
}

impl Bench {
    /// With the forwarder in its folder.
    fn forwarder() -> Self {
        let bench = Self::new();
        for part in ["microcode/forward", "microcode/lib"] {
            copy(&root().join(part), &bench.path(part));
        }
        bench
    }

    fn edit(&self, name: &str, from: &str, to: &str) {
        let path = self.path(name);
        let text = fs::read_to_string(&path).expect("a file");
        assert!(text.contains(from), "{from} in {name}");
        fs::write(path, text.replacen(from, to, 1)).expect("write");
    }

    fn keys(&self, text: &str) -> Vec<String> {
        self.with(text, false, 1, |campaign, points| {
            let cached = campaign.cached(points).expect("keys");
            cached.into_iter().map(|cached| cached.key).collect()
        })
    }

    fn merge(&self) -> Result<Results, Problems> {
        self.with(STUDY, false, 1, |campaign, points| {
            campaign.merge(points, &AtomicBool::new(false))
        })
    }

    /// Runs everything and writes the results; returns the files that were written.
    fn written(&self, jobs: usize) -> Vec<(String, Vec<u8>)> {
        self.with(STUDY, false, jobs, |campaign, points| {
            let results = campaign
                .run(points, &AtomicBool::new(false), &())
                .expect("results");
            let rows = verdict::rows(
                campaign.study,
                &results,
                &selection::select(campaign.study, &[]).expect("rows"),
            );
            output::write(campaign.results, campaign.study, &results, &rows, false).expect("files");
        });
        let mut files = Vec::new();
        collect(&self.path("results"), &self.path("results"), &mut files);
        files.sort();
        files
    }
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("list") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path
                .strip_prefix(root)
                .expect("below")
                .display()
                .to_string();
            files.push((name, fs::read(&path).expect("read")));
        }
    }
}

#[test]
fn key_depends_on_every_input() {
    let bench = Bench::forwarder();
    let before = bench.keys(STUDY);
    let mut all = before.clone();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 4, "each point has its own");
    let changed =
        |after: &[String]| -> Vec<bool> { before.iter().zip(after).map(|(a, b)| a != b).collect() };
    for (from, to, expected) in [
        ("\"0.6Mpps\"", "\"0.65Mpps\"", [false, false, true, false]),
        ("warm_up = \"20us\"", "warm_up = \"21us\"", [true; 4]),
        ("measure = \"60us\"", "measure = \"61us\"", [true; 4]),
        (
            "statistic = \"p90\"",
            "statistic = \"p99\"",
            [true, true, true, false],
        ),
        (
            "title = \"forward\"",
            "title = \"forward\"\nseed = 4",
            [true, true, true, false],
        ),
        (
            "title = \"forward\"",
            "title = \"forward\"\nset = { \"load.seed\" = 4 }",
            [true, true, true, false],
        ),
        (
            "title = \"forward\"",
            "title = \"forward\"\nset = { \"profile.sram.read\" = 91 }",
            [true, true, true, false],
        ),
        (
            "title = \"forward\"",
            "title = \"forward\"\nset = { \"define.UNUSED\" = 1 }",
            [true, true, true, false],
        ),
        (
            "title = \"forward\"",
            "title = \"forward\"\nallow = [\"rbuf-leak\"]",
            [true, true, true, false],
        ),
    ] {
        let text = STUDY.replacen(from, to, 1);
        assert_ne!(text, STUDY, "{from}");
        assert_eq!(changed(&bench.keys(&text)), expected, "{to}");
    }
    // An included file.
    let library = fs::read_dir(bench.path("microcode/lib"))
        .expect("list")
        .map(|entry| entry.expect("an entry").path())
        .find(|path| path.file_name().is_some_and(|name| name == "buffer.uc"))
        .expect("buffer.uc");
    let text = fs::read_to_string(&library).expect("read");
    fs::write(&library, format!("{text}\n; more\n")).expect("write");
    assert_eq!(changed(&bench.keys(STUDY)), [true; 4]);
    fs::write(&library, text).expect("write");
    // The project.
    bench.edit(
        "microcode/forward/npsim.toml",
        "count = 1024",
        "count = 1025",
    );
    assert_eq!(changed(&bench.keys(STUDY)), [true; 4]);
}

#[test]
fn key_does_not_depend_on_display_text() {
    let bench = Bench::forwarder();
    let before = bench.keys(STUDY);
    for (from, to) in [
        ("title = \"The forwarder & its load\"", "title = \"Other\""),
        ("name = \"load\"", "name = \"other\""),
        ("title = \"forward\"", "title = \"other\""),
        ("[metric.latency]", "[metric.latency]\ntitle = \"how long\""),
        ("tolerance = \"10%\"", "tolerance = \"20%\""),
        ("unit = \"Mpps\"\nkey", "unit = \"million\"\nkey"),
    ] {
        let text = STUDY.replacen(from, to, 1);
        assert_ne!(text, STUDY, "{from}");
        assert_eq!(bench.keys(&text), before, "{to}");
    }
    bench.edit(
        "microcode/forward/npsim.toml",
        "name = \"forward\"",
        "name = \"f\" # comment",
    );
    assert_eq!(bench.keys(STUDY), before);
    let elsewhere = Bench::forwarder();
    assert_eq!(elsewhere.keys(STUDY), before, "in another folder");
}

#[test]
fn finished_points_are_not_rerun() {
    let bench = Bench::forwarder();
    let first = bench.run(STUDY, 1);
    assert_eq!((first.ran, first.interrupted), (4, false));
    let second = bench.run(STUDY, 2);
    assert_eq!(second.ran, 0);
    assert_eq!(
        (&first.outcomes, &first.points),
        (&second.outcomes, &second.points)
    );
    // One is lost, one is broken: those two are run again.
    let path = |cached: &CachedPoint| {
        bench
            .path("results/points")
            .join(format!("{}.json", cached.key))
    };
    fs::remove_file(path(&first.points[0])).expect("remove");
    let text = fs::read_to_string(path(&first.points[1])).expect("read");
    fs::write(path(&first.points[1]), &text[..text.len() / 2]).expect("write");
    let third = bench.run(STUDY, 1);
    assert_eq!(third.ran, 2);
    assert_eq!(first.outcomes, third.outcomes);
}

/// Stops the campaign after the given number of points.
struct Stopper<'a> {
    after: AtomicUsize,
    stop: &'a AtomicBool,
}

impl Progress for Stopper<'_> {
    fn starting(&self, _: usize, _: Cycle, _: usize) {}
    fn advanced(&self, _: Cycle) {}
    fn finished(&self, _: &Point, _: &PointOutcome) {
        if self.after.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// Adds up the reported progress.
#[derive(Default)]
struct Sum {
    ahead: AtomicU64,
    behind: AtomicU64,
    steps: AtomicUsize,
}

impl Progress for Sum {
    fn starting(&self, _: usize, cycles: Cycle, _: usize) {
        self.ahead.store(cycles, Ordering::Relaxed);
    }
    fn advanced(&self, cycles: Cycle) {
        self.behind.fetch_add(cycles, Ordering::Relaxed);
        self.steps.fetch_add(1, Ordering::Relaxed);
    }
    fn finished(&self, _: &Point, _: &PointOutcome) {}
}

#[test]
fn progress_adds_up_to_the_announced_total() {
    let bench = Bench::forwarder();
    let sum = Sum::default();
    bench.with(STUDY, false, 2, |campaign, points| {
        let stop = AtomicBool::new(false);
        campaign.run(points, &stop, &sum).expect("results")
    });
    // Four points, at a clock of 600 MHz.
    let ahead = sum.ahead.into_inner();
    assert_eq!(ahead, 4 * 80 * 600);
    assert_eq!(sum.behind.into_inner(), ahead);
    // Progress is reported within a point.
    let steps = sum.steps.into_inner();
    assert!(steps > 8, "{steps} steps");
}

#[test]
fn seed_axis_changes_the_traffic() {
    let study = format!(
        "{}[[sweep.forward.axis]]\nname = \"seed\"\nkey = \"seed\"\nvalues = [1, 2]\n",
        STUDY
            .split("[sweep.unstamped]")
            .next()
            .expect("the first sweep")
            .replace(
                "system =",
                "set = { \"load.arrivals\" = \"poisson\" }\nsystem ="
            )
    );
    let results = Bench::forwarder().run(&study, 2);
    let latency = |seed: &str| -> Vec<Option<f64>> {
        let points = results.points.iter();
        let of = points.filter(|cached| cached.point.coordinates[1].label == seed);
        of.map(|cached| results.outcomes[&cached.key].metrics["latency"].value)
            .collect()
    };
    assert_eq!(latency("1").len(), 3);
    assert_ne!(latency("1"), latency("2"));
}

#[test]
fn interrupted_campaign_resumes() {
    let whole = Bench::forwarder().run(STUDY, 1);
    let bench = Bench::forwarder();
    let stop = AtomicBool::new(false);
    let stopper = Stopper {
        after: AtomicUsize::new(1),
        stop: &stop,
    };
    let part = bench.with(STUDY, false, 1, |campaign, points| {
        campaign.run(points, &stop, &stopper).expect("results")
    });
    assert_eq!((part.ran, part.interrupted), (1, true));
    let problem = bench.merge().expect_err("three are missing").to_string();
    assert!(
        problem.contains("3 of 4 points were not run yet"),
        "{problem}"
    );
    let rest = bench.run(STUDY, 1);
    assert_eq!(rest.ran, 3);
    assert_eq!(rest.outcomes, whole.outcomes);
    let merged = bench.merge();
    assert_eq!(merged.expect("all").outcomes, whole.outcomes);
}

#[test]
fn output_files_are_independent_of_job_count() {
    let (one, two) = (Bench::forwarder().written(1), Bench::forwarder().written(2));
    let names: Vec<&str> = one.iter().map(|(name, _)| name.as_str()).collect();
    for expected in [
        "figures/forward-egress.svg",
        "index.html",
        "points.csv",
        "results.json",
        "rows.csv",
    ] {
        assert!(names.contains(&expected), "{expected} in {names:?}");
    }
    for (a, b) in one.iter().zip(&two) {
        assert_eq!(a.0, b.0);
        assert!(a.1 == b.1, "{} differs", a.0);
    }
    assert_eq!(one.len(), two.len());
    let text = |name: &str| {
        let file = one.iter().find(|(found, _)| found == name).expect(name);
        String::from_utf8(file.1.clone()).expect("text")
    };
    let json: serde_json::Value = serde_json::from_str(&text("results.json")).expect("JSON");
    assert_eq!(json["schema"], "npsim-results-2");
    assert_eq!(
        (
            json["rows"].as_array().map(Vec::len),
            json["points"].as_array().map(Vec::len)
        ),
        (Some(4), Some(4))
    );
    let verdicts: Vec<_> = json["rows"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["verdict"].as_str().expect("a verdict"))
        .collect();
    assert_eq!(
        verdicts,
        ["hit", "miss", "shape hit", "not measured"],
        "{json:#}"
    );
    assert!(
        json["rows"][3]["why"]
            .as_str()
            .expect("why")
            .contains("carry no delay")
    );
    for key in [
        "id",
        "what",
        "unit",
        "published",
        "measured",
        "tolerance",
        "verdict",
        "class",
        "interval",
        "calibrated",
    ] {
        assert!(json["rows"][0].get(key).is_some(), "{key}");
    }
    assert_eq!(json["one_profile"], true);
    assert_eq!(json["profiles"][0]["points"], 4);
    assert_eq!(json["profiles"][0]["chip"], "ixp2400");
    assert_eq!(json["points"][1]["at"][0]["x"], 0.4);
    assert_eq!(json["points"][1]["settings"][0], "load.rate=0.4Mpps");
    let page = text("index.html");
    assert!(
        page.contains("The forwarder &amp; its load"),
        "titles are escaped"
    );
    assert!(page.contains("Second &lt;paragraph&gt;."));
    assert!(
        page.contains("<svg") && !page.contains("src="),
        "it stands alone"
    );
    assert_eq!(text("rows.csv").lines().count(), 5);
    assert_eq!(text("points.csv").lines().count(), 1 + 3 * 3 + 1);
}

#[test]
fn quick_run_has_fewer_points_and_a_separate_window() {
    let bench = Bench::forwarder();
    let quick = bench.with(STUDY, true, 1, |campaign, points| {
        campaign
            .run(points, &AtomicBool::new(false), &())
            .expect("results")
    });
    assert_eq!(quick.points.len(), 3);
    let outcome = quick.outcomes.values().next().expect("one");
    assert_eq!(
        (outcome.from, outcome.until - outcome.from),
        (12_000, 18_000),
        "20us and 30us at 600 MHz"
    );
    let whole = bench.run(STUDY, 1);
    assert_eq!(
        whole.ran, 4,
        "none of the quick ones is taken for a whole one"
    );
}

#[test]
fn point_stopped_by_a_check_is_not_measured() {
    let bench = Bench::forwarder();
    // The forwarder loses an RBUF element with every frame that it drops on arrival.
    fs::write(
        bench.path("leak.uc"),
        ".num_contexts 8\n    br=ctx[0, go#]\n    ctx_arb[kill]\ngo#:\n.reg a\n    alu[a, a, +, 1]\n    ctx_arb[kill]\n",
    )
    .expect("write");
    let text = STUDY
        .replace(
            "system = \"microcode/forward\"\nset = { \"load.rate\" = \"0.3Mpps\" }",
            "system = \"leak.uc\"",
        )
        .replace("metrics = [\"stamp\"]", "metrics = [\"egress\", \"stamp\"]");
    let results = bench.with(&text, false, 2, |campaign, points| {
        campaign
            .run(points, &AtomicBool::new(false), &())
            .expect("results")
    });
    let faults: Vec<_> = results
        .faults()
        .map(|(cached, fault)| (cached.point.sweep.clone(), fault.to_owned()))
        .collect();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert_eq!(faults[0].0, "unstamped");
    assert!(
        faults[0].1.contains("uninitialised-read"),
        "{}",
        faults[0].1
    );
    let outcome = results.outcome(&results.points[3]).expect("an outcome");
    assert!(
        outcome
            .metrics
            .values()
            .all(|reading| reading.value.is_none())
    );
}

#[test]
fn mistakes_are_found_before_anything_runs() {
    for (from, to, expected) in [
        (
            "system = \"microcode/forward\"",
            "system = \"microcode/forwrd\"",
            "no `microcode/forwrd`",
        ),
        (
            "key = \"load.rate\"",
            "key = \"laod.rate\"",
            "did you mean `load`?",
        ),
        (
            "key = \"load.rate\"",
            "key = \"load.rat\"",
            "did you mean `rate`?",
        ),
        ("\"0.6Mpps\"", "\"6Mpps\"", "more frames than its line"),
        (
            "title = \"forward\"",
            "title = \"forward\"\nallow = [\"rbuf-leek\"]",
            "no check `rbuf-leek`",
        ),
        (
            "title = \"forward\"",
            "title = \"forward\"\nset = { \"define.IXP2400\" = 0 }",
            "IXP2400",
        ),
        (
            "warm_up = \"20us\"\nmeasure = \"60us\"",
            "warm_up = \"20us\"",
            "rate",
        ),
    ] {
        let bench = Bench::forwarder();
        let text = STUDY.replacen(from, to, 1);
        assert_ne!(text, STUDY, "{from}");
        let found = bench.with(&text, false, 1, |campaign, points| {
            campaign.run(points, &AtomicBool::new(false), &())
        });
        if expected == "rate" {
            // A load without a window runs for the load's own time.
            found.expect("results");
            continue;
        }
        let problem = found.expect_err(to).to_string();
        assert!(problem.contains(expected), "{to}: {problem}");
        let saved = fs::read_dir(bench.path("results/points")).map_or(0, Iterator::count);
        assert_eq!(saved, 0, "{to}");
    }
}

/// A sweep of a project that names a file by every key that takes one.
const STUDY_WITH_NAMED_FILES: &str = r#"
name = "naming"
title = "naming"
[window]
measure = "60us"
[metric.egress]
measure = "egress-rate"
[sweep.one]
system = "own/npsim.toml"
set = { "load.rate" = "0.3Mpps" }
"#;

#[test]
fn project_files_are_part_of_the_key() {
    let bench = Bench::forwarder();
    let write = |name: &str, text: &str| {
        let path = bench.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("make a folder");
        fs::write(path, text).expect("write");
    };
    write(
        "own/npsim.toml",
        "extends = [\"between.toml\"]\ninclude = [\"own\"]\n\
         [chip]\nprofile = \"chip.toml\"\n[routes]\nchanges = \"changes.csv\"\n\
         [[me]]\nname = \"extra\"\nid = 7\nsource = \"extra.uc\"\n",
    );
    write(
        "own/between.toml",
        "extends = [\"../microcode/forward\"]\n[load]\nsize = 64\n",
    );
    write("own/extra.uc", "#include \"part.uc\"\nctx_arb[kill]\n");
    write("own/own/part.uc", "nop\n");
    write(
        "own/chip.toml",
        "extends = \"ixp2400\"\n[scratch]\nread = { value = 70, unit = \"ME cycles\", provenance = \"assumed\", basis = \"test\" }\n",
    );
    write(
        "own/changes.csv",
        "10us, add, 10.9.0.0/16, 1, 02:00:00:00:03:01\n",
    );
    let mut keys = bench.keys(STUDY_WITH_NAMED_FILES);
    let before = bench.keys(STUDY_WITH_NAMED_FILES);
    assert_eq!(keys, before, "nothing changed");
    for (file, from, to) in [
        ("own/changes.csv", "10us", "20us"),
        ("own/chip.toml", "value = 70", "value = 71"),
        ("own/between.toml", "size = 64", "size = 96"),
        ("own/extra.uc", "ctx_arb", "nop\nctx_arb"),
        ("own/own/part.uc", "nop", "nop\nnop"),
    ] {
        bench.edit(file, from, to);
        let after = bench.keys(STUDY_WITH_NAMED_FILES);
        assert_ne!(keys, after, "{file}");
        keys = after;
    }
}
