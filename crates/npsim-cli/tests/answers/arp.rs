//! ARP: answers, learnt addresses, and packets whose next hop is not yet known.

use std::net::Ipv4Addr;

use etherparse::{ArpOperation, NetSlice, SlicedPacket};
use npsim_protocols::arp::message::{ArpMessage, Mac, Operation};
use serde_json::Value;

use crate::capture::{frames, messages};
use crate::harness::{Dir, root};
use crate::probes::{HOST, datagram, ping};
use crate::tshark;

/// A router, a host behind its port 2, the next hop there, and the port's own address.
struct Case {
    project: &'static str,
    far: [u8; 4],
    hop: [u8; 4],
    own: [u8; 4],
    /// The address of port 0, where frames come in.
    first: [u8; 4],
}

const CASES: [Case; 2] = [
    Case {
        project: "forward/arp.toml",
        far: [192, 0, 2, 77],
        hop: [192, 0, 2, 2],
        own: [192, 0, 2, 1],
        first: [10, 1, 0, 1],
    },
    Case {
        project: "router/arp.toml",
        far: [10, 2, 9, 77],
        hop: [10, 2, 0, 2],
        own: [10, 2, 0, 1],
        first: [10, 0, 0, 1],
    },
];

/// Link addresses: a station's, and the router's on port 2.
const STATION: Mac = [2, 0, 0, 0, 0, 0x55];
const PORT_2: Mac = [2, 0, 0x5e, 0, 0, 2];

struct Outcome {
    dir: Dir,
    stats: Value,
}

impl Outcome {
    fn frames(&self) -> Vec<Vec<u8>> {
        frames(&self.dir.path("out.pcap"))
    }

    fn arp(&self, name: &str) -> u64 {
        self.stats["nodes"][0]["chip"]["gpp"]["arp"][0][name]
            .as_u64()
            .expect(name)
    }
}

/// Runs frames by port through a router; times are microseconds.
fn run(case: &Case, sent: &[(u32, u32, Vec<u8>)], options: &str) -> Outcome {
    let project = root().join("microcode").join(case.project);
    let project = project.display().to_string();
    run_in(Dir::new(), &project, sent, options)
}

/// Runs frames through a project that may be in a folder of its own.
fn run_in(dir: Dir, project: &str, sent: &[(u32, u32, Vec<u8>)], options: &str) -> Outcome {
    let dir = dir.with("in.pcapng", pcapng(sent));
    let command =
        format!("run {project} --trace in.pcapng --out out.pcap --stats out.json -q {options}");
    dir.npsim(&command).expect(0, &[]);
    tshark::assert_sound(&dir.path("out.pcap"));
    let stats = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
    Outcome { dir, stats }
}

/// A pcapng capture of frames on the interfaces 0 to 2.
pub fn pcapng(frames: &[(u32, u32, Vec<u8>)]) -> Vec<u8> {
    let block = |kind: u32, body: Vec<u8>| {
        let length = body.len() as u32 + 12;
        let parts = [
            &kind.to_le_bytes()[..],
            &length.to_le_bytes(),
            &body,
            &length.to_le_bytes(),
        ];
        parts.concat()
    };
    let words = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut bytes = block(0x0a0d_0d0a, words(&[0x1a2b_3c4d, 1, u32::MAX, u32::MAX]));
    for _ in 0..3 {
        bytes.extend(block(1, words(&[1, 0])));
    }
    for (time, port, frame) in frames {
        let length = frame.len() as u32;
        let mut body: Vec<u8> = words(&[*port, 0, *time, length, length]);
        body.extend(frame);
        body.resize(body.len().next_multiple_of(4), 0);
        bytes.extend(block(6, body));
    }
    bytes
}

/// An ARP message: operation, link destination, addresses of the sender and of the target.
type ArpFields = (ArpOperation, Mac, [u8; 4], Mac, [u8; 4]);

/// The ARP messages among frames, with the addresses of the Ethernet header, as read by a
/// third-party packet reader.
fn arp_messages(frames: &[Vec<u8>]) -> Vec<ArpFields> {
    let arp = |frame: &Vec<u8>| {
        let packet = SlicedPacket::from_ethernet(frame).expect("a sound frame");
        let Some(NetSlice::Arp(arp)) = packet.net else {
            return None;
        };
        let address = |bytes: &[u8]| bytes.try_into().expect("four bytes");
        let mac = |bytes: &[u8]| bytes.try_into().expect("six bytes");
        Some((
            arp.operation(),
            mac(&frame[..6]),
            address(arp.sender_protocol_addr()),
            mac(arp.sender_hw_addr()),
            address(arp.target_protocol_addr()),
        ))
    };
    frames.iter().filter_map(arp).collect()
}

