//! ICMP: traceroute, ping, packets that cannot be forwarded, and packets that must not be answered.

use std::net::Ipv4Addr;

use etherparse::icmpv4::{DestUnreachableHeader, TimeExceededCode};
use etherparse::{IcmpEchoHeader, Icmpv4Type};
use serde_json::Value;

use crate::capture::{Message, frames, messages};
use crate::harness::{Dir, root};
use crate::probes::{HOST, capture, datagram, from, ping, whole, with_checksum};
use crate::tshark;

const EXPIRED: Icmpv4Type = Icmpv4Type::TimeExceeded(TimeExceededCode::TtlExceededInTransit);
/// A host behind port 2.
const FAR: [u8; 4] = [192, 0, 2, 77];

/// The shipped routers whose core answers.
const ROUTERS: [&str; 2] = ["forward/icmp.toml", "router/icmp.toml"];

fn unreachable(header: DestUnreachableHeader) -> Icmpv4Type {
    Icmpv4Type::DestinationUnreachable(header)
}

fn shipped(project: &str) -> String {
    root().join("microcode").join(project).display().to_string()
}

/// The frames that leave when frames arrive at a port every 50 us, and the statistics.
fn answers(project: &str, sent: &[Vec<u8>], options: &str) -> (Vec<Message>, Value) {
    let dir = Dir::new().with("in.pcap", capture(sent, 50));
    answers_in(&dir, project, options)
}

fn answers_in(dir: &Dir, project: &str, options: &str) -> (Vec<Message>, Value) {
    let command =
        format!("run {project} --trace in.pcap --out out.pcap --stats out.json -q {options}");
    dir.npsim(&command).expect(0, &[]);
    let out = dir.path("out.pcap");
    tshark::assert_sound(&out);
    let stats = serde_json::from_slice(&dir.read("out.json")).expect("JSON");
    (messages(&frames(&out)), stats)
}

/// A project that extends a shipped one, with a folder for it.
fn project(text: &str) -> Dir {
    Dir::new().with("own.toml", text)
}

/// Three routers, each with addresses of its own.
fn chain(base: &str) -> String {
    let base = shipped(base);
    format!(
        r#"
        extends = "{base}"
        [[port]]
        rate = "1Gbps"
        address = ["10.1.1.1/16", "10.1.2.1/16", "10.1.3.1/16"]
        [[port]]
        rate = "1Gbps"
        address = ["10.2.1.1/16", "10.2.2.1/16", "10.2.3.1/16"]
        [[port]]
        rate = "1Gbps"
        address = ["192.0.2.1/24", "192.0.2.2/24", "192.0.2.3/24"]
        "#
    )
}

#[test]
fn traceroute_over_three_routers_shows_three_addresses() {
    for router in ROUTERS {
        // Three probes for each time to live, as traceroute sends them.
        let probes: Vec<_> = (0..12)
            .map(|n| datagram(FAR, 1 + n / 3, 40_000 + u16::from(n)))
            .collect();
        let dir = project(&chain(router)).with("in.pcap", capture(&probes, 50));
        let (answers, stats) = answers_in(&dir, "own.toml", "--hops 3");
        // They arrived at port 0 of the first router and at port 2 of the others.
        let hops = [[10, 1, 1, 1], [192, 0, 2, 2], [192, 0, 2, 3]];
        let mut told: Vec<_> = { answers.iter() }
            .map(|answer| (answer.port(), answer.from, answer.ttl))
            .collect();
        told.sort_unstable();
        let expected: Vec<_> = (0..9)
            .map(|n| {
                let hop = usize::from(n / 3);
                // The later routers have forwarded the answer.
                let ttl = 62 + hop as u8;
                (40_000 + n, Ipv4Addr::from(hops[hop]), ttl)
            })
            .collect();
        assert_eq!(told, expected, "{router}");
        for answer in &answers {
            assert_eq!((answer.to, &answer.kind), (HOST.into(), &EXPIRED));
            assert_eq!(answer.rest.len(), 28, "header and eight bytes");
        }
        // The last three got through.
        let out = dir.path("out.pcap");
        assert_eq!(frames(&out).len(), 12);
        assert_eq!(stats["packets"]["made"], 9);
        assert_eq!(stats["packets"]["unaccounted"], 0);
        let seen = tshark::fields(&out, "icmp.type == 11", &["ip.src", "udp.srcport"]);
        if let Some(seen) = seen {
            let mut lines: Vec<_> = seen.lines().collect();
            lines.sort_by_key(|line| line.split('\t').nth(1).map(str::to_owned));
            let expected: Vec<_> = { expected.iter() }
                .map(|(port, from, _)| format!("{from}\t{port}"))
                .collect();
            assert_eq!(lines, expected);
        }
    }
}

