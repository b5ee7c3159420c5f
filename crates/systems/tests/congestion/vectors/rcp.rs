//! RCP: the stamps and the counters.

use super::bench::{Bench, Fate, THREADS, of_protocol};

const RATE: u32 = 6_500_000;

/// A congestion header.
fn header(field: u32, rtt: u16, kind: u8) -> Vec<u8> {
    let mut header = field.to_be_bytes().to_vec();
    header.extend([0x12, 0x34, 0x56, 0x78]);
    header.extend(rtt.to_be_bytes());
    header.extend([6, kind]);
    header
}

/// Bytes, bytes with a round-trip time, sum of round-trip time x bytes.
fn counters(bench: &Bench) -> [u64; 3] {
    let mut sum = [0; 3];
    for thread in 0..THREADS {
        let word = |word| u64::from(bench.word("RCP_COUNTERS", 4 * thread + word));
        sum[0] += word(0);
        sum[1] += word(1);
        sum[2] += word(3) << 32 | word(2);
    }
    sum
}

#[test]
fn stamps_match_hand_computed_vectors() {
    let mut bench = Bench::new("rcp", &[]);
    bench.set("RCP_RATE", 0, RATE);
    let mut expected = [0; 3];
    // By protocol, type and field; field afterwards.
    for (protocol, kind, field, after) in [
        (254, 5, u32::MAX, 0x0063_2ea0),
        (254, 5, 5_000_000, 5_000_000),
        (254, 5, 6_500_000, 6_500_000),
        (254, 1, u32::MAX, 0x0063_2ea0),
        (254, 3, 6_500_001, 0x0063_2ea0),
        (254, 2, u32::MAX, u32::MAX),
        (254, 4, u32::MAX, u32::MAX),
        (254, 6, u32::MAX, u32::MAX),
        (254, 7, u32::MAX, u32::MAX),
        (254, 8, u32::MAX, u32::MAX),
        (6, 5, u32::MAX, u32::MAX),
    ] {
        for (size, rtt) in [(1_000, 1_638), (500, 4_915), (40, 0)] {
            let sent = of_protocol(protocol, 64, size, &header(field, rtt, kind));
            let out = of_protocol(protocol, 63, size, &header(after, rtt, kind));
            let name = format!("protocol {protocol}, type {kind}, field {field}");
            assert_eq!(bench.pass(&[sent]), [Fate::Left(1, out)], "{name}");
            let (size, rtt) = (u64::from(size), u64::from(rtt));
            expected[0] += size;
            if protocol == 254 && rtt > 0 {
                expected[1] += size;
                expected[2] += rtt * size;
            }
            assert_eq!(counters(&bench), expected, "{name}");
        }
    }
    let late = of_protocol(254, 1, 1_000, &header(u32::MAX, 1_638, 5));
    let reason = "time to live exceeded".to_string();
    assert_eq!(bench.pass(&[late]), [Fate::Exception(reason)]);
    assert_eq!(counters(&bench), expected, "nothing is counted");
}
