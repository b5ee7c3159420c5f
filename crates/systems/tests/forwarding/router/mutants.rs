//! Routers with a mistake, which the checks of conservation and order must find.

use npsim_chip::Cycle;

use super::bench::{Bench, Edit, RecordedLines, drain, run_until};
use super::conservation::{STALLS, spread_classes};
use super::verdict::{check_at_rest, check_order};

/// Minimum frames at line rate.
fn flood(bench: &Bench) -> RecordedLines {
    let load = npsim_net::load::Load {
        rate: Some("0.6".parse().unwrap()),
        time: "300us".parse().unwrap(),
        ..npsim_net::load::Load::default()
    };
    let mut frames = bench.loaded(load);
    spread_classes(&mut frames);
    bench.lines(frames)
}

/// The errors found in a router whose contexts are stalled now and then.
fn check_router(set: &[&str], mistakes: &[Edit]) -> Result<(), String> {
    let edits: Vec<Edit> = STALLS.iter().chain(mistakes).copied().collect();
    let bench = Bench::new("npsim.toml", set, &edits);
    let (mut chip, mut lines) = (bench.chip(), flood(&bench));
    let end: Cycle = lines.arrivals_end();
    run_until(&mut chip, end, &mut lines)?;
    drain(&mut chip, &mut lines)?;
    check_at_rest(&bench, &chip, &lines, &[])
}

#[test]
fn unmodified_router_passes_the_checks() {
    assert_eq!(check_router(&[], &[]), Ok(()));
    assert_eq!(check_router(&["me.processing.id=4"], &[]), Ok(()));
}

#[test]
fn ignored_window_is_detected() {
    let mistake = Edit {
        file: "router/processing/hand_over.uc",
        from: "    blo[room#]\n    alu[--, --, B, @asking]",
        to: "    br[room#]\n    alu[--, --, B, @asking]",
    };
    let what = check_router(&[], &[mistake]).unwrap_err();
    assert!(!what.is_empty());
}

#[test]
fn unchecked_slot_is_detected() {
    let mistake = Edit {
        file: "router/queue-manager/queue_manager.uc",
        from: "    bne[late#]\n",
        to: "",
    };
    let what = check_router(&[], &[mistake]).unwrap_err();
    assert!(!what.is_empty());
}

/// Packets numbered when they are done instead of when they arrive: nothing is lost, but the order
/// is wrong.
#[test]
fn reordered_packets_are_detected() {
    let mistakes = [
        Edit {
            file: "router/processing/processing.uc",
            from: "    hand_over_room(sequence)\n",
            to: "    alu[sequence, --, B, @done]\n    alu[@done, @done, +, 1]\n    hand_over_room(sequence)\n",
        },
        Edit {
            file: "router/processing/processing.uc",
            from: "    immed[@window, FIRST_SEQUENCE]\n",
            to: "    immed[@window, FIRST_SEQUENCE]\n    immed[@done, FIRST_SEQUENCE]\n",
        },
        Edit {
            file: "router/processing/processing.uc",
            from: ".reg @busy @window @asking\n",
            to: ".reg @busy @window @asking @done\n",
        },
    ];
    let what = check_router(&["me.processing.id=4"], &mistakes).unwrap_err();
    assert!(what.contains("overtook"), "{what}");
}

#[test]
fn leaked_buffer_is_detected() {
    let mistakes = [
        Edit {
            file: "router/processing/processing.uc",
            from: "    load_constant(place, FREE_BUFFERS)\n    buffer_return(handle, place)\n",
            to: "",
        },
        // This requires that something is dropped.
        Edit {
            file: "router/npsim.toml",
            from: "prefix = \"192.0.2.0/24\"\n",
            to: "prefix = \"192.0.2.0/24\"\ndiscard = true\n",
        },
    ];
    let what = check_router(&[], &mistakes).unwrap_err();
    assert!(what.contains("buffers are free"), "{what}");
}

#[test]
fn uncounted_drop_is_detected() {
    let mistakes = [
        Edit {
            file: "router/processing/processing.uc",
            from: "    scratch[incr, --, verdict, 0]\n",
            to: "",
        },
        Edit {
            file: "router/npsim.toml",
            from: "prefix = \"192.0.2.0/24\"\n",
            to: "prefix = \"192.0.2.0/24\"\ndiscard = true\n",
        },
    ];
    let what = check_router(&[], &mistakes).unwrap_err();
    assert!(what.contains("accounted for"), "{what}");
}

/// The check of order itself, by changing the record.
#[test]
fn swapped_frames_of_a_queue_are_detected() {
    let bench = Bench::new("npsim.toml", &[], &[]);
    let (mut chip, mut lines) = (bench.chip(), flood(&bench));
    drain(&mut chip, &mut lines).unwrap();
    let mut seen = lines.departures.clone();
    assert_eq!(check_order(&bench, &lines, &seen), Ok(()));
    let of = |frame: Option<u64>| {
        let arrival = &lines.arrivals[frame.unwrap() as usize];
        (arrival.port, bench.classes.class(&arrival.bytes))
    };
    let first = seen.len() / 2;
    let kind = |index: usize| (of(seen[index].frame), seen[index].port);
    let second = (first + 1..seen.len())
        .find(|&at| kind(at) == kind(first))
        .unwrap();
    seen.swap(first, second);
    assert!(check_order(&bench, &lines, &seen).is_err());
}