#[test]
fn each_router_of_a_chain_answers_pings_to_itself() {
    for router in ROUTERS {
        let hops = [[192, 0, 2, 1], [192, 0, 2, 2], [192, 0, 2, 3]];
        let probes: Vec<_> = (0..)
            .zip(hops)
            .map(|(n, to)| ping(to, n, b"who?"))
            .collect();
        let dir = project(&chain(router)).with("in.pcap", capture(&probes, 50));
        let (answers, stats) = answers_in(&dir, "own.toml", "--hops 3");
        let from: Vec<_> = answers.iter().map(|answer| answer.from.octets()).collect();
        assert_eq!(from, hops, "{router}");
        for node in 0..3 {
            let own = &stats["nodes"][node]["chip"]["gpp"]["icmp"][0];
            assert_eq!(own["echo_replies"], 1, "{router} {node} {own}");
        }
    }
}

#[test]
fn ping_replies_carry_the_request_payload() {
    for router in ROUTERS {
        let payloads: Vec<Vec<u8>> = [0, 1, 17, 18, 19, 56, 300, 1472]
            .map(|length: u16| (0..length).map(|at| (at % 251) as u8).collect())
            .to_vec();
        let mut probes: Vec<_> = (0..)
            .zip(&payloads)
            .map(|(n, p)| ping([10, 1, 0, 1], n, p))
            .collect();
        // A packet damaged in transit is not answered.
        let mut damaged = ping([10, 1, 0, 1], 99, &[7; 200]);
        damaged[200] ^= 1;
        probes.push(damaged);
        // Nor are messages that are not requests.
        let mut reply = ping([10, 1, 0, 1], 98, &[7; 20]);
        reply[34] = 0;
        probes.push(reply);
        let (answers, stats) = answers(&shipped(router), &probes, "");
        assert_eq!(answers.len(), payloads.len(), "{router}");
        for ((number, payload), answer) in (0..).zip(&payloads).zip(&answers) {
            let echo = IcmpEchoHeader {
                id: 0x77,
                seq: number,
            };
            assert_eq!(answer.kind, Icmpv4Type::EchoReply(echo));
            assert_eq!(
                (answer.from, answer.to),
                ([10, 1, 0, 1].into(), HOST.into())
            );
            assert_eq!(answer.ttl, 64);
            assert_eq!(&answer.rest, payload);
        }
        let own = &stats["nodes"][0]["chip"]["gpp"]["icmp"][0];
        assert_eq!(
            (&own["echo_replies"], &own["given_up"]),
            (&8.into(), &1.into())
        );
        assert_eq!(stats["packets"]["unaccounted"], 0);
    }
}

#[test]
fn unforwardable_packets_get_an_error_with_the_reason() {
    for router in ROUTERS {
        let base = shipped(router);
        let without = format!("extends = \"{base}\"\nroute = []\n");
        let routes = r#"
            extends = "without.toml"
            [[route]]
            prefix = "10.1.0.0/16"
            port = 0
            mac = "02:00:5e:10:00:00"
            [[route]]
            prefix = "192.0.2.0/24"
            port = 2
            mac = "02:00:5e:10:00:02"
            mtu = 576
        "#;
        let mut may_be_cut = whole(FAR, 577, 4);
        may_be_cut[20] = 0;
        let mut tcp = datagram([10, 1, 0, 1], 64, 6);
        tcp[23] = 6;
        let probes = [
            datagram([203, 0, 113, 1], 64, 1),
            whole(FAR, 577, 2),
            whole(FAR, 576, 3),
            with_checksum(may_be_cut),
            datagram([10, 1, 0, 1], 64, 5),
            with_checksum(tcp),
        ];
        let dir = project(routes)
            .with("without.toml", without)
            .with("in.pcap", capture(&probes, 50));
        let (answers, stats) = answers_in(&dir, "own.toml", "");
        let told: Vec<_> = { answers.iter() }
            .map(|answer| (answer.port(), answer.kind.clone()))
            .collect();
        let expected = [
            (1, unreachable(DestUnreachableHeader::Network)),
            (
                2,
                unreachable(DestUnreachableHeader::FragmentationNeeded { next_hop_mtu: 576 }),
            ),
            (5, unreachable(DestUnreachableHeader::Port)),
            (6, unreachable(DestUnreachableHeader::Protocol)),
        ];
        assert_eq!(told, expected, "{router}");
        let icmp = &stats["nodes"][0]["chip"]["gpp"]["icmp"][0];
        assert_eq!(
            (&icmp["too_big"], &icmp["unreachable"]),
            (&1.into(), &3.into())
        );
    }
}

