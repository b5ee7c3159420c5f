//! A whole run has the same numbers and captures as a run from files on disk.

use npsim::engine::ENGINE;
use npsim::net::egress::{CaptureFormat, CapturePort, TraceSink};
use npsim::run_limits::RunLimits;
use npsim::session::{Plan, Session};
use npsim::simulation::RunSettings;
use npsim::stats_file;
use npsim::system::{System, Traffic};
use npsim::traffic::TrafficSource;
use serde_json::{Value, json};

use crate::page::{Page, repository};

/// The statistics of a run of files on the disk, without observers.
fn stats_from_disk(target: &str, traffic: Traffic, capture: Option<TraceSink>) -> Value {
    let system = System::load(repository().join(target)).unwrap();
    let project = system.project();
    let source = TrafficSource::open(traffic, project).unwrap();
    let machine = RunSettings::new(ENGINE);
    let settings = RunLimits::default().settings(machine, project.capacity.hertz, &source);
    let plan = Plan::one(project.clone(), system.programs(), settings);
    let mut session = Session::new(&plan, source.ends().unwrap()).unwrap();
    if let Some(sink) = capture {
        session.capture_to(sink);
    }
    let mut observers = vec![npsim::observe::set::ObserverSet::default()];
    let go_on = &mut |_| std::ops::ControlFlow::Continue(());
    while session.run_to(u64::MAX, &mut observers, go_on).is_none() {}
    session.finish().unwrap();
    let text = stats_file::to_json(&session.stats()).unwrap();
    serde_json::from_str(&text).unwrap()
}

#[test]
fn shipped_systems_have_the_same_statistics_as_from_disk() {
    let mut page = Page::shipped();
    for target in [
        "microcode/forward/npsim.toml",
        "microcode/forward/arp.toml",
        "microcode/router/npsim.toml",
        "microcode/router/ixp2800.toml",
        "microcode/router/two-queue-managers.toml",
        "microcode/ordering/in-order.toml",
        "microcode/ordering/aisr.toml",
        "microcode/ordering/local.toml",
        "microcode/quick-start/lock.toml",
        "microcode/xcp/lock.toml",
    ] {
        let load = json!({ "rate": "0.3", "time": "40us" });
        page.ask(&json!({
            "op": "open",
            "target": format!("/{target}"),
            "traffic": { "kind": "load", "load": load },
        }));
        page.measure(true);
        let stats = page.ask(&json!({ "op": "stats" }))["stats"].take();
        let system = System::load(repository().join(target)).unwrap();
        let mut load = system.project().load.clone().unwrap_or_default();
        load.rate = Some("0.3".parse().unwrap());
        load.time = "40us".parse().unwrap();
        let load = npsim::load::resolved(load, system.project());
        let expected = stats_from_disk(target, Traffic::Load(Box::new(load)), None);
        assert_eq!(stats, expected, "{target}");
        assert_ne!(stats["packets"]["sent"], 0, "{target}");
    }
}

#[test]
fn capture_in_memory_gives_the_same_output_as_from_disk() {
    let mut page = Page::shipped();
    let folder = tempfile::tempdir().unwrap();
    let target = "microcode/forward/npsim.toml";
    for (name, form) in [
        ("pcapng", CaptureFormat::PcapNg),
        ("pcap", CaptureFormat::Pcap),
    ] {
        let opened = page.ask(&json!({
            "op": "open",
            "target": format!("/{target}"),
            "traffic": { "kind": "capture", "path": "/traces/exceptions.pcap" },
        }));
        let lines = opened["ports"].as_array().unwrap();
        let lines = lines.iter().enumerate();
        let lines: Vec<_> = lines
            .map(|(at, it)| CapturePort::port(at, it.as_u64().unwrap()))
            .collect();
        page.measure(false);
        let path = folder.path().join(format!("out.{name}"));
        let sink = TraceSink::create(&path, form, &lines).unwrap();
        let capture = Traffic::capture(repository().join("traces/exceptions.pcap"));
        let expected = stats_from_disk(target, capture, Some(sink));
        let stats = page.ask(&json!({ "op": "stats" }))["stats"].take();
        assert_eq!(stats, expected);
        let refused = page.refused(&json!({ "op": "report" }));
        assert!(refused.contains("not observed"), "{refused}");
        let left = page.file(&json!({ "op": "departures", "format": name }));
        assert_eq!(left, std::fs::read(&path).unwrap(), "{name}");
        assert!(left.len() > 1000);
        let table = page.ask(&json!({ "op": "departures", "format": "json", "count": 5 }));
        assert_eq!(table["total"], stats["packets"]["sent"]);
        assert_eq!(table["frames"].as_array().unwrap().len(), 5);
        assert!(
            table["frames"][0]["summary"]
                .as_str()
                .unwrap()
                .starts_with("IPv")
        );
        // Times are those of the run, not the dates of the capture.
        let first = &table["frames"][0];
        let (at, seconds) = (first["at"].as_f64().unwrap(), first["seconds"].as_f64());
        let (seconds, hertz) = (seconds.unwrap(), opened["hertz"].as_f64().unwrap());
        assert!((0.0..1.0).contains(&seconds), "{first}");
        assert!((at / hertz - seconds).abs() < 1e-8, "{first}");
    }
    let came = page.ask(&json!({ "op": "arrivals", "path": "/traces/minsize.pcap.gz", "from": 2 }));
    assert_eq!(came["frames"][0]["number"], 2);
    assert!(came["total"].as_u64().unwrap() > 1000);
}

