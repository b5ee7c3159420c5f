//! RCP: `microcode/rcp`.
//!
//! Contexts count in their local memory and write totals out, which nothing resets:
//! they are compared from the first packet to the last.

use npsim_protocols::rcp::header::{DATA, REF, SYN, UNLIMITED};
use npsim_protocols::rcp::{Counters, RcpHeader, header};

use super::driver::{
    COUNTS, Memory, PORTS, Packet, STATE, State, Variant, Verdict, before, compare, expect_detected,
};
use super::packets;
use super::random::Random;
use npsim_testkit::microcode::Edit;

/// Longwords of the counters: from one group to the next, and of a group.
const GROUP: usize = 4;
const BYTES: usize = 0;
const RTT_BYTES: usize = 1;
const RTT_SUM: usize = 2;

const PACKETS: u32 = 100_000;

/// The default protocol number of RCP.
const PROTOCOL: u8 = 254;
/// Where the type stands, from the IPv4 header on.
const KIND: usize = 31;
/// Total length of a packet with both headers.
const HEADERS_BYTES: u16 = 32;

const COUNTED: Variant = Variant {
    name: "RCP",
    defines: &["RCP"],
    state: Memory {
        name: "RCP_RATE",
        space: "scratch",
        parts: &[(0, 1)],
    },
    counts: Some(COUNTERS),
    edit: None,
};

const COUNTERS: Memory = Memory {
    name: "RCP_COUNTERS",
    space: "scratch",
    parts: &[(COUNTS, 4)],
};

const IN_SRAM: Variant = Variant {
    name: "RCP in SRAM",
    defines: &["RCP", "RCP_SPACE=sram", "RCP_COUNTERS_SPACE=sram"],
    state: Memory {
        space: "sram1",
        ..COUNTED.state
    },
    counts: Some(Memory {
        space: "sram1",
        ..COUNTERS
    }),
    ..COUNTED
};

const EVERY: Variant = Variant {
    name: "RCP for every packet",
    defines: &["RCP", "RCP_EVERY_PACKET"],
    ..COUNTED
};

const PER_PORT: Variant = Variant {
    name: "RCP by port",
    defines: &["RCP", "RCP_PER_PORT"],
    state: Memory {
        parts: &[(0, 2)],
        ..COUNTED.state
    },
    counts: Some(Memory {
        parts: &[(COUNTS, 8)],
        ..COUNTERS
    }),
    ..COUNTED
};

/// The rate of each port; the first one if all ports form one group.
fn state(random: &mut Random) -> State {
    let mut state = [0; STATE];
    for rate in &mut state[..PORTS as usize] {
        *rate = match random.below(3) {
            0 => random.extreme(&[]),
            1 => 6_500_000,
            _ => random.of_any_size(),
        };
    }
    state
}

