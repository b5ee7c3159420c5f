//! Units, microengines, the core and bursts as limits: making the named one faster increases the throughput, and
//! nothing else does.

use std::process::Command;

use super::forwarder::{Forwarder, TURN};
use super::{root, run_output};

/// A forwarder with additional work for each packet before it takes its turn.
fn forwarder_with_work(declare: &'static str, work: &str, times: usize) -> Forwarder {
    Forwarder {
        declare,
        set_up: "    load_constant(record_place, RECORD)\n",
        first: "",
        work: work.repeat(times) + TURN,
        project: "\n[[memory]]\nname = \"RECORD\"\nspace = \"sram1\"\nsize = 64\n",
    }
}

/// Checks that settings that make the cause faster increase the throughput by at least the given
/// percentage, and that other settings do not.
fn assert_only_cause_limits(
    forwarder: &Forwarder,
    headline: &str,
    faster: (&str, u64),
    others: &[&str],
) {
    let (text, sent) = forwarder.run(&[]);
    let first = text.lines().next().unwrap();
    let mut parts = headline.split("...");
    assert!(parts.all(|part| first.contains(part)), "{text}");
    let (_, more) = forwarder.run(&[faster.0]);
    assert!(more * 100 >= sent * (100 + faster.1), "{sent}, then {more}");
    for other in others {
        let (_, same) = forwarder.run(&[other]);
        assert!(same * 100 <= sent * 104, "{other}: {sent}, then {same}");
    }
}

#[test]
fn constantly_busy_unit_is_the_limit() {
    let reads = "\
    sram[read, $one[0], record_place, 0, 7], sig_done[first]
    sram[read, $two[0], record_place, 0, 7], sig_done[second]
    ctx_arb[first, second]
";
    let declare = ".reg record_place\n.reg read $one[7] $two[7]\n.xfer_order $one\n.xfer_order $two\n.sig first second\n";
    assert_only_cause_limits(
        &forwarder_with_work(declare, reads, 24),
        "Sram1 is the limit: it is busy 9...while frames were lost.",
        ("profile.sram.longword_cycles=1", 15),
        &["profile.dram.read=90", "profile.scratch.read=30"],
    );
}

/// Increments that no context waits for fill the unit's queue, and then the microengine's.
#[test]
fn unit_with_a_full_command_queue_is_the_limit() {
    assert_only_cause_limits(
        &forwarder_with_work(
            ".reg record_place\n",
            "    sram[incr, --, record_place, 0]\n",
            18,
        ),
        "Sram1 is the limit: ...microengine 0 (forward.uc) can issue nothing, since it takes no more commands.",
        ("profile.sram.atomic_turnaround=13", 20),
        &["profile.scratch.read=30", "profile.hash.one=50"],
    );
}

#[test]
fn constantly_executing_microengine_is_the_limit() {
    // Yields between them, so that any context with work continues.
    let step = "    alu[--, --, B, record_place]\n".repeat(20) + "    ctx_arb[voluntary]\n";
    let busy = |times| forwarder_with_work(".reg record_place\n", &step, times);
    let expected = "Microengine 0 (forward.uc) is the limit: it is occupied 9";
    let (text, sent) = busy(30).run(&[]);
    assert!(text.lines().next().unwrap().contains(expected), "{text}");
    let (_, less_work) = busy(15).run(&[]);
    assert!(less_work * 100 > sent * 150, "{sent}, then {less_work}");
    for other in [
        "profile.sram.read=72",
        "profile.dram.read=90",
        "profile.scratch.read=30",
    ] {
        let (_, same) = busy(30).run(&[other]);
        assert!(same * 100 <= sent * 104, "{other}: {sent}, then {same}");
    }
}

/// The value at a path of a node's statistics.
fn stats_value(run: &[&str], path: &str) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let stats = folder.path().join("stats.json");
    let output = Command::new(env!("CARGO_BIN_EXE_npsim"))
        .current_dir(root())
        .arg("run")
        .args(run)
        .arg("--stats")
        .arg(&stats)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let stats = std::fs::read_to_string(stats).unwrap();
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    stats
        .pointer(path)
        .and_then(serde_json::Value::as_u64)
        .unwrap()
}

fn headline(run: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let text = run_output(run[0], &run[1..], folder.path());
    let line = text.lines().find(|line| line.starts_with("bottleneck"));
    line.expect("a bottleneck").to_owned()
}

