//! RCP: `microcode/rcp`.

use npsim_congestion::rcp::header::{DATA, REF, SYN, UNLIMITED};
use npsim_congestion::rcp::{Counters, Header, header};

use crate::driver::{Packet, STATE, Variant, Verdict, compare};
use crate::packets::{self, is_right};
use crate::random::Random;

const EXCEPTION_OPTIONS: u32 = 3;
const EXCEPTION_TTL: u32 = 7;

/// Longwords of the shared state: the rate, and the counters of thread 0.
const RATE: usize = 0;
const BYTES: usize = 4;
const RTT_BYTES: usize = 5;
const RTT_SUM: usize = 6;

const PACKETS: u32 = 100_000;

/// The protocol number of RCP where a project says nothing else.
const PROTOCOL: u8 = 254;

const COUNTED: Variant = Variant {
    name: "RCP",
    defines: &["RCP"],
    memories: &[("RCP_RATE", 4 * RATE), ("RCP_COUNTERS", 4 * BYTES)],
    space: "scratch",
    edit: None,
};

fn state(random: &mut Random) -> [u32; STATE] {
    let mut state: [u32; STATE] = std::array::from_fn(|_| random.extreme(&[]));
    state[RATE] = match random.below(3) {
        0 => random.extreme(&[]),
        1 => 6_500_000,
        _ => random.of_any_size(),
    };
    state
}

fn traffic(seed: u64, count: u32) -> Vec<Packet> {
    let mut random = Random::new(seed);
    let mut rate = 0;
    (0..count)
        .map(|number| {
            let set = (number == 0 || random.once_in(5)).then(|| state(&mut random));
            rate = set.map_or(rate, |state| state[RATE]);
            let options: &[u8] = if random.once_in(30) {
                &[1, 1, 1, 0]
            } else {
                &[]
            };
            let header = Header {
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
            let behind = 28 + random.one_of(&[0, 1, 60, 1_400]) + random.below(50) as u16;
            let protocol = random.byte_or(&[PROTOCOL]);
            packets::packet(&mut random, protocol, options, &payload, behind, set)
        })
        .collect()
}

/// A context keeps its counters for itself; the state has what it last wrote.
fn model(bytes: &mut [u8], state: &mut [u32; STATE], counters: &mut Counters) -> Verdict {
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
    let is_rcp = bytes[9] == PROTOCOL && !packets::is_later_fragment(bytes);
    let fields = Header::from_bytes(&bytes[20..]).filter(|_| is_rcp);
    counters.arrive(packets::total(bytes), fields.map_or(0, |fields| fields.rtt));
    state[BYTES] = counters.bytes;
    // The others are as they were where there is no round-trip time to count.
    if fields.is_some() {
        state[RTT_BYTES] = counters.rtt_bytes;
        state[RTT_SUM] = counters.rtt_sum as u32;
        state[RTT_SUM + 1] = (counters.rtt_sum >> 32) as u32;
        header::process(&mut bytes[20..], state[RATE]);
    }
    Verdict::Forwarded
}

#[test]
fn rcp_does_what_the_model_does() {
    let packets = traffic(4, PACKETS);
    let mut counters = Counters::default();
    let mut model = |bytes: &mut [u8], state: &mut [u32; STATE]| model(bytes, state, &mut counters);
    compare(&COUNTED, &packets, &mut model).unwrap_or_else(|error| panic!("{error}"));
}

/// Rates are lowered and kept, of packets that take them and of others.
#[test]
fn the_packets_of_rcp_are_of_all_kinds() {
    let mut counts = [[0_u32; 2]; 2];
    let mut state = [0; STATE];
    let mut counters = Counters::default();
    for packet in traffic(4, 20_000) {
        state = packet.state.unwrap_or(state);
        let mut bytes = packet.frame[14..].to_vec();
        let before = Header::from_bytes(&bytes[20..]).unwrap();
        if bytes[9] != PROTOCOL || packets::is_later_fragment(&bytes) {
            continue;
        }
        if model(&mut bytes, &mut state, &mut counters) != Verdict::Forwarded {
            continue;
        }
        let after = Header::from_bytes(&bytes[20..]).unwrap();
        let takes = matches!(before.kind, SYN | REF | DATA);
        assert!(takes || before == after);
        counts[usize::from(takes)][usize::from(before.rate > state[RATE])] += 1;
    }
    assert!(
        counts.as_flattened().iter().all(|count| *count > 500),
        "{counts:?}"
    );
}
