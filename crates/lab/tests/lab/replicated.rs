//! Points that are run several times: whether their runs differ, and the notes if they do not.

use npsim_lab::estimate::Estimate;
use npsim_lab::replicates::{equal_runs, single_runs};
use npsim_lab::study::Study;
use npsim_lab::{output, selection, verdict};

use crate::bench::Bench;
use crate::dumbbell::{DUMBBELL, bench, values};

/// Two TCP flows over a FIFO of 10 Mb/s: nothing draws a random number.
const FLOWS: &str = r#"
[[flow]]
name = "tcp"
from = "s"
to = "d"
transport = "sack"
packet = 1000
"#;

fn network() -> String {
    format!("{DUMBBELL}{FLOWS}")
}

/// The same network with all flows beginning at once.
fn at_once() -> String {
    network().replace("packet = 1000", "packet = 1000\nspread = \"0s\"")
}

const STUDY: &str = r#"
name = "n"
title = "Queues"
[window]
warm_up = "2s"
measure = "4s"
[replication]
runs = 4
[metric.queue]
measure = "queue"
link = "line"
[sweep.n]
network = "net.toml"
replicate = true
[[sweep.n.axis]]
name = "limit"
unit = "packets"
key = "link.line.queue.limit"
values = ["10 packets", "40 packets"]
"#;

/// The text of a file of the results.
fn written(bench: &Bench, text: &str, name: &str) -> String {
    let study = Study::parse("study", text).expect("a study");
    let results = bench.run(text, 2);
    let rows = verdict::rows(
        &study,
        &results,
        &selection::select(&study, &[]).expect("rows"),
    );
    let folder = bench.path("out");
    output::write(&folder, &study, &results, &rows, false).expect("written");
    std::fs::read_to_string(folder.join(name)).expect(name)
}

#[test]
fn replicated_network_runs_differ() {
    let bench = bench(&network());
    let results = bench.run(STUDY, 2);
    for point in values(&results, "queue").chunks(4) {
        let estimate = Estimate::of(point);
        assert!(
            estimate
                .half_width
                .is_some_and(|half_width| half_width > 0.0),
            "{point:?}"
        );
        for (at, value) in point.iter().enumerate() {
            let same = |other: &f64| other.to_bits() == value.to_bits();
            assert!(!point[..at].iter().any(same), "{point:?}");
        }
    }
    let study = Study::parse("study", STUDY).expect("a study");
    assert_eq!(equal_runs(&study, &results), [""; 0]);
    // The first run is the single one of a sweep without replication.
    let single = bench.run(&STUDY.replace("replicate = true\n", ""), 1);
    assert_eq!(single.ran, 0, "both points were run");
    assert_eq!(single.points[0].key, results.points[0].key);
}

#[test]
fn every_output_file_has_intervals_and_run_counts() {
    let bench = bench(&network());
    let csv = written(&bench, STUDY, "means.csv");
    let lines: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| lines[0].iter().position(|head| *head == name).expect(name);
    assert_eq!(lines.len(), 3, "{csv}");
    for line in &lines[1..] {
        let number = |name| line[column(name)].parse::<f64>().expect(name);
        assert!(number("low") < number("mean") && number("mean") < number("high"));
        assert_eq!(line[column("runs")], "4");
    }
    let points = written(&bench, STUDY, "points.csv");
    let heads: Vec<&str> = points.lines().next().expect("heads").split(',').collect();
    assert_eq!(heads[heads.len() - 2..], ["run", "seed"]);
    let ends: Vec<&str> = points
        .lines()
        .skip(1)
        .map(|line| &line[line.len() - 6..])
        .collect();
    assert!(ends[0].ends_with(",0,") && ends[3] == "3,1003", "{ends:?}");
    let figure = written(&bench, STUDY, "figures/n-queue.svg");
    assert!(
        figure.contains("95 % interval of the mean of 4 runs"),
        "{figure}"
    );
    assert_eq!(
        figure.matches("\"bar c0\"").count(),
        6,
        "two bars of three lines"
    );
    let page = written(&bench, STUDY, "index.html");
    assert!(page.contains(" +- ") && page.contains("95 % interval"));
    let json: serde_json::Value =
        serde_json::from_str(&written(&bench, STUDY, "results.json")).expect("JSON");
    assert_eq!(json["means"][0]["runs"], 4);
    assert!(json["means"][0]["interval"][0].is_number());
    assert_eq!(json["points"][1]["seed"], 1001);
}

