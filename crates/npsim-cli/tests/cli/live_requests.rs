//! Requests to a live run that is not attached to an interface and so needs no privileges.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::harness::{CommandOutput, Dir, root};

/// A live run with its control socket at `sock`; by default of the router that answers ARP.
struct LiveRun {
    dir: Dir,
    child: KillOnDrop,
}

/// A process that does not outlive its test.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}

impl LiveRun {
    fn start(dir: Dir, more: &str) -> Self {
        Self::start_target("microcode/forward/arp.toml", dir, more)
    }

    fn start_target(target: &str, dir: Dir, more: &str) -> Self {
        let target = root().join(target);
        let child = Command::new(env!("CARGO_BIN_EXE_npsim"))
            .current_dir(dir.path(""))
            .arg("live")
            .arg(target)
            .args(["--control", "sock", "--quiet"])
            .args(more.split_whitespace())
            .stderr(Stdio::null())
            .spawn()
            .expect("npsim starts");
        let child = KillOnDrop(child);
        let live = Self { dir, child };
        for _ in 0..600 {
            if live.ask("status").code == 0 {
                return live;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("the run does not answer");
    }

    fn ask(&self, request: &str) -> CommandOutput {
        self.dir.npsim(&format!("live --ask sock {request}"))
    }

    /// Ends the run; returns its folder.
    fn stop(mut self) -> Dir {
        self.ask("stop").expect(0, &["the run ends"]);
        assert!(self.child.0.wait().expect("it ends").success());
        self.dir
    }
}

#[test]
fn counters_can_be_read_by_name_or_part() {
    let live = LiveRun::start(Dir::new(), "");
    let read = |request: &str| -> serde_json::Value {
        serde_json::from_str(&live.ask(request).expect(0, &[]).out).expect("JSON")
    };
    let overview = read("counters");
    let counters = overview["counters"].as_object().expect("counters");
    let name = counters.keys().next().expect("a counter");
    assert!(overview["gpp"]["exceptions"].is_u64(), "{overview}");
    assert_eq!(read(&format!("counters {name}"))[name], counters[name]);
    assert!(read("counters media.drops").is_array());
    assert_eq!(read("counters ports.0.port")["ports.0.port"], 0);
    assert_eq!(read("counters all")["chip"], "ixp2400");
    live.ask("counters nothing")
        .expect(1, &["there is no counter `nothing`", name, "media"]);
    live.stop();
}

#[test]
fn observation_files_are_complete_after_stop_or_end_of_run() {
    let live = LiveRun::start(Dir::new(), "");
    live.ask("timeline stop").expect(
        1,
        &["`timeline` is not being written", "timeline start FILE"],
    );
    live.ask("timeline start lanes.json.gz")
        .expect(0, &["`timeline stop` completes `lanes.json.gz`"]);
    live.ask("packets start rows.csv")
        .expect(0, &["from cycle"]);
    live.ask("packets start others.csv")
        .expect(1, &["`rows.csv` is already being written", "packets stop"]);
    let there = |name: &str| live.dir.path(name).exists();
    assert!(!there("lanes.json.gz") && !there("rows.csv"));
    live.ask("timeline stop")
        .expect(0, &["`lanes.json.gz` has cycles"]);
    assert!(there("lanes.json.gz") && !there("rows.csv"));
    live.ask("timeline start none/lanes.json")
        .expect(1, &["none/lanes.json"]);
    // The run continues after refused requests.
    live.ask("status").expect(0, &["simulated_picoseconds"]);
    let dir = live.stop();
    assert!(dir.read("rows.csv").starts_with(b"packet,"));
    assert_eq!(dir.files(), ["lanes.json.gz", "rows.csv"]);
}

#[test]
fn requests_do_not_overwrite_files_of_the_run() {
    let dir = Dir::new().with("old.csv", "old");
    let live = LiveRun::start(dir, "--record lab.pcapng --stats lab.json");
    for file in ["lab.pcapng", "./lab.json"] {
        live.ask(&format!("packets start {file}"))
            .expect(1, &["would overwrite what the run writes"]);
    }
    let source = root().join("microcode/forward/arp.toml");
    live.ask(&format!("timeline start {}", source.display()))
        .expect(1, &["would overwrite the project file"]);
    // An older file stays until the new one is complete.
    live.ask("packets start old.csv").expect(0, &[]);
    assert_eq!(live.dir.read("old.csv"), b"old");
    live.stop();
}

#[test]
fn checkpoint_refusal_names_a_command_that_works() {
    let live = LiveRun::start(Dir::new(), "");
    live.ask("checkpoint x").expect(
        1,
        &[
            "what real hosts will send is not known",
            "begin the run with `--record FILE`",
        ],
    );
    live.stop();
    let live = LiveRun::start(Dir::new(), "--record lab.pcapng");
    let refusal = live
        .ask("checkpoint x.checkpoint")
        .expect(1, &["--pace recorded --until"])
        .err;
    let dir = live.stop();
    let words = refusal.split_whitespace().collect::<Vec<_>>().join(" ");
    let command = words.split('`').nth(1).expect("a command");
    let target = root().join("microcode/forward/arp.toml");
    let command = { command.strip_prefix("npsim ").expect("of npsim") }
        .replace("TARGET", &target.display().to_string())
        .replace("RECORDING", "lab.pcapng");
    dir.npsim(&format!("{command} --quiet")).expect(0, &[]);
    dir.npsim("run --resume x.checkpoint --until 5s --quiet")
        .expect(0, &[]);
}

#[test]
fn requests_to_a_network_name_its_routers() {
    const ROUTERS: &str = "traces/live/three-routers.toml";
    let live = LiveRun::start_target(ROUTERS, Dir::new(), "--record lab.pcapng --stats live.json");
    let read = |request: &str| -> serde_json::Value {
        serde_json::from_str(&live.ask(request).expect(0, &[]).out).expect("JSON")
    };
    let overview = read("counters");
    let names: Vec<_> = { overview.as_object().into_iter() }
        .flat_map(|it| it.keys())
        .collect();
    assert_eq!(names, ["r1", "r2", "r3"]);
    let words = |counts: &serde_json::Value| counts["gpp"]["route_words"].as_u64();
    assert!(words(&overview["r2"]) > Some(0), "{overview}");
    assert_eq!(words(&read("counters r2")), words(&overview["r2"]));
    assert!(read("counters r3.media.drops").is_array());
    live.ask("counters r3.nothing")
        .expect(1, &["there is no counter `nothing`"]);
    for request in [
        "counters left",
        "inside left",
        "route left remove 10.2.0.0/16",
    ] {
        live.ask(request)
            .expect(1, &["there is no router `left`", "r1, r2, r3"]);
    }
    live.ask("inside r1")
        .expect(0, &["microengine 0 context 0", "microengine 1 context 0"]);
    live.ask("route r2 remove 10.9.0.0/16")
        .expect(1, &["10.9.0.0/16"]);
    live.ask("route r2 remove 10.2.0.0/16")
        .expect(0, &["route r2 remove"]);
    live.ask("route r2 add 10.2.0.0/16 discard").expect(0, &[]);
    live.ask("timeline start x.json")
        .expect(1, &["this run is of a network", "--recorded RECORDING"]);
    live.ask("checkpoint x")
        .expect(1, &["npsim network TARGET --recorded RECORDING --until"]);
    // The changes take time on the core.
    std::thread::sleep(Duration::from_millis(500));
    let dir = live.stop();
    let file = root().join(ROUTERS);
    let again = "--recorded lab.pcapng --quiet --stats again.json";
    dir.npsim(&format!("network {} {again}", file.display()))
        .expect(0, &[]);
    let stats = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&dir.read(name)).expect("JSON")
    };
    let (live, again) = (&stats("live.json")["network"], stats("again.json"));
    let routes = &live["routers"][1]["node"]["chip"]["gpp"]["routes"][0];
    assert_eq!(
        (&routes["removed"], &routes["added"]),
        (&1.into(), &1.into())
    );
    assert_eq!(live["routers"], again["routers"]);
}

