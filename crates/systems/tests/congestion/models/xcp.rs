//! XCP: `microcode/xcp`.
//!
//! The verdict, every byte from the IPv4 header on, pools and scale factors, and the sums are
//! compared. Where threads have their own sums, nothing resets them: they are compared from the
//! first packet to the last. The variant with shares for microengines is in `shares.rs`.

use npsim_protocols::xcp::header::{LENGTH, STANDARD, VERSION};
use npsim_protocols::xcp::{Factor, FeedbackPools, SECOND, Sums, XcpHeader};

use super::driver::{
    COUNTS, Memory, PORTS, Packet, STATE, State, Variant, Verdict, before, compare,
};
use super::packets;
use super::random::Random;
use super::xcp_layout::{BANK_RESIDUES, GROUP, Layout, PHASE, SUMS, SUMS_GROUP};
use npsim_testkit::microcode::Edit;

/// Where version and format stand, from the IPv4 header on.
const KIND: usize = 22;

const PACKETS: u32 = 100_000;

/// The default protocol number of XCP.
const PROTOCOL: u8 = 253;
/// Total length of a packet with both headers.
const HEADERS_BYTES: u16 = 40;

const STATE_OF_ONE: Memory = Memory {
    name: "XCP_STATE",
    space: "scratch",
    parts: &[(0, 5), (SUMS, 5)],
};

pub const BANKS: Memory = Memory {
    parts: &[(0, 7), (BANK_RESIDUES, 4)],
    ..STATE_OF_ONE
};

const POOLS: Memory = Memory {
    parts: &[(0, 5)],
    ..STATE_OF_ONE
};

const FEEDBACK: Memory = Memory {
    name: "FEEDBACK_XCP",
    space: "sram1",
    ..POOLS
};

pub const THREAD_SUMS: Memory = Memory {
    name: "XCP_SUMS",
    space: "scratch",
    parts: &[(COUNTS, 5)],
};

const SUMS_OF_PORTS: Memory = Memory {
    parts: &[(COUNTS, 5), (COUNTS + SUMS_GROUP, 5)],
    ..THREAD_SUMS
};

/// Packets of the protocol are identified by its number.
const RECOGNISED: Variant = Variant {
    name: "XCP under a lock",
    defines: &["XCP"],
    state: STATE_OF_ONE,
    counts: None,
    edit: None,
};

/// Every packet is treated as one of the protocol.
const EVERY: Variant = Variant {
    name: "XCP under a lock for every packet",
    defines: &["XCP", "XCP_LOCK", "XCP_EVERY_PACKET"],
    ..RECOGNISED
};

const EVERY_IN_SRAM: Variant = Variant {
    name: "XCP under a lock in SRAM for every packet",
    defines: &["XCP", "XCP_EVERY_PACKET", "XCP_SPACE=sram"],
    state: Memory {
        space: "sram1",
        ..STATE_OF_ONE
    },
    ..RECOGNISED
};

const SUMS_BY_THREAD: Variant = Variant {
    name: "XCP with sums by thread",
    defines: &["XCP", "XCP_THREAD_SUMS"],
    state: POOLS,
    counts: Some(THREAD_SUMS),
    edit: None,
};

const SPLIT: Variant = Variant {
    name: "XCP by atomic commands",
    defines: &["XCP", "XCP_SPLIT"],
    state: BANKS,
    counts: Some(THREAD_SUMS),
    edit: None,
};

const SPLIT_IN_SRAM: Variant = Variant {
    name: "XCP by atomic commands in SRAM",
    defines: &["XCP", "XCP_SPLIT", "XCP_SPACE=sram", "XCP_SUMS_SPACE=sram"],
    state: Memory {
        space: "sram1",
        ..BANKS
    },
    counts: Some(Memory {
        space: "sram1",
        ..THREAD_SUMS
    }),
    edit: None,
};

const COPROCESSOR: Variant = Variant {
    name: "XCP by the coprocessor",
    defines: &["XCP", "XCP_COPROCESSOR"],
    state: FEEDBACK,
    counts: Some(THREAD_SUMS),
    edit: None,
};

