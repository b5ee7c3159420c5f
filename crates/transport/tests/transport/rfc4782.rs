//! Quick-Start at the hosts.

use npsim_protocols::quick_start::{QuickStartOption, option};
use npsim_transport::control::QuickStartParameters;
use npsim_transport::time::SECOND;
use npsim_transport::wire::Packet;
use npsim_transport::{Scheme, Supply};

use crate::rig::{RTT, Rig, arrives, host};

/// Requests code 7: 5.12 Mbit/s.
fn rig(segments: u64) -> Rig {
    let scheme = Scheme::QuickStart(QuickStartParameters::for_rate(640_000));
    Rig::new(host(), scheme, Supply::Bytes(segments * 1000))
}

/// A router of Quick-Start that grants up to `code`.
fn approves(packet: &mut Packet, code: u8) {
    packet.ttl -= 1;
    if let Some(option) = packet
        .quick_start
        .filter(|o| o.function == option::RATE_REQUEST)
    {
        let granted = option.rate.min(code);
        packet.quick_start = Some(if granted == 0 {
            QuickStartOption::denied()
        } else {
            option.granted(granted, 0xdead_beef)
        });
    }
}

fn reports(rig: &Rig) -> Vec<(u8, u32)> {
    let options = rig
        .packets
        .iter()
        .filter_map(|(_, packet)| packet.quick_start);
    let of = options.filter(|option| option.function == option::APPROVED_RATE);
    of.map(|option| (option.rate, option.nonce)).collect()
}

#[test]
fn an_approved_rate_paces_the_first_window() {
    let mut rig = rig(200);
    rig.forward.router = Box::new(|_, packet| approves(packet, 15));
    rig.open();
    let request = rig.packets[0].1.quick_start.expect("a request");
    assert_eq!((request.function, request.rate), (0, 7));
    rig.run_until(2 * RTT - 1);
    // 640 kB/s x 100 ms / 1040 bytes = 61 segments, one every 1.625 ms.
    assert_eq!(rig.round(1).len(), 61);
    for pair in rig.sent.windows(2) {
        assert_eq!(pair[1].at - pair[0].at, 1_625_000_000);
    }
    assert_eq!(reports(&rig), [(7, request.nonce)], "before the data");
    rig.run();
    rig.assert_done(200_000);
}

#[test]
fn remaining_nonce_proves_a_lowered_rate() {
    let mut rig = rig(200);
    rig.forward.router = Box::new(|_, packet| approves(packet, 5));
    rig.open();
    rig.run_until(2 * RTT - 1);
    // 160 kB/s x 100 ms / 1040.
    assert_eq!(rig.round(1).len(), 15);
    assert_eq!(reports(&rig)[0].0, 5);
}

#[test]
fn first_ack_sets_the_window_to_the_data_sent() {
    let mut rig = rig(20);
    rig.forward.router = Box::new(|_, packet| approves(packet, 15));
    rig.open();
    rig.run_until(2 * RTT);
    let view = rig.sender.view();
    assert_eq!(view.rate, None, "pacing is over");
    // 20 segments and the FIN were sent, out of 61 that were allowed; one ACK has arrived.
    assert!((20_000..=21_001).contains(&view.window), "{view:?}");
}

#[test]
fn a_forged_higher_rate_is_refused() {
    let mut rig = rig(200);
    rig.forward.router = Box::new(|_, packet| approves(packet, 5));
    rig.backward.router = Box::new(|_, packet| {
        if let npsim_transport::wire::PacketBody::Tcp { segment, .. } = &mut packet.body
            && let Some(response) = &mut segment.options.quick_start
        {
            response.rate = 7;
        }
    });
    rig.open();
    rig.run_until(2 * RTT - 1);
    assert_eq!(rig.round(1).len(), 1, "the first window of the host");
    assert_eq!(reports(&rig)[0].0, 0);
}

#[test]
fn hop_without_quick_start_is_detected() {
    let mut rig = rig(200);
    rig.forward.router = Box::new(|_, packet| {
        approves(packet, 15);
        packet.ttl -= 1;
    });
    rig.open();
    rig.run_until(2 * RTT - 1);
    assert_eq!(rig.round(1).len(), 1);
    assert_eq!(reports(&rig)[0].0, 0);
}

#[test]
fn denied_request_falls_back_to_slow_start() {
    let mut rig = rig(100);
    rig.forward.router = Box::new(|_, packet| approves(packet, 0));
    rig.open();
    rig.run();
    rig.assert_done(100_000);
    let response = rig.answers[0].1.segment().unwrap().options.quick_start;
    assert_eq!(response, None, "a denied request is not answered");
    assert_eq!([rig.round(1).len(), rig.round(2).len()], [1, 2]);
    assert_eq!(reports(&rig)[0].0, 0);
}

#[test]
fn retransmitted_syn_carries_no_rate_request() {
    let mut rig = rig(20);
    rig.forward.fate = Box::new(|number, _| if number == 0 { vec![] } else { arrives() });
    rig.forward.router = Box::new(|_, packet| approves(packet, 15));
    rig.open();
    rig.run();
    rig.assert_done(20_000);
    assert_eq!(rig.packets[1].0, 3 * SECOND);
    assert_eq!(rig.packets[1].1.quick_start, None);
    assert!(reports(&rig).is_empty());
}

#[test]
fn lost_approved_rate_report_has_no_effect() {
    let mut rig = rig(100);
    rig.forward.router = Box::new(|_, packet| approves(packet, 15));
    rig.forward.fate = Box::new(|number, _| if number == 1 { vec![] } else { arrives() });
    rig.open();
    rig.run();
    rig.assert_done(100_000);
    assert_eq!(reports(&rig).len(), 1, "sent once");
    assert_eq!(rig.round(1).len(), 61);
}

#[test]
fn loss_in_the_approved_window_reverts_to_slow_start() {
    let mut rig = rig(300);
    rig.forward.router = Box::new(|_, packet| approves(packet, 15));
    rig.open();
    rig.drop_once(&[10]);
    while rig.sender.counters().fast_recoveries == 0 {
        assert!(rig.step(), "nothing happens any more");
    }
    let view = rig.sender.view();
    assert_eq!(view.window, 1_000, "the first window");
    // Half of the ten that had arrived.
    assert_eq!(view.threshold, Some(5_000));
    rig.run();
    rig.assert_done(300_000);
}

#[test]
fn short_flows_finish_sooner_with_quick_start() {
    for kilobytes in [30, 100, 300] {
        let end = |code| {
            let mut rig = rig(kilobytes);
            rig.forward.router = Box::new(move |_, packet| approves(packet, code));
            rig.open();
            rig.run();
            rig.sender.counters().completed_at.unwrap()
        };
        let (with, without) = (end(15), end(0));
        assert!(
            with + 2 * RTT <= without,
            "{kilobytes} KB: {with} {without}"
        );
    }
}
