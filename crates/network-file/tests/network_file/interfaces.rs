//! Hosts that are interfaces: complete frames enter and leave a network.

use std::net::Ipv4Addr;

use etherparse::{ArpEthIpv4Packet, ArpOperation, NetSlice, PacketBuilder, SlicedPacket};
use npsim_network::{InjectError, Network, NoTap, OutgoingFrame, Simulation};
use npsim_network_file::chips::systems;
use npsim_network_file::file::NetworkFile;
use npsim_project::assemble::assemble_project;
use npsim_transport::time::{MICROSECOND, MILLISECOND, Time};

use crate::chips::{file, never_interrupt};

pub type Mac = [u8; 6];

/// The station at each end: its Ethernet and IPv4 address.
pub const A: (Mac, [u8; 4]) = ([2, 0, 0, 0, 0, 0xa], [10, 1, 0, 2]);
pub const B: (Mac, [u8; 4]) = ([2, 0, 0, 0, 0, 0xb], [10, 2, 0, 2]);
/// The first port's address in `microcode/forward/arp.toml`.
pub const PORT: (Mac, [u8; 4]) = ([2, 0, 0x5e, 0, 0, 0], [10, 1, 0, 1]);

const CHIP: &str = r#"
name = "t"
until = "1s"
[[host]]
name = "a"
kind = "interface"
address = "10.1.0.2/16"
[[host]]
name = "b"
kind = "interface"
address = "10.2.0.2/16"
[[router]]
name = "r"
system = "../../microcode/forward/arp.toml"
[[link]]
between = ["a", "r:0"]
rate = "1Gbps"
delay = "10us"
[[link]]
between = ["r:1", "b"]
rate = "1Gbps"
delay = "10us"
"#;

const MODEL: &str = r#"
name = "t"
until = "1s"
[[host]]
name = "a"
kind = "interface"
address = "10.1.0.2/16"
[[host]]
name = "b"
kind = "interface"
address = "10.2.0.2/16"
[[host]]
name = "c"
address = "10.1.0.3"
[[switch]]
name = "s"
[[router]]
name = "r"
model = "fifo"
[[link]]
between = ["a", "s"]
rate = "1Gbps"
delay = "10us"
[[link]]
between = ["c", "s"]
rate = "1Gbps"
delay = "10us"
[[link]]
between = ["s", "r"]
rate = "1Gbps"
delay = "10us"
[[link]]
between = ["r", "b"]
rate = "1Gbps"
delay = "10us"
"#;

fn network(text: &str) -> Network {
    network_of(&file(text))
}

pub fn network_of(file: &NetworkFile) -> Network {
    let systems = systems(file, &npsim_protocols::registry(), &assemble_project);
    let systems = systems.unwrap_or_else(|problems| panic!("{problems}"));
    let packet_simulation = Simulation::new(file.topology.clone()).expect("a network");
    Network::new(packet_simulation, systems).expect("chips")
}

fn request((mac, own): (Mac, [u8; 4]), wanted: [u8; 4]) -> Vec<u8> {
    let arp = ArpEthIpv4Packet {
        operation: ArpOperation::REQUEST,
        sender_mac: mac,
        sender_ipv4: own,
        target_mac: [0; 6],
        target_ipv4: wanted,
    };
    let mut bytes = Vec::new();
    let frame = PacketBuilder::ethernet2(mac, [0xff; 6]).arp(arp.into());
    frame.write(&mut bytes).expect("a frame");
    bytes.resize(60, 0);
    bytes
}

pub fn datagram(from: (Mac, [u8; 4]), to: (Mac, [u8; 4])) -> Vec<u8> {
    let payload: Vec<u8> = (0..700_u32).map(|number| (number * 7) as u8).collect();
    let frame = PacketBuilder::ethernet2(from.0, to.0)
        .ipv4(from.1, to.1, 9)
        .udp(4_000, 4_001);
    let mut bytes = Vec::new();
    frame.write(&mut bytes, &payload).expect("a frame");
    bytes
}

/// An ARP message: its operation, and the addresses of its sender.
fn arp(frame: &OutgoingFrame) -> (ArpOperation, Mac, Ipv4Addr) {
    let packet = SlicedPacket::from_ethernet(&frame.bytes).expect("a packet");
    let Some(NetSlice::Arp(arp)) = packet.net else {
        panic!("no ARP: {:?}", frame.bytes);
    };
    let arp = arp
        .to_packet()
        .try_eth_ipv4()
        .expect("of Ethernet and IPv4");
    (arp.operation, arp.sender_mac, arp.sender_ipv4.into())
}

