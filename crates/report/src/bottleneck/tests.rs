//! The analysis of synthetic runs that cover every kind of limit.

use npsim_inspect::stats::{
    CounterStats, HoldStats, LockStats, MicroengineStats, PortStats, Stats, UnitStats,
};
use npsim_observe::series::{Fill, OccupancyProbe, ProbeKind, Sample, Series};
use npsim_session::links::Traffic;
use npsim_session::report::NodeReport;
use npsim_session::simulation::Ending;

use super::{Analysis, LimitKind, Observed, Stage, analyse, as_text};
use npsim_observe::flow::{MemoryAccess, TrafficFlow, WorkDirection, WorkEnd};
use npsim_observe::sections::SerialSections;

/// A forwarder on two microengines, sampled after each of ten intervals of a
/// thousand cycles. All numbers are per interval.
#[derive(Clone, Copy)]
struct Made {
    /// Cycles in which microengines 0 and 1 execute.
    executing: [u64; 2],
    /// Cycles in which they stall.
    stalled: [u64; 2],
    /// Cycles in which `sram0` is busy.
    sram: u64,
    received: u64,
    sent: u64,
    /// Frames that found the receive FIFO full, and the ring.
    lost: [u64; 2],
    /// Frames that the microcode dropped from its own queue.
    lost_in_queue: u64,
    /// Elements of RBUF, longwords of the ring, elements of TBUF.
    fills: [u64; 3],
    /// Of a lock: cycles held, cycles handed over, acquisitions, handovers to a
    /// waiting context, and failed tries.
    lock: [u64; 5],
}

/// A load at which nothing is full.
const EASY: Made = Made {
    executing: [400, 200],
    stalled: [0, 0],
    sram: 100,
    received: 2,
    sent: 2,
    lost: [0, 0],
    lost_in_queue: 0,
    fills: [4, 2, 1],
    lock: [100, 0, 2, 0, 0],
};

fn places() -> Vec<OccupancyProbe> {
    let place = |kind, name: &str, capacity, full_at| OccupancyProbe {
        kind,
        name: name.into(),
        unit: "things",
        capacity: Some(capacity),
        full_at: Some(full_at),
    };
    vec![
        place(
            ProbeKind::ReceiveFifo { port: 0 },
            "port 0 receive FIFO",
            4096,
            4000,
        ),
        place(ProbeKind::Rbuf, "RBUF", 128, 116),
        place(ProbeKind::Ring { number: 0 }, "TX_RING", 512, 346),
        place(ProbeKind::Tbuf, "TBUF", 128, 116),
    ]
}

fn sample(made: Made, n: u64) -> Sample {
    let me = |index: usize| MicroengineStats {
        index: index as u64,
        executing: made.executing[index] * n,
        stalled: made.stalled[index] * n,
        idle: (1000 - made.executing[index] - made.stalled[index]) * n,
        ..MicroengineStats::default()
    };
    let unused = MicroengineStats {
        index: 2,
        idle: 1000 * n,
        ..MicroengineStats::default()
    };
    let port = PortStats {
        port: 0,
        bits_per_second: 1_000_000_000,
        received_frames: made.received * n,
        received_bytes: made.received * n * 60,
        delivered_frames: (made.received - made.lost[0]) * n,
        overflow_frames: made.lost[0] * n,
        sent_frames: made.sent * n,
        sent_bytes: made.sent * n * 60,
        ..PortStats::default()
    };
    let counter = |name: &str, value| CounterStats {
        name: name.into(),
        value,
        drop: true,
        ..CounterStats::default()
    };
    let places = places();
    let found = [0, made.fills[0], made.fills[1], made.fills[2]];
    Sample {
        cycle: 1000 * n,
        stats: Stats {
            mhz: 600,
            cycles: 1000 * n,
            microengines: vec![me(0), me(1), unused],
            units: vec![UnitStats {
                name: "sram0".into(),
                busy: made.sram * n,
                ..UnitStats::default()
            }],
            ports: vec![port],
            counters: vec![
                counter("DROP_TX_RING_FULL", made.lost[1] * n),
                counter("DROP_QUEUE", made.lost_in_queue * n),
                // Not a lack of room: it must not count as one.
                counter("DROP_CHECKSUM", 50 * n),
            ],
            locks: vec![LockStats {
                name: "L".into(),
                held_cycles: made.lock[0] * n,
                handover_cycles: made.lock[1] * n,
                acquired: made.lock[2] * n,
                handovers: made.lock[3] * n,
                failed: made.lock[4] * n,
                ..LockStats::default()
            }],
            ..Stats::default()
        },
        fills: places
            .iter()
            .zip(found)
            .map(|(place, found)| Fill::of(found, place.full_at))
            .collect(),
    }
}