#[test]
fn recorded_live_chain_is_replayed_as_a_network() {
    const PROJECT: &str = "microcode/forward/arp.toml";
    let options = "--hops 2 --set chain.delay=3us --record lab.pcapng --stats live.json";
    let live = LiveRun::start_target(PROJECT, Dir::new(), options);
    live.ask("counters r2.gpp").expect(0, &["exceptions"]);
    live.ask("route r2 change 10.2.0.0/16 port=0 next_hop=172.31.1.1")
        .expect(0, &["route r2 change"]);
    std::thread::sleep(Duration::from_millis(500));
    let dir = live.stop();
    let project = root().join(PROJECT);
    let project = project.display();
    let recorded = "--set chain.delay=3us --recorded lab.pcapng --quiet";
    dir.npsim(&format!(
        "network {project} --hops 2 {recorded} --stats again.json"
    ))
    .expect(0, &[]);
    let stats = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&dir.read(name)).expect("JSON")
    };
    let (live, again) = (&stats("live.json")["network"], stats("again.json"));
    assert_eq!(
        live["routers"][0]["routes"][0],
        "port 1 next hop 172.31.1.2"
    );
    assert_eq!(
        live["routers"][1]["routes"][0],
        "port 0 next hop 172.31.1.1"
    );
    assert_eq!(live["routers"], again["routers"]);
    dir.npsim(&format!("network {project} --hops 3 {recorded}"))
        .expect(0, &["arp.toml --hops 2`, and", "arp.toml --hops 3` runs"]);
    dir.npsim(&format!(
        "run {project} --hops 2 --trace lab.pcapng --pace recorded"
    ))
    .expect(1, &["npsim network", "--hops 2 --recorded FILE.pcapng"]);
    dir.npsim(&format!("network {project} --hops 2"))
        .expect(2, &["--recorded"]);
}