/// Ethernet addresses, time to live and payload of a UDP packet with correct checksums.
pub fn udp(bytes: &[u8]) -> (Mac, Mac, u8, Vec<u8>) {
    let packet = SlicedPacket::from_ethernet(bytes).expect("a packet");
    let Some(etherparse::LinkSlice::Ethernet2(link)) = &packet.link else {
        panic!("no Ethernet");
    };
    let Some(NetSlice::Ipv4(ipv4)) = &packet.net else {
        panic!("no IPv4");
    };
    let Some(etherparse::TransportSlice::Udp(udp)) = &packet.transport else {
        panic!("no UDP");
    };
    let header = ipv4.header().to_header();
    assert_eq!(header.header_checksum, header.calc_header_checksum());
    let sum =
        udp.to_header()
            .calc_checksum_ipv4_raw(header.source, header.destination, udp.payload());
    assert_eq!(Ok(udp.checksum()), sum);
    (
        link.destination(),
        link.source(),
        header.time_to_live,
        udp.payload().to_vec(),
    )
}

/// Runs in steps and returns all frames that come out.
pub fn out(network: &mut Network, until: Time, step: Time) -> Vec<OutgoingFrame> {
    let mut frames = Vec::new();
    while network.packet_simulation().now() < until {
        let next = (network.packet_simulation().now() + step).min(until);
        network
            .run_to(next, &mut NoTap, &never_interrupt)
            .expect("no fault");
        frames.extend(network.take_outgoing());
    }
    frames
}

/// The frames that come out of a network with a chip.
fn through_the_chip(threads: usize, step: Time) -> Vec<OutgoingFrame> {
    let seen = through_routers(network(CHIP).with_threads(threads), 1, step);
    assert!(seen[0].at > 20 * MICROSECOND, "{}", seen[0].at);
    seen
}

/// The frames that come out of a network with chips between its ends: an ARP request is sent to the first, and a
/// datagram through all of them, whose receiver the last must resolve by ARP.
pub fn through_routers(mut network: Network, routers: u8, step: Time) -> Vec<OutgoingFrame> {
    network.inject(0, &request(A, PORT.1), 0).expect("an end");
    let mut seen = out(&mut network, MILLISECOND, step);
    assert_eq!(seen.len(), 1, "{seen:?}");
    let port: Ipv4Addr = PORT.1.into();
    assert_eq!(arp(&seen[0]), (ArpOperation::REPLY, PORT.0, port));
    assert_eq!(seen[0].node, 0);

    let now = network.packet_simulation().now();
    network
        .inject(0, &datagram(A, (PORT.0, B.1)), now)
        .expect("an end");
    let asked = out(&mut network, 2 * MILLISECOND, step);
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0].node, 1);
    let (operation, mac, from) = arp(&asked[0]);
    assert_eq!(
        (operation, from),
        (ArpOperation::REQUEST, [10, 2, 0, 1].into())
    );

    let mut reply = request(B, [10, 2, 0, 1]);
    reply[..6].copy_from_slice(&mac);
    reply[21] = 2;
    reply[32..38].copy_from_slice(&mac);
    network
        .inject(1, &reply, network.packet_simulation().now())
        .expect("an end");
    let arrived = out(&mut network, 3 * MILLISECOND, step);
    assert_eq!(arrived.len(), 1, "{arrived:?}");
    assert_eq!(arrived[0].node, 1);
    let (to, by, ttl, payload) = udp(&arrived[0].bytes);
    assert_eq!((to, by, ttl), (B.0, mac, 9 - routers));
    assert_eq!(payload, udp(&datagram(A, B)).3);
    seen.extend(asked);
    seen.extend(arrived);
    seen
}

#[test]
fn interfaces_exchange_frames_through_a_chip() {
    let one = through_the_chip(1, MILLISECOND);
    for (threads, step) in [(2, MILLISECOND), (4, 7 * MICROSECOND)] {
        assert_eq!(through_the_chip(threads, step), one, "{threads} {step}");
    }
}

