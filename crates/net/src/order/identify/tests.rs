use etherparse::PacketBuilder;

use super::*;
use crate::load::{Generator, Load, LoadPort, Special};

fn made(special: Special) -> Vec<Vec<u8>> {
    let load = Load {
        rate: Some("1".parse().unwrap()),
        time: "50us".parse().unwrap(),
        flows: 4,
        special,
        ..Load::default()
    };
    let port = LoadPort {
        bits_per_second: 1_000_000_000,
        mac: [2, 0, 0, 0, 1, 0],
    };
    let frames = Generator::new(&load, &[port]).unwrap();
    frames.map(|frame| frame.bytes).collect()
}

/// Returns the frame as a router forwards it.
fn forwarded(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[..12].copy_from_slice(&[9; 12]);
    frame[15] ^= 0x03;
    frame[22] -= 1;
    frame[24..26].copy_from_slice(&[0xbe, 0xef]);
    frame.resize(frame.len() + 7, 0);
    frame
}

fn segment(number: u32, payload: &[u8]) -> Vec<u8> {
    segment_of(number, payload, false)
}

fn segment_of(number: u32, payload: &[u8], syn: bool) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2([1; 6], [2; 6])
        .ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .tcp(80, 9000, number, 1000);
    let builder = if syn { builder.syn() } else { builder };
    let mut frame = Vec::new();
    builder.write(&mut frame, payload).unwrap();
    frame
}

#[test]
fn frames_are_identified_after_a_router() {
    let frames = made(Special::default());
    let mut entering = EnteredFramesBuilder::default();
    for frame in &frames {
        entering.add(frame);
    }
    let mut entered = entering.finish();
    assert_eq!(entered.frames(), frames.len() as u64);
    assert_eq!(entered.flows().count(), 4);
    for (place, frame) in frames.iter().enumerate().rev() {
        let (flow, sequence) = entered.next(&forwarded(frame)).unwrap();
        assert_eq!(
            (flow.number as usize, sequence as usize),
            (place % 4, place / 4)
        );
        let (made, stamp) = stamped_flow(&forwarded(frame)).unwrap();
        assert_eq!((made.number, stamp), (flow.number, sequence));
        assert_eq!(made.to_string(), format!("flow {}", flow.number));
        assert!(flow.to_string().ends_with(":5001 udp"), "{flow}");
    }
    let mut other = forwarded(&frames[0]);
    other[19] ^= 1;
    assert_eq!(entered.next(&other), None, "another identification");
    let mut other = forwarded(&frames[0]);
    other[44] ^= 1;
    assert_eq!(entered.next(&other), None, "another payload");
    assert_eq!(entered.next(&[]), None);
    assert_eq!(
        EnteredFramesBuilder::default().finish().next(&frames[0]),
        None
    );
}

#[test]
fn equal_frames_are_matched_in_order_of_entry() {
    let mut entering = EnteredFramesBuilder::default();
    let (same, other) = (segment(5, b"same"), segment(9, b"other"));
    for frame in [&same, &other, &same] {
        entering.add(frame);
    }
    let mut entered = entering.finish();
    let mut sequence = |frame: &[u8]| entered.next(frame).unwrap().1;
    assert_eq!(sequence(&same), 0);
    assert_eq!(sequence(&same), 2);
    assert_eq!(sequence(&same), 2, "a duplicate");
    assert_eq!(sequence(&other), 1);
}

#[test]
fn frames_without_ip_are_identified_when_padded_or_readdressed() {
    let arp = made(Special {
        arp: "1".parse().unwrap(),
        ..Special::default()
    });
    let short = [&[1u8; 12][..], &[0x88, 0xb5, 7]].concat();
    let mut entering = EnteredFramesBuilder::default();
    entering.add(&arp[0]);
    entering.add(&short);
    let mut entered = entering.finish();
    let mut padded = short.clone();
    padded[..12].fill(3);
    padded.resize(60, 0);
    let (flow, _) = entered.next(&padded).unwrap();
    assert_eq!(
        flow.to_string(),
        "01:01:01:01:01:01 > 01:01:01:01:01:01 0x88b5"
    );
    assert!(entered.next(&arp[0]).is_some());
    assert_eq!(stamped_flow(&arp[0]), None);
}

