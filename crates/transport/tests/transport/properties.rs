//! Properties that hold on any path.

use npsim_net::Random;
use npsim_transport::control::{
    CubicParameters, QuickStartParameters, SrpParameters, XcpOptionParameters, XcpParameters,
};
use npsim_transport::time::MILLISECOND;
use npsim_transport::wire::Packet;
use npsim_transport::{HostParameters, Receiver, Scheme, Sender, Supply};
use proptest::prelude::*;

use crate::rig::{Fate, Rig, host};

/// Losses, copies and delays, in per cent.
#[derive(Debug, Clone, Copy)]
struct Path {
    lost: u64,
    copied: u64,
    late: u64,
    seed: u64,
}

impl Path {
    fn fate(self, stream: u64) -> impl FnMut(u64, &Packet) -> Fate {
        let mut random = Random::new(self.seed, stream);
        move |_, _| {
            let mut later = |path: Self| match random.below(100) {
                drawn if drawn < path.late => random.below(150) * MILLISECOND,
                _ => 0,
            };
            let (first, second) = (later(self), later(self));
            match random.below(100) {
                drawn if drawn < self.lost => vec![],
                drawn if drawn < self.lost + self.copied => vec![first, second],
                _ => vec![first],
            }
        }
    }
}

fn any_scheme() -> impl Strategy<Value = Scheme> {
    prop_oneof![
        Just(Scheme::Reno),
        Just(Scheme::Cubic(CubicParameters::default())),
        Just(Scheme::Xcp(XcpParameters::default())),
        Just(Scheme::XcpOption(XcpOptionParameters::default())),
        Just(Scheme::QuickStart(QuickStartParameters::for_rate(640_000))),
        Just(Scheme::Srp(SrpParameters::default())),
    ]
}

prop_compose! {
    fn any_host()(
        sack: bool, timestamps: bool, delayed: bool, scaled: bool, limited_transmit: bool,
        initial_window in 1_u8..=10, receive_buffer in 3_000_u32..200_000, sack_blocks in 1_u8..=4,
    ) -> HostParameters {
        HostParameters {
            sack,
            timestamps: timestamps.then_some(MILLISECOND),
            delayed_ack: delayed.then_some(40 * MILLISECOND),
            window_scale: scaled,
            limited_transmit,
            initial_window,
            receive_buffer,
            sack_blocks,
            // Paths here may lose a third of all packets, also in a row.
            most_retransmissions: 60,
            rto: npsim_transport::RtoParameters {
                ceiling: npsim_transport::time::SECOND,
                ..npsim_transport::RtoParameters::LINUX
            },
            ..host()
        }
    }
}

prop_compose! {
    fn any_path()(
        lost in 0_u64..30, copied in 0_u64..10, late in 0_u64..30, seed: u64,
    ) -> Path {
        Path { lost, copied, late, seed }
    }
}

fn any_rig() -> impl Strategy<Value = (HostParameters, HostParameters, Scheme, Path, u64)> {
    (
        any_host(),
        any_host(),
        any_scheme(),
        any_path(),
        0_u64..60_000,
    )
}

