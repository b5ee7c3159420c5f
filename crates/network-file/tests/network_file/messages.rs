//! Messages that the cores of chips in a network send to hosts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::path::Path;

use etherparse::icmpv4::{DestUnreachableHeader, TimeExceededCode};
use etherparse::{Icmpv4Type, NetSlice, SlicedPacket, TransportSlice};
use npsim_network::counters::Tally;
use npsim_network::ethernet::with_ethernet_header;
use npsim_network::topology::Topology;
use npsim_network::{DropReason, Frame, Network, Simulation, Tap};
use npsim_network_file::chips::systems;
use npsim_network_file::file::NetworkFile;
use npsim_network_file::results::Results;
use npsim_project::assemble::assemble_project;
use npsim_transport::time::Time;

use crate::chips::never_interrupt;

/// Packets on lines that belong to no flow, as transmitted; and drops.
struct Seen {
    topology: Topology,
    messages: Vec<(Time, usize, Vec<u8>)>,
    dropped: BTreeMap<(&'static str, Option<u32>), u64>,
}

impl Tap for Seen {
    fn sent(&mut self, now: Time, line: usize, frame: &Frame) {
        if !frame.is_flow_packet() {
            let bytes =
                with_ethernet_header(frame, &self.topology, [2; 6], [4; 6]).expect("a frame");
            self.messages.push((now, line, bytes));
        }
    }

