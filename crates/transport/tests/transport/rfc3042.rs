//! Limited transmit.

use npsim_transport::{HostParameters, Scheme, Supply};

use crate::rig::{RTT, Rig, host};

/// A window of four segments whose first is lost: only limited transmit causes a third duplicate, for the two segments
/// that the first two duplicates release.
fn timeouts(limited_transmit: bool, sack: bool) -> u64 {
    let host = HostParameters {
        initial_window: 3,
        limited_transmit,
        sack,
        ..host()
    };
    let mut rig = Rig::new(host, Scheme::Reno, Supply::Bytes(20_000));
    rig.open();
    rig.drop_once(&[0]);
    rig.run();
    rig.assert_done(20_000);
    rig.sender.counters().timeouts
}

#[test]
fn limited_transmit_recovers_a_small_window_without_timeout() {
    for sack in [false, true] {
        assert_eq!(timeouts(true, sack), 0, "SACK: {sack}");
        assert_eq!(timeouts(false, sack), 1, "SACK: {sack}");
    }
}

#[test]
fn limited_transmit_is_excluded_from_the_threshold() {
    let host = HostParameters {
        initial_window: 6,
        sack: false,
        ..host()
    };
    let mut rig = Rig::new(host, Scheme::Reno, Supply::Bytes(50_000));
    rig.open();
    rig.drop_once(&[0]);
    rig.run_until(2 * RTT + 1);
    assert_eq!(rig.round(2)[..3], [6, 7, 0]);
    assert_eq!(rig.sender.view().threshold, Some(3_000), "6 / 2, not 8 / 2");
}
