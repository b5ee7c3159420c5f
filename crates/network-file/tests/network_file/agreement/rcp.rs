//! RCP: the rate in each packet, and the law update by update.

use npsim_network::{Content, Frame};
use npsim_protocols::rcp::counters::Counters;
use npsim_protocols::rcp::header::{RcpHeader, stamp};
use npsim_protocols::rcp::task::{RcpState, RcpTask};
use npsim_protocols::thread_counters::ThreadRecord;
use npsim_transport::time::{MICROSECOND, Time};
use npsim_transport::wire::PacketBody;

use super::{
    Bounds, GROUP, LOOK, Watch, assert_alike, assert_bypassed, line_of, met, never_interrupt,
    parsed, ready, text, with_model,
};

const FILE: &str = "dumbbell-rcp-chip.toml";
/// From the law to its rate in memory.
const PUBLISHES: Time = 20 * MICROSECOND;
/// Megahertz of the chip.
const MHZ: u64 = 600;

fn header(frame: &Frame) -> Option<RcpHeader> {
    match frame.content {
        Content::Packet(packet) => match packet.body {
            PacketBody::Rcp { header, .. } => Some(header),
            PacketBody::Tcp { .. } => None,
        },
        _ => None,
    }
}

/// A frame as forwarded by a router whose rate is `rate`.
fn forwarded_frame(frame: &Frame, rate: u32) -> Frame {
    let mut passed = frame.clone();
    if let Content::Packet(packet) = &mut passed.content {
        packet.ttl -= 1;
        if let PacketBody::Rcp { header, .. } = &mut packet.body
            && header.accepts_rate()
        {
            header.rate = stamp(header.rate, rate);
        }
    }
    passed
}

/// Frames from a closed loop at the router's input, into the microcode and into the model.
#[test]
fn chip_and_model_stamp_equal_rates() {
    let file = parsed(
        &text(FILE)
            .replace("until = \"120s\"", "until = \"6s\"")
            .replace("from = \"30s\"", "from = \"1s\""),
    );
    let mut watch = Watch::of(&file);
    let mut network = ready(&file);
    let state = |chip: &npsim_chip::chip::Chip| -> RcpState {
        let task = chip.gpp().task::<RcpTask>().expect("RCP");
        task.groups().nth(GROUP).expect("a group").clone()
    };
    // The law before the first update, then after each.
    let mut updates = vec![(0, state(network.chip(0).expect("a chip")))];
    while network.packet_simulation().now() < file.until {
        let next = network.packet_simulation().now() + LOOK;
        network
            .run_to(next, &mut watch, &never_interrupt)
            .expect("no fault");
        let now = state(network.chip(0).expect("a chip"));
        let (_, last) = updates.last().expect("the first");
        if now.updates > last.updates {
            assert_eq!(now.updates, last.updates + 1, "looks are too rare");
            updates.push((next, now));
        }
    }
    let Watch { came, left, .. } = &watch;
    assert_eq!(watch.dropped, 0);
    assert!(updates.len() > 500, "{} updates", updates.len());
    assert!(
        left.len() > 4_000 && left.len() <= came.len(),
        "{} of {}",
        left.len(),
        came.len()
    );

    // The law: the microcode's counts up to each update determine its rate, bit by bit.
    for pair in updates.windows(2) {
        let [(_, before), (_, after)] = pair else {
            unreachable!("pairs")
        };
        let mut replayed = before.rate;
        let nanoseconds = ((after.began() - before.began()) * 1_000 / MHZ).max(1);
        let counted = after.counted().since(&before.counted());
        replayed.fire(nanoseconds, &counted, after.queue);
        assert_eq!(replayed, after.rate, "update {}", after.updates);
    }

    // The counters: the microcode's counts equal the model's for all frames up to one that arrived
    // around that time.
    let mut counters = vec![Counters::default()];
    for (_, frame) in came {
        let mut next = *counters.last().expect("counters");
        let rtt = header(frame).map_or(0, |header| header.rtt);
        next.arrive(frame.bytes as u16, rtt);
        counters.push(next);
    }
    let between = updates.iter().skip(1).filter(|(seen, update)| {
        let mut counts = watch.counted_by(*seen);
        !counts.any(|count| counters[count] == update.counted())
    });
    let between = between.count();
    // Some end while the microcode processes a frame that others have overtaken.
    assert!(
        between * 20 <= updates.len(),
        "{between} of {}",
        updates.len()
    );

    // The stamp: frames leave in the order of arrival, with the rate in force and otherwise unchanged.
    let seen: Vec<Time> = updates.iter().map(|(seen, _)| *seen).collect();
    let (mut sure, mut lowered) = (0, 0);
    for (number, ((_, out), (at, frame))) in left.iter().zip(came).enumerate() {
        let rates = met(&seen, *at, PUBLISHES);
        sure += usize::from(rates.len() == 1);
        let mut rates = updates[rates].iter().map(|(_, state)| state.rate.rate());
        assert!(
            rates.any(|rate| *out == forwarded_frame(frame, rate)),
            "frame {number}: {frame:?} {out:?}"
        );
        let rate = |frame: &Frame| header(frame).map(|header| header.rate);
        lowered += usize::from(rate(out) != rate(frame));
    }
    println!(
        "{} updates, {between} between frames; {} frames, {lowered} lowered, {sure} far from an update",
        updates.len() - 1,
        left.len()
    );
    assert!(lowered * 10 > left.len() * 9, "{lowered}");
    assert!(sure * 2 > left.len(), "{sure}");
}

/// Over five seeds, which draw the start times of flows.
#[test]
fn chip_and_model_give_hosts_the_same_results() {
    let chip = text(FILE)
        .replace("until = \"120s\"", "until = \"10s\"")
        .replace("from = \"30s\"", "from = \"4s\"")
        .replace(
            "transport = \"rcp\"",
            "transport = \"rcp\"\nspread = \"500ms\"",
        );
    let model = with_model(&chip, "model = \"rcp\"");
    let means = assert_alike(&chip, &model, &Bounds::OF_A_LINE, &line_of);
    // All compared values are as expected.
    assert!(means[0] > 0.9 && means[3] == 0.0, "{means:?}");
}

#[test]
fn single_flow_takes_equally_long_over_chip_and_model() {
    let chip = text(FILE)
        .replace("until = \"120s\"", "until = \"12s\"")
        .replace(
            "transport = \"rcp\"",
            "transport = \"rcp\"\nbytes = 100000\nstep = \"3s\"",
        );
    let chip = chip.replace("from = \"30s\"", "from = \"0s\"");
    let model = with_model(&chip, "model = \"rcp\"");
    assert_bypassed(&chip, &model, 1.0);
}