fn analysed(made: Made) -> Analysis {
    analysed_with(made, |_| ())
}

fn analysed_with(made: Made, note: impl FnOnce(&mut TrafficFlow)) -> Analysis {
    let samples = (1..=10).map(|n| sample(made, n));
    analysed_samples(made, samples, note)
}

fn analysed_samples(
    made: Made,
    samples: impl Iterator<Item = Sample>,
    note: impl FnOnce(&mut TrafficFlow),
) -> Analysis {
    let mut series = Series::with(places(), 1000, 64);
    for sample in samples {
        series.push(sample);
    }
    let chip = sample(made, 10).stats;
    let report = NodeReport::new(Some(&Ending::Drained), None, &Traffic::default(), chip);
    let mut flow = TrafficFlow::new();
    flow.note(0, WorkDirection::Takes, WorkEnd::Receive);
    flow.note(0, WorkDirection::Gives, WorkEnd::Ring(0));
    flow.note(1, WorkDirection::Takes, WorkEnd::Ring(0));
    flow.note(1, WorkDirection::Gives, WorkEnd::Transmit);
    flow.note_commands(0, "sram", Some(0), 10);
    note(&mut flow);
    let stage = |name: &str, me| Stage {
        name: name.into(),
        microengines: vec![me],
    };
    analyse(&Observed {
        report: &report,
        series: &series,
        flow: &flow,
        sections: &SerialSections::default(),
        stages: &[stage("forward.uc", 0), stage("transmit.uc", 1)],
        locks: &[],
        clusters: 2,
    })
}

fn says(analysis: &Analysis, part: &str) {
    let text = as_text(analysis);
    assert!(text.contains(part), "no `{part}` in\n{text}");
}

#[test]
fn chip_with_nothing_full_names_the_slack() {
    let analysis = analysed(EASY);
    assert!(analysis.limits.is_empty());
    says(&analysis, "Nothing is saturated");
    says(&analysis, "Microengine 0 (forward.uc) comes nearest");
    says(&analysis, "polling included");
}

#[test]
fn a_microengine_that_is_occupied_all_the_time_is_the_limit() {
    let analysis = analysed(Made {
        executing: [980, 200],
        received: 4,
        lost: [2, 0],
        fills: [128, 2, 1],
        ..EASY
    });
    assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
    assert_eq!(analysis.limits[0].kind, LimitKind::Compute);
    assert_eq!(analysis.limits[0].lost, 20);
    says(&analysis, "Microengine 0 (forward.uc) is the limit");
    says(
        &analysis,
        "20 frames found no room in the receive FIFO of port 0",
    );
    says(&analysis, "1 microengine runs nothing");
}

#[test]
fn sleeping_contexts_are_a_limit_of_their_own() {
    let analysis = analysed(Made {
        executing: [300, 200],
        received: 4,
        lost: [2, 0],
        fills: [128, 2, 1],
        ..EASY
    });
    assert_eq!(analysis.limits[0].kind, LimitKind::Latency);
    says(&analysis, "without being occupied");
}

#[test]
fn the_second_stage_holds_the_first_up() {
    let analysis = analysed(Made {
        executing: [300, 960],
        received: 4,
        lost: [2, 0],
        fills: [128, 400, 1],
        ..EASY
    });
    assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
    assert_eq!(analysis.limits[0].stage, Some(1));
    says(&analysis, "Microengine 1 (transmit.uc) is the limit");
}

#[test]
fn a_full_line_limits_what_stands_before_it() {
    // 2.4 frames of 84 bytes in a thousand cycles are 967 Mb/s; three exceed the
    // line rate and are capped at 100 %.
    let analysis = analysed(Made {
        received: 4,
        sent: 3,
        lost: [0, 1],
        fills: [4, 400, 128],
        ..EASY
    });
    assert_eq!(analysis.limits[0].kind, LimitKind::Line(0));
    says(&analysis, "The line out of port 0 is the limit");
    says(&analysis, "Nothing on the chip helps");
}

/// The first microengine has work waiting and hands over through memory.
const HANDS_OVER: Made = Made {
    executing: [950, 990],
    received: 4,
    lost: [2, 0],
    fills: [128, 2, 1],
    ..EASY
};

