//! XCP: `microcode/xcp`.

use npsim_congestion::xcp::header::{LENGTH, STANDARD, VERSION};
use npsim_congestion::xcp::{Header, Pools, SECOND, Scale, Sums};

use crate::driver::{Edit, Packet, STATE, Variant, Verdict, compare, expect_found};
use crate::packets::{self, is_right};
use crate::random::Random;

const EXCEPTION_OPTIONS: u32 = 3;
const EXCEPTION_TTL: u32 = 7;

/// Longwords of the shared state.
const RESIDUE_POS: usize = 0;
const RESIDUE_NEG: usize = 1;
const CP: usize = 2;
const CN: usize = 3;
const SHIFTS: usize = 4;
const LOCK: usize = 5;
const INPUT_TRAFFIC: usize = 8;
const SUM_X: usize = 9;
const SUM_XRTT: usize = 11;

/// Where version and format stand, from the IPv4 header on.
const KIND: usize = 22;

const PACKETS: u32 = 100_000;

/// Every packet is taken for one of the protocol.
const EVERY: Variant = Variant {
    name: "XCP for every packet",
    defines: &["XCP", "XCP_EVERY_PACKET"],
    memories: &[("XCP_STATE", 0)],
    space: "scratch",
    edit: None,
};

const EVERY_IN_SRAM: Variant = Variant {
    name: "XCP for every packet in SRAM",
    defines: &["XCP", "XCP_EVERY_PACKET", "XCP_SPACE=sram"],
    space: "sram1",
    ..EVERY
};

/// Packets of the protocol are known by its number.
const RECOGNISED: Variant = Variant {
    name: "XCP",
    defines: &["XCP"],
    ..EVERY
};

/// The protocol number of XCP where a project says nothing else.
const PROTOCOL: u8 = 253;

fn wide(state: &[u32; STATE], low: usize) -> u64 {
    u64::from(state[low + 1]) << 32 | u64::from(state[low])
}

fn put_wide(state: &mut [u32; STATE], low: usize, value: u64) {
    state[low] = value as u32;
    state[low + 1] = (value >> 32) as u32;
}

fn pools(state: &[u32; STATE]) -> Pools {
    let scale = |mantissa: usize, shift: u32| Scale {
        mantissa: state[mantissa],
        shift: (state[SHIFTS] >> shift) as u8,
    };
    Pools {
        residue_pos: state[RESIDUE_POS],
        residue_neg: state[RESIDUE_NEG],
        cp: scale(CP, 0),
        cn: scale(CN, 8),
    }
}