/// RFC 1812, 4.3.2.7, on the chip: the fast path has dropped some of these already.
#[test]
fn icmp_errors_are_suppressed_as_required() {
    let changed = |bytes: &[(usize, &[u8])]| {
        let mut frame = datagram(FAR, 1, 1);
        for (at, new) in bytes {
            frame[*at..*at + new.len()].copy_from_slice(new);
        }
        with_checksum(frame)
    };
    let silent: [&[(usize, &[u8])]; 14] = [
        &[(0, &[0xff; 6])],
        &[(0, &[1, 0, 0x5e, 0, 0, 1])],
        &[(30, &[255; 4])],
        &[(30, &[239, 1, 1, 1])],
        &[(30, &[192, 0, 2, 255])],
        &[(26, &[0; 4])],
        &[(26, &[127, 0, 0, 1])],
        &[(26, &[10, 1, 255, 255])],
        &[(26, &[224, 0, 0, 1])],
        &[(26, &[250, 0, 0, 1])],
        &[(20, &[0x20, 1])],
        &[(20, &[0, 185])],
        &[(23, &[1]), (34, &[3, 1])],
        &[(23, &[1]), (34, &[11, 0])],
    ];
    for router in ROUTERS {
        let mut probes: Vec<_> = silent.iter().map(|bytes| changed(bytes)).collect();
        // A ping whose source is a broadcast address has no host that could be answered.
        let mut smurf = ping([10, 1, 1, 1], 1, &[0; 20]);
        smurf[26..30].copy_from_slice(&[10, 1, 255, 255]);
        probes.push(with_checksum(smurf));
        // These are answered: without answers the test could not fail.
        probes.push(changed(&[]));
        probes.push(changed(&[(20, &[0x20, 0])]));
        probes.push(changed(&[(23, &[1]), (34, &[8, 0])]));
        let dir = project(&chain(router)).with("in.pcap", capture(&probes, 50));
        let (answers, stats) = answers_in(&dir, "own.toml", "");
        assert_eq!(answers.len(), 3, "{router}: {answers:?}");
        assert!(answers.iter().all(|answer| answer.kind == EXPIRED));
        assert_eq!(stats["packets"]["made"], 3);
    }
}

#[test]
fn icmp_errors_are_rate_limited_but_pings_are_not() {
    for router in ROUTERS {
        let dir = Dir::new();
        let mut probes: Vec<_> = (0..40).map(|n| datagram(FAR, 1, n)).collect();
        probes.extend((0..10).map(|n| ping([10, 1, 0, 1], n, &[1; 30])));
        let dir = dir.with("in.pcap", capture(&probes, 50));
        // In the 2 ms of the probes, two tokens are added to those already there.
        let options = "--set gpp.icmp.rate=1000 --set gpp.icmp.burst=5";
        let (answers, stats) = answers_in(&dir, &shipped(router), options);
        let errors = answers.iter().filter(|it| it.kind == EXPIRED).count();
        assert!((6..=7).contains(&errors), "{router}: {errors}");
        assert_eq!(answers.len() - errors, 10);
        let limited = stats["nodes"][0]["chip"]["gpp"]["icmp"][0]["limited"].as_u64();
        assert_eq!(limited, Some(40 - errors as u64));
    }
}

/// Each router of a chain changes a table that contains only its own addresses: an address of a
/// later router is routed like the network around it.
#[test]
fn route_change_keeps_the_addresses_of_each_router() {
    for router in ROUTERS {
        let hops = [[192, 0, 2, 1], [192, 0, 2, 2], [192, 0, 2, 3]];
        let probes: Vec<_> = (0..)
            .zip(hops.into_iter().chain(hops))
            .map(|(n, to)| ping(to, n, b"who?"))
            .collect();
        // From then on, the first router treats the whole network as its own.
        let text = format!(
            "{}[[route_change]]\nat = \"140us\"\nchange = \"192.0.2.0/24\"\nlocal = true\n",
            chain(router)
        );
        let dir = project(&text).with("in.pcap", capture(&probes, 50));
        let (answers, stats) = answers_in(&dir, "own.toml", "--hops 3");
        assert_eq!(answers.len(), 6, "{router}");
        for (node, replies) in [4, 1, 1].into_iter().enumerate() {
            let gpp = &stats["nodes"][node]["chip"]["gpp"];
            assert_eq!(gpp["routes"][0]["changes"], 1, "{router} {node}");
            assert_eq!(gpp["icmp"][0]["echo_replies"], replies, "{router} {node}");
        }
        assert_eq!(stats["packets"]["unaccounted"], 0);
    }
}