/// The next hop's own message.
fn next_hop_message(case: &Case, operation: Operation) -> Vec<u8> {
    let request = ArpMessage::request((PORT_2, case.own.into()), case.hop.into());
    match operation {
        Operation::Reply => request.reply(STATION).to_frame(),
        Operation::Request => {
            ArpMessage::request((STATION, case.hop.into()), case.own.into()).to_frame()
        }
    }
}

#[test]
fn arp_request_for_a_port_address_is_answered() {
    for case in &CASES {
        let ask = |from: [u8; 4], for_whom: [u8; 4]| {
            ArpMessage::request((STATION, from.into()), for_whom.into()).to_frame()
        };
        let stranger = [192, 0, 2, 200];
        let sent = [
            (0, 2, ask(stranger, case.own)),
            // A request for an address of another port, one for an address that no station has, and one from a station
            // that has no address yet.
            (50, 2, ask(stranger, case.first)),
            (100, 2, ask(stranger, [192, 0, 2, 99])),
            (150, 2, ask([0; 4], case.own)),
        ];
        let outcome = run(case, &sent, "");
        let reply = |to| (ArpOperation::REPLY, STATION, case.own, PORT_2, to);
        assert_eq!(
            arp_messages(&outcome.frames()),
            [reply(stranger), reply([0; 4])],
            "{}",
            case.project
        );
        assert_eq!((outcome.arp("replies"), outcome.arp("known")), (2, 0));
        assert_eq!(outcome.stats["packets"]["unaccounted"], 0);
    }
}

#[test]
fn first_packet_waits_for_arp_and_later_ones_pass() {
    for (case, operation) in CASES.iter().zip([Operation::Reply, Operation::Request]) {
        let mut sent = vec![
            (0, 0, datagram(case.far, 64, 1)),
            (300, 2, next_hop_message(case, operation)),
        ];
        sent.extend((0..5).map(|n| (600 + 50 * n, 0, datagram(case.far, 64, 2 + n as u16))));
        let outcome = run(case, &sent, "");
        let frames = outcome.frames();
        let request = (ArpOperation::REQUEST, [0xff; 6], case.own, PORT_2, case.hop);
        assert_eq!(arp_messages(&frames)[0], request, "{}", case.project);
        // All six leave for the station, with the TTL decremented and a correct checksum.
        let forwarded: Vec<_> = frames
            .iter()
            .filter(|frame| frame[12..14] == [8, 0])
            .collect();
        let ports: Vec<_> = { forwarded.iter() }.map(|frame| frame[35]).collect();
        assert_eq!(ports, [1, 2, 3, 4, 5, 6], "{}", case.project);
        for frame in forwarded {
            assert_eq!((&frame[..6], frame[22]), (&STATION[..], 63));
            let ip = etherparse::Ipv4Header::from_slice(&frame[14..])
                .expect("a header")
                .0;
            assert_eq!(ip.header_checksum, ip.calc_header_checksum());
        }
        assert_eq!((outcome.arp("requests"), outcome.arp("forwarded")), (1, 1));
        assert_eq!((outcome.arp("learnt"), outcome.arp("known")), (1, 1));
        // The fast path knows the next hop: the core has seen one packet and one message.
        assert_eq!(outcome.stats["packets"]["exceptions"], 2);
        assert_eq!(outcome.stats["packets"]["unaccounted"], 0);
    }
}

