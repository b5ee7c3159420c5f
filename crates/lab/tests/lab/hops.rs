//! Points on chains of routers.

use std::collections::BTreeMap;

use npsim_lab::points::points;
use npsim_lab::results::Results;
use npsim_lab::study::Study;

use crate::bench::Bench;

const STUDY: &str = r#"
name = "hops"
title = "Forwarders one behind the other"
[window]
warm_up = "50us"
measure = "150us"
[metric.offered]
measure = "offered-rate"
[metric.egress]
measure = "egress-rate"
[metric.latency]
measure = "latency"
[metric.least]
measure = "latency"
statistic = "min"
[metric.losses]
measure = "loss-rate"
[metric.busy]
measure = "utilisation"
[sweep.forward]
system = "microcode/forward"
set = { "load.rate" = "0.3", "chain.delay" = "2us" }
[[sweep.forward.axis]]
name = "hops"
key = "hops"
values = [1, 2, 4]
"#;

/// A metric by the number of routers.
fn metric(results: &Results, name: &str) -> BTreeMap<usize, f64> {
    let value = |cached| {
        results.outcome(cached).unwrap().metrics[name]
            .value
            .unwrap()
    };
    let points = results.points.iter();
    points
        .map(|cached| (cached.point.hops.unwrap_or(1), value(cached)))
        .collect()
}

#[test]
fn frames_are_counted_at_the_ends_of_the_chain() {
    let results = Bench::of_repository().run(STUDY, 1);
    let [offered, egress, latency, least, busy] =
        ["offered", "egress", "latency", "least", "busy"].map(|name| metric(&results, name));
    // The input is the same whatever follows the first router.
    assert!(offered.values().all(|rate| (0.1..10.0).contains(rate)));
    let differ = |hops| (offered[&1] - offered[&hops]).abs() > f64::EPSILON;
    assert!(!differ(2) && !differ(4), "{offered:?}");
    for hops in [2, 4] {
        assert!((egress[&hops] / egress[&1] - 1.0).abs() < 0.1, "{egress:?}");
        assert!(busy[&hops] > 0.0, "{busy:?}");
        // From the first router on, over all links.
        assert!(
            latency[&hops] > latency[&1] + 2.0 * (hops - 1) as f64,
            "{latency:?}"
        );
        assert!(
            least[&hops] > hops as f64 * (least[&1] + 2.0) - 2.0 - 0.5 * hops as f64,
            "{least:?}"
        );
    }
}

#[test]
fn losses_are_summed_over_all_routers() {
    let overload = STUDY.replace("\"0.3\"", "\"1\"").replace("50us", "400us");
    let losses = metric(&Bench::of_repository().run(&overload, 2), "losses");
    assert!(losses[&1] > 0.0 && losses[&4] >= losses[&1], "{losses:?}");
}

#[test]
fn results_are_independent_of_job_count() {
    let first = Bench::of_repository().run(STUDY, 1);
    for jobs in [2, 7] {
        assert_eq!(
            Bench::of_repository().run(STUDY, jobs).outcomes,
            first.outcomes
        );
    }
}

#[test]
fn single_router_chain_equals_no_chain() {
    let key = |text: &str| {
        let results = Bench::of_repository().run(text, 1);
        results.points[0].key.clone()
    };
    let one = STUDY.replace("[1, 2, 4]", "[1]");
    let axis = one.split_once("[[").unwrap().0;
    assert_eq!(key(&one), key(axis));
    let two = STUDY.replace("[1, 2, 4]", "[2]");
    assert_ne!(key(&two), key(axis));
    // A study can set it for all points.
    let set = axis.replace("set = {", "set = { hops = 2,");
    assert_eq!(key(&two), key(&set));
}

#[test]
fn invalid_router_counts_are_refused() {
    for value in ["0", "256", "-1", "\"many\"", "1.5"] {
        let text = STUDY.replace("[1, 2, 4]", &format!("[{value}]"));
        let study = Study::parse("hops", &text);
        let message = match study {
            Ok(study) => points(&study, false).unwrap_err().to_string(),
            Err(problem) => problem.to_string(),
        };
        assert!(message.contains("not a number of routers"), "{message}");
    }
}
