//! The limits of real runs.

use super::{OVERLOAD, root, shown};

fn bottleneck(text: &str) -> &str {
    &text[text.find("bottleneck ").expect("a bottleneck")..]
}

#[test]
fn one_line_of_least_frames_leaves_the_forwarder_room() {
    let folder = tempfile::tempdir().unwrap();
    let trace = ["--trace", "traces/minsize.pcap.gz", "--pace", "line"];
    let text = shown("microcode/forward", &trace, folder.path());
    let text = bottleneck(&text);
    for part in [
        "Nothing is saturated. Microengine 0 (forward.uc) comes nearest",
        "port 0 line in is full",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn three_lines_of_least_frames_are_too_much_for_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let text = shown("microcode/forward", OVERLOAD, folder.path());
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
fn three_lines_of_least_frames_are_too_much_for_microengine_0() {
    let folder = tempfile::tempdir().unwrap();
    let text = shown("microcode/forward", &["--load", "1"], folder.path());
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
fn a_slow_port_is_the_limit_of_all_that_leaves_by_it() {
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
    let text = shown(
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
fn a_program_without_traffic_is_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("spin.uc");
    std::fs::write(&source, "again#:\nnop\nbr[again#]\n").unwrap();
    let text = shown(
        source.to_str().unwrap(),
        &["--until", "20us"],
        &folder.path().join("report"),
    );
    assert!(
        bottleneck(&text).contains("No frames came; microengine 0 is used most"),
        "{text}"
    );
}