    fn dropped(&mut self, _: Time, _: usize, frame: &Frame, reason: DropReason) {
        *self.dropped.entry((reason.name(), frame.flow)).or_default() += 1;
    }
}

fn shipped(text: &str) -> NetworkFile {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces/networks/test.toml");
    NetworkFile::parse(&path.display().to_string(), text)
        .unwrap_or_else(|problem| panic!("{problem}\n{text}"))
}

/// Runs to the end; returns the network, its results, and the observations.
fn ran(file: &NetworkFile, threads: usize, step: Time) -> (Network, Results, Seen) {
    let systems = systems(file, &npsim_protocols::registry(), &assemble_project);
    let systems = systems.unwrap_or_else(|problems| panic!("{problems}"));
    let packet_simulation = Simulation::new(file.topology.clone()).expect("a network");
    let mut network = Network::new(packet_simulation, systems)
        .expect("chips")
        .with_threads(threads);
    let begin = network.packet_simulation().counters();
    let mut seen = Seen {
        topology: file.topology.clone(),
        messages: Vec::new(),
        dropped: BTreeMap::new(),
    };
    while network.packet_simulation().now() < file.until {
        let next = (network.packet_simulation().now() + step).min(file.until);
        network
            .run_to(next, &mut seen, &never_interrupt)
            .expect("no fault");
    }
    network.end(&mut seen, &never_interrupt).expect("no fault");
    let results = Results::of(file, &network, &begin);
    (network, results, seen)
}

/// Source and type of a message, and source and destination of the packet that it quotes, as read
/// by a third-party packet reader. Both checksums are checked.
fn read(frame: &[u8]) -> (Ipv4Addr, Icmpv4Type, Ipv4Addr, Ipv4Addr) {
    let packet = SlicedPacket::from_ethernet(frame).expect("a packet");
    let (Some(NetSlice::Ipv4(ip)), Some(TransportSlice::Icmpv4(icmp))) =
        (&packet.net, &packet.transport)
    else {
        panic!("no ICMP: {frame:?}")
    };
    let header = ip.header().to_header();
    assert_eq!(header.header_checksum, header.calc_header_checksum());
    let kind = icmp.header().icmp_type;
    assert_eq!(icmp.checksum(), kind.calc_checksum(icmp.payload()));
    let address = |at: usize| {
        let bytes: [u8; 4] = icmp.payload()[at..at + 4].try_into().expect("a quote");
        Ipv4Addr::from(bytes)
    };
    (header.source.into(), kind, address(12), address(16))
}

const WITHDRAWN: &str = include_str!("../../../../traces/networks/withdrawn-chip.toml");

#[test]
fn hosts_receive_icmp_errors_and_connections_survive() {
    let file = shipped(WITHDRAWN);
    let (network, results, seen) = ran(&file, 1, file.until);
    let node = &results.routers[0];
    assert_eq!(node.strange, 0, "all that the core sends is carried");
    let flow = |name: &str| {
        let mut flows = results.flows.iter().enumerate();
        flows.find(|(_, flow)| flow.name == name).expect("a flow")
    };
    let (tcp, probe, datagrams) = (flow("tcp"), flow("probe"), flow("datagrams"));
    // Two seconds without a route: timeouts, and a message for each packet that was sent meanwhile. The connection
    // survives.
    let told = tcp.1.messages.expect("messages");
    assert!(told.unreachable >= 2 && tcp.1.timeouts >= 2, "{tcp:?}");
    assert!(tcp.1.delivered > 3_000_000, "{tcp:?}");
    // Ten datagrams a second, all of which end at the router, except the last, which are in flight.
    let told = probe.1.messages.expect("messages");
    assert_eq!(told.time_exceeded, 80, "{probe:?}");
    assert_eq!((probe.1.delivered, probe.1.lost), (0, 80));
    assert_eq!(datagrams.1.messages, None);
    assert_eq!(datagrams.1.delivered, 80 * (100 - 28));

    // The messages that hosts have counted equal those that the core has sent.
    let all = results.messages.expect("messages");
    assert_eq!(all.time_exceeded, 80);
    assert_eq!(
        all.unreachable,
        tcp.1.messages.expect("messages").unreachable
    );
    assert_eq!(node.node.packets.made, all.time_exceeded + all.unreachable);
    // A drop is named by its cause.
    let ended = |flow: usize| seen.dropped.get(&("slow path", Some(flow as u32))).copied();
    assert_eq!(ended(probe.0), Some(80));
    assert_eq!(ended(tcp.0), Some(all.unreachable));
    // A third-party reader parses the messages correctly.
    let near = file
        .topology
        .links
        .iter()
        .position(|link| link.name == "near");
    let back = 2 * near.expect("a link") + 1;
    let (mut unreachable, mut exceeded) = (0, 0);
    for (_, line, bytes) in &seen.messages {
        assert_eq!(*line, back, "to the sender alone");
        let (source, kind, from, to) = read(bytes);
        assert_eq!(source, Ipv4Addr::new(10, 1, 0, 1), "the port's own address");
        assert_eq!(from, Ipv4Addr::new(10, 1, 0, 10));
        match kind {
            Icmpv4Type::DestinationUnreachable(DestUnreachableHeader::Network) => {
                assert_eq!(to, Ipv4Addr::new(10, 2, 0, 10));
                unreachable += 1;
            }
            Icmpv4Type::TimeExceeded(TimeExceededCode::TtlExceededInTransit) => {
                assert_eq!(to, Ipv4Addr::new(192, 0, 2, 10));
                exceeded += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        (unreachable, exceeded),
        (all.unreachable, all.time_exceeded)
    );
    // The counts balance: data for the line was sent, or is on its way to the chip or in it:
    // acknowledgements of the last milliseconds.
    let counters = network.packet_simulation().counters();
    let line = &counters.lines[back];
    let under_way = line.offered.packets - line.sent.packets;
    assert!(under_way < 10, "{line:?}");
    assert_eq!(line.offered.bytes - line.sent.bytes, under_way * 40);
    let none = Tally::default();
    assert_eq!((line.lost, line.drops()), (none, 0));
}

#[test]
fn messages_depend_on_neither_steps_nor_threads() {
    let file = shipped(&WITHDRAWN.replace("until = \"8s\"", "until = \"300ms\""));
    let text = |threads, step| {
        let (_, results, seen) = ran(&file, threads, step);
        (
            serde_json::to_string(&results).expect("JSON"),
            seen.messages,
        )
    };
    let one = text(1, file.until);
    assert!(!one.1.is_empty());
    assert!(text(2, 777_777_777) == one, "in steps on two threads");
}

/// Three forwarders in a row: the time to live of datagrams ends at each of them, and the messages
/// return through the forwarders before.
#[test]
fn traceroute_sees_all_three_chips() {
    let mut text = "name = \"row\"\nuntil = \"60ms\"\n".to_owned();
    for (name, address) in [("a", "10.1.0.10"), ("b", "10.2.0.10")] {
        write!(
            text,
            "[[host]]\nname = \"{name}\"\naddress = \"{address}\"\n"
        )
        .unwrap();
    }
    for chip in 0..3 {
        write!(
            text,
            "[[router]]\nname = \"r{chip}\"\nsystem = \"../../microcode/forward/icmp.toml\"\nset = {{ port.0.address = \"10.1.{chip}.1/24\" }}\n"
        ).unwrap();
    }
    for (from, to) in [
        ("a", "r0:0"),
        ("r0:1", "r1:0"),
        ("r1:1", "r2:0"),
        ("r2:1", "b"),
    ] {
        write!(
            text,
            "[[link]]\nbetween = [\"{from}\", \"{to}\"]\nrate = \"1Gbps\"\ndelay = \"5us\"\n"
        )
        .unwrap();
    }
    for ttl in 1..=4 {
        write!(
            text,
            "[[flow]]\nname = \"{ttl}\"\nfrom = \"a\"\nto = \"b\"\ntransport = \"udp\"\nrate = \"80kbps\"\npacket = 100\nstart = \"{ttl}ms\"\nuntil = \"50ms\"\nttl = {ttl}\n"
        ).unwrap();
    }
    let file = shipped(&text);
    let (_, results, seen) = ran(&file, 1, file.until);
    for (number, flow) in results.flows.iter().enumerate() {
        let (told, arrived) = (flow.messages, flow.delivered / (100 - 28));
        if number == 3 {
            assert_eq!((told, arrived), (None, 5), "{flow:?}");
            continue;
        }
        let told = told.expect("messages").time_exceeded;
        assert_eq!((told, arrived), (5, 0), "{flow:?}");
        assert_eq!(results.routers[number].node.packets.made, 5);
    }
    // On the line to the host, with an address of each router.
    let mut sources: Vec<_> = { seen.messages.iter() }
        .filter(|(_, line, _)| *line == 1)
        .map(|(.., bytes)| read(bytes).0)
        .collect();
    sources.sort_unstable();
    sources.dedup();
    let own = |chip: u8| Ipv4Addr::new(10, 1, chip, 1);
    assert_eq!(sources, [own(0), own(1), own(2)]);
    assert!(results.routers.iter().all(|router| router.strange == 0));
}

/// A router that finds hosts by ARP: one at the end of its link, two behind a switch.
#[test]
fn hosts_answer_arp_requests() {
    let text = "name = \"arp\"\nuntil = \"80ms\"\n\
        [[host]]\nname = \"a\"\naddress = \"10.1.0.10\"\n\
        [[host]]\nname = \"b\"\ncount = 2\naddress = \"10.2.0.10\"\n\
        [[switch]]\nname = \"w\"\n\
        [[router]]\nname = \"r\"\nsystem = \"../../microcode/forward/arp.toml\"\n\
        [[link]]\nname = \"near\"\nbetween = [\"a\", \"r:0\"]\nrate = \"1Gbps\"\ndelay = \"50us\"\n\
        [[link]]\nbetween = [\"r:1\", \"w\"]\nrate = \"1Gbps\"\ndelay = \"50us\"\n\
        [[link]]\nname = \"far\"\nbetween = [\"w\", \"b\"]\nrate = \"1Gbps\"\ndelay = \"50us\"\n\
        [[flow]]\nname = \"tcp\"\nfrom = \"a\"\nto = \"b\"\ntransport = \"sack\"\nstep = \"2ms\"\nbytes = 100000\nhost = { min_rto = \"5ms\" }\n";
    let file = shipped(text);
    let (_, results, seen) = ran(&file, 1, file.until);
    let router = &results.routers[0];
    assert_eq!(
        router.routes,
        [
            "10.1.0.10/32 port 0 next hop 10.1.0.10",
            "10.2.0.10/32 port 1 next hop 10.2.0.10",
            "10.2.0.11/32 port 1 next hop 10.2.0.11",
        ]
    );
    assert_eq!(router.strange, 0);
    for flow in &results.flows {
        assert_eq!(flow.delivered, 100_000, "{flow:?}");
        assert!(flow.completion_s.is_some());
    }
    // A request and a reply for each of the three.
    let arp = |line: usize| {
        let sent = seen.messages.iter().filter(|(_, at, _)| *at == line);
        sent.map(|(.., bytes)| {
            let packet = SlicedPacket::from_ethernet(bytes).expect("a frame");
            let Some(NetSlice::Arp(arp)) = packet.net else {
                panic!("no ARP")
            };
            arp.operation().0
        })
        .collect::<Vec<_>>()
    };
    // Link 0 is the first host's, 1 the switch's, then those of the other two.
    assert_eq!((arp(1), arp(0)), (vec![1], vec![2]));
    assert_eq!((arp(2), arp(3)), (vec![1, 1], vec![2, 2]));
    for member in [4, 6] {
        assert_eq!((arp(member), arp(member + 1)), (vec![1], vec![2]));
    }
    assert_eq!(results.messages.expect("messages").arp, 3);
}
