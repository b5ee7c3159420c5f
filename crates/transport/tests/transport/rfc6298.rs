//! The retransmission timer.

use npsim_transport::time::{MILLISECOND, SECOND, Time};
use npsim_transport::{ConnectionPhase, HostParameters, RtoParameters, Scheme, Supply};

use crate::rig::{RTT, Rig, host};

fn with(rto: RtoParameters) -> HostParameters {
    HostParameters { rto, ..host() }
}

fn timeout_after(samples: &[Time]) -> Time {
    let rto = RtoParameters {
        floor: 1,
        granularity: 1,
        ..RtoParameters::RFC
    };
    let mut rig = Rig::new(with(rto), Scheme::Reno, Supply::Endless);
    let samples = samples.to_vec();
    let mut rounds = 0;
    // One segment at a time: each round trip is a sample.
    let limited = HostParameters {
        window_limit: Some(1_000),
        ..with(rto)
    };
    let mut own = Rig::new(limited, Scheme::Reno, Supply::Endless);
    std::mem::swap(&mut rig, &mut own);
    rig.forward.delay = 0;
    rig.backward.delay = 0;
    let count = samples.len();
    rig.backward.fate = Box::new(move |number, _| {
        vec![
            samples
                .get(number as usize)
                .copied()
                .unwrap_or(SECOND * 1_000),
        ]
    });
    rig.open();
    while rounds < count && rig.step() {
        rounds = rig.answers.len().min(count);
        if rig.answers.len() > count {
            break;
        }
    }
    while rig.sent.len() < count {
        assert!(rig.step(), "nothing happens any more");
    }
    rig.sender.view().timeout
}

#[test]
fn first_rtt_sample_sets_timeout_to_three_round_trips() {
    assert_eq!(timeout_after(&[RTT]), 3 * RTT);
}

#[test]
fn later_rtt_samples_are_smoothed() {
    // R = 100 then 180 ms: deviation 3/4 x 50 + 1/4 x 80 = 57.5, mean 7/8 x 100 + 1/8 x 180 = 110.
    let timeout = timeout_after(&[RTT, 180 * MILLISECOND]);
    assert_eq!(timeout, 110 * MILLISECOND + 4 * 57_500_000_000);
}

#[test]
fn timeout_respects_floor_granularity_and_ceiling() {
    let mut at_floor = Rig::new(
        with(RtoParameters::RFC),
        Scheme::Reno,
        Supply::Bytes(50_000),
    );
    at_floor.open();
    at_floor.run();
    assert_eq!(at_floor.sender.view().timeout, SECOND);
    let coarse = RtoParameters {
        floor: 1,
        granularity: 500 * MILLISECOND,
        ..RtoParameters::RFC
    };
    let mut rig = Rig::new(with(coarse), Scheme::Reno, Supply::Bytes(50_000));
    rig.open();
    rig.run();
    assert_eq!(rig.sender.view().timeout, RTT + 500 * MILLISECOND);
    let low = RtoParameters {
        floor: 1,
        ceiling: 150 * MILLISECOND,
        ..RtoParameters::RFC
    };
    let mut rig = Rig::new(with(low), Scheme::Reno, Supply::Bytes(50_000));
    rig.open();
    rig.run_until(RTT);
    assert_eq!(rig.sender.view().timeout, 150 * MILLISECOND);
}

#[test]
fn timeout_backs_off_until_a_new_sample() {
    let rto = RtoParameters {
        floor: 200 * MILLISECOND,
        ..RtoParameters::RFC
    };
    let mut rig = Rig::new(with(rto), Scheme::Reno, Supply::Bytes(20_000));
    rig.open();
    rig.drop_times(&[(3, 5)]);
    rig.run();
    rig.assert_done(20_000);
    let times = rig.times_of(3);
    let gaps: Vec<_> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    // The first is a fast retransmit.
    for pair in gaps[1..].windows(2) {
        assert_eq!(pair[1], 2 * pair[0], "{gaps:?}");
    }
    assert!(
        rig.sender.view().timeout < 2 * gaps[1],
        "the back-off is over"
    );
}

#[test]
fn retransmission_gives_no_rtt_sample() {
    // The first data is delayed beyond its timeout: the ACK of the first transmission arrives just after the second,
    // and would look like a round trip of almost nothing.
    let mut rig = Rig::new(host(), Scheme::Reno, Supply::Bytes(1_000));
    rig.open();
    rig.forward.fate = Box::new(|number, packet| {
        let first = packet.segment().unwrap().payload > 0 && number == 2;
        vec![if first { 290 * MILLISECOND } else { 0 }]
    });
    rig.run();
    rig.assert_done(1_000);
    assert!(rig.sent.len() >= 2);
    assert_eq!(
        rig.sender.view().srtt,
        Some(RTT),
        "only the handshake counts"
    );
}

#[test]
fn lost_syn_sets_the_data_timeout_to_three_seconds() {
    let mut rig = Rig::new(host(), Scheme::Reno, Supply::Bytes(5_000));
    rig.forward.fate = Box::new(|number, _| if number == 0 { vec![] } else { vec![0] });
    rig.open();
    rig.run_until(SECOND + RTT);
    assert_eq!(rig.packets[1].0, SECOND, "the SYN again");
    assert_eq!(rig.sender.view().timeout, 3 * SECOND);
    rig.run();
    rig.assert_done(5_000);
}

#[test]
fn sender_gives_up_after_15_retransmissions() {
    let mut rig = Rig::new(host(), Scheme::Reno, Supply::Bytes(5_000));
    rig.forward.fate = Box::new(|_, _| vec![]);
    rig.open();
    rig.run();
    assert_eq!(rig.sender.view().phase, ConnectionPhase::Failed);
    assert_eq!(rig.packets.len(), 16, "15 retransmissions");
}

#[test]
fn new_ack_restarts_the_timer() {
    let mut rig = Rig::new(host(), Scheme::Reno, Supply::Bytes(50_000));
    rig.open();
    rig.run_until(4 * RTT);
    let at = rig.sender.wake_at().expect("data is out");
    assert_eq!(at, 4 * RTT + rig.sender.view().timeout);
}
