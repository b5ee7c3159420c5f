//! Reasons and counters, frame by frame.

use std::collections::BTreeMap;

use npsim_net::LineFrame;

use super::bench::{Bench, Edit, PROJECTS, drain};
use super::classes::CLASSES;
use super::verdict::{check_at_rest, check_counters, losses};
use crate::oracle::checksum;

/// Line time of a byte at 1 Gbit/s.
const BYTE_PS: u128 = 8000;

/// Source, destination, protocol, ports, type of service of a packet.
#[derive(Clone, Copy)]
struct Packet {
    source: [u8; 4],
    destination: [u8; 4],
    protocol: u8,
    ports: [u16; 2],
    dscp: u8,
}

const PLAIN: Packet = Packet {
    source: [10, 0, 0, 9],
    destination: [10, 1, 0, 9],
    protocol: 17,
    ports: [1000, 2000],
    dscp: 0,
};

fn bytes(packet: Packet, length: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0x5e, 0, 0, 0, 2, 0, 0, 0, 0, 1, 8, 0, 0x45];
    frame.push(packet.dscp << 2);
    frame.extend((length as u16 - 14).to_be_bytes());
    frame.extend([0, 0, 0, 0, 64, packet.protocol, 0, 0]);
    frame.extend(packet.source);
    frame.extend(packet.destination);
    frame.extend(packet.ports.iter().flat_map(|port| port.to_be_bytes()));
    frame.resize(length, 0x5a);
    let sum = checksum(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame
}

/// Frames at port 0, a microsecond apart.
fn spaced(frames: Vec<Vec<u8>>) -> Vec<LineFrame> {
    let mut start_ps = 0;
    let place = |bytes: Vec<u8>| {
        let end_ps = start_ps + (bytes.len() as u128 + 12) * BYTE_PS;
        let frame = LineFrame {
            start_ps,
            end_ps,
            port: 0,
            bytes,
        };
        start_ps = end_ps + 1_000_000;
        frame
    };
    frames.into_iter().map(place).collect()
}

/// Each code point and each flow of the table, forwarded to port 1.
#[test]
fn code_points_and_flows_go_to_their_queues() {
    for project in PROJECTS {
        let bench = Bench::new(project, &[], &[]);
        let flow = Packet {
            source: [10, 0, 0, 2],
            destination: [10, 1, 0, 2],
            protocol: 6,
            ports: [40000, 179],
            dscp: 8,
        };
        let mut frames: Vec<_> = (0..64)
            .map(|dscp| bytes(Packet { dscp, ..PLAIN }, 60 + usize::from(dscp)))
            .collect();
        // The flow belongs to class 3; with another port or protocol, it is background traffic.
        frames.push(bytes(flow, 300));
        frames.push(bytes(
            Packet {
                ports: [40001, 179],
                ..flow
            },
            301,
        ));
        frames.push(bytes(
            Packet {
                protocol: 17,
                ..flow
            },
            302,
        ));
        let mut lines = bench.lines(spaced(frames));
        let mut chip = bench.chip();
        drain(&mut chip, &mut lines).unwrap();
        check_at_rest(&bench, &chip, &lines, &[]).unwrap();
        let packets: Vec<u64> = (0..CLASSES)
            .map(|class| bench.counter64(&chip, "QUEUE_COUNTERS", (CLASSES + class) * 64))
            .collect();
        assert_eq!(packets, [8 + 2, 8, 24, 24 + 1]);
        assert_eq!(bench.counter32(&chip, "IP_COUNTERS", 0), 67);
        assert_eq!(bench.counter32(&chip, "IP_COUNTERS", 4), 67);
    }
}

/// A flow without ports, whatever is in the place of ports.
#[test]
fn flows_without_ports_go_to_their_queues() {
    let set = [
        "flow.0.protocol=1",
        "flow.0.source_port=0",
        "flow.0.destination_port=0",
    ];
    let bench = Bench::new("npsim.toml", &set, &[]);
    let echo = Packet {
        source: [10, 0, 0, 2],
        destination: [10, 1, 0, 2],
        protocol: 1,
        ports: [0x0800, 0x1234],
        dscp: 8,
    };
    let mut lines = bench.lines(spaced(vec![bytes(echo, 98)]));
    let mut chip = bench.chip();
    drain(&mut chip, &mut lines).unwrap();
    assert_eq!(
        bench.counter64(&chip, "QUEUE_COUNTERS", (CLASSES + 3) * 64),
        1
    );
}

/// The frames counted for each reason, in one run.
#[test]
fn drop_and_slow_path_reasons_are_counted() {
    let edits = [Edit {
        file: "router/npsim.toml",
        from: "prefix = \"0.0.0.0/0\"\nport = 1\n",
        to: "prefix = \"172.16.0.0/12\"\ndiscard = true\nport = 1\n",
    }];
    let bench = Bench::new("npsim.toml", &[], &edits);
    let to = |destination| {
        bytes(
            Packet {
                destination,
                ..PLAIN
            },
            60,
        )
    };
    let from = |source| bytes(Packet { source, ..PLAIN }, 60);
    let frames = vec![
        to([10, 1, 0, 9]),
        to([172, 16, 3, 4]),
        to([8, 8, 8, 8]),
        to([10, 1, 0, 1]),
        from([8, 8, 8, 8]),
        from([172, 17, 0, 1]),
        from([10, 2, 0, 1]),
        to([10, 2, 0, 9]),
        to([10, 2, 0, 9]),
    ];
    let mut lines = bench.lines(spaced(frames));
    let mut chip = bench.chip();
    assert!(
        chip.units_mut()
            .sram
            .write_word(bench.value("PORT_STATE") + 8, 0)
    );
    drain(&mut chip, &mut lines).unwrap();
    check_at_rest(&bench, &chip, &lines, &[2]).unwrap();
    let expected = [
        ("DROP_DISCARD", 1),
        ("DROP_PORT_DOWN", 2),
        ("DROP_SOURCE", 2),
        ("for the router itself", 1),
        ("no route", 1),
    ];
    let expected: BTreeMap<_, _> = expected.map(|(name, n)| (name.to_owned(), n)).into();
    assert_eq!(losses(&chip), expected);
    assert_eq!(lines.departures.len(), 2);
}

/// The lower halves of counters carry into the upper halves.
#[test]
fn counters_have_64_bits() {
    let bench = Bench::new("npsim.toml", &[], &[]);
    let mut lines = bench.lines(spaced(vec![bytes(PLAIN, 1000); 3]));
    let mut chip = bench.chip();
    let places = [
        ("PORT_COUNTERS", 0, 3),
        ("PORT_COUNTERS", 8, 3000),
        ("PORT_COUNTERS", 32 + 16, 3),
        ("PORT_COUNTERS", 32 + 24, 3000),
        ("QUEUE_COUNTERS", 5 * 64, 3),
        ("QUEUE_COUNTERS", 5 * 64 + 8, 3000),
        ("QUEUE_COUNTERS", 5 * 64 + 16, 3),
        ("QUEUE_COUNTERS", 5 * 64 + 24, 3000),
    ];
    for (name, at, _) in places {
        assert!(
            chip.units_mut()
                .sram
                .write_word(bench.value(name) + at + 4, 0xffff_fffe)
        );
    }
    drain(&mut chip, &mut lines).unwrap();
    assert_eq!(lines.departures.len(), 3);
    for (name, at, added) in places {
        let counted = bench.counter64(&chip, name, at as usize);
        assert_eq!(counted, 0xffff_fffe + added, "{name} + {at}");
    }
    // The check of counters does detect a wrong one.
    assert!(check_counters(&bench, &chip, &lines).is_err());
}