/// Slots that microengine 0 writes and 1 reads, and the progress of 1.
fn slots(flow: &mut TrafficFlow, polls: u64) {
    flow.note_accesses(0, "SLOTS", MemoryAccess::Writes, 100);
    flow.note_accesses(1, "SLOTS", MemoryAccess::Reads, 130);
    flow.note_accesses(1, "NEXT_SLOT", MemoryAccess::Writes, 100);
    flow.note_accesses(0, "NEXT_SLOT", MemoryAccess::Reads, polls);
}

#[test]
fn stage_that_polls_for_room_is_not_the_limit_although_occupied() {
    let analysis = analysed_with(HANDS_OVER, |flow| slots(flow, 650));
    assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
    assert_eq!(analysis.limits[0].stage, Some(1));
    assert_eq!(analysis.limits[0].lost, 20, "what is lost in front of both");
    says(&analysis, "Microengine 1 (transmit.uc) is the limit");
    says(
        &analysis,
        "microengine 0 (forward.uc) polls NEXT_SLOT 6.5 times for each write to SLOTS: it waits for room",
    );
}

#[test]
fn stage_that_sleeps_until_a_busy_one_makes_room_is_not_the_limit() {
    // One context polls for all contexts of its microengine, with pauses in
    // between.
    let asleep = Made {
        executing: [800, 990],
        ..HANDS_OVER
    };
    let analysis = analysed_with(asleep, |flow| slots(flow, 130));
    assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
    assert_eq!(analysis.limits[0].stage, Some(1));
    says(
        &analysis,
        "polls NEXT_SLOT 1.3 times for each write to SLOTS",
    );
}

#[test]
fn sleeping_stage_is_the_limit_if_polls_found_room_or_the_other_rests() {
    let asleep = Made {
        executing: [800, 990],
        ..HANDS_OVER
    };
    // One poll per write, each of which found room.
    let polls = analysed_with(asleep, |flow| slots(flow, 100));
    let rests = Made {
        executing: [800, 700],
        ..HANDS_OVER
    };
    let rests = analysed_with(rests, |flow| slots(flow, 130));
    for analysis in [polls, rests] {
        assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
        assert_eq!(analysis.limits[0].stage, Some(0));
        assert_eq!(analysis.limits[0].kind, LimitKind::Latency);
    }
}

#[test]
fn stage_that_finds_room_at_once_is_the_limit() {
    let analysis = analysed_with(HANDS_OVER, |flow| slots(flow, 40));
    assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
    assert_eq!(analysis.limits[0].stage, Some(0));
}

#[test]
fn stage_without_work_is_no_limit_by_polling_for_it() {
    // Microengine 1 polls the slots; nothing is full.
    let analysis = analysed_with(EASY, |flow| {
        slots(flow, 10);
        flow.note_accesses(1, "SLOTS", MemoryAccess::Reads, 9000);
    });
    assert!(analysis.limits.is_empty(), "{:?}", analysis.limits);
}

#[test]
fn a_full_line_limits_although_queues_keep_it_from_the_transmit_stage() {
    let analysis = analysed(Made {
        received: 4,
        sent: 3,
        lost_in_queue: 1,
        ..EASY
    });
    assert_eq!(analysis.limits[0].kind, LimitKind::Line(0));
    says(&analysis, "The line out of port 0 is the limit");
    says(&analysis, "10 frames were lost in the microcode's queues");
    // Drops by early detection alone do not mean that a line is full.
    let analysis = analysed(Made {
        lost_in_queue: 1,
        ..EASY
    });
    assert!(analysis.limits.is_empty(), "{:?}", analysis.limits);
}

#[test]
fn a_unit_that_serves_all_the_time_is_the_limit_of_who_waits_for_it() {
    let analysis = analysed(Made {
        executing: [300, 200],
        stalled: [500, 0],
        sram: 970,
        received: 4,
        lost: [2, 0],
        fills: [128, 2, 1],
        ..EASY
    });
    assert_eq!(analysis.limits[0].kind, LimitKind::Unit);
    says(&analysis, "Sram0 is the limit");
}