#[test]
fn whole_run_reports_its_bottleneck() {
    let mut page = Page::shipped();
    page.ask(&json!({
        "op": "open",
        "target": "/microcode/router",
        "traffic": { "kind": "load", "load": { "rate": "1", "time": "100us" } },
    }));
    assert!(
        page.refused(&json!({ "op": "stats" }))
            .contains("not measured")
    );
    let progress = page.ask(&json!({ "op": "measure", "cycles": 1000 }));
    assert_eq!(progress["done"], false);
    assert!(
        page.refused(&json!({ "op": "stats" }))
            .contains("not come to its end")
    );
    let progress = page.measure(true);
    assert_eq!(progress["ending"], "drained");
    let why = page.ask(&json!({ "op": "bottleneck" }));
    assert!(!why["headline"].as_str().unwrap().is_empty());
    let report = page.file(&json!({ "op": "report" }));
    assert!(String::from_utf8_lossy(&report).contains("</html>"));
    let summary = page.ask(&json!({ "op": "summary" }));
    assert!(
        summary["text"].as_str().unwrap().contains("packets"),
        "{summary}"
    );
    // The module has no clock.
    assert!(
        !summary["text"].as_str().unwrap().contains("host"),
        "{summary}"
    );
}

#[test]
fn effective_load_is_returned_by_open() {
    let mut page = Page::shipped();
    let mut load = |traffic: Value| {
        let asked = json!({ "op": "open", "target": "/microcode/router", "traffic": traffic });
        page.ask(&asked)["load"].take()
    };
    let asked = json!({ "kind": "load", "load": { "rate": "0.5", "time": "3ms", "flows": 7 } });
    let generated = load(asked);
    assert_eq!(generated["rate"], "0.5", "{generated}");
    assert_eq!(generated["flows"], 7);
    assert_eq!(generated["time"], "3ms");
    assert_eq!(generated["size"], "64", "{generated}");
    assert_eq!(generated["arrivals"], "constant");
    // The project's settings are also known without traffic, but not its amount.
    let none = load(json!({ "kind": "none" }));
    assert_eq!(none["flows"], 60);
    assert!(none["rate"].is_null());
    // The settings in force can be queried.
    let again = load(json!({ "kind": "load", "load": generated }));
    assert_eq!(again, generated);
}

#[test]
fn traffic_too_slow_to_show_a_limit_is_reported() {
    let mut page = Page::shipped();
    let mut measured = |pace: &str| {
        page.ask(&json!({
            "op": "open",
            "target": "/microcode/forward",
            "traffic": { "kind": "capture", "path": "/traces/mixed.pcap", "pace": pace },
            "until": "2ms",
        }));
        page.measure(true)
    };
    let slow = measured("trace")["slow"].take();
    assert_eq!(slow["frames"], 4);
    assert!(
        (slow["seconds"].as_f64().unwrap() - 0.002).abs() < 1e-4,
        "{slow}"
    );
    assert!(slow["line_percent"].as_f64().unwrap() < 5.0, "{slow}");
    assert_eq!(measured("line")["slow"], Value::Null);
}