fn scale(random: &mut Random) -> Scale {
    if random.once_in(8) {
        return Scale::ZERO;
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
    Scale {
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

/// The state before a packet with this time between packets and this size.
fn state(random: &mut Random, x: u32, size: u16) -> [u32; STATE] {
    let (cp, cn) = (scale(random), scale(random));
    let mut state: [u32; STATE] = std::array::from_fn(|_| random.word());
    state[LOCK] = 0;
    state[RESIDUE_POS] = residue(random, cp.times(x));
    state[RESIDUE_NEG] = residue(random, cn.times(u32::from(size)));
    state[CP] = cp.mantissa;
    state[CN] = cn.mantissa;
    state[SHIFTS] = u32::from(cn.shift) << 8 | u32::from(cp.shift);
    state[INPUT_TRAFFIC] = random.extreme(&[]);
    put_wide(
        &mut state,
        SUM_X,
        u64::MAX - u64::from(random.of_any_size()),
    );
    put_wide(&mut state, SUM_XRTT, random.long());
    state
}

fn traffic(seed: u64, count: u32) -> Vec<Packet> {
    let mut random = Random::new(seed);
    let mut kept = [0; STATE];
    (0..count)
        .map(|number| {
            let options: &[u8] = if random.once_in(30) {
                &[1, 1, 1, 0]
            } else {
                &[]
            };
            let behind =
                40 + random.one_of(&[0, 1, 24, 1_440, 1_400, 60]) + random.below(20) as u16;
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
                kept = state(&mut random, x, size);
            }
            let feedback = pools(&kept).depart(x, size, i32::MAX).feedback;
            let delta = match random.below(4) {
                0 => random.extreme(&[]) as i32,
                1 => feedback.wrapping_add(random.below(3) as i32 - 1),
                2 => -(random.of_any_size() as i32),
                _ => random.of_any_size() as i32,
            };
            let header = Header {
                protocol: 6,
                length: LENGTH as u8,
                version: random.byte_or(&[VERSION]) & 0xf,
                format: random.byte_or(&[STANDARD]) & 0xf,
                unused: random.byte(),
                x,
                rtt,
                reverse_feedback: random.word() as i32,
                delta_throughput: delta,
            };
            let mut payload = header.to_bytes().to_vec();
            payload.extend((0..8).map(|_| random.byte()));
            let protocol = random.byte_or(&[PROTOCOL]);
            let packet = packets::packet(
                &mut random,
                protocol,
                options,
                &payload,
                behind,
                set.then_some(kept),
            );
            let mut after = packet.frame[14..].to_vec();
            every(&mut after, &mut kept);
            packet
        })
        .collect()
}

/// The model of [`EVERY`].
fn every(bytes: &mut [u8], state: &mut [u32; STATE]) -> Verdict {
    let kind = std::mem::replace(&mut bytes[KIND], VERSION << 4 | STANDARD);
    let verdict = model(bytes, state, true);
    bytes[KIND] = kind;
    verdict
}

/// The model of packets of which some carry the protocol.
fn model(bytes: &mut [u8], state: &mut [u32; STATE], is_xcp: bool) -> Verdict {
    // The slow path checks what it is given.
    if packets::header(bytes).len() > 20 {
        return Verdict::Exception(EXCEPTION_OPTIONS);
    }
    if !is_right(bytes) {
        return Verdict::Dropped;
    }
    if bytes[8] <= 1 {
        return Verdict::Exception(EXCEPTION_TTL);
    }
    packets::forward(bytes);
    let size = packets::total(bytes);
    let header = Header::from_bytes(&bytes[20..]).filter(|_| is_xcp);
    let mut sums = Sums {
        input_traffic: state[INPUT_TRAFFIC],
        sum_x: wide(state, SUM_X),
        sum_xrtt: wide(state, SUM_XRTT),
    };
    sums.arrive(size, header.as_ref(), SECOND);
    state[INPUT_TRAFFIC] = sums.input_traffic;
    put_wide(state, SUM_X, sums.sum_x);
    put_wide(state, SUM_XRTT, sums.sum_xrtt);
    if is_xcp {
        let mut pools = pools(state);
        if pools.process(&mut bytes[20..], size).is_some() {
            state[RESIDUE_POS] = pools.residue_pos;
            state[RESIDUE_NEG] = pools.residue_neg;
            // A factor of nothing keeps its shift.
            state[CP] = pools.cp.mantissa;
            state[CN] = pools.cn.mantissa;
        }
    }
    Verdict::Forwarded
}

#[test]
fn xcp_for_every_packet_does_what_the_model_does() {
    let packets = traffic(3, PACKETS);
    compare(&EVERY, &packets, &mut every).unwrap_or_else(|error| panic!("{error}"));
    let some = &packets[..8_000];
    compare(&EVERY_IN_SRAM, some, &mut every).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn xcp_does_what_the_model_does() {
    let packets = traffic(5, PACKETS);
    let mut model = |bytes: &mut [u8], state: &mut [u32; STATE]| {
        let input_traffic = state[INPUT_TRAFFIC];
        let is_xcp = bytes[9] == PROTOCOL;
        let has_header = is_xcp && !packets::is_later_fragment(bytes);
        let verdict = model(bytes, state, has_header);
        if !is_xcp {
            // What other protocols bring is no traffic that feedback could change.
            state[INPUT_TRAFFIC] = input_traffic;
        }
        verdict
    };
    compare(&RECOGNISED, &packets, &mut model).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn mistakes_in_xcp_are_found() {
    let packets = traffic(3, 8_000);
    let edit = |file, from, to| Edit { file, from, to };
    let carry = "alu[$sum2, $sum2, +carry, 0]";
    for edit in [
        edit("xcp/law.uc", "    least(negative, residue)\n", ""),
        edit("xcp/locked.uc", "bpl[positive#]", "br[positive#]"),
        edit("xcp/locked.uc", "    immed[$pool2, 0]", "    nop"),
        edit("xcp/header.uc", "beq[known#]", "br[known#]"),
        edit("xcp/feedback_lock.uc", carry, "alu[$sum2, $sum2, +, 0]"),
        edit("xcp/law.uc", "blt[take#]", "bmi[take#]"),
        Edit {
            file: "lib/fixed.uc",
            from: "    alu[value, --, ~B, 0]",
            to: "    nop",
        },
    ] {
        expect_found(&EVERY, edit, &packets, &mut every);
    }
}

/// Requests are granted, cut and kept, and pools run out and fill up again.
#[test]
fn the_packets_of_xcp_are_of_all_kinds() {
    let (mut cut, mut kept, mut negative, mut emptied, mut refilled) = (0, 0, 0, 0, 0);
    let mut state = [0; STATE];
    for packet in traffic(3, 20_000) {
        state = packet.state.unwrap_or(state);
        let before = state;
        let mut bytes = packet.frame[14..].to_vec();
        let asked = Header::from_bytes(&bytes[20..]).unwrap().delta_throughput;
        if every(&mut bytes, &mut state) != Verdict::Forwarded {
            continue;
        }
        let got = Header::from_bytes(&bytes[20..]).unwrap().delta_throughput;
        cut += u32::from(got < asked);
        kept += u32::from(got == asked);
        negative += u32::from(got < 0);
        emptied += u32::from(before[RESIDUE_POS] > 0 && state[RESIDUE_POS] == 0);
        refilled += u32::from(before[RESIDUE_POS] < state[RESIDUE_POS]);
    }
    for count in [cut, kept, negative, emptied, refilled] {
        assert!(count > 500, "{cut} {kept} {negative} {emptied} {refilled}");
    }
}