#[test]
fn losses_without_a_full_place_are_bursts() {
    let mut made = EASY;
    made.lost = [0, 0];
    let quiet = analysed(made);
    assert!(!as_text(&quiet).contains("bursts"));
    // The ring drops some frames, but holds little work on average.
    made.lost = [0, 1];
    made.received = 3;
    let burst = analysed(made);
    assert!(burst.limits.is_empty(), "{:?}", burst.limits);
    says(&burst, "Frames are lost in bursts: 10 found a place full");
    // If work is always waiting in it, the stage that takes from it is slow.
    made.fills = [4, 340, 1];
    let slow = analysed(made);
    assert_eq!(slow.limits[0].stage, Some(1));
    assert_eq!(slow.limits[0].kind, LimitKind::Latency);
}

#[test]
fn a_run_without_frames_says_what_was_used() {
    let analysis = analysed(Made {
        received: 0,
        sent: 0,
        ..EASY
    });
    says(&analysis, "No frames came");
    says(&analysis, "microengine 0");
}

/// Microengine 0 spins for a lock, and frames are lost in front of it.
const LOCKED: Made = Made {
    executing: [950, 200],
    received: 4,
    lost: [2, 0],
    fills: [128, 2, 1],
    lock: [800, 160, 2, 2, 12],
    ..EASY
};

#[test]
fn a_lock_without_room_for_more_sections_is_the_limit_and_not_who_spins_for_it() {
    let analysis = analysed_with(LOCKED, |flow| flow.note_taken(0, Some(0), 20));
    assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
    assert_eq!(analysis.limits[0].kind, LimitKind::Lock(0));
    assert_eq!(
        (analysis.limits[0].permille, analysis.limits[0].lost),
        (960, 20)
    );
    for part in [
        "The lock L is the limit: it is held or handed over 96.0% of the time while frames were lost.",
        "L is held 80.0% of the time and handed over 16.0%: it was taken 20 times, and 120 tries failed.",
        // 600 MHz over 400 + 80 cycles.
        "A section takes 480 cycles, 400 held and 80 handed over, so there are at most 1,250,000 sections a second.",
        "Microengine 0 (forward.uc) takes it.",
        "More microengines do not help",
    ] {
        says(&analysis, part);
    }
}

#[test]
fn a_lock_with_room_or_without_waiters_leaves_the_limit_where_it_was() {
    for lock in [[700, 160, 2, 2, 12], [980, 0, 2, 0, 0]] {
        let made = Made { lock, ..LOCKED };
        let analysis = analysed_with(made, |flow| flow.note_taken(0, Some(0), 20));
        assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
        assert_eq!(analysis.limits[0].kind, LimitKind::Compute);
    }
}

#[test]
fn another_stage_at_its_limit_is_told_behind_the_lock() {
    let made = Made {
        executing: [300, 960],
        fills: [128, 400, 1],
        ..LOCKED
    };
    let analysis = analysed_with(made, |flow| {
        flow.note_taken(0, Some(0), 20);
        flow.note_taken(0, None, 1);
    });
    let kinds: Vec<_> = analysis.limits.iter().map(|limit| &limit.kind).collect();
    assert_eq!(kinds, [&LimitKind::Lock(0), &LimitKind::Compute]);
    says(
        &analysis,
        "Microengine 0 (forward.uc) and the general-purpose core take it.",
    );
    says(
        &analysis,
        "Microengine 1 (transmit.uc) is at its limit as well",
    );
}

#[test]
fn waits_for_a_stage_are_its_own_only_while_no_lock_holds_it_up() {
    let made = Made {
        executing: [950, 990],
        ..LOCKED
    };
    let analysis = analysed_with(made, |flow| {
        slots(flow, 650);
        flow.note_taken(0, Some(0), 20);
    });
    assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
    assert_eq!(analysis.limits[0].kind, LimitKind::Lock(0));
}

#[test]
fn a_lock_that_is_never_released_is_told_as_such() {
    let made = Made {
        lock: [1000, 0, 0, 0, 12],
        ..LOCKED
    };
    let held = |n| {
        let mut sample = sample(made, n);
        sample.stats.locks[0].held_at_end = Some(HoldStats {
            microengine: Some(0),
            context: Some(3),
            since: 0,
            failed_since: 12 * n,
        });
        sample
    };
    let samples = (1..=10).map(held);
    let analysis = analysed_samples(made, samples, |flow| flow.note_taken(0, Some(0), 1));
    assert_eq!(analysis.limits[0].kind, LimitKind::Lock(0));
    says(
        &analysis,
        "The lock L is never released: it is held 100.0% of the time",
    );
    says(&analysis, "passes by its release");
    assert!(!as_text(&analysis).contains("sections a second"));
}
