//! Schemes that keep order: not one packet of any flow leaves out of order.

use npsim_net::load::{Interleave, Load, TimeSpan};
use rayon::prelude::*;

use crate::bench::{Bench, Setup};
use crate::cases::{AISR, AISR_16, Case, IN_ORDER, ITS, PACKET_SORT, Scheme, Shape};

/// Cases that run side by side.
const WAVE: u64 = 8;

/// The number of packets to leave, over all schemes.
fn packets() -> u64 {
    let asked = std::env::var("NPSIM_ORDER_PACKETS");
    let number = asked.map(|text| text.parse().expect("NPSIM_ORDER_PACKETS is a number"));
    number.unwrap_or(300_000)
}

/// A load of 3 Gb/s of 64-byte frames as the projects have it.
pub fn three_gigabits(microseconds: u64) -> Load {
    Load {
        rate: Some("5.859375Mpps".parse().unwrap()),
        flows: 10,
        flow_packets: 100,
        interleave: Interleave::Random,
        time: TimeSpan::from_picoseconds(microseconds * 1_000_000),
        ..Load::default()
    }
}

/// Runs cases until the given share of all packets, in hundredths, has left.
fn expect_order(scheme: Scheme, part: u64) {
    let wanted = packets() * part / 100;
    let microseconds = if wanted > 200_000 { 4000 } else { 800 };
    let (mut came, mut left, mut number) = (0, 0, 0);
    while left < wanted {
        let wave: Vec<(Case, _)> = (number..number + WAVE)
            .into_par_iter()
            .map(|number| {
                let case = Case::draw(scheme, number, microseconds);
                let verdict = case.run();
                (case, verdict)
            })
            .collect();
        for ((case, verdict), number) in wave.iter().zip(number..) {
            if let Some(what) = verdict.first_error() {
                panic!("case {number}: {what}\n{case}");
            }
            // Only lanes let packets of different flows overtake each other.
            if let Some(what) = &verdict.overtaken {
                assert!(scheme.shape == Shape::Sort, "case {number}: {what}\n{case}");
            }
            came += verdict.came;
            left += verdict.left;
        }
        number += WAVE;
    }
    let name = scheme.projects[0];
    println!("{name}: {left} of {came} packets left in {number} cases, none out of order");
}

#[test]
fn its_keeps_order() {
    expect_order(ITS, 30);
}

#[test]
fn in_order_keeps_order() {
    expect_order(IN_ORDER, 30);
}

#[test]
fn aisr_keeps_order() {
    expect_order(AISR, 10);
}

#[test]
fn aisr_with_two_receivers_keeps_order() {
    expect_order(AISR_16, 10);
}

#[test]
fn packet_sort_keeps_order() {
    expect_order(PACKET_SORT, 20);
}

/// More packets in one lane than there are sequence numbers.
#[test]
fn packet_sort_keeps_order_when_sequence_numbers_wrap() {
    let lanes = ["processing", "sort"].map(|me| format!("me.{me}.define.LANES=1"));
    let bench = Bench::new(&Setup {
        project: "packet-sort.toml".into(),
        set: lanes.to_vec(),
        stalls: Vec::new(),
        edits: Vec::new(),
    });
    let rate = Some("3Mpps".parse().unwrap());
    let verdict = bench.run(&Load {
        rate,
        ..three_gigabits(24_000)
    });
    assert_eq!(verdict.first_error(), None);
    assert!(verdict.left > 66_000, "{verdict:?}");
}
