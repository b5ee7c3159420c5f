//! Loss recovery by SACK.

use npsim_transport::{HostParameters, Scheme, Supply};

use crate::rig::{Line, RTT, Rig, host};
use npsim_transport::time::MILLISECOND;

fn rig() -> Rig {
    let mut rig = Rig::new(host(), Scheme::Reno, Supply::Bytes(100_000));
    rig.open();
    rig
}

#[test]
fn sack_repairs_three_losses_in_one_round_trip() {
    let mut rig = rig();
    rig.drop_once(&[18, 22, 26]);
    rig.run();
    rig.assert_done(100_000);
    assert_eq!(rig.repeated(), [18, 22, 26]);
    let again = |number| rig.times_of(number)[1];
    assert!(again(26) - again(18) <= RTT, "{} {}", again(18), again(26));
    assert_eq!(rig.sender.counters().fast_recoveries, 1);
}

#[test]
fn sacked_data_is_not_retransmitted() {
    let mut rig = rig();
    let lost: Vec<_> = (16..30).step_by(2).collect();
    rig.drop_once(&lost);
    rig.run();
    rig.assert_done(100_000);
    assert_eq!(rig.repeated(), lost);
    assert_eq!(rig.receiver.counters().duplicates, 0);
}

#[test]
fn recovery_sends_only_when_pipe_is_below_the_window() {
    let mut rig = rig();
    rig.drop_once(&[20]);
    while rig.sender.counters().fast_recoveries == 0 {
        assert!(rig.step(), "nothing happens any more");
    }
    let view = rig.sender.view();
    assert!(view.in_flight > view.window, "{view:?}");
    let mut sent = rig.sent.len();
    while rig.now < 7 * RTT {
        assert!(rig.step(), "nothing happens any more");
        let view = rig.sender.view();
        assert!(
            rig.sent.len() == sent || view.in_flight <= view.window,
            "{view:?}"
        );
        sent = rig.sent.len();
    }
    rig.run();
    rig.assert_done(100_000);
}

#[test]
fn lost_retransmission_needs_a_timeout() {
    let mut rig = rig();
    rig.drop_times(&[(20, 2)]);
    rig.run();
    rig.assert_done(100_000);
    assert_eq!(rig.sender.counters().timeouts, 1);
    assert_eq!(rig.times_of(20).len(), 3);
}

#[test]
fn sacked_data_is_skipped_after_a_timeout() {
    let mut rig = rig();
    rig.drop_times(&[(15, 2), (20, 2)]);
    rig.run();
    rig.assert_done(100_000);
    // Everything except the holes was there: the data in the first of the repeated ACKs is skipped.
    let wasted = rig.receiver.counters().duplicates;
    assert!(wasted <= 3, "{wasted}");
}

#[test]
fn tail_loss_is_recovered_by_rescue_retransmission() {
    // 90 and the last segment are lost: no SACK block above 99 can report it.
    let mut rig = rig();
    rig.drop_once(&[90, 99]);
    rig.run();
    rig.assert_done(100_000);
    assert_eq!(rig.repeated(), [90, 99]);
    assert_eq!(rig.sender.counters().timeouts, 0, "no rescue");
}

#[test]
fn three_sack_ranges_start_recovery_before_three_duplicates() {
    // With lost ACKs, the first duplicate that arrives reports three ranges.
    let host = HostParameters {
        initial_window: 10,
        ..host()
    };
    let mut rig = Rig::new(host, Scheme::Reno, Supply::Bytes(10_000));
    rig.open();
    rig.drop_once(&[1, 3, 5, 7]);
    // SYN/ACK, ACK of 0, then the duplicates of 2, 4, 6, 8, 9.
    rig.backward.fate = Box::new(|number, _| {
        if matches!(number, 2..=3) {
            vec![]
        } else {
            vec![0]
        }
    });
    rig.run_until(2 * RTT);
    assert_eq!(rig.sender.counters().fast_recoveries, 1);
    rig.run();
    rig.assert_done(10_000);
}

#[test]
fn reordering_by_four_but_not_two_causes_one_retransmission() {
    for (behind, repeated) in [(2, 0), (4, 1)] {
        let mut rig = rig();
        rig.forward.line = Some(Line::new(1_040_000, 1_000));
        rig.forward.fate = Box::new(move |number, _| {
            let late = behind * MILLISECOND + MILLISECOND / 2;
            vec![if number == 40 { late } else { 0 }]
        });
        rig.run();
        rig.assert_done(100_000);
        assert_eq!(rig.repeated().len(), repeated, "behind {behind}");
    }
}

#[test]
fn sack_blocks_are_most_recent_first_and_limited() {
    for sack_blocks in [2, 3] {
        let host = HostParameters {
            initial_window: 10,
            sack_blocks,
            ..host()
        };
        let mut rig = Rig::new(host, Scheme::Reno, Supply::Bytes(10_000));
        rig.open();
        rig.drop_once(&[1, 3, 5, 7]);
        rig.run_until(2 * RTT - 1);
        let (_, last) = rig.answers.last().unwrap();
        let segment = last.segment().unwrap();
        let first = segment.acknowledgement.wrapping_sub(1_001);
        let blocks: Vec<_> = segment
            .options
            .sack
            .as_slice()
            .iter()
            .map(|&(from, to)| {
                (
                    from.wrapping_sub(first + 1) / 1000,
                    to.wrapping_sub(first + 1) / 1000,
                )
            })
            .collect();
        let expected = [(8, 10), (6, 7), (4, 5)];
        assert_eq!(blocks, expected[..usize::from(sack_blocks)]);
    }
}

#[test]
fn peer_without_sack_falls_back_to_new_reno() {
    let peer = HostParameters {
        sack: false,
        ..host()
    };
    let mut rig = Rig::with_receiver(host(), peer, Scheme::Reno, Supply::Bytes(100_000));
    rig.open();
    rig.drop_once(&[18, 22, 26]);
    rig.run();
    rig.assert_done(100_000);
    assert!(rig.times_of(26)[1] - rig.times_of(18)[1] == 2 * RTT);
}
