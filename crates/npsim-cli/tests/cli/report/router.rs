//! The limits of the standard router, whose stages hand over work through memory and poll in turn
//! when there is none.

use super::shown;

/// The verdict and its evidence on a run of a millisecond.
fn verdict(project: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let all = [&["--time", "1ms"], arguments].concat();
    let text = shown(project, &all, folder.path());
    text[text.find("bottleneck ").expect("a bottleneck")..].to_owned()
}

fn says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

/// The first sentence names this as the limit, whatever its kind.
fn is_held_up_by(text: &str, name: &str) {
    let headline = text.lines().next().unwrap();
    assert!(headline.contains(name), "{text}");
    assert!(!headline.contains("Nothing is saturated"), "{text}");
}

#[test]
fn three_lines_of_least_frames_are_too_much_for_the_queue_manager() {
    let text = verdict("microcode/router", &["--rate", "4.464Mpps"]);
    is_held_up_by(&text, "Microengine 1 (queue_manager.uc) is the limit");
    says(
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
    is_held_up_by(&text, "Microengine 1 (queue_manager.uc) is the limit");
}

#[test]
fn with_one_processing_microengine_the_processing_stage_is_the_limit() {
    let one = ["--rate", "4.464Mpps", "--set", "me.processing.id=4"];
    let text = verdict("microcode/router", &one);
    is_held_up_by(&text, "Microengine 4 (processing.uc)");
    says(
        &text,
        &["In front, PROCESSING_RING holds", "frames found no room"],
    );
}

#[test]
fn one_processing_microengine_of_an_ixp2800_is_the_limit_as_well() {
    let one = ["--rate", "8Mpps", "--set", "me.processing.id=4"];
    let text = verdict("microcode/router/ixp2800.toml", &one);
    is_held_up_by(&text, "Microengine 4 (processing.uc)");
}

#[test]
fn a_port_to_which_all_traffic_goes_is_the_limit() {
    let all = ["--rate", "3Mpps", "--to", "10.2.0.0/16"];
    let text = verdict("microcode/router", &all);
    is_held_up_by(&text, "The line out of port 2 is the limit");
    says(&text, &["frames were lost in the microcode's queues"]);
}

#[test]
fn router_at_a_low_load_saturates_nothing() {
    let text = verdict("microcode/router", &["--rate", "1Mpps"]);
    says(&text, &["Nothing is saturated."]);
}
