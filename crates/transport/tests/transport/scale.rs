//! A world whose times are divided by k behaves the same, k times as fast.

use npsim_transport::control::{
    CubicParameters, QuickStartParameters, SrpParameters, XcpParameters,
};
use npsim_transport::time::{MILLISECOND, SECOND, Time};
use npsim_transport::wire::PacketBody;
use npsim_transport::{HostParameters, Scheme, Supply};

use crate::rig::{Line, RTT, Rig, arrives, host};

/// Segments sent, with their times multiplied by k, and the share of the line that was used in parts
/// of a million.
fn run(scheme: Scheme, k: u64) -> (Vec<(u64, Time)>, u64) {
    let host = HostParameters {
        receive_buffer: 1 << 22,
        delayed_ack: Some(40 * MILLISECOND),
        ..host()
    };
    let rate = 1_250_000 * k;
    let mut rig = Rig::new(
        host.scaled(k).unwrap(),
        scheme.scaled(k).unwrap(),
        Supply::Endless,
    );
    rig.forward.delay = RTT / 2 / k;
    rig.backward.delay = RTT / 2 / k;
    rig.forward.line = Some(Line::new(rate, 60));
    // A gap of 40 data packets, to see a timeout.
    rig.forward.fate = Box::new(|number, _| {
        if (3_000..3_040).contains(&number) {
            vec![]
        } else {
            arrives()
        }
    });
    rig.forward.router = Box::new(move |_, packet| {
        if let PacketBody::Tcp {
            xcp: Some(header), ..
        } = &mut packet.body
        {
            let most = 2_000 * k as i32;
            header.delta_throughput = header.delta_throughput.min(most);
        }
    });
    rig.open();
    rig.run_until(20 * SECOND / k);
    let used = rig.receiver.counters().received * 1_040 / 1_000 / 20;
    let sent = rig.sent.iter().map(|sent| (sent.number, sent.at * k));
    (sent.collect(), used * 1_000_000 / 1_250_000)
}

#[test]
fn time_scaling_by_10_and_50_preserves_behaviour() {
    for scheme in [
        Scheme::Reno,
        Scheme::Cubic(CubicParameters::default()),
        Scheme::Xcp(XcpParameters::default()),
        Scheme::QuickStart(QuickStartParameters::for_rate(640_000)),
        Scheme::Srp(SrpParameters::default()),
    ] {
        let (sent, used) = run(scheme, 1);
        assert!(sent.len() > 3_000 && used > 200_000, "{scheme:?}: {used}");
        for k in [10, 50] {
            let (scaled, scaled_used) = run(scheme, k);
            let off = scaled_used.abs_diff(used);
            assert!(off <= 10_000, "{scheme:?} x {k}: {used} {scaled_used}");
            // Nearly all of it is identical to the segment, until rounding of picoseconds adds up.
            let same = sent
                .iter()
                .zip(&scaled)
                .take_while(|(a, b)| a.0 == b.0 && a.1.abs_diff(b.1) < MILLISECOND);
            let same = same.count();
            let least = match scheme {
                Scheme::Reno => 2_000,
                // Rate codes are powers of two, which ten and fifty are not.
                Scheme::QuickStart(_) => 1,
                _ => 100,
            };
            assert!(same >= least, "{scheme:?} x {k}: {same} of {}", sent.len());
        }
    }
}
