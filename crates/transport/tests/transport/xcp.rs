//! XCP at the hosts: the draft's header through the reference router, and the TCP option.

use npsim_protocols::xcp::{ControlTimer, SECOND as UNIT, Sums, XcpHeader, XcpSettings};
use npsim_transport::control::{XcpLoss, XcpOptionParameters, XcpParameters};
use npsim_transport::time::{MILLISECOND, SECOND, Time};
use npsim_transport::wire::{Packet, PacketBody, PacketFormat, XcpOption};
use npsim_transport::{
    HostParameters, ReceiverParameters, Scheme, SenderParameters, Supply, XcpAnswer,
};

use crate::rig::{Line, RTT, Rig, ends, host};

/// Feedback of a fixed amount for each request, as a router with room would give.
fn grant_feedback(packet: &mut Packet, most: i32) {
    if let PacketBody::Tcp {
        xcp: Some(header), ..
    } = &mut packet.body
        && header.accepts_feedback()
    {
        header.delta_throughput = header.delta_throughput.min(most);
    }
}

fn rig(parameters: XcpParameters, supply: Supply) -> Rig {
    let mut rig = Rig::new(host(), Scheme::Xcp(parameters), supply);
    rig.open();
    rig
}

fn headers(rig: &Rig) -> Vec<XcpHeader> {
    let header = |packet: &Packet| match packet.body {
        PacketBody::Tcp { xcp, .. } => xcp,
        PacketBody::Rcp { .. } => None,
    };
    rig.packets
        .iter()
        .filter_map(|(_, packet)| header(packet))
        .collect()
}

#[test]
fn xcp_header_carries_rtt_and_packet_spacing() {
    let mut rig = rig(XcpParameters::default(), Supply::Endless);
    rig.forward.router = Box::new(|_, packet| grant_feedback(packet, 0));
    rig.run_until(3 * RTT);
    let sent = headers(&rig);
    assert_eq!(sent.len(), rig.packets.len(), "all packets have the header");
    assert_eq!(
        (sent[0].rtt, sent[0].x, sent[0].delta_throughput),
        (0, 0, 0)
    );
    // The first one has only the window of the SYN/ACK, which is not scaled.
    let data = sent.last().unwrap();
    assert_eq!(data.rtt, UNIT / 10);
    assert_eq!(data.x, UNIT / 10, "a window of one segment");
    let usable = (1_u64 << 20) * 1040 * 10 / 980;
    let expected = usable - 1040 * 10;
    assert_eq!(data.delta_throughput, expected as i32);
}

#[test]
fn feedback_changes_the_window_by_feedback_times_rtt() {
    let mut rig = rig(XcpParameters::default(), Supply::Endless);
    // A segment of 980 bytes takes 1040: 5200 bytes a second are 490 bytes of window.
    rig.forward.router = Box::new(|_, packet| grant_feedback(packet, 5_200));
    rig.run_until(2 * RTT);
    assert_eq!(rig.sender.view().window, 980 + 490);
    let mut own = rig;
    own.forward.router = Box::new(|_, packet| grant_feedback(packet, -1_000_000));
    own.run_until(6 * RTT);
    assert_eq!(own.sender.view().window, 980, "at least a segment");
}

#[test]
fn delayed_ack_carries_summed_feedback() {
    let delayed = HostParameters {
        delayed_ack: Some(40 * MILLISECOND),
        initial_window: 2,
        ..host()
    };
    let mut rig = Rig::new(
        delayed,
        Scheme::Xcp(XcpParameters::default()),
        Supply::Endless,
    );
    rig.forward.router = Box::new(|_, packet| grant_feedback(packet, 5_200));
    rig.open();
    rig.run_until(2 * RTT);
    let reverse = |packet: &Packet| match packet.body {
        PacketBody::Tcp {
            xcp: Some(header), ..
        } => header.reverse_feedback,
        _ => 0,
    };
    let brought: Vec<_> = rig
        .answers
        .iter()
        .map(|(_, packet)| reverse(packet))
        .collect();
    assert_eq!(
        brought,
        [0, 10_400],
        "SYN/ACK, then one ACK of two segments"
    );
}

