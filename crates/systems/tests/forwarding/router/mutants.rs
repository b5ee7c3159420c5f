//! Routers with a mistake, which the checks of conservation and order must find.

use npsim_chip::Cycle;

use super::bench::{Bench, Edit, RecordedLines, drain, go};
use super::conservation::{STALLS, spread_classes};
use super::verdict::{at_rest, in_order};

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
fn trouble(set: &[&str], mistakes: &[Edit]) -> Result<(), String> {
    let edits: Vec<Edit> = STALLS.iter().chain(mistakes).copied().collect();
    let bench = Bench::new("npsim.toml", set, &edits);
    let (mut chip, mut lines) = (bench.chip(), flood(&bench));
    let end: Cycle = lines.arrivals_end();
    go(&mut chip, end, &mut lines)?;
    drain(&mut chip, &mut lines)?;
    at_rest(&bench, &chip, &lines, &[])
}

#[test]
fn the_router_itself_has_none() {
    assert_eq!(trouble(&[], &[]), Ok(()));
    assert_eq!(trouble(&["me.processing.id=4"], &[]), Ok(()));
}

#[test]
fn a_window_that_is_not_kept_is_found() {
    let mistake = Edit {
        file: "router/processing/hand_over.uc",
        from: "    blo[room#]\n    alu[--, --, B, @asking]",
        to: "    br[room#]\n    alu[--, --, B, @asking]",
    };
    let what = trouble(&[], &[mistake]).unwrap_err();
    assert!(!what.is_empty());
}

#[test]
fn a_slot_that_is_taken_unseen_is_found() {
    let mistake = Edit {
        file: "router/queue-manager/queue_manager.uc",
        from: "    bne[late#]\n",
        to: "",
    };
    let what = trouble(&[], &[mistake]).unwrap_err();
    assert!(!what.is_empty());
}

/// Packets numbered when they are done instead of when they arrive: nothing is lost, but the order
/// is wrong.
#[test]
fn packets_out_of_order_are_found() {
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
    let what = trouble(&["me.processing.id=4"], &mistakes).unwrap_err();
    assert!(what.contains("overtook"), "{what}");
}

#[test]
fn a_buffer_that_is_not_given_back_is_found() {
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
    let what = trouble(&[], &mistakes).unwrap_err();
    assert!(what.contains("buffers are free"), "{what}");
}

#[test]
fn a_drop_that_is_not_counted_is_found() {
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
    let what = trouble(&[], &mistakes).unwrap_err();
    assert!(what.contains("accounted for"), "{what}");
}

/// The check of order itself, by changing the record.
#[test]
fn two_frames_of_a_queue_in_the_wrong_order_are_found() {
    let bench = Bench::new("npsim.toml", &[], &[]);
    let (mut chip, mut lines) = (bench.chip(), flood(&bench));
    drain(&mut chip, &mut lines).unwrap();
    let mut seen = lines.departures.clone();
    assert_eq!(in_order(&bench, &lines, &seen), Ok(()));
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
    assert!(in_order(&bench, &lines, &seen).is_err());
}
