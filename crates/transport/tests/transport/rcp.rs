//! RCP's transport over a path whose router writes a rate.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use npsim_net::Random;
use npsim_protocols::rcp::header;
use npsim_transport::Supply;
use npsim_transport::rcp::{RcpParameters, RcpPhase, RcpReceiver, RcpSender, RcpSenderParameters};
use npsim_transport::time::{MILLISECOND, SECOND, Time};
use npsim_transport::wire::{Packet, PacketBody};
use proptest::prelude::*;

use crate::rig::{RTT, ends};

/// A flow over 100 ms; `router` changes packets in flight, or loses them.
struct Flow<R> {
    sender: RcpSender,
    receiver: RcpReceiver,
    router: R,
    now: Time,
    flying: BinaryHeap<Reverse<(Time, usize, bool)>>,
    cargo: Vec<Packet>,
    /// Times and kinds of the packets sent.
    sent: Vec<(Time, u8)>,
}

impl<R: FnMut(Time, &mut header::RcpHeader) -> bool> Flow<R> {
    fn new(host: RcpParameters, bytes: u64, router: R) -> Self {
        let parameters = RcpSenderParameters {
            host,
            ends: ends(),
            supply: Supply::Bytes(bytes),
        };
        let mut flow = Self {
            sender: RcpSender::new(&parameters),
            receiver: RcpReceiver::new(ends().reversed()),
            router,
            now: 0,
            flying: BinaryHeap::new(),
            cargo: Vec::new(),
            sent: Vec::new(),
        };
        let mut out = Vec::new();
        flow.sender.open(0, &mut out);
        flow.send(out);
        flow
    }

    fn send(&mut self, packets: Vec<Packet>) {
        for mut packet in packets {
            let PacketBody::Rcp { header, .. } = &mut packet.body else {
                panic!("not RCP");
            };
            let forward = packet.source == ends().source;
            if forward {
                self.sent.push((self.now, header.kind));
            }
            if (self.router)(self.now, header) {
                self.flying
                    .push(Reverse((self.now + RTT / 2, self.cargo.len(), forward)));
                self.cargo.push(packet);
            }
        }
    }

    fn run(&mut self, end: Time) {
        loop {
            let packet = self.flying.peek().map(|Reverse((at, ..))| *at);
            let times = [packet, self.sender.wake_at()];
            let Some(at) = times.into_iter().flatten().min().filter(|&at| at <= end) else {
                return;
            };
            self.now = at;
            let mut out = Vec::new();
            if packet == Some(at) {
                let Reverse((_, index, forward)) = self.flying.pop().unwrap();
                let packet = self.cargo[index];
                if forward {
                    self.receiver.receive(&packet, &mut out);
                } else {
                    self.sender.receive(at, &packet, &mut out);
                }
            } else {
                self.sender.wake(at, &mut out);
            }
            self.send(out);
        }
    }
}

/// Writes the rate like a router.
fn limit(header: &mut header::RcpHeader, rate: u32) {
    if matches!(header.kind, header::SYN | header::REF | header::DATA) {
        header.rate = header::stamp(header.rate, rate);
    }
}

#[test]
fn packets_are_paced_at_the_router_rate() {
    let mut flow = Flow::new(RcpParameters::default(), 146_000, |_, header| {
        limit(header, 150_000);
        true
    });
    flow.run(10 * SECOND);
    assert_eq!(flow.sender.phase(), RcpPhase::Closed);
    assert_eq!(flow.receiver.counters().received, 146_000);
    let data: Vec<_> = flow
        .sent
        .iter()
        .filter(|(_, kind)| *kind >= header::DATA)
        .collect();
    assert_eq!(data.len(), 100);
    assert_eq!(data[0].0, RTT, "at once after the handshake");
    for pair in data.windows(2) {
        assert_eq!(pair[1].0 - pair[0].0, 10 * MILLISECOND);
    }
    assert_eq!(data[99].1, header::FIN);
}

#[test]
fn new_rate_applies_from_the_last_packet() {
    let mut flow = Flow::new(RcpParameters::default(), 1_460_000, |now, header| {
        limit(header, if now < SECOND { 150_000 } else { 300_000 });
        true
    });
    flow.run(10 * SECOND);
    assert_eq!(flow.sender.phase(), RcpPhase::Closed);
    let gap_at = |time: Time| {
        let times: Vec<_> = flow.sent.iter().map(|(at, _)| *at).collect();
        let after = times.iter().position(|&at| at >= time).unwrap();
        times[after + 1] - times[after]
    };
    assert_eq!(gap_at(SECOND / 2), 10 * MILLISECOND);
    assert_eq!(gap_at(2 * SECOND), 5 * MILLISECOND);
}

#[test]
fn slow_flow_probes_for_the_rate_between_packets() {
    let mut flow = Flow::new(RcpParameters::default(), 14_600, |_, header| {
        limit(header, 3_000);
        true
    });
    flow.run(3 * SECOND);
    let asked = flow
        .sent
        .iter()
        .filter(|(_, kind)| *kind == header::REF)
        .count();
    // A packet every 500 ms, a probe every 100.
    assert!((15..=30).contains(&asked), "{asked}");
}

#[test]
fn flow_with_zero_rate_retries_until_one_is_granted() {
    let mut flow = Flow::new(RcpParameters::default(), 14_600, |now, header| {
        limit(header, if now < 3 * SECOND { 0 } else { 150_000 });
        true
    });
    flow.run(2 * SECOND);
    assert_eq!(flow.sender.phase(), RcpPhase::Congested);
    flow.run(10 * SECOND);
    assert_eq!(flow.sender.phase(), RcpPhase::Closed);
    assert_eq!(flow.receiver.counters().received, 14_600);
}

#[test]
fn rcp_sender_gives_up_without_answers() {
    let host = RcpParameters {
        most_attempts: 5,
        ..RcpParameters::default()
    };
    let mut flow = Flow::new(host, 14_600, |_, _| false);
    flow.run(60 * SECOND);
    assert_eq!(flow.sender.phase(), RcpPhase::Failed);
    let times: Vec<_> = flow.sent.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, [0, 1, 2, 3, 4, 5].map(|n| n * SECOND / 2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn all_data_arrives_despite_loss(bytes in 0_u64..100_000, lost in 0_u64..40, seed: u64) {
        let mut random = Random::new(seed, 1);
        let mut flow = Flow::new(RcpParameters::default(), bytes, move |_, header| {
            limit(header, 1_000_000);
            random.below(100) >= lost
        });
        flow.run(1_000 * SECOND);
        prop_assert_eq!(flow.sender.phase(), RcpPhase::Closed);
        prop_assert_eq!(flow.receiver.counters().received, bytes);
        prop_assert_eq!(flow.sender.counters().acknowledged, bytes);
    }
}