/// Buffers are returned whatever happens to a packet: there are more packets than buffers.
#[test]
fn slow_path_releases_every_buffer() {
    for router in ROUTERS {
        let probes: Vec<_> = (40_000..40_600)
            .map(|n| match n % 4 {
                0 => datagram(FAR, 1, n),
                1 => ping([10, 1, 0, 1], n, &[9; 100]),
                2 => from(HOST, [10, 1, 0, 1], 64, n, &[1; 20]),
                _ => datagram(FAR, 64, n),
            })
            .collect();
        let dir = Dir::new().with("in.pcap", capture(&probes, 20));
        let options = "--set buffers.count=64 --set gpp.icmp.rate=100000";
        let (answers, stats) = answers_in(&dir, &shipped(router), options);
        let made = stats["packets"]["made"].as_u64().expect("a number");
        assert_eq!(answers.len() as u64, made, "{router}");
        assert!(made > 300, "{router}: {made}");
        assert_eq!(stats["packets"]["unaccounted"], 0);
        assert_eq!(
            stats["packets"]["dropped_microcode"], 0,
            "{}",
            stats["drops"]
        );
    }
}

#[test]
fn icmp_configuration_errors_are_located() {
    let base = shipped("forward/icmp.toml");
    let rows = [
        (
            "[gpp.icmp]\nring = \"NO_RING\"",
            "there is no ring `NO_RING`",
        ),
        ("[[port]]\nrate = \"1Gbps\"", "port 0 has no address"),
        (
            "[[port]]\naddress = \"10.1.0.255/24\"",
            "not the address of a port",
        ),
        ("[[port]]\naddress = []", "a port has no address"),
        (
            "[gpp.icmp]\nring = \"EXCEPTION_RING\"",
            "the core takes packets off this ring itself",
        ),
        (
            "[gpp.icmp]\nring = \"TX_RING\"",
            "no microengine takes packets of the core off this ring",
        ),
        (
            "[gpp.icmp]\nttl_reason = 252",
            "252 is a reason code of the core's own",
        ),
        ("[gpp.icmp]\nrate = 0", "at least 1"),
        ("[gpp.icmp]\nttl = 0", "leads nowhere"),
        ("[gpp.icmp]\ntime = 1", "there is no key `time`"),
        ("[gpp]\ntasks = [\"exceptions\", \"icmp\"]\n", "\"routes\""),
    ];
    for (text, message) in rows {
        let dir = project(&format!("extends = \"{base}\"\n{text}\n"));
        dir.npsim("check own.toml").expect(1, &[message]);
    }
    for (addresses, message) in [
        (
            ["\"10.1.0.1/16\"", "\"10.2.0.1/16\"", "\"10.2.0.1/16\""],
            "another port, 1, has the address 10.2.0.1",
        ),
        (
            [
                "[\"10.1.0.1\", \"10.1.0.2\"]",
                "\"10.2.0.1\"",
                "[\"10.3.0.1\"]",
            ],
            "",
        ),
        (
            [
                "[\"10.1.0.1\", \"10.1.0.2\"]",
                "\"10.2.0.1\"",
                "[\"10.3.0.1\", \"10.3.0.2\", \"10.3.0.3\"]",
            ],
            "port 0 has 2 addresses, and another port has 3",
        ),
    ] {
        let ports = addresses.map(|own| format!("[[port]]\nrate = \"1Gbps\"\naddress = {own}\n"));
        let dir = project(&format!("extends = \"{base}\"\n{}", ports.concat()));
        let code = i32::from(!message.is_empty());
        dir.npsim("check own.toml").expect(code, &[message]);
    }
    // A chain has more routers than a port has addresses.
    let dir = project(&chain("forward/icmp.toml")).with("in.pcap", capture(&[], 1));
    dir.npsim("run own.toml --trace in.pcap --hops 4").expect(
        1,
        &["the ports have the addresses of 3 routers, and there is a router 4"],
    );
}
