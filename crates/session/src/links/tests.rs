use super::{Links, captured};
use npsim_chip::kernel::port_io::{Departure, PortIo};
use npsim_net::Frame;
use npsim_net::pace::{Pace, PortAssignment, PortLine, schedule};

#[test]
fn latency_is_from_last_bit_in_to_last_bit_out() {
    let frames = vec![Frame {
        time_ns: 0,
        port: 0,
        bytes: vec![1; 14],
        original_len: 14,
    }];
    let line = [PortLine {
        bits_per_second: 1_000_000_000,
    }];
    let plan = schedule(&frames, &line, PortAssignment::default(), Pace::Line).unwrap();
    let mut links = Links::streaming(
        captured(frames.as_slice(), plan.clone()),
        0,
        600_000_000,
        None,
    );
    assert!(!links.all_arrived());
    let arrival = links.next_arrival().unwrap();
    // 72 bytes on a gigabit line: 576 ns, 345.6 cycles.
    assert_eq!(
        (arrival.start, arrival.end, arrival.bytes.len()),
        (0, 346, 60)
    );
    assert!(links.all_arrived() && links.next_arrival().is_none());
    for arrived in [Some(346), None, None] {
        links.departed(Departure {
            start: 700,
            end: 1046,
            port: 1,
            bytes: &arrival.bytes,
            frame: arrived.map(|_| 0),
            arrived,
        });
    }
    let traffic = links.finish(1100).unwrap();
    assert_eq!(
        (
            traffic.offered_frames,
            traffic.offered_bytes,
            traffic.last_arrival
        ),
        (1, 60, 346)
    );
    assert_eq!(traffic.latencies, [700].into_iter().collect());
    let [port0, port1] = traffic.ports[..] else {
        panic!("{:?}", traffic.ports)
    };
    assert_eq!(
        (port0.offered_frames, port0.offered_bytes, port0.sent_frames),
        (1, 60, 0)
    );
    assert_eq!(
        (port1.offered_frames, port1.sent_frames, port1.sent_bytes),
        (0, 3, 180)
    );
    assert_eq!(
        (
            traffic.sent_frames,
            traffic.untraced_frames,
            traffic.sent_bytes
        ),
        (3, 2, 180)
    );
}

#[test]
fn frame_that_has_not_arrived_is_not_counted_as_offered() {
    let frame = |time_ns| Frame {
        time_ns,
        port: 0,
        bytes: vec![1; 60],
        original_len: 60,
    };
    let frames = vec![frame(0), frame(1_000_000)];
    let line = [PortLine {
        bits_per_second: 1_000_000_000,
    }];
    let plan = schedule(
        &frames,
        &line,
        PortAssignment::default(),
        "trace".parse().unwrap(),
    )
    .unwrap();
    for (end, offered) in [(599_999, 1), (600_000, 2)] {
        let mut links = Links::streaming(
            captured(frames.as_slice(), plan.clone()),
            0,
            600_000_000,
            None,
        );
        // As the chip polls: at the start, and when the first frame begins.
        assert_eq!(links.next_arrival().map(|arrival| arrival.start), Some(0));
        let second = links.next_arrival().map(|arrival| arrival.start);
        assert_eq!(second, Some(600_000));
        assert_eq!(links.finish(end).unwrap().offered_frames, offered);
    }
}