/// A group for each port.
const PER_PORT: [(Variant, Layout); 4] = [
    (
        Variant {
            name: "XCP under a lock by port",
            defines: &["XCP", "XCP_LOCK", "XCP_PER_PORT"],
            state: Memory {
                parts: &[(0, 5), (SUMS, 5), (GROUP, 5), (GROUP + SUMS, 5)],
                ..STATE_OF_ONE
            },
            ..RECOGNISED
        },
        Layout::Together,
    ),
    (
        Variant {
            name: "XCP with sums by thread by port",
            defines: &["XCP", "XCP_THREAD_SUMS", "XCP_PER_PORT"],
            state: Memory {
                parts: &[(0, 5), (GROUP, 5)],
                ..STATE_OF_ONE
            },
            counts: Some(SUMS_OF_PORTS),
            edit: None,
        },
        Layout::ThreadSums,
    ),
    (
        Variant {
            name: "XCP by atomic commands by port",
            defines: &["XCP", "XCP_SPLIT", "XCP_PER_PORT"],
            state: Memory {
                parts: &[
                    (0, 7),
                    (BANK_RESIDUES, 4),
                    (GROUP, 7),
                    (GROUP + BANK_RESIDUES, 4),
                ],
                ..STATE_OF_ONE
            },
            counts: Some(SUMS_OF_PORTS),
            edit: None,
        },
        Layout::Banks,
    ),
    (
        Variant {
            name: "XCP by the coprocessor by port",
            defines: &["XCP", "XCP_COPROCESSOR", "XCP_PER_PORT"],
            state: Memory {
                parts: &[(0, 5), (GROUP, 5)],
                ..FEEDBACK
            },
            counts: Some(SUMS_OF_PORTS),
            edit: None,
        },
        Layout::ThreadSums,
    ),
];

fn scale(random: &mut Random) -> Factor {
    if random.once_in(8) {
        return Factor::ZERO;
    }
    let mantissa = match random.below(4) {
        0 => 1 << 30,
        1 => (1 << 31) - 1,
        _ => 1 << 30 | random.word() >> 2,
    };
    let shift = match random.below(3) {
        0 => random.below(63),
        1 => 28 + random.below(8),
        _ => random.one_of(&[0, 1, 30, 31, 32, 33, 62]),
    };
    Factor {
        mantissa,
        shift: shift as u8,
    }
}

/// A residue: of any size, or just about what a packet takes of it.
fn residue(random: &mut Random, share: u64) -> u32 {
    let share = u32::try_from(share).unwrap_or(u32::MAX);
    let residue = match random.below(3) {
        0 => share.wrapping_add(random.below(5)).wrapping_sub(2),
        1 => random.extreme(&[]),
        _ => random.of_any_size(),
    };
    residue & i32::MAX as u32
}

/// A packet's numbers.
#[derive(Clone, Copy)]
struct Numbers {
    x: u32,
    size: u16,
}

impl Layout {
    /// The state of all groups before such a packet. With two banks, the other one has arbitrary
    /// contents. `most` bounds residues.
    fn state(self, random: &mut Random, packet: Numbers, phase: u32, most: u32) -> State {
        let mut state = [0; STATE];
        for group in 0..PORTS as usize {
            if self == Self::Banks {
                for word in &mut state[GROUP * group..GROUP * (group + 1)] {
                    *word = random.word();
                }
                state[GROUP * group + PHASE] = phase;
            }
            let (mut cp, mut cn) = (scale(random), scale(random));
            let residue_pos = residue(random, cp.times(packet.x)) & most;
            let residue_neg = residue(random, cn.times(u32::from(packet.size))) & most;
            // An empty pool has no factor.
            if residue_pos == 0 {
                cp = Factor::ZERO;
            }
            if residue_neg == 0 {
                cn = Factor::ZERO;
            }
            let pools = FeedbackPools {
                residue_pos,
                residue_neg,
                cp,
                cn,
            };
            self.put_pools(&mut state, group, &pools);
            if self == Self::Together {
                let sums = Sums {
                    input_traffic: random.extreme(&[]),
                    sum_x: u64::MAX - u64::from(random.of_any_size()),
                    sum_xrtt: random.long(),
                };
                self.put_sums(&mut state, group, &sums);
            }
        }
        state
    }
}

/// The requests of packets.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Bits that residues may have.
    pub residues: u32,
    /// The lowest Delta.
    pub delta: i32,
}

