//! Slow start, congestion avoidance, fast retransmit, delayed ACKs.

use npsim_transport::time::MILLISECOND;
use npsim_transport::wire::Flags;
use npsim_transport::{HostParameters, Scheme, Supply};

use crate::rig::{RTT, Rig, host};

fn rig(host: HostParameters, segments: u64) -> Rig {
    let mut rig = Rig::new(host, Scheme::Reno, Supply::Bytes(segments * 1000));
    rig.open();
    rig
}

fn no_sack() -> HostParameters {
    HostParameters {
        sack: false,
        ..host()
    }
}

#[test]
fn slow_start_doubles_the_window_each_round_trip() {
    let mut rig = rig(host(), 100);
    rig.run();
    for (round, segments) in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16), (6, 32)] {
        assert_eq!(rig.round(round).len(), segments, "round {round}");
    }
    rig.assert_done(100_000);
    assert_eq!(rig.sender.counters().retransmitted, 0);
}

#[test]
fn initial_window_follows_the_host() {
    for initial_window in 1..=10 {
        let host = HostParameters {
            initial_window,
            ..host()
        };
        let mut rig = rig(host, 100);
        rig.run();
        assert_eq!(rig.round(1).len(), usize::from(initial_window));
    }
}

#[test]
fn congestion_avoidance_adds_one_segment_per_round_trip() {
    let host = HostParameters {
        initial_threshold: Some(8_000),
        ..host()
    };
    let mut rig = rig(host, 1_000);
    rig.run();
    for (round, segments) in [(4, 8), (5, 8), (6, 9), (7, 10), (10, 13)] {
        let sent = rig.round(round).len();
        assert!(sent.abs_diff(segments) <= 1, "round {round}: {sent}");
    }
}

#[test]
fn byte_counting_offsets_delayed_acks() {
    let delayed = HostParameters {
        delayed_ack: Some(200 * MILLISECOND),
        initial_window: 2,
        ..host()
    };
    let counting = HostParameters {
        byte_counting: Some(2),
        ..delayed
    };
    let window_after = |host, rounds| {
        let mut rig = rig(host, 10_000);
        rig.run_until(rounds * RTT);
        rig.sender.view().window
    };
    assert!(window_after(counting, 7) >= 2 * window_after(delayed, 7));
}

#[test]
fn third_duplicate_ack_triggers_fast_retransmit() {
    let mut rig = rig(no_sack(), 60);
    rig.drop_once(&[20]);
    rig.run();
    rig.assert_done(60_000);
    assert_eq!(rig.repeated(), [20]);
    assert_eq!(rig.sender.counters().timeouts, 0);
    // Segments 15 to 30 are round 5; 20 is retransmitted when the ACKs of 21, 22 and 23 have
    // arrived.
    assert_eq!(rig.times_of(20), [5 * RTT, 6 * RTT]);
}

#[test]
fn loss_sets_the_threshold_to_half_the_flight_size() {
    let mut rig = rig(no_sack(), 400);
    rig.drop_once(&[20]);
    rig.run_until(6 * RTT + 1);
    let view = rig.sender.view();
    // 16 segments of round 5 and those that the first duplicates of round 6 found in flight.
    let threshold = view.threshold.expect("a loss sets it");
    assert!((10_000..=11_000).contains(&threshold), "{threshold}");
}

#[test]
fn timeout_sets_threshold_to_half_the_flight() {
    let mut rig = rig(no_sack(), 100);
    // The whole of round 5.
    rig.drop_once(&(15..31).collect::<Vec<_>>());
    rig.run_until(5 * RTT + 1);
    assert_eq!(rig.sender.view().in_flight, 16_000);
    rig.run_until(5 * RTT + 250 * MILLISECOND);
    assert_eq!(rig.sender.counters().timeouts, 1);
    let view = rig.sender.view();
    assert_eq!((view.window, view.threshold), (1_000, Some(8_000)));
    rig.run();
    rig.assert_done(100_000);
}