#[test]
fn unknown_next_hop_is_requested_once_a_second() {
    let case = &CASES[0];
    // Packets arrive for three seconds, from the host that finally gets the message.
    let mut sent: Vec<_> = (0..300_u32)
        .map(|n| (n * 10_000, 0, datagram(case.far, 64, n as u16)))
        .collect();
    let host = ArpMessage::request((STATION, [10, 1, 0, 2].into()), case.first.into());
    sent.insert(0, (0, 0, host.to_frame()));
    // A run ends when nothing more arrives, so a request for another station follows.
    let other = ArpMessage::request((STATION, [10, 1, 0, 2].into()), [10, 1, 0, 99].into());
    sent.push((3_500_000, 0, other.to_frame()));
    let outcome = run(case, &sent, "--until 3900ms");
    let out = outcome.dir.path("out.pcap");
    let capture = npsim_net::capture::Capture::open(&out).expect("a capture");
    let times: Vec<u64> = { capture.frames.iter() }
        .filter(|frame| frame.bytes[12..14] == [8, 6] && frame.bytes[21] == 1)
        .map(|frame| frame.time_ns)
        .collect();
    assert_eq!(times.len(), 3, "{times:?}");
    for pair in times.windows(2) {
        let between = pair[1] - pair[0];
        assert!(
            (1_000_000_000..1_000_100_000).contains(&between),
            "{times:?}"
        );
    }
    // The last waiting packet is given up, and its host gets a message.
    assert_eq!(
        (outcome.arp("displaced"), outcome.arp("unanswered")),
        (299, 1)
    );
    let told = messages(&outcome.frames());
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].to, Ipv4Addr::from(HOST));
    let host = etherparse::icmpv4::DestUnreachableHeader::Host;
    assert_eq!(
        told[0].kind,
        etherparse::Icmpv4Type::DestinationUnreachable(host)
    );
    assert_eq!(outcome.stats["packets"]["unaccounted"], 0);
}

/// The core's own packets use the same next hops.
#[test]
fn icmp_reply_waits_for_its_next_hop() {
    for case in &CASES {
        // No station on the host's side has sent anything, so the answer itself needs a next hop.
        let back = [10, 1, 0, 2];
        let port = u32::from(case.first[1] == 0);
        let own: [u8; 4] = [10, 1, 0, 1];
        let asked = if port == 0 {
            [2, 0, 0x5e, 0, 0, 0]
        } else {
            [2, 0, 0x5e, 0, 0, 1]
        };
        let request = ArpMessage::request((asked, own.into()), back.into());
        let sent = [
            (0, 0, ping(case.first, 1, b"hello")),
            (400, port, request.reply(STATION).to_frame()),
        ];
        let outcome = run(case, &sent, "");
        let answers = messages(&outcome.frames());
        assert_eq!(answers.len(), 1, "{}", case.project);
        assert_eq!((answers[0].from, answers[0].ttl), (case.first.into(), 64));
        assert_eq!(answers[0].rest, b"hello");
        assert_eq!((outcome.arp("requests"), outcome.arp("forwarded")), (1, 1));
        assert_eq!(outcome.stats["packets"]["unaccounted"], 0);
    }
}

/// While packets flow, a route gets another next hop, which must also be resolved.
#[test]
fn next_hop_of_a_route_change_is_resolved() {
    const OTHER: Mac = [2, 0, 0, 0, 0, 0x66];
    for case in &CASES {
        let [a, b, c, _] = case.hop;
        let other = [a, b, c, 9];
        let (prefix, later) = match case.far {
            [192, ..] => ("192.0.2.0/24", Ipv4Addr::from(other)),
            _ => ("10.2.0.0/16", Ipv4Addr::from(other)),
        };
        let base = root().join("microcode").join(case.project);
        let text = format!(
            "extends = \"{}\"\n[[route_change]]\nat = \"350us\"\nchange = \"{prefix}\"\nport = 2\nnext_hop = \"{later}\"\n",
            base.display()
        );
        let request = ArpMessage::request((PORT_2, case.own.into()), later);
        let sent = [
            (0, 0, datagram(case.far, 64, 1)),
            (150, 2, next_hop_message(case, Operation::Reply)),
            (300, 0, datagram(case.far, 64, 2)),
            (450, 0, datagram(case.far, 64, 3)),
            (600, 2, request.reply(OTHER).to_frame()),
            (750, 0, datagram(case.far, 64, 4)),
        ];
        let dir = Dir::new().with("own.toml", text);
        let outcome = run_in(dir, "own.toml", &sent, "");
        let frames = outcome.frames();
        let asked: Vec<_> = { arp_messages(&frames).into_iter() }
            .map(|(operation, .., wanted)| (operation, wanted))
            .collect();
        let request = |address| (ArpOperation::REQUEST, address);
        assert_eq!(
            asked,
            [request(case.hop), request(other)],
            "{}",
            case.project
        );
        let went: Vec<Mac> = { frames.iter() }
            .filter(|frame| frame[12..14] == [8, 0])
            .map(|frame| frame[..6].try_into().expect("six bytes"))
            .collect();
        assert_eq!(went, [STATION, STATION, OTHER, OTHER], "{}", case.project);
        assert_eq!(outcome.arp("known"), 2);
        assert_eq!(outcome.stats["packets"]["unaccounted"], 0);
    }
}