pub const ANY: Limits = Limits {
    residues: u32::MAX,
    delta: i32::MIN,
};

pub fn traffic(seed: u64, count: u32, layout: Layout, limits: Limits) -> Vec<Packet> {
    let mut random = Random::new(seed);
    let mut kept = [0; STATE];
    let mut phase = 0;
    (0..count)
        .map(|number| {
            let options: &[u8] = if random.once_in(30) {
                &[1, 1, 1, 0]
            } else {
                &[]
            };
            let behind = match random.below(12) {
                0 => random.one_of(&[0, 8, 19, 20, 21]),
                _ => 20 + random.one_of(&[0, 1, 24, 1_440, 1_400, 60]) + random.below(20) as u16,
            };
            let size = 20 + options.len() as u16 + behind;
            let x = match random.below(3) {
                0 => random.extreme(&[]),
                1 => random.below(500_000),
                _ => random.of_any_size(),
            };
            let rtt = match random.below(3) {
                0 => random.extreme(&[SECOND, SECOND / 10, 1 << 12]),
                1 => 26_843_546,
                _ => random.of_any_size(),
            };
            let set = number == 0 || random.once_in(3);
            if set {
                phase ^= 1;
                let numbers = Numbers { x, size };
                let new = layout.state(&mut random, numbers, phase, limits.residues);
                kept[..COUNTS].copy_from_slice(&new[..COUNTS]);
            }
            let now = layout.pools(&kept, 0);
            let feedback = { now }.depart(x, size, i32::MAX).feedback;
            let delta = match random.below(4) {
                0 => random.extreme(&[]) as i32,
                1 => feedback.wrapping_add(random.below(3) as i32 - 1),
                2 => -(random.of_any_size() as i32),
                _ => random.of_any_size() as i32,
            };
            let header = XcpHeader {
                protocol: 6,
                length: LENGTH as u8,
                version: random.byte_or(&[VERSION]) & 0xf,
                format: random.byte_or(&[STANDARD]) & 0xf,
                unused: random.byte(),
                x,
                rtt,
                reverse_feedback: random.word() as i32,
                delta_throughput: delta.max(limits.delta),
            };
            let mut payload = header.to_bytes().to_vec();
            payload.extend((0..8).map(|_| random.byte()));
            let protocol = random.byte_or(&[PROTOCOL]);
            let state = set.then_some(kept);
            let packet = packets::packet(&mut random, protocol, options, &payload, behind, state);
            let mut after = packet.frame[14..].to_vec();
            every(&mut after, &mut kept, layout);
            packet
        })
        .collect()
}

/// XCP's treatment of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// None: the packet is not even counted.
    None,
    /// The bytes are counted.
    Bytes,
    /// The packet takes feedback.
    Whole,
}

pub fn part(bytes: &[u8]) -> Part {
    if bytes[9] != PROTOCOL || packets::total(bytes) < HEADERS_BYTES {
        Part::None
    } else if packets::is_later_fragment(bytes) || bytes[KIND] != VERSION << 4 | STANDARD {
        Part::Bytes
    } else {
        Part::Whole
    }
}

/// The model of variants in which every packet is a standard one.
fn every(bytes: &mut [u8], state: &mut State, layout: Layout) -> Verdict {
    let kind = std::mem::replace(&mut bytes[KIND], VERSION << 4 | STANDARD);
    let verdict = of_group(bytes, state, layout, 0, Part::Whole);
    bytes[KIND] = kind;
    verdict
}

/// The model of variants in which packets are identified by their protocol.
fn recognised(bytes: &mut [u8], state: &mut State, layout: Layout, group: usize) -> Verdict {
    let part = part(bytes);
    of_group(bytes, state, layout, group, part)
}

fn of_group(
    bytes: &mut [u8],
    state: &mut State,
    layout: Layout,
    group: usize,
    part: Part,
) -> Verdict {
    if let Some(verdict) = packets::plain(bytes) {
        return verdict;
    }
    if part == Part::None {
        return Verdict::Forwarded;
    }
    let size = packets::total(bytes);
    let header = XcpHeader::from_bytes(&bytes[20..]).filter(|_| part == Part::Whole);
    let mut sums = layout.sums(state, group);
    sums.arrive(size, header.as_ref(), SECOND);
    layout.put_sums(state, group, &sums);
    if part == Part::Whole {
        let before = layout.pools(state, group);
        let mut pools = before;
        pools.process(&mut bytes[20..], size);
        layout.put_pools(state, group, &pools);
    }
    Verdict::Forwarded
}

