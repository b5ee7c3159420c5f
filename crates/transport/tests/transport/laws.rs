//! Laws that whole transfers follow.

use npsim_net::Random;
use npsim_transport::control::{CubicParameters, SrpParameters};
use npsim_transport::pacing::TimerClock;
use npsim_transport::time::{MILLISECOND, SECOND};
use npsim_transport::{HostParameters, Scheme, Supply};

use crate::rig::{RTT, Rig, arrives, host};

/// Bytes a second of an endless flow over 100 ms whose data packets are lost at random, with the given number lost in a
/// million.
fn throughput(host: HostParameters, scheme: Scheme, lost: u64, seed: u64, seconds: u64) -> u64 {
    let mut rig = Rig::new(host, scheme, Supply::Endless);
    rig.keeps = false;
    let mut random = Random::new(seed, 1);
    rig.forward.fate = Box::new(move |_, packet| {
        let data = packet.segment().unwrap().payload > 0;
        if data && random.below(1_000_000) < lost {
            vec![]
        } else {
            arrives()
        }
    });
    rig.open();
    rig.run_until(20 * SECOND);
    let before = rig.receiver.counters().received;
    rig.run_until((20 + seconds) * SECOND);
    (rig.receiver.counters().received - before) / seconds
}

/// sqrt(3 / (2 b p)) segments a round-trip time.
fn square_root_law(b: u64, lost: u64) -> u64 {
    let squared = 3 * 1_000_000_000_000 / (2 * b * lost);
    // Segments x 1000 a round-trip time, which is a tenth of a second, of 1000 bytes.
    squared.isqrt() * 10
}

#[test]
fn sack_throughput_follows_the_square_root_law() {
    let host = HostParameters {
        receive_buffer: 1 << 24,
        ..host()
    };
    for (b, delayed_ack, lost, seconds) in [
        (1, None, 100, 1_500),
        (1, None, 1_000, 1_000),
        (1, None, 10_000, 1_000),
        (2, Some(50 * MILLISECOND), 1_000, 1_000),
    ] {
        let host = HostParameters {
            delayed_ack,
            ..host
        };
        let found = throughput(host, Scheme::Reno, lost, 7, seconds);
        let law = square_root_law(b, lost);
        let off = found.abs_diff(law) * 100 / law;
        assert!(off <= 15, "b {b}, {lost} in a million: {found}, law {law}");
    }
}

#[test]
fn cubic_outperforms_reno_where_losses_are_rare() {
    let host = HostParameters {
        receive_buffer: 1 << 24,
        ..host()
    };
    let reno = throughput(host, Scheme::Reno, 30, 3, 300);
    let cubic = throughput(host, Scheme::Cubic(CubicParameters::default()), 30, 3, 300);
    assert!(cubic > reno * 12 / 10, "{cubic} {reno}");
    // Where Reno's growth is faster, CUBIC follows it: RFC 9438, section 4.3.
    let reno = throughput(host, Scheme::Reno, 10_000, 3, 1_000);
    let cubic = throughput(
        host,
        Scheme::Cubic(CubicParameters::default()),
        10_000,
        3,
        1_000,
    );
    assert!(
        cubic * 10 >= reno * 8 && cubic * 10 <= reno * 15,
        "{cubic} {reno}"
    );
}

/// RFC 9438, figure of section 5: 1.054 (RTT^3 / p^3)^(1/4) / RTT, by p = 3 x 10^-5 and 100 ms.
#[test]
fn cubic_throughput_follows_rfc_9438() {
    let host = HostParameters {
        receive_buffer: 1 << 24,
        ..host()
    };
    let found = throughput(host, Scheme::Cubic(CubicParameters::default()), 30, 5, 600);
    // (0.1 / 0.00003)^(3/4) x 1.054 = 462 segments a round-trip time.
    let law = 4_620_000;
    assert!(found.abs_diff(law) * 100 / law <= 25, "{found}");
}

#[test]
fn srp_rate_follows_the_loss_event_rate() {
    let host = HostParameters {
        receive_buffer: 1 << 24,
        ..host()
    };
    // R(p) for 1 %, 100 ms, and a timeout of RTT + 200 ms or so: 80 to 90 packets a second.
    let found = throughput(
        host,
        Scheme::Srp(SrpParameters::default()),
        10_000,
        9,
        1_000,
    );
    let law = 85_000;
    assert!(found.abs_diff(law) * 100 / law <= 20, "{found}");
}

/// A paced sender has no window that runs empty: it continues to send while a loss is being repaired. So it must detect
/// losses meanwhile, or it continues at a rate of which half is lost.
#[test]
fn srp_slows_down_for_losses_during_recovery() {
    let host = HostParameters {
        receive_buffer: 1 << 24,
        ..host()
    };
    let most = SrpParameters {
        most: Some(2_000_000),
    };
    let mut rig = Rig::new(host, Scheme::Srp(most), Supply::Endless);
    rig.open();
    rig.forward.fate = Box::new(|number, _| {
        if number > 4_000 && number % 2 == 0 {
            Vec::new()
        } else {
            arrives()
        }
    });
    rig.run_until(2 * SECOND);
    let rate = |rig: &Rig| rig.sender.view().rate.unwrap();
    assert_eq!(rate(&rig), 2_000_000);
    rig.run_until(5 * SECOND);
    assert!(rate(&rig) < 100_000, "{}", rate(&rig));
    // A timeout also halves the rate, but is too rare to explain this: the loss events did.
    assert!(rig.sender.counters().timeouts < 5);
}

#[test]
fn jiffy_clock_sends_bursts_and_timer_ring_does_not() {
    let bursts = |clock| {
        let host = HostParameters {
            clock,
            receive_buffer: 1 << 24,
            ..host()
        };
        let most = SrpParameters {
            most: Some(2_000_000),
        };
        let mut rig = Rig::new(host, Scheme::Srp(most), Supply::Endless);
        rig.open();
        rig.run_until(3 * SECOND);
        // Per second, and the most at one time.
        let sent: Vec<_> = rig
            .sent
            .iter()
            .filter(|sent| sent.at > 2 * SECOND)
            .collect();
        let most = sent.chunk_by(|a, b| a.at == b.at).map(<[_]>::len).max();
        (sent.len(), most.unwrap())
    };
    for (clock, burst) in [
        (TimerClock::Exact, 1..=1),
        (TimerClock::PAPER, 1..=1),
        (TimerClock::SDK, 1..=1),
        (TimerClock::jiffies(100), 18..=21),
    ] {
        let (sent, most) = bursts(clock);
        // 2 MB/s are 1923 packets of 1040 bytes a second.
        assert!((1_880..=1_960).contains(&sent), "{clock:?}: {sent}");
        assert!(burst.contains(&most), "{clock:?}: {most} at once");
    }
}

#[test]
fn small_receive_buffer_limits_the_window() {
    let peer = HostParameters {
        receive_buffer: 16_000,
        window_scale: false,
        ..host()
    };
    let mut rig = Rig::with_receiver(host(), peer, Scheme::Reno, Supply::Endless);
    rig.open();
    rig.run_until(20 * RTT);
    assert_eq!(rig.round(10).len(), 16);
    assert_eq!(rig.round(19).len(), 16);
}