#[test]
fn router_model_forwards_and_answers_arp_for_interfaces() {
    let mut network = network(MODEL);
    // The router answers for its side, and for addresses that no node has.
    for wanted in [B.1, PORT.1] {
        let at = network.packet_simulation().now();
        network.inject(0, &request(A, wanted), at).expect("an end");
        let seen = out(&mut network, at + MILLISECOND, MILLISECOND);
        let [(operation, router, from)] = seen.iter().map(arp).collect::<Vec<_>>()[..] else {
            panic!("{seen:?}");
        };
        assert_eq!((operation, from), (ArpOperation::REPLY, wanted.into()));
        // As real stations do before sending anything else.
        network
            .inject(1, &request(B, PORT.1), network.packet_simulation().now())
            .expect("an end");
        out(&mut network, at + 2 * MILLISECOND, MILLISECOND);
        let now = network.packet_simulation().now();
        network
            .inject(0, &datagram(A, (router, B.1)), now)
            .expect("an end");
        let seen = out(&mut network, at + 3 * MILLISECOND, MILLISECOND);
        assert_eq!(seen.len(), 1, "{seen:?}");
        assert_eq!(seen[0].node, 1);
        let (to, by, ttl, payload) = udp(&seen[0].bytes);
        assert_eq!((to, by, ttl), (B.0, router, 8));
        assert_eq!(payload, udp(&datagram(A, B)).3);
    }
    // A host on the link answers for itself, and none answers for the requester's own address.
    let at = network.packet_simulation().now();
    network
        .inject(0, &request(A, [10, 1, 0, 3]), at)
        .expect("an end");
    network.inject(0, &request(A, A.1), at).expect("an end");
    let seen = out(&mut network, at + MILLISECOND, MILLISECOND);
    let answers: Vec<_> = seen.iter().map(arp).collect();
    assert_eq!(answers.len(), 1, "{answers:?}");
    assert_eq!(answers[0].2, Ipv4Addr::new(10, 1, 0, 3));
}

#[test]
fn injecting_early_or_just_in_time_is_equivalent() {
    let other: Mac = [2, 0, 0, 0, 0, 0xaa];
    // A station whose address changes while answers are in flight, and another one.
    let mut coming = Vec::new();
    for number in 0..40 {
        let at = 1 + number * 37 * MICROSECOND;
        let mac = if number % 2 == 0 { A.0 } else { other };
        coming.push((0, request((mac, A.1), B.1), at));
        coming.push((1, request(B, PORT.1), at));
        coming.push((0, datagram((mac, A.1), B), at + 20 * MICROSECOND));
    }
    let end = 2 * MILLISECOND;
    for text in [MODEL, CHIP] {
        let mut early = network(text);
        for (node, bytes, at) in &coming {
            early.inject(*node, bytes, *at).expect("an end");
        }
        let early = out(&mut early, end, end);
        let mut late = network(text);
        let mut left = Vec::new();
        for (node, bytes, at) in &coming {
            // All events before the frame's time have been processed.
            let now = late.packet_simulation().now().max(at - 1);
            left.extend(out(&mut late, now, MICROSECOND));
            late.inject(*node, bytes, *at).expect("an end");
        }
        left.extend(out(&mut late, end, MICROSECOND));
        assert!(early.len() >= 40, "{}", early.len());
        assert_eq!(early, left);
    }
}

#[test]
fn invalid_injections_are_refused() {
    let mut network = network(MODEL);
    let frame = datagram(A, B);
    out(&mut network, MILLISECOND, MILLISECOND);
    assert_eq!(
        network.inject(0, &frame, 5),
        Err(InjectError::Late {
            at: 5,
            now: MILLISECOND
        })
    );
    assert_eq!(
        network.inject(2, &frame, MILLISECOND),
        Err(InjectError::NotOpen(2))
    );
    assert_eq!(
        network.inject(99, &frame, MILLISECOND),
        Err(InjectError::NotOpen(99))
    );
    assert_eq!(
        network.inject(0, &frame[..13], MILLISECOND),
        Err(InjectError::Short(13))
    );
    // A frame is in flight from its arrival on.
    network.inject(0, &frame, MILLISECOND).expect("an end");
    assert_eq!(network.next_at(), MILLISECOND);
}

#[test]
fn unconnected_interfaces_are_refused() {
    let file = NetworkFile::parse("n.toml", CHIP).expect("a network");
    let refused = file.refuse_interfaces().unwrap_err().to_string();
    assert!(
        refused.starts_with("n.toml:5:8: nothing is connected to the interface `a`"),
        "{refused}"
    );
    assert!(refused.contains("npsim live"), "{refused}");
}