#[test]
fn overloaded_core_limits_the_slow_path() {
    let run = [
        "microcode/forward",
        "--rate",
        "1Mpps",
        "--time",
        "1ms",
        "--set",
        "load.special.options=0.5",
    ];
    let said = headline(&run);
    let expected = "The general-purpose core is the limit of the slow path: packets pile up in its ring while frames arrived, and it is busy 99.";
    assert!(said.contains(expected), "{said}");
    let taken = |more: &str| {
        let run = [&run[..], &["--until", "1ms", "--set", more]].concat();
        stats_value(&run, "/nodes/0/chip/gpp/exceptions")
    };
    let as_it_is = taken("profile.gpp.exception_work=1200");
    let faster = taken("profile.gpp.exception_work=600");
    assert!(faster * 10 > as_it_is * 13, "{as_it_is}, then {faster}");
    for other in [
        "profile.sram.read=72",
        "profile.scratch.read=30",
        "me.1.id=2",
    ] {
        let same = taken(other);
        assert!(
            same * 100 <= as_it_is * 103,
            "{other}: {as_it_is}, then {same}"
        );
    }
    // With a tenth of the exceptions it has time.
    let few = [&run[..6], &["load.special.options=0.05"]].concat();
    assert!(!headline(&few).contains("slow path"), "{}", headline(&few));
}

#[test]
fn burst_losses_are_attributed_to_the_bursts() {
    let run = |burst: &'static str| {
        [
            "microcode/forward",
            "--load",
            "0.3",
            "--arrivals",
            "bursts",
            "--seed",
            "3",
            "--time",
            "8ms",
            "--burst",
            burst,
        ]
    };
    let said = headline(&run("400"));
    assert!(said.contains("Frames are lost in bursts: "), "{said}");
    assert!(
        said.contains(" found a place full, yet nothing is at its limit for long"),
        "{said}"
    );
    let lost = |run: &[&str]| {
        let port = |port| stats_value(run, &format!("/nodes/0/chip/ports/{port}/overflow_frames"));
        (0..3).map(port).sum::<u64>()
    };
    let whole = lost(&run("400"));
    assert!(
        whole > 0 && said.contains(&format!(" {whole} found a place full")),
        "{whole}: {said}"
    );
    // The same number of frames in shorter bursts finds room, and fewer frames find room in a
    // smaller buffer.
    assert_eq!(lost(&run("50")), 0);
    let less_room = [&run("400")[..], &["--set", "profile.msf.rbuf_bytes=4096"]].concat();
    assert!(
        lost(&less_room) > 2 * whole,
        "{whole}, then {}",
        lost(&less_room)
    );
    // Under a load that is always too high, the limit is not a burst.
    assert!(!headline(&["microcode/forward", "--load", "1", "--time", "400us"]).contains("bursts"));
}

/// A transmit stage that keeps the buffers of the packets that it has sent.
#[test]
fn leaked_buffers_are_reported_as_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let leaky = |count: u32, name: &str| {
        let project = folder.path().join(name);
        std::fs::create_dir(&project).unwrap();
        let forward = root().join("microcode/forward");
        std::fs::copy(forward.join("forward.uc"), project.join("forward.uc")).unwrap();
        let transmit = std::fs::read_to_string(forward.join("transmit.uc")).unwrap();
        let kept = transmit.replace("    buffer_return(handle, free_queue)\n", "");
        assert_ne!(kept, transmit);
        std::fs::write(project.join("transmit.uc"), kept).unwrap();
        let text = std::fs::read_to_string(forward.join("npsim.toml")).unwrap();
        let library = root().join("microcode/lib").canonicalize().unwrap();
        let text = text.replace("../lib", library.to_str().unwrap());
        let text = text.replace("count = 1024", &format!("count = {count}"));
        std::fs::write(project.join("npsim.toml"), text).unwrap();
        let run = [
            project.to_str().unwrap(),
            "--rate",
            "1Mpps",
            "--time",
            "2ms",
            "--until",
            "2ms",
        ];
        (headline(&run), stats_value(&run, "/packets/sent"))
    };
    let (said, sent) = leaky(256, "leak");
    let expected = "Nine tenths or more of the 256 packet buffers are in use while frames arrived, though nothing is saturated all the time";
    assert!(said.contains(expected), "{said}");
    let (_, more) = leaky(512, "more");
    assert!(more * 10 > sent * 18, "{sent}, then {more}");
    let whole = [
        "microcode/forward",
        "--rate",
        "1Mpps",
        "--time",
        "2ms",
        "--until",
        "2ms",
    ];
    assert!(headline(&whole).contains("Nothing is saturated."));
}
