//! The limits of routers that keep state under a lock.

use super::run_output;

/// The verdict on a run of 2 ms of minimum frames at line rate, which must name the lock, its
/// holders and the rate that it allows; and the rate of critical sections.
fn limited_by(lock: &str, project: &str, settings: &[&str]) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    let rate = ["--rate", "4.464Mpps", "--time", "2ms"];
    let text = run_output(project, &[&rate, settings].concat(), folder.path());
    let text = &text[text.find("bottleneck ").expect("a bottleneck")..];
    let headline = text.lines().next().unwrap();
    let first = format!("The lock {lock} is the limit: it is held or handed over 9");
    assert!(headline.contains(&first), "{text}");
    for part in [
        "Microengines 4, 5, 6 (processing.uc) take it.",
        "In front, PROCESSING_RING holds",
        "More microengines do not help",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    // A stage that waits for contexts that wait for the lock is not the limit.
    assert!(!text.contains("queue_manager.uc) is the limit"), "{text}");
    let (_, most) = text.split_once("so there are at most ").unwrap();
    let (most, _) = most.split_once(" sections a second").unwrap();
    most.replace(',', "").parse().unwrap()
}

#[test]
fn xcp_under_a_lock_is_limited_by_the_lock() {
    let every = ["--set", "me.processing.define.XCP_EVERY_PACKET=1"];
    let most = limited_by("XCP_LOCK", "microcode/xcp/lock.toml", &every);
    // Each frame takes one section, and this many frames leave at the limit.
    let project = "microcode/xcp/lock.toml";
    let folder = tempfile::tempdir().unwrap();
    let rate = ["--rate", "4.464Mpps", "--time", "2ms"];
    let text = run_output(project, &[&rate[..], &every].concat(), folder.path());
    let (before, _) = text.split_once(" leave, ").unwrap();
    let leave = before.rsplit(' ').next().unwrap().replace(',', "");
    let leave: u64 = leave.parse().unwrap();
    assert!(leave <= most && leave * 10 >= most * 9, "{leave} of {most}");
}

#[test]
fn quick_start_under_a_lock_is_limited_by_the_lock() {
    let half = [
        "--set",
        "load.special.options=0.5",
        "--set",
        "load.special.option=1908086456970f84",
    ];
    let most = limited_by("QS_LOCK", "microcode/quick-start/lock.toml", &half);
    // Every second arriving frame would need a section.
    assert!(most < 4_464_000 / 2, "{most}");
}