#[test]
fn equal_runs_are_reported_without_an_interval() {
    // A file in which all flows begin at once; a model without random draws.
    let fluid = STUDY
        .replace("network = \"net.toml\"", "fluid = true")
        .replace("key = \"link.line.queue.limit\"", "key = \"rtt_ms\"")
        .replace("[\"10 packets\", \"40 packets\"]", "[100, 200]");
    for text in [STUDY, &fluid] {
        let bench = bench(&at_once());
        let csv = written(&bench, text, "means.csv");
        assert_eq!(
            csv.matches("all runs are equal: no interval").count(),
            2,
            "{csv}"
        );
        assert_eq!(
            csv.matches(",,,4,").count(),
            2,
            "neither low nor high: {csv}"
        );
        let page = written(&bench, text, "index.html");
        assert!(page.contains("have the same `queue`"), "{page}");
        assert!(page.contains("(equal)") && !page.contains("<td class=\"number\">0 +-"));
        let figure = written(&bench, text, "figures/n-queue.svg");
        assert!(figure.contains("no bar where all 4 runs are equal: 2 of 2 points"));
        assert!(!figure.contains("\"bar c0\""));
    }
}

#[test]
fn row_with_equal_runs_has_no_interval() {
    let row = "[[published]]\nid = \"Q\"\nwhat = \"queue\"\nunit = \"KB\"\nat_least = 1\nsource = \"s\"\n\
               evidence = \"text\"\nmeasured = { is = \"max\", of = \"n.queue\" }\n\
               [[published]]\nid = \"S\"\nwhat = \"it rises\"\nstated = \"rises\"\nsource = \"s\"\n\
               evidence = \"text\"\nshape = { is = \"rising\", of = \"n.queue\" }\n";
    let text = format!("{STUDY}{row}");
    let judged = |network: &str| {
        let study = Study::parse("study", &text).expect("a study");
        let results = bench(network).run(&text, 2);
        verdict::rows(
            &study,
            &results,
            &selection::select(&study, &[]).expect("rows"),
        )
    };
    for row in judged(&at_once()) {
        assert!(row.equal_runs && row.interval.is_none(), "{row:?}");
    }
    let rows = judged(&network());
    assert!(rows[0].interval.is_some() && !rows[0].equal_runs);
    assert!(!rows[1].equal_runs, "{:?}", rows[1]);
}

/// The notes about a sweep's single runs.
fn single_run_note(text: &str) -> Option<String> {
    let study = Study::parse("study", text).expect("a study");
    let results = bench(&network()).run(text, 2);
    let said = single_runs(&study, &results, "n");
    let bench = bench(&network());
    let page = written(&bench, text, "index.html");
    let why = said.as_deref().unwrap_or("run once");
    assert_eq!(page.contains(why), said.is_some(), "{page}");
    said
}

#[test]
fn single_runs_are_reported_with_the_known_spread() {
    assert_eq!(single_run_note(STUDY), None);
    let once = STUDY.replace("replicate = true\n", "");
    let said = single_run_note(&once).expect("single runs");
    assert_eq!(
        said,
        "each of 2 points is run once, without an interval: how far runs lie apart is not known"
    );
    let why = once.replace(
        "[sweep.n]\n",
        "[sweep.n]\nsingle = \"one run was published\"\n",
    );
    let said = single_run_note(&why).expect("single runs");
    assert!(
        said.ends_with("without an interval: one run was published"),
        "{said}"
    );
    // The widest interval is that of the points that are run several times.
    let one = STUDY.replace("replicate = true", "replicate = [10]");
    let said = single_run_note(&one).expect("single runs");
    let results = bench(&network()).run(&one, 2);
    let runs = values(&results, "queue");
    let of_ten = Estimate::of(&runs[..4]);
    let share = of_ten.half_width.expect("an interval") / of_ten.mean * 100.0;
    let expected = format!(
        "1 of 2 points are run once, without an interval: where the study runs points several times, \
         95 % intervals reach from the mean at most {share:.1} % of `queue`"
    );
    assert_eq!(said, expected);
}

/// The reason that npsim reports is true: other seeds do not change the results of a model or a
/// capture.
#[test]
fn models_without_random_draws_are_reported() {
    let fluid = STUDY
        .replace("network = \"net.toml\"", "fluid = true")
        .replace("key = \"link.line.queue.limit\"", "key = \"rtt_ms\"")
        .replace("[\"10 packets\", \"40 packets\"]", "[100, 200]");
    let runs = values(&bench(&network()).run(&fluid, 2), "queue");
    assert!(
        runs[..4]
            .iter()
            .all(|value| value.to_bits() == runs[0].to_bits())
    );
    let once = fluid.replace("replicate = true\n", "");
    let said = single_run_note(&once).expect("single runs");
    assert!(
        said.ends_with("the model draws no random numbers"),
        "{said}"
    );
}

#[test]
fn repository_sweeps_are_replicated() {
    let folder = crate::root().join("benches/sweeps");
    let mut found = 0;
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a sweep");
        let study = Study::parse("sweep", &text).expect("a sweep");
        let all = npsim_lab::points::points(&study, false).expect("points");
        let once = all.iter().filter(|point| point.run == 0).count();
        let all = all.len();
        assert!(
            all >= 3 * once,
            "{}: {all} runs of {once} points",
            path.display()
        );
        found += 1;
    }
    assert!(found > 0);
}