#[test]
fn tcp_sequence_number_wrap_is_followed() {
    let mut segments = TcpSegments::default();
    let first = u32::MAX - 9;
    let numbers: Vec<u64> = [first, 10, 0, first - 20, 30, 10]
        .into_iter()
        .map(|number| segments.next(&segment(number, b"data")).unwrap().1)
        .collect();
    let from_first: Vec<i64> = numbers
        .iter()
        .map(|&number| number.cast_signed() - numbers[0].cast_signed())
        .collect();
    assert_eq!(from_first, [0, 20, 10, -20, 40, 20]);
    assert_eq!(segments.next(&segment(50, b"")), None, "an acknowledgement");
    let udp = &made(Special::default())[0];
    assert_eq!(segments.next(udp), None);
    let (flow, _) = segments.next(&segment(50, b"x")).unwrap();
    assert_eq!(flow.to_string(), "10.0.0.1:80 > 10.0.0.2:9000 tcp");
}

/// Returns the flow and the number, relative to the first one, of each segment, given as start,
/// length and whether it is a SYN.
fn numbered(segments: &[(u32, usize, bool)]) -> Vec<Option<(u32, i64)>> {
    let mut tcp = TcpSegments::default();
    let mut first = std::collections::BTreeMap::new();
    let number = |&(number, length, syn): &(u32, usize, bool)| {
        let (flow, sequence) = tcp.next(&segment_of(number, &vec![7; length], syn))?;
        let first = *first.entry(flow.number).or_insert(sequence);
        Some((flow.number, sequence.cast_signed() - first.cast_signed()))
    };
    segments.iter().map(number).collect()
}

#[test]
fn new_connection_between_the_same_ends_is_a_new_flow() {
    // Numbers below and above those of the previous connection.
    for second in [999, 9_000_000] {
        let segments = [
            (5_000_000, 100, false),
            (5_000_100, 100, false),
            (second, 0, true),
            (second + 1, 100, false),
            (second, 0, true),
            (second + 101, 100, false),
        ];
        let expected = [(0, 0), (0, 100), (1, 0), (1, 1), (1, 0), (1, 101)];
        assert_eq!(numbered(&segments), expected.map(Some), "{second}");
    }
    // A late SYN begins no connection.
    let late = [(1_000, 100, false), (999, 0, true), (1_100, 100, false)];
    assert_eq!(numbered(&late), [(0, 0), (0, -1), (0, 100)].map(Some));
    let mut tcp = TcpSegments::default();
    let named = |number, syn, tcp: &mut TcpSegments| {
        let (flow, _) = tcp.next(&segment_of(number, b"", syn)).unwrap();
        flow.to_string()
    };
    assert_eq!(named(1, true, &mut tcp), "10.0.0.1:80 > 10.0.0.2:9000 tcp");
    let again = named(5, true, &mut tcp);
    assert_eq!(again, "10.0.0.1:80 > 10.0.0.2:9000 tcp, connection 2");
}

#[test]
fn keepalive_probe_is_not_a_segment() {
    let segments = [
        (1_000, 100, false),
        (1_099, 1, false),
        (1_099, 1, false),
        (1_100, 1, false),
        (1_100, 1, false),
        (1_101, 100, false),
    ];
    let numbers: Vec<_> = numbered(&segments)
        .into_iter()
        .map(|it| it.map(|(_, n)| n))
        .collect();
    assert_eq!(numbers, [Some(0), None, None, Some(100), None, Some(101)]);
}

#[test]
fn retransmitted_data_are_duplicates_in_any_segmentation() {
    let segments = [
        (1_000, 100, false),
        (1_100, 100, false),
        // Within one segment, across two, and with new data at the end.
        (1_050, 50, false),
        (1_020, 180, false),
        (1_150, 100, false),
        (1_250, 10, false),
    ];
    let expected = [(0, 0), (0, 100), (0, 0), (0, 0), (0, 200), (0, 250)];
    assert_eq!(numbered(&segments), expected.map(Some));
}