#[test]
fn loss_policy_and_timeout_set_the_xcp_window() {
    for (loss, divisor) in [(XcpLoss::Halve, 2), (XcpLoss::Ignore, 1)] {
        let parameters = XcpParameters {
            loss,
            ..XcpParameters::default()
        };
        let mut rig = rig(parameters, Supply::Endless);
        rig.forward.router = Box::new(|_, packet| grant_feedback(packet, 10_400));
        rig.run_until(4 * RTT + RTT / 2);
        rig.forward.router = Box::new(|_, packet| grant_feedback(packet, 0));
        rig.run_until(6 * RTT + RTT / 2);
        let before = rig.sender.view().window / 980;
        let next = rig.sent.last().unwrap().number + 3;
        rig.drop_once(&[next]);
        rig.run_until(9 * RTT);
        assert_eq!(rig.sender.counters().fast_recoveries, 1);
        let window = rig.sender.view().window / 980;
        assert_eq!(window, before / divisor, "{loss:?}");
        rig.forward.fate = Box::new(|_, _| vec![]);
        rig.run_until(9 * RTT + SECOND);
        assert_eq!(rig.sender.view().window, 980);
    }
}

#[test]
fn unused_window_shrinks() {
    let parameters = XcpParameters::default();
    let mut rig = rig(parameters, Supply::Offered);
    rig.forward.router = Box::new(|_, packet| grant_feedback(packet, 1_000_000));
    let offer = |rig: &mut Rig, bytes| {
        let mut out = Vec::new();
        rig.sender.offer(rig.now, bytes, &mut out);
        rig.send(true, out);
    };
    rig.run_until(RTT);
    offer(&mut rig, 98_000);
    rig.run_until(12 * RTT);
    let before = rig.sender.view().window;
    for round in 0..20 {
        offer(&mut rig, 980);
        rig.run_until((13 + round) * RTT);
    }
    let after = rig.sender.view().window;
    assert!(after * 2 <= before, "{before} {after}");
    // A sender without data requests nothing.
    assert_eq!(headers(&rig).last().unwrap().delta_throughput, 0);
}

/// The reference router at the end of a line.
struct Router {
    sums: Sums,
    pools: npsim_protocols::xcp::FeedbackPools,
    control: ControlTimer,
    next: Time,
}

fn in_units(time: u32) -> Time {
    u64::from(time) * (SECOND >> 12) / u64::from(UNIT >> 12)
}

#[test]
fn one_flow_fills_the_line_without_growing_the_queue() {
    // 1.25 MB/s, 100 ms: 125 KB in flight.
    let rate = 1_250_000;
    let mut rig = rig(XcpParameters::default(), Supply::Endless);
    rig.forward.line = Some(Line::new(rate, 1_000));
    let parameters = XcpSettings::for_capacity(rate);
    let mut router = Router {
        sums: Sums::default(),
        pools: npsim_protocols::xcp::FeedbackPools::default(),
        control: ControlTimer::new(parameters).unwrap(),
        next: in_units(parameters.initial_interval),
    };
    rig.forward.router = Box::new(move |now, packet| {
        while router.next <= now {
            let sums = std::mem::take(&mut router.sums);
            router.pools = router.control.fire(&sums, 0).pools;
            router.next += in_units(router.control.length()).max(MILLISECOND);
        }
        let size = packet.length() as u16;
        if let PacketBody::Tcp { xcp, .. } = &mut packet.body {
            router.sums.arrive(size, xcp.as_ref(), UNIT);
            if let Some(header) = xcp.as_mut().filter(|header| header.accepts_feedback()) {
                let done = router.pools.depart(header.x, size, header.delta_throughput);
                header.delta_throughput = done.delta;
            }
        }
    });
    rig.run_until(5 * SECOND);
    let before = rig.receiver.counters().received;
    let waiting = |rig: &Rig| rig.forward.line.as_ref().unwrap().waiting(rig.now);
    let first = waiting(&rig);
    rig.run_until(15 * SECOND);
    let goodput = (rig.receiver.counters().received - before) / 10;
    let line = rate * 980 / 1040;
    assert!(goodput * 100 >= line * 97, "{goodput} of {line}");
    assert_eq!(rig.dropped, 0);
    // The law observes no queue, so the packets queued at the beginning stay.
    let last = waiting(&rig);
    assert!(last <= first + 2, "{first} then {last} packets wait");
}