#[test]
fn invalid_requests_are_refused_with_a_remedy() {
    let live = LiveRun::start(Dir::new(), "");
    let help = live.ask("help").expect(0, &["counters [NAME]"]).out;
    for request in [
        "timeline start",
        "packets stop",
        "checkpoint",
        "inside",
        "stop",
    ] {
        assert!(help.contains(request), "{request} in:\n{help}");
    }
    live.ask("status now")
        .expect(1, &["is not `status`", "help"]);
    live.ask("timeline begin x")
        .expect(1, &["`timeline start FILE` or `timeline stop`"]);
    live.ask("route change 10.2.0.0/16 port=1 port=2 next_hop=10.2.0.2")
        .expect(1, &["`port` is given twice"]);
    live.ask("nothing")
        .expect(1, &["there is no request `nothing`"]);
    live.stop();
}

#[test]
fn invalid_live_options_are_refused_with_a_remedy() {
    let target = root().join("microcode/forward/arp.toml");
    let target = target.display();
    let dir = Dir::new();
    let refused = |options: &str, phrases: &[&str]| {
        dir.npsim(&format!("live {target} --until 1ms {options}"))
            .expect(1, phrases);
    };
    refused("--screen", &["`--screen` needs a terminal", "leave it out"]);
    refused(
        "--hops 3 --port 2=tap:np2",
        &["there is no port `2`", "choose one of 0, 1"],
    );
    let network = root().join("traces/live/three-routers.toml");
    let refused_chain = |target: &Path, phrases: &[&str]| {
        dir.npsim(&format!("live {} --hops 2 --until 1ms", target.display()))
            .expect(1, phrases);
    };
    refused_chain(&network, &["a network file", "leave `--hops` out"]);
    refused_chain(
        &root().join("microcode/course/eight-chains"),
        &["port 0", "port 1", "the project has 0 ports"],
    );
    let long = "s".repeat(120);
    refused(
        &format!("--control {long}"),
        &["has 120 bytes", "at most 107", "name a shorter one"],
    );
    let percent = dir.npsim(&format!("live {target} --port 0=tap:zz%d"));
    percent.expect(2, &["pattern of a percent sign", "tap:zz0"]);
}