fn traffic(seed: u64, count: u32) -> Vec<Packet> {
    let mut random = Random::new(seed);
    let mut rates = [0; STATE];
    (0..count)
        .map(|number| {
            let set = (number == 0 || random.once_in(5)).then(|| state(&mut random));
            rates = set.unwrap_or(rates);
            let rate = rates[random.below(PORTS) as usize];
            let options: &[u8] = if random.once_in(30) {
                &[1, 1, 1, 0]
            } else {
                &[]
            };
            let header = RcpHeader {
                rate: match random.below(3) {
                    0 => UNLIMITED,
                    1 => rate.wrapping_add(random.below(3)).wrapping_sub(1),
                    _ => random.of_any_size(),
                },
                reverse_rate: random.word(),
                rtt: random.one_of(&[0, 1, 1_638, 0x7fff, 0x8000, 0xffff]),
                protocol: 6,
                kind: random.byte_or(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
            };
            let mut payload = header.to_bytes().to_vec();
            payload.extend((0..16).map(|_| random.byte()));
            let behind = match random.below(8) {
                0 => random.one_of(&[0, 8, 11, 12, 13]),
                1 => 65_000 + random.below(500) as u16,
                _ => 12 + random.one_of(&[0, 1, 60, 1_400]) + random.below(50) as u16,
            };
            let protocol = random.byte_or(&[PROTOCOL]);
            packets::packet(&mut random, protocol, options, &payload, behind, set)
        })
        .collect()
}

/// Whether a packet has a congestion header that a router processes.
fn is_rcp(bytes: &[u8]) -> bool {
    bytes[9] == PROTOCOL
        && packets::total(bytes) >= HEADERS_BYTES
        && !packets::is_later_fragment(bytes)
}

/// All ports are one group.
fn model(bytes: &mut [u8], state: &mut State, _port: u32) -> Verdict {
    let is_rcp = is_rcp(bytes);
    of_group(bytes, state, 0, is_rcp)
}

fn per_port(bytes: &mut [u8], state: &mut State, port: u32) -> Verdict {
    let is_rcp = is_rcp(bytes);
    of_group(bytes, state, port as usize, is_rcp)
}

/// The model of [`EVERY`].
fn every(bytes: &mut [u8], state: &mut State, _port: u32) -> Verdict {
    let kind = std::mem::replace(&mut bytes[KIND], DATA);
    let verdict = of_group(bytes, state, 0, true);
    bytes[KIND] = kind;
    verdict
}

fn of_group(bytes: &mut [u8], state: &mut State, group: usize, is_rcp: bool) -> Verdict {
    if let Some(verdict) = packets::plain(bytes) {
        return verdict;
    }
    let rate = state[group];
    let state = &mut state[COUNTS + GROUP * group..][..GROUP];
    let fields = RcpHeader::from_bytes(&bytes[20..]).filter(|_| is_rcp);
    let mut counters = Counters {
        bytes: state[BYTES],
        rtt_bytes: state[RTT_BYTES],
        rtt_sum: u64::from(state[RTT_SUM + 1]) << 32 | u64::from(state[RTT_SUM]),
    };
    counters.arrive(packets::total(bytes), fields.map_or(0, |fields| fields.rtt));
    state[BYTES] = counters.bytes;
    state[RTT_BYTES] = counters.rtt_bytes;
    state[RTT_SUM] = counters.rtt_sum as u32;
    state[RTT_SUM + 1] = (counters.rtt_sum >> 32) as u32;
    if fields.is_some() {
        header::process(&mut bytes[20..], rate);
    }
    Verdict::Forwarded
}

#[test]
fn rcp_matches_the_model() {
    let packets = traffic(4, PACKETS);
    compare(&COUNTED, &packets, &mut model).unwrap_or_else(|error| panic!("{error}"));
    let some = &packets[..8_000];
    compare(&IN_SRAM, some, &mut model).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn rcp_for_every_packet_and_per_port_matches_the_model() {
    let packets = traffic(8, PACKETS / 10);
    compare(&EVERY, &packets, &mut every).unwrap_or_else(|error| panic!("{error}"));
    compare(&PER_PORT, &packets, &mut per_port).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn rcp_mutants_are_detected() {
    let packets = traffic(4, 4_000);
    for (file, from, to) in [
        ("rcp/rcp.uc", "    bne[other#]\n", ""),
        ("rcp/rcp.uc", "    blo[other#]\n", ""),
        ("rcp/rcp.uc", "+carry, 0]", "+, 0]"),
        ("rcp/header.uc", "RCP_REF, no]", "RCP_SYN, no]"),
        (
            "rcp/rcp.uc",
            "    least(rate, $rate)\n",
            "    alu[rate, --, B, $rate]\n",
        ),
    ] {
        expect_detected(&COUNTED, Edit { file, from, to }, &packets, &mut model);
    }
}

/// Rates are lowered and kept, of packets that take them and of others; some packets
/// are not of the protocol, later fragments of it, or too short.
#[test]
fn generated_rcp_packets_cover_all_outcomes() {
    let mut counts = [[0_u32; 2]; 2];
    let mut others = [0_u32; 3];
    let mut state = [0; STATE];
    for packet in traffic(4, 20_000) {
        state = before(&packet, &state);
        let mut bytes = packet.frame[14..].to_vec();
        let fields = RcpHeader::from_bytes(&bytes[20..]).unwrap();
        let of_protocol = is_rcp(&bytes);
        if model(&mut bytes, &mut state, packet.port) != Verdict::Forwarded {
            continue;
        }
        let after = RcpHeader::from_bytes(&bytes[20..]).unwrap();
        if !of_protocol {
            assert!(fields == after);
            let is_protocol = bytes[9] == PROTOCOL;
            others[0] += u32::from(!is_protocol);
            others[1] += u32::from(is_protocol && packets::is_later_fragment(&bytes));
            others[2] += u32::from(is_protocol && packets::total(&bytes) < HEADERS_BYTES);
            continue;
        }
        let takes = matches!(fields.kind, SYN | REF | DATA);
        assert!(takes || fields == after);
        counts[usize::from(takes)][usize::from(fields.rate > state[0])] += 1;
    }
    let mut all = counts.as_flattened().iter().chain(&others);
    assert!(all.all(|count| *count > 500), "{counts:?} {others:?}");
}
