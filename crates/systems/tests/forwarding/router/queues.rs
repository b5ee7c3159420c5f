//! The capacity of queues: limit, early detection, FIFO, and invalid settings.

use npsim::assemble::assemble_project;
use npsim::project::Overrides;
use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_net::load::Load;

use super::bench::{Bench, RecordedLines, drain, run_until};
use super::classes::CLASSES;
use super::verdict::{check_at_rest, losses};
use npsim_systems::project::load as loaded;
use npsim_testkit::microcode::shipped;

/// The queue of port 2 that the loads of this file fill: class 1, of code point 0.
const QUEUE: usize = 2 * CLASSES + 1;

/// Bytes of a full frame without its check sequence.
const FULL: u64 = 1514;

/// A load to port 2 from both other ports.
fn to_port_2(bench: &Bench, rate: &str, size: &str, time: &str) -> RecordedLines {
    bench.lines(bench.loaded(Load {
        rate: Some(rate.parse().unwrap()),
        size: size.parse().unwrap(),
        time: time.parse().unwrap(),
        destinations: vec!["10.2.0.0/16".parse().unwrap()],
        ..Load::default()
    }))
}

/// Packets and bytes in the queue.
fn held(bench: &Bench, chip: &Chip) -> (u64, u64) {
    let counter = |at| bench.counter64(chip, "QUEUE_COUNTERS", QUEUE * 64 + at);
    // One may be counted before the other while a packet is in flight.
    (
        counter(0).saturating_sub(counter(16)),
        counter(8).saturating_sub(counter(24)),
    )
}

fn dropped(bench: &Bench, chip: &Chip) -> u64 {
    bench.counter32(chip, "QUEUE_COUNTERS", QUEUE * 64 + 32)
}

/// Bytes in the queue when the first packet is dropped there, and the maximum, with two gigabits a
/// second for a line of one.
fn filled(set: &[&str]) -> (u64, u64) {
    let bench = Bench::new("npsim.toml", set, &[]);
    let mut lines = to_port_2(&bench, "1Gbps,1Gbps,0", "1518", "6ms");
    let mut chip = bench.chip();
    let (mut first, mut most) = (None, 0);
    let end = lines.arrivals_end();
    while chip.now() < end {
        let until = chip.now() + 3_000;
        run_until(&mut chip, until, &mut lines).unwrap();
        let (_, bytes) = held(&bench, &chip);
        most = most.max(bytes);
        if first.is_none() && dropped(&bench, &chip) > 0 {
            first = Some(bytes);
        }
    }
    drain(&mut chip, &mut lines).unwrap();
    check_at_rest(&bench, &chip, &lines, &[]).unwrap();
    let losses = losses(&chip);
    assert_eq!(losses.keys().collect::<Vec<_>>(), ["DROP_QUEUE"]);
    (first.unwrap(), most)
}

#[test]
fn fifo_drops_only_at_its_limit() {
    for limit in [131_072, 300_000] {
        let limit_given = format!("me.queue_manager.define.QUEUE_LIMIT={limit}");
        let set = ["me.queue_manager.define.EARLY_DETECTION=0", &limit_given];
        let (first, most) = filled(&set);
        // The queue is sampled now and then: a few packets may have left by then.
        assert!(first > limit - 5 * FULL, "{first} of {limit}");
        assert!(
            most <= limit && most > limit - 2 * FULL,
            "{most} of {limit}"
        );
    }
    // Early detection drops earlier, as soon as its average has risen.
    let (first, _) = filled(&["me.queue_manager.define.QUEUE_LIMIT=300000"]);
    assert!(first < 150_000, "{first}");
}

#[test]
fn megabyte_queue_holds_a_megabyte() {
    let set = [
        "buffers.count=4096",
        "me.queue_manager.define.QUEUE_LIMIT=1048576",
        "me.queue_manager.define.EARLY_DETECTION=0",
    ];
    let bench = Bench::new("npsim.toml", &set, &[]);
    // Two full lines for 8.1 ms leave an excess of a million bytes.
    let mut lines = to_port_2(&bench, "1Gbps,1Gbps,0", "1518", "8100us");
    let mut chip = bench.chip();
    let end = lines.arrivals_end();
    run_until(&mut chip, end, &mut lines).unwrap();
    let (_, bytes) = held(&bench, &chip);
    assert!(bytes > 960_000, "{bytes}");
    drain(&mut chip, &mut lines).unwrap();
    check_at_rest(&bench, &chip, &lines, &[]).unwrap();
    assert_eq!(lines.departures.len(), lines.arrivals.len());
}

