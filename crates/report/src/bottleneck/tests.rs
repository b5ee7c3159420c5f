//! The analysis of synthetic runs that cover every kind of limit.

use npsim_inspect::stats::{
    CounterStats, HoldStats, LockStats, MicroengineStats, PortStats, Stats, UnitStats,
};
use npsim_observe::series::{Fill, OccupancyProbe, ProbeKind, Sample, Series};
use npsim_session::links::Traffic;
use npsim_session::report::NodeReport;
use npsim_session::simulation::Ending;

use super::{Analysis, LimitKind, Observed, Stage, analyse, as_text};
use npsim_observe::flow::{MemoryAccess, TrafficFlow, WorkDirection, WorkEndpoint};
use npsim_observe::sections::SerialSections;

/// A forwarder on two microengines, sampled after each of ten intervals of a
/// thousand cycles. All numbers are per interval.
#[derive(Clone, Copy)]
struct SyntheticLoad {
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
const LIGHT_LOAD: SyntheticLoad = SyntheticLoad {
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

fn sample(made: SyntheticLoad, n: u64) -> Sample {
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

fn analysed(made: SyntheticLoad) -> Analysis {
    analysed_with(made, |_| ())
}

fn analysed_with(made: SyntheticLoad, note: impl FnOnce(&mut TrafficFlow)) -> Analysis {
    let samples = (1..=10).map(|n| sample(made, n));
    analysed_samples(made, samples, note)
}

fn analysed_samples(
    made: SyntheticLoad,
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
    flow.note(0, WorkDirection::Takes, WorkEndpoint::Receive);
    flow.note(0, WorkDirection::Puts, WorkEndpoint::Ring(0));
    flow.note(1, WorkDirection::Takes, WorkEndpoint::Ring(0));
    flow.note(1, WorkDirection::Puts, WorkEndpoint::Transmit);
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

fn assert_says(analysis: &Analysis, part: &str) {
    let text = as_text(analysis);
    assert!(text.contains(part), "no `{part}` in\n{text}");
}

#[test]
fn unsaturated_chip_names_the_nearest_limit() {
    let analysis = analysed(LIGHT_LOAD);
    assert!(analysis.limits.is_empty());
    assert_says(&analysis, "Nothing is saturated");
    assert_says(&analysis, "Microengine 0 (forward.uc) comes nearest");
    assert_says(&analysis, "polling included");
}

#[test]
fn fully_occupied_microengine_is_the_limit() {
    let analysis = analysed(SyntheticLoad {
        executing: [980, 200],
        received: 4,
        lost: [2, 0],
        fills: [128, 2, 1],
        ..LIGHT_LOAD
    });
    assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
    assert_eq!(analysis.limits[0].kind, LimitKind::Compute);
    assert_eq!(analysis.limits[0].lost, 20);
    assert_says(&analysis, "Microengine 0 (forward.uc) is the limit");
    assert_says(
        &analysis,
        "20 frames found no room in the receive FIFO of port 0",
    );
    assert_says(&analysis, "1 microengine runs nothing");
}

#[test]
fn sleeping_contexts_are_a_latency_limit() {
    let analysis = analysed(SyntheticLoad {
        executing: [300, 200],
        received: 4,
        lost: [2, 0],
        fills: [128, 2, 1],
        ..LIGHT_LOAD
    });
    assert_eq!(analysis.limits[0].kind, LimitKind::Latency);
    assert_says(&analysis, "without being occupied");
}

#[test]
fn slow_second_stage_is_the_limit() {
    let analysis = analysed(SyntheticLoad {
        executing: [300, 960],
        received: 4,
        lost: [2, 0],
        fills: [128, 400, 1],
        ..LIGHT_LOAD
    });
    assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
    assert_eq!(analysis.limits[0].stage, Some(1));
    assert_says(&analysis, "Microengine 1 (transmit.uc) is the limit");
}

#[test]
fn full_line_is_the_limit_for_upstream_stages() {
    // 2.4 frames of 84 bytes in a thousand cycles are 967 Mb/s; three exceed the
    // line rate and are capped at 100 %.
    let analysis = analysed(SyntheticLoad {
        received: 4,
        sent: 3,
        lost: [0, 1],
        fills: [4, 400, 128],
        ..LIGHT_LOAD
    });
    assert_eq!(analysis.limits[0].kind, LimitKind::Line(0));
    assert_says(&analysis, "The line out of port 0 is the limit");
    assert_says(&analysis, "Nothing on the chip helps");
}

/// The first microengine has work waiting and hands over through memory.
const HANDOFF_LOAD: SyntheticLoad = SyntheticLoad {
    executing: [950, 990],
    received: 4,
    lost: [2, 0],
    fills: [128, 2, 1],
    ..LIGHT_LOAD
};

/// Slots that microengine 0 writes and 1 reads, and the progress of 1.
fn slots(flow: &mut TrafficFlow, polls: u64) {
    flow.note_accesses(0, "SLOTS", MemoryAccess::Writes, 100);
    flow.note_accesses(1, "SLOTS", MemoryAccess::Reads, 130);
    flow.note_accesses(1, "NEXT_SLOT", MemoryAccess::Writes, 100);
    flow.note_accesses(0, "NEXT_SLOT", MemoryAccess::Reads, polls);
}

#[test]
fn occupied_stage_polling_for_room_is_not_the_limit() {
    let analysis = analysed_with(HANDOFF_LOAD, |flow| slots(flow, 650));
    assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
    assert_eq!(analysis.limits[0].stage, Some(1));
    assert_eq!(analysis.limits[0].lost, 20, "what is lost in front of both");
    assert_says(&analysis, "Microengine 1 (transmit.uc) is the limit");
    assert_says(
        &analysis,
        "microengine 0 (forward.uc) polls NEXT_SLOT 6.5 times for each write to SLOTS: it waits for room",
    );
}

#[test]
fn stage_blocked_by_a_busy_stage_is_not_the_limit() {
    // One context polls for all contexts of its microengine, with pauses in
    // between.
    let asleep = SyntheticLoad {
        executing: [800, 990],
        ..HANDOFF_LOAD
    };
    let analysis = analysed_with(asleep, |flow| slots(flow, 130));
    assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
    assert_eq!(analysis.limits[0].stage, Some(1));
    assert_says(
        &analysis,
        "polls NEXT_SLOT 1.3 times for each write to SLOTS",
    );
}

#[test]
fn sleeping_stage_is_the_limit_unless_blocked_downstream() {
    let asleep = SyntheticLoad {
        executing: [800, 990],
        ..HANDOFF_LOAD
    };
    // One poll per write, each of which found room.
    let polls = analysed_with(asleep, |flow| slots(flow, 100));
    let rests = SyntheticLoad {
        executing: [800, 700],
        ..HANDOFF_LOAD
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
    let analysis = analysed_with(HANDOFF_LOAD, |flow| slots(flow, 40));
    assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
    assert_eq!(analysis.limits[0].stage, Some(0));
}

#[test]
fn stage_polling_for_work_is_not_the_limit() {
    // Microengine 1 polls the slots; nothing is full.
    let analysis = analysed_with(LIGHT_LOAD, |flow| {
        slots(flow, 10);
        flow.note_accesses(1, "SLOTS", MemoryAccess::Reads, 9000);
    });
    assert!(analysis.limits.is_empty(), "{:?}", analysis.limits);
}

#[test]
fn full_line_is_the_limit_despite_queue_losses() {
    let analysis = analysed(SyntheticLoad {
        received: 4,
        sent: 3,
        lost_in_queue: 1,
        ..LIGHT_LOAD
    });
    assert_eq!(analysis.limits[0].kind, LimitKind::Line(0));
    assert_says(&analysis, "The line out of port 0 is the limit");
    assert_says(&analysis, "10 frames were lost in the microcode's queues");
    // Drops by early detection alone do not mean that a line is full.
    let analysis = analysed(SyntheticLoad {
        lost_in_queue: 1,
        ..LIGHT_LOAD
    });
    assert!(analysis.limits.is_empty(), "{:?}", analysis.limits);
}

#[test]
fn saturated_unit_is_the_limit() {
    let analysis = analysed(SyntheticLoad {
        executing: [300, 200],
        stalled: [500, 0],
        sram: 970,
        received: 4,
        lost: [2, 0],
        fills: [128, 2, 1],
        ..LIGHT_LOAD
    });
    assert_eq!(analysis.limits[0].kind, LimitKind::Unit);
    assert_says(&analysis, "Sram0 is the limit");
}

#[test]
fn losses_without_a_persistently_full_buffer_are_bursts() {
    let mut made = LIGHT_LOAD;
    made.lost = [0, 0];
    let quiet = analysed(made);
    assert!(!as_text(&quiet).contains("bursts"));
    // The ring drops some frames, but holds little work on average.
    made.lost = [0, 1];
    made.received = 3;
    let burst = analysed(made);
    assert!(burst.limits.is_empty(), "{:?}", burst.limits);
    assert_says(&burst, "Frames are lost in bursts: 10 found a place full");
    // If work is always waiting in it, the stage that takes from it is slow.
    made.fills = [4, 340, 1];
    let slow = analysed(made);
    assert_eq!(slow.limits[0].stage, Some(1));
    assert_eq!(slow.limits[0].kind, LimitKind::Latency);
}

#[test]
fn run_without_frames_reports_utilisation() {
    let analysis = analysed(SyntheticLoad {
        received: 0,
        sent: 0,
        ..LIGHT_LOAD
    });
    assert_says(&analysis, "No frames came");
    assert_says(&analysis, "microengine 0");
}

/// Microengine 0 spins for a lock, and frames are lost in front of it.
const LOCK_LOAD: SyntheticLoad = SyntheticLoad {
    executing: [950, 200],
    received: 4,
    lost: [2, 0],
    fills: [128, 2, 1],
    lock: [800, 160, 2, 2, 12],
    ..LIGHT_LOAD
};

#[test]
fn saturated_lock_is_the_limit_rather_than_its_spinners() {
    let analysis = analysed_with(LOCK_LOAD, |flow| flow.note_taken(0, Some(0), 20));
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
        assert_says(&analysis, part);
    }
}

#[test]
fn unsaturated_or_uncontended_lock_is_not_the_limit() {
    for lock in [[700, 160, 2, 2, 12], [980, 0, 2, 0, 0]] {
        let made = SyntheticLoad { lock, ..LOCK_LOAD };
        let analysis = analysed_with(made, |flow| flow.note_taken(0, Some(0), 20));
        assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
        assert_eq!(analysis.limits[0].kind, LimitKind::Compute);
    }
}

#[test]
fn saturated_stage_is_reported_after_the_lock() {
    let made = SyntheticLoad {
        executing: [300, 960],
        fills: [128, 400, 1],
        ..LOCK_LOAD
    };
    let analysis = analysed_with(made, |flow| {
        flow.note_taken(0, Some(0), 20);
        flow.note_taken(0, None, 1);
    });
    let kinds: Vec<_> = analysis.limits.iter().map(|limit| &limit.kind).collect();
    assert_eq!(kinds, [&LimitKind::Lock(0), &LimitKind::Compute]);
    assert_says(
        &analysis,
        "Microengine 0 (forward.uc) and the general-purpose core take it.",
    );
    assert_says(
        &analysis,
        "Microengine 1 (transmit.uc) is at its limit as well",
    );
}

#[test]
fn waiting_stage_is_attributed_to_the_saturated_lock() {
    let made = SyntheticLoad {
        executing: [950, 990],
        ..LOCK_LOAD
    };
    let analysis = analysed_with(made, |flow| {
        slots(flow, 650);
        flow.note_taken(0, Some(0), 20);
    });
    assert_eq!(analysis.limits.len(), 1, "{:?}", analysis.limits);
    assert_eq!(analysis.limits[0].kind, LimitKind::Lock(0));
}

#[test]
fn never_released_lock_is_reported() {
    let made = SyntheticLoad {
        lock: [1000, 0, 0, 0, 12],
        ..LOCK_LOAD
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
    assert_says(
        &analysis,
        "The lock L is never released: it is held 100.0% of the time",
    );
    assert_says(&analysis, "passes by its release");
    assert!(!as_text(&analysis).contains("sections a second"));
}