fn option_rig(format: PacketFormat, agreed: bool, most: i64) -> Rig {
    let host = HostParameters {
        sack_blocks: 2,
        ..host()
    };
    let parameters = XcpOptionParameters {
        format,
        ..XcpOptionParameters::default()
    };
    let sender = SenderParameters {
        host,
        scheme: Scheme::XcpOption(parameters),
        ends: ends(),
        supply: Supply::Endless,
        seed: 1,
    };
    let answer = XcpAnswer {
        format,
        first_window: Some(8_000),
    };
    let receiver = ReceiverParameters {
        host,
        ends: ends().reversed(),
        reads_at_once: true,
        xcp_option: agreed.then_some(answer),
        seed: 2,
    };
    let mut rig = Rig::of(&sender, &receiver);
    rig.forward.router = Box::new(move |_, packet| {
        if let PacketBody::Tcp { segment, .. } = &mut packet.body
            && let Some(XcpOption::Forward { feedback, .. }) = &mut segment.options.xcp
        {
            *feedback = format.encode(format.decode(*feedback).min(most));
        }
    });
    rig.open();
    rig
}

#[test]
fn only_the_mantissa_format_carries_fractional_feedback() {
    // Half a packet for each ACK: 1.5 times the window in a round trip.
    let mut rig = option_rig(PacketFormat::MantissaExponent, true, 512);
    rig.run_until(8 * RTT + 1);
    let window = rig.sender.view().window / 992;
    assert!((12..=26).contains(&window), "{window}");
    let mut rig = option_rig(PacketFormat::Integer, true, 512);
    rig.run_until(8 * RTT + 1);
    assert_eq!(rig.sender.view().window / 992, 1, "it stalls");
}

#[test]
fn the_announced_window_grows_with_the_feedback() {
    let mut rig = option_rig(PacketFormat::MantissaExponent, true, 1_024);
    rig.run_until(RTT);
    assert_eq!(rig.sender.view().peer_window / 1_000, 8);
    rig.run_until(7 * RTT);
    assert!(rig.sender.view().peer_window > 40_000);
}

#[test]
fn unnegotiated_xcp_option_falls_back_to_tcp() {
    let mut rig = option_rig(PacketFormat::MantissaExponent, false, 512);
    rig.run_until(4 * RTT - 1);
    assert_eq!([1, 2, 3].map(|round| rig.round(round).len()), [1, 2, 4]);
    let options = rig.packets.iter().skip(1);
    let none = |(_, packet): &(Time, Packet)| packet.segment().unwrap().options.xcp.is_none();
    assert!(options.clone().count() > 5 && options.clone().all(none));
}

#[test]
fn xcp_option_keeps_the_window_on_loss_but_not_timeout() {
    let mut rig = option_rig(PacketFormat::MantissaExponent, true, 1_024);
    rig.run_until(5 * RTT + RTT / 2);
    rig.forward.router = Box::new(|_, packet| {
        if let PacketBody::Tcp { segment, .. } = &mut packet.body
            && let Some(XcpOption::Forward { feedback, .. }) = &mut segment.options.xcp
        {
            *feedback = 0;
        }
    });
    rig.run_until(7 * RTT + RTT / 2);
    let window = rig.sender.view().window;
    let mut count = 0;
    rig.forward.fate = Box::new(move |_, _| {
        count += 1;
        if count == 3 { vec![] } else { vec![0] }
    });
    rig.run_until(10 * RTT);
    assert_eq!(rig.sender.counters().fast_recoveries, 1);
    assert_eq!(rig.sender.view().window, window);
    rig.forward.fate = Box::new(|_, _| vec![]);
    rig.run_until(10 * RTT + SECOND);
    assert_eq!(rig.sender.view().window, 992);
}