/// Whether the microcode does what the model does. Shifts mean nothing beside a
/// mantissa of 0, and all variants but the coprocessor keep them.
fn check(
    variant: &Variant,
    packets: &[Packet],
    layout: Layout,
    mut model: impl FnMut(&mut [u8], &mut State, u32) -> Verdict,
) -> Result<(), String> {
    let keeps = variant.state.name != FEEDBACK.name;
    let mut keeping = |bytes: &mut [u8], state: &mut State, port: u32| {
        let shifts = |state: &State| {
            [0, 1].map(|group| {
                let [_, scales] = layout.places(state, group);
                (scales + 2, state[scales + 2])
            })
        };
        let before = shifts(state);
        let verdict = model(bytes, state, port);
        if keeps {
            for (place, value) in before {
                state[place] = value;
            }
        }
        verdict
    };
    compare(variant, packets, &mut keeping)
}

fn expect_same(
    variant: &Variant,
    packets: &[Packet],
    layout: Layout,
    model: impl FnMut(&mut [u8], &mut State, u32) -> Verdict,
) {
    check(variant, packets, layout, model).unwrap_or_else(|error| panic!("{error}"));
}

fn expect_recognised(variant: &Variant, packets: &[Packet], layout: Layout) {
    expect_same(variant, packets, layout, |bytes, state, _| {
        recognised(bytes, state, layout, 0)
    });
}

#[test]
fn xcp_for_every_packet_matches_the_model() {
    let layout = Layout::Together;
    let packets = traffic(3, PACKETS, layout, ANY);
    let model = |bytes: &mut [u8], state: &mut State, _| every(bytes, state, layout);
    expect_same(&EVERY, &packets, layout, model);
    expect_same(&EVERY_IN_SRAM, &packets[..8_000], layout, model);
}

#[test]
fn xcp_matches_the_model() {
    let packets = traffic(5, PACKETS, Layout::Together, ANY);
    expect_recognised(&RECOGNISED, &packets, Layout::Together);
}

#[test]
fn xcp_with_per_thread_sums_matches_the_model() {
    let packets = traffic(9, PACKETS / 5, Layout::ThreadSums, ANY);
    expect_recognised(&SUMS_BY_THREAD, &packets, Layout::ThreadSums);
}

#[test]
fn xcp_with_atomic_commands_matches_the_model() {
    let packets = traffic(10, PACKETS / 2, Layout::Banks, ANY);
    expect_recognised(&SPLIT, &packets, Layout::Banks);
    expect_recognised(&SPLIT_IN_SRAM, &packets[..8_000], Layout::Banks);
}

#[test]
fn xcp_with_the_coprocessor_matches_the_model() {
    let packets = traffic(11, PACKETS / 2, Layout::ThreadSums, ANY);
    expect_recognised(&COPROCESSOR, &packets, Layout::ThreadSums);
}

#[test]
fn xcp_per_port_matches_the_model() {
    for (variant, layout) in &PER_PORT {
        let packets = traffic(12, PACKETS / 10, *layout, ANY);
        expect_same(variant, &packets, *layout, |bytes, state, port| {
            recognised(bytes, state, *layout, port as usize)
        });
    }
}

#[test]
fn xcp_mutants_are_detected() {
    let layout = Layout::Together;
    let packets = traffic(3, 8_000, layout, ANY);
    let model = |bytes: &mut [u8], state: &mut State, _| every(bytes, state, layout);
    let carry = "alu[$sum2, $sum2, +carry, 0]";
    for (file, from, to) in [
        ("xcp/law.uc", "    least(negative, residue)\n", ""),
        ("xcp/locked.uc", "bpl[positive#]", "br[positive#]"),
        ("xcp/locked.uc", "    immed[$pool2, 0]", "    nop"),
        ("xcp/header.uc", "beq[known#]", "br[known#]"),
        ("xcp/feedback_lock.uc", carry, "alu[$sum2, $sum2, +, 0]"),
        ("xcp/law.uc", "blt[take#]", "bmi[take#]"),
        ("lib/fixed.uc", "    alu[value, --, ~B, 0]", "    nop"),
    ] {
        let edit = Some(Edit { file, from, to });
        let found = check(&Variant { edit, ..EVERY }, &packets, layout, model);
        assert!(found.is_err(), "{edit:?} is not noticed");
    }
}

