//! `NewReno`: losses without SACK.

use npsim_transport::time::MILLISECOND;
use npsim_transport::{FullAck, HostParameters, PartialAck, Scheme, Supply};

use crate::rig::{RTT, Rig, host};

fn rig(host: HostParameters) -> Rig {
    let host = HostParameters {
        sack: false,
        ..host
    };
    let mut rig = Rig::new(host, Scheme::Reno, Supply::Bytes(100_000));
    rig.open();
    rig
}

#[test]
fn new_reno_repairs_one_loss_per_round_trip() {
    let mut rig = rig(host());
    rig.drop_once(&[18, 22, 26]);
    rig.run();
    rig.assert_done(100_000);
    assert_eq!(rig.repeated(), [18, 22, 26]);
    let again = |number| rig.times_of(number)[1];
    assert_eq!(again(22) - again(18), RTT);
    assert_eq!(again(26) - again(22), RTT);
    assert_eq!(rig.sender.counters().fast_recoveries, 1);
    assert_eq!(rig.sender.counters().timeouts, 0);
}

#[test]
fn lost_retransmission_needs_a_timeout() {
    let mut rig = rig(host());
    rig.drop_times(&[(20, 2)]);
    rig.run();
    rig.assert_done(100_000);
    assert_eq!(rig.sender.counters().timeouts, 1);
    assert_eq!(rig.times_of(20).len(), 3);
}

#[test]
fn duplicate_acks_after_a_timeout_start_no_recovery() {
    let mut rig = rig(host());
    // Of 15 to 30, only the first is lost, twice: all others have arrived when the timer expires, and are
    // retransmitted.
    rig.drop_times(&[(15, 2)]);
    rig.run();
    rig.assert_done(100_000);
    assert_eq!(rig.sender.counters().timeouts, 1);
    assert_eq!(rig.sender.counters().fast_recoveries, 1);
}

#[test]
fn full_ack_window_is_flight_or_threshold() {
    let window = |full_ack| {
        let mut rig = rig(HostParameters { full_ack, ..host() });
        rig.drop_once(&[20]);
        while rig.sender.counters().fast_recoveries == 0 {
            assert!(rig.step(), "nothing happens any more");
        }
        let before = rig.sender.view().threshold.unwrap();
        // Until the data outstanding at that time is acknowledged.
        rig.run_until(7 * RTT + 1);
        (rig.sender.view().window, before)
    };
    let (window_then, threshold) = window(FullAck::Threshold);
    assert!(window_then >= threshold, "{window_then} {threshold}");
    let (less, _) = window(FullAck::Flight);
    assert!(less <= window_then);
}

#[test]
fn partial_acks_restart_the_timer_as_configured() {
    // Ten losses take ten round trips; with a timer that starts once, it expires before the end.
    let timeouts = |partial_ack| {
        let mut rig = rig(HostParameters {
            partial_ack,
            ..host()
        });
        rig.drop_once(&[31, 33, 35, 37, 39, 41, 43, 45, 47, 49]);
        rig.run();
        rig.assert_done(100_000);
        rig.sender.counters().timeouts
    };
    assert_eq!(timeouts(PartialAck::Restarts), 0);
    assert_eq!(timeouts(PartialAck::RestartsOnce), 1);
}

/// By four positions, it is taken for a loss, and each ACK until the end of the supposed recovery for a partial one:
/// without SACK, the sender cannot detect the difference.
#[test]
fn reordering_by_four_but_not_two_causes_many_retransmissions() {
    for (behind, repeated) in [(2, 0..=0), (4, 10..=40)] {
        let mut rig = rig(host());
        rig.forward.line = Some(crate::rig::Line::new(1_040_000, 1_000));
        // A segment takes a millisecond of line.
        rig.forward.fate = Box::new(move |number, _| {
            let late = behind * MILLISECOND + MILLISECOND / 2;
            vec![if number == 40 { late } else { 0 }]
        });
        rig.run();
        rig.assert_done(100_000);
        let found = rig.repeated().len();
        assert!(repeated.contains(&found), "behind {behind}: {found}");
    }
}

#[test]
fn later_acks_compensate_for_lost_ones() {
    let mut rig = rig(host());
    rig.backward.fate = Box::new(|number, _| {
        let lost = number > 8 && number % 3 == 1;
        if lost { vec![] } else { vec![0] }
    });
    rig.run();
    rig.assert_done(100_000);
    assert!(rig.repeated().is_empty(), "{:?}", rig.repeated());
}