fn rig(
    (host, peer, scheme, path, bytes): (HostParameters, HostParameters, Scheme, Path, u64),
) -> Rig {
    let mut rig = Rig::with_receiver(host, peer, scheme, Supply::Bytes(bytes));
    rig.forward.fate = Box::new(path.fate(1));
    rig.backward.fate = Box::new(path.fate(2));
    rig
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn all_data_arrives_despite_loss_duplication_and_delay(setting in any_rig()) {
        let bytes = setting.4;
        let mut rig = rig(setting);
        rig.open();
        let mut received = 0;
        while rig.step() {
            // Every packet sent is delivered, dropped or in flight.
            let sent = rig.sender.counters().packets + rig.receiver.counters().packets;
            prop_assert_eq!(sent + rig.copies, rig.delivered + rig.dropped + rig.flying());
            // Data arrives without gaps and never disappears, and no more is acknowledged than
            // arrived.
            let now = rig.receiver.counters().received;
            prop_assert!(received <= now && now <= bytes);
            prop_assert!(rig.sender.counters().acknowledged <= now);
            received = now;
            prop_assert!(rig.packets.len() < 100_000, "no end: {:?}", rig.sender.view());
        }
        prop_assert_eq!(rig.receiver.counters().received, bytes);
        prop_assert_eq!(rig.sender.counters().acknowledged, bytes);
    }

    #[test]
    fn acknowledged_data_is_never_sent_again(setting in any_rig()) {
        let mut rig = rig(setting);
        rig.open();
        let mut before = 0;
        while rig.step() {
            let acknowledged = rig.sender.counters().acknowledged;
            for sent in &rig.sent[before..] {
                prop_assert!((sent.number + 1) * 1000 > acknowledged);
            }
            before = rig.sent.len();
        }
    }

    #[test]
    fn restored_flow_runs_identically(setting in any_rig(), at in 0_usize..200) {
        let mut straight = rig(setting);
        let mut saved = rig(setting);
        straight.open();
        saved.open();
        straight.run();
        for _ in 0..at {
            saved.step();
        }
        let sender = postcard::to_allocvec(&saved.sender).unwrap();
        let receiver = postcard::to_allocvec(&saved.receiver).unwrap();
        saved.sender = postcard::from_bytes::<Sender>(&sender).unwrap();
        saved.receiver = postcard::from_bytes::<Receiver>(&receiver).unwrap();
        saved.run();
        prop_assert_eq!(&saved.packets, &straight.packets);
        prop_assert_eq!(&saved.answers, &straight.answers);
    }
}

#[test]
fn transfer_survives_sequence_number_wraparound() {
    // Some seed begins less than 200 KB before the sequence numbers wrap.
    let begins_late = |seed| {
        let mut rig = rig_with_seed(seed);
        rig.open();
        rig.packets[0].1.segment().unwrap().sequence > u32::MAX - 1_000_000
    };
    let seed = (0..100_000).find(|&seed| begins_late(seed)).unwrap();
    let mut rig = rig_with_seed(seed);
    rig.open();
    rig.drop_once(&[300, 301, 900, 1_000]);
    rig.run();
    rig.assert_done(2_000_000);
    let last = rig.packets.last().unwrap().1;
    assert!(last.segment().unwrap().sequence < 2_000_000, "it wrapped");
}

fn rig_with_seed(seed: u64) -> Rig {
    let sender = npsim_transport::SenderParameters {
        host: host(),
        scheme: Scheme::Reno,
        ends: crate::rig::ends(),
        supply: Supply::Bytes(2_000_000),
        seed,
    };
    let receiver = npsim_transport::ReceiverParameters {
        host: host(),
        ends: crate::rig::ends().reversed(),
        reads_at_once: true,
        xcp_option: None,
        seed,
    };
    Rig::of(&sender, &receiver)
}

#[test]
fn zero_window_is_reopened_by_a_probe() {
    let sender = npsim_transport::SenderParameters {
        host: host(),
        scheme: Scheme::Reno,
        ends: crate::rig::ends(),
        supply: Supply::Bytes(50_000),
        seed: 1,
    };
    let receiver = npsim_transport::ReceiverParameters {
        host: HostParameters {
            receive_buffer: 10_000,
            ..host()
        },
        ends: crate::rig::ends().reversed(),
        reads_at_once: false,
        xcp_option: None,
        seed: 2,
    };
    let mut rig = Rig::of(&sender, &receiver);
    rig.open();
    let second = npsim_transport::time::SECOND;
    rig.run_until(5 * second);
    assert_eq!(
        (rig.receiver.counters().received, rig.receiver.unread()),
        (10_000, 10_000)
    );
    let probes = rig.packets.len();
    assert!(rig.sender.wake_at().is_some(), "it probes");
    // The window update is lost: the next probe recovers it.
    let mut lost = Vec::new();
    rig.receiver.read(rig.now, 10_000, &mut lost);
    assert_eq!(lost.len(), 1);
    rig.run_until(20 * second);
    assert!(rig.packets.len() > probes);
    while rig.receiver.counters().received < 50_000 {
        let mut out = Vec::new();
        rig.receiver.read(rig.now, 10_000, &mut out);
        rig.send(false, out);
        rig.run_until(rig.now + second);
    }
    rig.run();
    rig.assert_done(50_000);
}
