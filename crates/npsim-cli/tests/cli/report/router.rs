//! The limits of the standard router, whose stages hand over work through memory and poll in turn
//! when there is none.

use super::run_output;

/// The verdict and its evidence on a run of a millisecond.
fn verdict(project: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let all = [&["--time", "1ms"], arguments].concat();
    let text = run_output(project, &all, folder.path());
    text[text.find("bottleneck ").expect("a bottleneck")..].to_owned()
}

fn assert_contains(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

/// The first sentence names this as the limit, whatever its kind.
fn assert_limited_by(text: &str, name: &str) {
    let headline = text.lines().next().unwrap();
    assert!(headline.contains(name), "{text}");
    assert!(!headline.contains("Nothing is saturated"), "{text}");
}

#[test]
fn queue_manager_limits_three_lines_of_minimum_frames() {
    let text = verdict("microcode/router", &["--rate", "4.464Mpps"]);
    assert_limited_by(&text, "Microengine 1 (queue_manager.uc) is the limit");
    assert_contains(
        &text,
        &[
            "microengines 4, 5, 6 (processing.uc) poll NEXT_SLOT",
            "for each write to SEQUENCE_SLOTS: they wait for room",
            "In front, PROCESSING_RING holds",
        ],
    );
}

#[test]
fn another_processing_microengine_does_not_change_the_limit() {
    let more = ["--rate", "4.464Mpps", "--set", "me.processing.id=4-7"];
    let text = verdict("microcode/router", &more);
    assert_limited_by(&text, "Microengine 1 (queue_manager.uc) is the limit");
}

#[test]
fn single_processing_microengine_is_the_limit() {
    let one = ["--rate", "4.464Mpps", "--set", "me.processing.id=4"];
    let text = verdict("microcode/router", &one);
    assert_limited_by(&text, "Microengine 4 (processing.uc)");
    assert_contains(
        &text,
        &["In front, PROCESSING_RING holds", "frames found no room"],
    );
}

#[test]
fn single_processing_microengine_of_an_ixp2800_is_the_limit() {
    let one = ["--rate", "8Mpps", "--set", "me.processing.id=4"];
    let text = verdict("microcode/router/ixp2800.toml", &one);
    assert_limited_by(&text, "Microengine 4 (processing.uc)");
}

#[test]
fn port_taking_all_traffic_is_the_limit() {
    let all = ["--rate", "3Mpps", "--to", "10.2.0.0/16"];
    let text = verdict("microcode/router", &all);
    assert_limited_by(&text, "The line out of port 2 is the limit");
    assert_contains(&text, &["frames were lost in the microcode's queues"]);
}

#[test]
fn router_at_low_load_is_not_saturated() {
    let text = verdict("microcode/router", &["--rate", "1Mpps"]);
    assert_contains(&text, &["Nothing is saturated."]);
}
