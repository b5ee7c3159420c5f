//! XCP: the departures X1 to X10 in the intervals I1 to I3.

use super::bench::{Bench, Fate, THREADS, bytes, of_protocol};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Pools, and sums if they are not by thread, under a lock or in the coprocessor.
    One,
    /// Two banks.
    Banks,
    /// Two banks, and a microengine's share in registers, which is not observable.
    Shares,
}

/// Project, where its pools are, whether its sums are by thread.
const PROJECTS: [(&str, &str, Layout, bool); 5] = [
    ("xcp/lock.toml", "XCP_STATE", Layout::One, false),
    ("xcp/sums.toml", "XCP_STATE", Layout::One, true),
    ("xcp/split.toml", "XCP_STATE", Layout::Banks, true),
    ("xcp/shares.toml", "XCP_STATE", Layout::Shares, true),
    ("xcp/coprocessor.toml", "FEEDBACK_XCP", Layout::One, true),
];

/// Mantissa and shift of Cp and of Cn.
type Scales = [(u32, u32); 2];

const I1: Scales = [(1_599_987_816, 34), (0, 0)];
const I2: Scales = [(1_599_987_688, 35), (2_147_483_476, 31)];
const I3: Scales = [(1_516_767_261, 36), (2_147_483_491, 31)];

const RTT: u32 = 26_843_546;