/// A tenth more arrives than leaves, so a tenth has to be dropped. That is the drop probability of
/// a queue halfway between the two limits if it is a fifth at the upper one.
#[test]
fn custom_drop_probability_settles_at_the_expected_length() {
    let settled = |least: u64, most: u64, chance: u64| {
        let set = [
            format!("me.queue_manager.define.RED_LEAST={least}"),
            format!("me.queue_manager.define.RED_MOST={most}"),
            format!("me.queue_manager.define.RED_CHANCE={chance}"),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let bench = Bench::new("npsim.toml", &set, &[]);
        let mut lines = to_port_2(&bench, "555Mbps,555Mbps,0", "64", "4ms");
        let mut chip = bench.chip();
        let end: Cycle = lines.arrivals_end();
        run_until(&mut chip, end / 2, &mut lines).unwrap();
        let (mut sum, mut samples) = (0, 0);
        while chip.now() < end {
            let until = chip.now() + 10_000;
            run_until(&mut chip, until, &mut lines).unwrap();
            sum += held(&bench, &chip).0;
            samples += 1;
        }
        sum / samples
    };
    let halfway = settled(50, 250, 204);
    assert!((120..180).contains(&halfway), "{halfway}");
    // A fifth of the probability: it is a tenth at a quarter of the way.
    let early = settled(50, 250, 410);
    assert!((80..120).contains(&early), "{early}");
}

/// The message that refuses a project with these settings.
fn refusal(set: &[&str]) -> String {
    let overrides = Overrides {
        set: set.iter().map(|text| text.parse().unwrap()).collect(),
        ..Overrides::default()
    };
    let project = loaded(&shipped().join("router"), &overrides);
    let (programs, messages) = assemble_project(&project);
    assert!(programs.is_none(), "{set:?} is taken");
    messages.rendered.join("\n")
}

#[test]
fn invalid_settings_are_refused_with_the_reason() {
    let queue = |define: &str| format!("me.queue_manager.define.{define}");
    for (defines, reason) in [
        (
            &["QUEUE_LIMIT=1000"][..],
            "a full frame of 1518 bytes has to fit",
        ),
        (&["QUEUE_LIMIT=2097153"], "QUEUE_LIMIT: at most 2 MB"),
        (&["QUEUE_LIMIT=2000000"], "buffers.count is too small"),
        (&["RED_LEAST=0"], "RED_LEAST: one packet at least"),
        (&["RED_LEAST=112"], "RED_MOST: more packets than RED_LEAST"),
        (
            &["RED_MOST=32768", "RED_CHANCE=100"],
            "RED_MOST: at most 32767 packets",
        ),
        (&["RED_MOST=400"], "without RED_CHANCE"),
        (&["RED_CHANCE=1025"], "RED_CHANCE: 1 to 1024"),
        (&["RED_SHIFT=13"], "RED_SHIFT: 1 to 12"),
        (&["IDLE_SHIFT=0"], "IDLE_SHIFT: 1 to 24"),
        (
            &["EARLY_DETECTION=0", "RED_LEAST=10"],
            "RED_LEAST has no effect",
        ),
        (&["REST_LONGEST=1"], "REST_LONGEST: a rest has two steps"),
        (&["REST_LONGEST=20000"], "REST_LONGEST: at most 16384 steps"),
    ] {
        let set: Vec<String> = defines.iter().map(|define| queue(define)).collect();
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let refusal_text = refusal(&set);
        assert!(refusal_text.contains(reason), "{defines:?}: {refusal_text}");
    }
    let refusal_text = refusal(&["me.scheduler.define.ASKED_LIMIT=0"]);
    assert!(
        refusal_text.contains("ASKED_LIMIT: 1 to 64"),
        "{refusal_text}"
    );
    let refusal_text = refusal(&["port.1.rate=1Mbps"]);
    assert!(
        refusal_text.contains("rate of a port is too low"),
        "{refusal_text}"
    );
    // The largest valid values are accepted.
    let set = [
        "buffers.count=4096",
        "me.queue_manager.define.QUEUE_LIMIT=2097152",
    ];
    let _ = Bench::new("npsim.toml", &set, &[]);
}