#[test]
fn second_timeout_of_a_segment_keeps_the_threshold() {
    let mut rig = rig(no_sack(), 100);
    let mut lost: Vec<_> = (15..31).map(|number| (number, 1)).collect();
    lost[0].1 = 2;
    rig.drop_times(&lost);
    rig.run_until(5 * RTT + 900 * MILLISECOND);
    assert_eq!(rig.sender.counters().timeouts, 2);
    let threshold = rig.sender.view().threshold;
    assert_eq!(threshold, Some(8_000));
    rig.run();
    rig.assert_done(100_000);
}

#[test]
fn idle_sender_restarts_with_the_initial_window() {
    for restart_after_idle in [true, false] {
        let host = HostParameters {
            initial_window: 2,
            restart_after_idle,
            ..host()
        };
        let mut rig = Rig::new(host, Scheme::Reno, Supply::Offered);
        rig.open();
        let offer = |rig: &mut Rig| {
            let mut out = Vec::new();
            rig.sender.offer(rig.now, 30_000, &mut out);
            rig.send(true, out);
        };
        offer(&mut rig);
        rig.run_until(20 * RTT);
        let window = rig.sender.view().window;
        assert!(window >= 16_000, "{window}");
        let before = rig.sent.len();
        offer(&mut rig);
        let burst = rig.sent.len() - before;
        let expected = if restart_after_idle { 2 } else { window / 1000 };
        assert_eq!(burst as u64, expected);
    }
}

#[test]
fn lost_syn_reduces_the_initial_window_to_one_segment() {
    let host = HostParameters {
        initial_window: 10,
        ..host()
    };
    let mut rig = Rig::new(host, Scheme::Reno, Supply::Bytes(30_000));
    rig.forward.fate = Box::new(|number, _| if number == 0 { vec![] } else { vec![0] });
    rig.open();
    rig.run();
    rig.assert_done(30_000);
    let first = rig.sent[0].at;
    assert_eq!(rig.sent.iter().filter(|sent| sent.at == first).count(), 1);
}

#[test]
fn delayed_ack_covers_two_segments_or_times_out() {
    let host = HostParameters {
        delayed_ack: Some(40 * MILLISECOND),
        initial_window: 3,
        ..host()
    };
    let mut rig = rig(host, 3);
    rig.run();
    rig.assert_done(3_000);
    let arrival = RTT + RTT / 2;
    let acks: Vec<_> = rig
        .answers
        .iter()
        .filter(|(_, packet)| packet.segment().unwrap().flags == Flags::ACK)
        .map(|(at, _)| *at)
        .collect();
    // Two segments at once; the third has the FIN, which is not delayed.
    assert_eq!(acks, [arrival, arrival]);
    let mut rig = Rig::new(
        HostParameters {
            initial_window: 1,
            ..host
        },
        Scheme::Reno,
        Supply::Bytes(5_000),
    );
    rig.open();
    rig.run();
    let lone = rig.answers[1].0;
    assert_eq!(lone, arrival + 40 * MILLISECOND, "nothing followed");
}

#[test]
fn out_of_order_segments_are_acked_at_once() {
    let host = HostParameters {
        delayed_ack: Some(500 * MILLISECOND),
        initial_window: 8,
        limited_transmit: false,
        ..host()
    };
    let mut rig = rig(host, 8);
    rig.drop_once(&[1]);
    rig.run();
    rig.assert_done(8_000);
    let at_arrival = rig
        .answers
        .iter()
        .filter(|(at, _)| *at == RTT + RTT / 2)
        .count();
    assert_eq!(at_arrival, 6, "2 to 7 are each answered");
    let filled = rig.answers.iter().find(|(_, packet)| {
        let segment = packet.segment().unwrap();
        segment.options.sack.is_empty()
            && segment.flags == Flags::ACK
            && rig.answers[0]
                .1
                .segment()
                .unwrap()
                .acknowledgement
                .wrapping_add(8_001)
                == segment.acknowledgement
    });
    assert_eq!(filled.map(|(at, _)| *at), Some(2 * RTT + RTT / 2));
}