/// Name, interval, residues before, X, size, Delta in and out, residues after.
type Vector = (&'static str, Scales, [u32; 2], u32, u16, [i32; 2], [u32; 2]);

#[rustfmt::skip]
const VECTORS: [Vector; 10] = [
    ("X1", I1, [25_000_000, 0], 42_950, 1_000, [10_000, 3_999], [24_996_001, 0]),
    ("X2", I1, [25_000_000, 0], 42_950, 1_000, [1_000, 1_000], [24_999_000, 0]),
    ("X3", I1, [2_000, 0], 42_950, 1_000, [10_000, 2_000], [0, 0]),
    ("X4", I2, [12_499_999, 12_499_999], 21_475, 1_000, [5_000, 0], [12_499_000, 12_499_000]),
    ("X5", I2, [12_499_999, 12_499_999], 214_748, 1_000, [5_000, 5_000], [12_490_000, 12_495_000]),
    ("X6", I2, [12_499_999, 12_499_999], 5_369, 1_000, [5_000, -749], [12_499_749, 12_499_000]),
    ("X7", I2, [12_499_999, 12_499_999], 21_475, 1_000, [-3_000, -3_000], [12_499_000, 12_496_000]),
    ("X8", I3, [5_925_000, 13_749_999], 19_523, 1_000, [0, -569], [5_924_570, 13_749_000]),
    ("X9", I3, [5_925_000, 500], 19_523, 1_500, [0, -70], [5_924_570, 0]),
    ("X10", I3, [5_925_000, 13_749_999], 0, 40, [0, -39], [5_925_000, 13_749_960]),
];

/// The default protocol number of XCP.
const PROTOCOL: u8 = 253;

fn xcp(ttl: u8, size: u16, header: &[u8]) -> Vec<u8> {
    of_protocol(PROTOCOL, ttl, size, header)
}

fn header(x: u32, delta: i32) -> Vec<u8> {
    let mut header = vec![6, 20, 0x31, 0];
    for word in [x, RTT, 0, delta as u32] {
        header.extend(word.to_be_bytes());
    }
    header
}

/// Residues, scale factors and shifts in the bank that is valid.
fn places(layout: Layout, bank: u32) -> [u32; 5] {
    if layout == Layout::One {
        [0, 1, 2, 3, 4]
    } else {
        let (residues, scales) = (8 + 2 * bank, 1 + 3 * bank);
        [residues, residues + 1, scales, scales + 1, scales + 2]
    }
}

/// Bytes, sum of X and sum of products of all that arrived.
fn sums(bench: &Bench, by_thread: bool) -> [u64; 3] {
    let of = |memory: &str, at: u32| {
        let word = |word: u32| u64::from(bench.word(memory, at + word));
        [word(0), word(2) << 32 | word(1), word(4) << 32 | word(3)]
    };
    if !by_thread {
        return of("XCP_STATE", 8);
    }
    let threads = (0..THREADS).map(|thread| of("XCP_SUMS", 8 * thread));
    threads.fold([0; 3], |sum, more| {
        [0, 1, 2].map(|which| sum[which] + more[which])
    })
}

#[test]
fn departures_match_hand_computed_vectors() {
    for (project, state, layout, by_thread) in PROJECTS {
        let ready = Bench::new(project, &[]);
        for (number, (name, scales, residues, x, size, delta, after)) in (0..).zip(VECTORS) {
            let mut bench = ready.clone();
            let bank = number % 2;
            let [cp, cn] = scales;
            let places = places(layout, bank);
            let values = [residues[0], residues[1], cp.0, cn.0, cn.1 << 8 | cp.1];
            if layout != Layout::One {
                bench.set(state, 0, bank);
            }
            for (word, value) in places.into_iter().zip(values) {
                bench.set(state, word, value);
            }
            let expected = xcp(63, size, &header(x, delta[1]));
            let fates = bench.pass(&[xcp(64, size, &header(x, delta[0]))]);
            assert_eq!(fates, [Fate::Left(1, expected)], "{project} {name}");

            let products = u64::from(x) * u64::from(RTT >> 12);
            let sums = sums(&bench, by_thread);
            assert_eq!(sums, [size.into(), x.into(), products], "{project} {name}");
            // The share that a microengine has taken is no longer in the pools.
            if layout == Layout::Shares {
                continue;
            }
            let left = places.map(|word| bench.word(state, word));
            assert_eq!(left[..2], after, "{project} {name}");
            for (scale, factor, residue) in [(left[2], cp, after[0]), (left[3], cn, after[1])] {
                let right = if residue == 0 { 0 } else { factor.0 };
                assert_eq!(scale, right, "{project} {name}");
            }
        }
    }
}

/// The header bytes of X1; a minimal header, which is counted and left unchanged, as is one of
/// another version; and a packet of another protocol, which is not counted.
#[test]
fn only_xcp_requests_are_changed_and_counted() {
    let requests = [
        "061431000000a7c60199999a0000000000002710",
        "061432000000000000000000fffffce000000000",
        "061421000000a7c60199999a0000000000002710",
    ];
    let answer = "061431000000a7c60199999a0000000000000f9f";
    for (project, state, layout, by_thread) in PROJECTS {
        let mut bench = Bench::new(project, &[]);
        let [pos, neg, cp, cn, shifts] = places(layout, 0);
        let values = [25_000_000, 0, I1[0].0, 0, I1[0].1];
        for (word, value) in [pos, neg, cp, cn, shifts].into_iter().zip(values) {
            bench.set(state, word, value);
        }
        let packets = requests.map(|text| xcp(64, 1_000, &bytes(text)));
        let expected = [answer, requests[1], requests[2]]
            .map(|text| Fate::Left(1, xcp(63, 1_000, &bytes(text))));
        assert_eq!(bench.pass(&packets), expected, "{project}");
        let counted = sums(&bench, by_thread);
        assert_eq!(counted[..2], [3_000, 42_950], "{project}");
        // These bytes within TCP.
        let tcp = of_protocol(6, 64, 1_000, &bytes(requests[0]));
        let out = of_protocol(6, 63, 1_000, &bytes(requests[0]));
        assert_eq!(bench.pass(&[tcp]), [Fate::Left(1, out)], "{project}");
        assert_eq!(sums(&bench, by_thread), counted, "{project}");
        // No bytes are counted for a packet that goes to the slow path.
        let left = bench.word(state, pos);
        let late = xcp(1, 1_000, &bytes(requests[0]));
        let reason = "time to live exceeded".to_string();
        assert_eq!(bench.pass(&[late]), [Fate::Exception(reason)], "{project}");
        assert_eq!(bench.word(state, pos), left, "{project}");
        assert_eq!(sums(&bench, by_thread), counted, "{project}");
    }
}