#[test]
fn run_saved_during_arp_wait_resumes_identically() {
    let case = &CASES[0];
    let sent = [
        (0, 0, datagram(case.far, 64, 1)),
        (300, 2, next_hop_message(case, Operation::Reply)),
        (500, 0, datagram(case.far, 64, 2)),
    ];
    let dir = Dir::new().with("in.pcapng", pcapng(&sent));
    let project = root().join("microcode").join(case.project);
    let run = format!("run {} --trace in.pcapng -q", project.display());
    dir.npsim(&format!("{run} --out whole.pcap --until 2ms"))
        .expect(0, &[]);
    for until in ["15us", "25us", "200us", "312us", "330us"] {
        let saved = "--out part.pcap --checkpoint part.ckpt";
        dir.npsim(&format!("{run} {saved} --until {until}"))
            .expect(0, &[]);
        dir.npsim("run --resume part.ckpt --until 2ms -q")
            .expect(0, &[]);
        assert_eq!(dir.read("part.pcap"), dir.read("whole.pcap"), "{until}");
    }
}

#[test]
fn packets_waiting_for_arp_at_the_end_are_not_lost() {
    for case in &CASES {
        let project = root().join("microcode").join(case.project);
        let project = project.canonicalize().expect("a project");
        let dir = Dir::new();
        let run = format!("run {} --rate 100kpps --time 200us", project.display());
        dir.npsim(&run).expect(0, &["packets "]);
    }
}

#[test]
fn arp_configuration_errors_are_located() {
    let base = root()
        .join("microcode/forward/arp.toml")
        .display()
        .to_string();
    let rows = [
        (
            "[gpp]\ntasks = [\"routes\", \"exceptions\", \"icmp\"]",
            "\"arp\"",
        ),
        (
            "[[route]]\nprefix = \"10.1.0.0/16\"\nmac = \"02:00:00:00:00:01\"",
            "both `next_hop` and another destination",
        ),
        (
            "[[route]]\nprefix = \"10.1.0.0/16\"\nnext_hop = \"10.1.0\"",
            "not the address of a next hop",
        ),
        (
            "[[route]]\nprefix = \"10.1.0.0/16\"\nnext_hop = \"10.1.0.1\"",
            "10.1.0.1 is the router's own address",
        ),
        (
            "[[route]]\nprefix = \"10.9.0.0/16\"\nport = 0\nmac = \"arp\"",
            "not a MAC address",
        ),
        (
            "[[route]]\nprefix = \"10.1.0.0/16\"\nnext_hop = \"10.2.0.9\"",
            "10.2.0.9 is not on the link of port 0, 10.1.0.1/16",
        ),
        (
            "[[route]]\nprefix = \"10.1.0.0/16\"\nnext_hop = \"10.1.255.255\"",
            "10.1.255.255 is the broadcast address of the link of port 0",
        ),
        (
            "[[route]]\nprefix = \"10.1.0.0/16\"\nnext_hop = \"10.1.0.0\"",
            "10.1.0.0 is the address of the network of the link of port 0",
        ),
        (
            "[[route_change]]\nat = \"1ms\"\nadd = \"10.9.0.0/16\"\nport = 0\nnext_hop = \"10.2.0.9\"",
            "10.2.0.9 is not on the link of port 0, 10.1.0.1/16",
        ),
        (
            "[[route_change]]\nat = \"1ms\"\nadd = \"192.0.2.1/32\"\nport = 0\nnext_hop = \"10.1.0.2\"",
            "192.0.2.1/32 is an address of a port",
        ),
        (
            "[[route_change]]\nat = \"1ms\"\nremove = \"192.0.2.1/32\"",
            "192.0.2.1/32 is an address of a port",
        ),
        (
            "[gpp.arp]\narp_reason = 255",
            "255 is a reason code of the core's own",
        ),
        ("[gpp.arp]\ntries = 0", "at least one request"),
        ("[gpp.arp]\nretry = \"0s\"", "a time of 0"),
    ];
    for (text, message) in rows {
        let dir = Dir::new().with("own.toml", format!("extends = \"{base}\"\n{text}\n"));
        dir.npsim("check own.toml").expect(1, &[message]);
    }
}
