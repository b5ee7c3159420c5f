//! The limits of real runs.

use super::{OVERLOAD, root, run_output};

fn bottleneck(text: &str) -> &str {
    &text[text.find("bottleneck ").expect("a bottleneck")..]
}

#[test]
fn forwarder_handles_one_line_of_minimum_frames() {
    let folder = tempfile::tempdir().unwrap();
    let trace = ["--trace", "traces/minsize.pcap.gz", "--pace", "line"];
    let text = run_output("microcode/forward", &trace, folder.path());
    let text = bottleneck(&text);
    for part in [
        "Nothing is saturated. Microengine 0 (forward.uc) comes nearest",
        "port 0 line in is full",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn outgoing_line_limits_three_lines_of_minimum_frames() {
    let folder = tempfile::tempdir().unwrap();
    let text = run_output("microcode/forward", OVERLOAD, folder.path());
    let text = bottleneck(&text);
    for part in [
        "The line out of port 1 is the limit",
        "TX_RING holds",
        "Next in line inside the chip: microengine 0",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn microengine_0_limits_a_full_load_of_minimum_frames() {
    let folder = tempfile::tempdir().unwrap();
    let text = run_output("microcode/forward", &["--load", "1"], folder.path());
    let text = bottleneck(&text);
    for part in [
        "Microengine 0 (forward.uc)",
        "found no room in the receive FIFO of ports 0, 1, 2",
        "6 microengines run nothing",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn slow_output_port_is_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    std::fs::create_dir(&project).unwrap();
    let forward = root().join("microcode/forward");
    for name in ["forward.uc", "transmit.uc"] {
        std::fs::copy(forward.join(name), project.join(name)).unwrap();
    }
    let lib = root().join("microcode/lib");
    // Port 1, by which most leaves, gets a tenth of its rate.
    let text = std::fs::read_to_string(forward.join("npsim.toml")).unwrap();
    let text = text.replace("../lib", lib.to_str().unwrap()).replacen(
        "rate = \"1Gbps\"\nmac = \"02:00:5e:00:00:01\"",
        "rate = \"100Mbps\"\nmac = \"02:00:5e:00:00:01\"",
        1,
    );
    assert!(text.contains("100Mbps"));
    std::fs::write(project.join("npsim.toml"), text).unwrap();
    let trace = [
        "--trace",
        "traces/minsize.pcap.gz",
        "--pace",
        "line",
        "--ports",
        "0",
    ];
    let text = run_output(
        project.to_str().unwrap(),
        &trace,
        &folder.path().join("report"),
    );
    let text = bottleneck(&text);
    for part in ["The line out of port 1 is the limit", "TX_RING"] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn program_without_traffic_gets_a_separate_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("spin.uc");
    std::fs::write(&source, "again#:\nnop\nbr[again#]\n").unwrap();
    let text = run_output(
        source.to_str().unwrap(),
        &["--until", "20us"],
        &folder.path().join("report"),
    );
    assert!(
        bottleneck(&text).contains("No frames came; microengine 0 is used most"),
        "{text}"
    );
}
