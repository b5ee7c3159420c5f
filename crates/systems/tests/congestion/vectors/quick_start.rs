//! Quick-Start: the requests Q1 to Q16, and a window that fills up.

use super::bench::{Bench, Fate, packet};

const PROJECTS: [(&str, &str); 3] = [
    ("quick-start/lock.toml", "QS_STATE"),
    ("quick-start/atomic.toml", "QS_STATE"),
    ("quick-start/coprocessor.toml", "FEEDBACK"),
];

const RANDOM: &str = "me.processing.define.RANDOM_WORD=0xdeadbeef";

/// Longwords of the state.
const LIMIT: u32 = 0;
const PHASE: u32 = 1;
const GRANTED: [u32; 2] = [2, 4];

/// Name, limit, granted before and after, header in and, if it leaves, out.
type Vector = (
    &'static str,
    u32,
    [u32; 2],
    &'static str,
    Result<&'static str, &'static str>,
);

const TTL: &str = "time to live exceeded";
const OPTION: &str = "malformed IPv4 option";

#[rustfmt::skip]
const VECTORS: [Vector; 16] = [
    ("Q1", 25_000, [0, 256],
        "470000301234400040068b090a0000010a0100021908086456970f84",
        Ok("47000030123440003f068c0a0a0000010a0100021908086356970f84")),
    ("Q2", 25_000, [24_744, 25_000],
        "470000301234400040068b090a0000010a0100021908086456970f84",
        Ok("47000030123440003f068c0a0a0000010a0100021908086356970f84")),
    ("Q3", 25_000, [24_745, 24_873],
        "470000301234400040068b090a0000010a0100021908086456970f84",
        Ok("47000030123440003f068d0c0a0000010a0100021908076356950f84")),
    ("Q4", 25_000, [24_992, 25_000],
        "470000301234400040068b340a0000010a0100021908083956970f84",
        Ok("47000030123440003f06e2360a0000010a010002190803385695be84")),
    ("Q5", 25_000, [24_999, 24_999],
        "470000301234400040068b090a0000010a0100021908086456970f84",
        Ok("47000030123440003f06fa880a0000010a0100021908000000000000")),
    ("Q6", 25_000, [25_600, 25_600],
        "470000301234400040068b090a0000010a0100021908086456970f84",
        Ok("47000030123440003f06fa880a0000010a0100021908000000000000")),
    ("Q7", 75_000, [0, 4_096],
        "4700003012344000c80610350a0000010a01000219080c00aaaaaaa8",
        Ok("4700003012344000c70610360a0000010a01000219080cffaaaaaaa8")),
    ("Q8", 25_000, [0, 0],
        "47000030123440000106ca090a0000010a0100021908086456970f84",
        Err(TTL)),
    ("Q9", 25_000, [0, 0],
        "47000030123440003f06fa880a0000010a0100021908000000000000",
        Ok("47000030123440003e06fb880a0000010a0100021908000000000000")),
    ("Q10", 25_000, [5_120, 5_120],
        "470000301234400040060b6d0a0000010a0100021908880056970f84",
        Ok("47000030123440003f060c6d0a0000010a0100021908880056970f84")),
    ("Q11", 25_000, [5_120, 5_120],
        "470000301234400040064b640a0000010a0100021908480956970f84",
        Ok("47000030123440003f064c640a0000010a0100021908480956970f84")),
    ("Q12", 25_000, [0, 0],
        "470000301234400040069aea0a0000010a0100021906080956970000",
        Err(OPTION)),
    ("Q13", 25_000, [24_600, 24_856],
        "48000034123440004006cc040a0000010a010002011908092156970f84000000",
        Ok("48000034123440003f06c6050a0000010a0100020119080820569f0f84000000")),
    ("Q14", 20_000, [0, 16_384],
        "4700003012344000ff062a890a0000010a01000219080fffffffffff",
        Ok("4700003012344000fe062c8a0a0000010a01000219080efeffffffff")),
    ("Q15", 3, [0, 2],
        "47000030123440008006aa870a0000010a01000219080f0100000000",
        Ok("47000030123440007f061bfa0a0000010a01000219080100deadbee0")),
    ("Q16", 25_000, [24_999, 24_999],
        "4700003012344000400692200a0000010a0100021908014d56970f84",
        Ok("47000030123440003f06fa880a0000010a0100021908000000000000")),
];

#[test]
fn requests_match_hand_computed_vectors() {
    for (project, state) in PROJECTS {
        let mut bench = Bench::new(project, &[RANDOM]);
        for (number, (name, limit, granted, header, out)) in VECTORS.into_iter().enumerate() {
            // The other counter has been idle for a window and is not touched.
            let phase = number % 2;
            let [counter, other] = [GRANTED[phase], GRANTED[1 - phase]];
            for (word, value) in [
                (LIMIT, limit),
                (PHASE, 8 * phase as u32),
                (counter, granted[0]),
                (other, 77),
            ] {
                bench.set(state, word, value);
            }
            let expected = match out {
                Ok(header) => Fate::Left(1, packet(header)),
                Err(reason) => Fate::Exception(reason.into()),
            };
            let fates = bench.pass(&[packet(header)]);
            assert_eq!(fates, [expected], "{project} {name}");
            let left = [LIMIT, counter, other].map(|word| bench.word(state, word));
            assert_eq!(left, [limit, granted[1], 77], "{project} {name}");
        }
    }
}

/// A gigabit per second, for requests of 10.24 Mbit/s.
#[test]
fn window_is_granted_up_to_the_last_unit() {
    let (_, _, _, request, _) = VECTORS[0];
    let mut expected = vec![8_u8; 97];
    expected.extend([7, 5, 3, 0, 0, 0, 0]);
    let requests = vec![packet(request); expected.len()];
    for (project, state) in PROJECTS {
        let mut bench = Bench::new(project, &[RANDOM]);
        assert_eq!(bench.word(state, LIMIT), 25_000, "the slow path's");
        let fates = bench.pass(&requests);
        let codes: Vec<u8> = fates
            .iter()
            .map(|fate| match fate {
                Fate::Left(1, packet) => packet[22],
                other => panic!("{project}: {other:?}"),
            })
            .collect();
        assert_eq!(codes, expected, "{project}");
        assert_eq!(bench.word(state, GRANTED[0]), 25_000, "{project}");
    }
}

/// A path with a second router that grants less: the first router's answer is the request to the
/// second, and the sender checks the final result.
#[test]
fn second_router_lowers_the_grant_of_the_first() {
    let mut bench = Bench::new(PROJECTS[0].0, &[RANDOM]);
    let (_, _, _, request, _) = VECTORS[2];
    let mut at = packet(request);
    let nonce = |packet: &[u8]| u32::from_be_bytes(packet[24..28].try_into().unwrap());
    let sent = nonce(&at);
    for (granted, code) in [(24_745, 7), (24_990, 3), (0, 3)] {
        bench.set("QS_STATE", GRANTED[0], granted);
        let Some(Fate::Left(1, out)) = bench.pass(&[at]).pop() else {
            panic!("did not leave");
        };
        assert_eq!(out[22], code);
        // TTL and QS TTL are decremented together; the nonce pairs of the remaining steps stay.
        assert_eq!(out[8].wrapping_sub(out[23]), 64_u8.wrapping_sub(100));
        let kept = (1 << (2 * code + 2)) - 4;
        assert_eq!((nonce(&out) ^ sent) & kept, 0);
        at = out;
    }
}