#[test]
fn mutants_of_xcp_recognition_and_variants_are_detected() {
    let (one, sums, banks) = (Layout::Together, Layout::ThreadSums, Layout::Banks);
    let carry = "alu[THREAD_COUNTER[2], THREAD_COUNTER[2], +carry, 0]";
    let kind = "    br!=byte[$$h9, 3, XCP_STANDARD, counted#]\n";
    let request = "    alu[$ask2, --, B, size]\n";
    for (variant, layout, file, from, to) in [
        (RECOGNISED, one, "xcp/xcp.uc", "    blo[plain#]\n", ""),
        (RECOGNISED, one, "xcp/xcp.uc", "    bne[counted#]\n", ""),
        (RECOGNISED, one, "xcp/xcp.uc", kind, ""),
        (RECOGNISED, one, "xcp/header.uc", "_TOTAL 40", "_TOTAL 41"),
        (SUMS_BY_THREAD, sums, "xcp/sums.uc", carry, "nop"),
        (SPLIT, banks, "xcp/banks.uc", "    bne[more#]\n", ""),
        (SPLIT, banks, "xcp/banks.uc", "bpl[done#]", "br[done#]"),
        (SPLIT, banks, "xcp/banks.uc", "SCALE 12", "SCALE 0"),
        (
            COPROCESSOR,
            sums,
            "xcp/feedback_coprocessor.uc",
            request,
            "    immed[$ask2, 40]\n",
        ),
    ] {
        let packets = traffic(5, 8_000, layout, ANY);
        let edit = Some(Edit { file, from, to });
        let mistaken = Variant { edit, ..variant };
        let model = |bytes: &mut [u8], state: &mut State, _| recognised(bytes, state, layout, 0);
        let found = check(&mistaken, &packets, layout, model);
        assert!(found.is_err(), "{edit:?} is not noticed");
    }
}

/// Requests are granted, cut and kept, and pools run out and fill up again; some
/// packets are only counted, some not at all.
#[test]
fn generated_xcp_packets_cover_all_outcomes() {
    let (mut cut, mut kept, mut negative, mut emptied, mut refilled) = (0, 0, 0, 0, 0);
    let (mut counted, mut fragments, mut others, mut short) = (0, 0, 0, 0);
    let mut state = [0; STATE];
    for packet in traffic(5, 20_000, Layout::Together, ANY) {
        state = before(&packet, &state);
        let before = state;
        let mut bytes = packet.frame[14..].to_vec();
        let asked = XcpHeader::from_bytes(&bytes[20..])
            .unwrap()
            .delta_throughput;
        if recognised(&mut bytes, &mut state, Layout::Together, 0) != Verdict::Forwarded {
            continue;
        }
        let is_protocol = bytes[9] == PROTOCOL;
        counted += u32::from(part(&bytes) == Part::Bytes);
        fragments += u32::from(is_protocol && packets::is_later_fragment(&bytes));
        others += u32::from(!is_protocol);
        short += u32::from(is_protocol && packets::total(&bytes) < HEADERS_BYTES);
        let got = XcpHeader::from_bytes(&bytes[20..])
            .unwrap()
            .delta_throughput;
        if part(&bytes) != Part::Whole {
            assert_eq!(asked, got);
            continue;
        }
        cut += u32::from(got < asked);
        kept += u32::from(got == asked);
        negative += u32::from(got < 0);
        emptied += u32::from(before[0] > 0 && state[0] == 0);
        refilled += u32::from(before[0] < state[0]);
    }
    for count in [
        cut, kept, negative, emptied, refilled, counted, fragments, others, short,
    ] {
        assert!(
            count > 400,
            "{cut} {kept} {negative} {emptied} {refilled} {counted} {fragments} {others} {short}"
        );
    }
}
