//! Processing of an IPv4 packet by a router that takes part in Quick-Start.

use super::option::{LENGTH, QuickStartOption, RATE_REQUEST, find};
use super::pool::GrantPool;
use crate::checksum;

/// The outcome for a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RequestOutcome {
    /// The request is granted in full; TTL, QS TTL and checksum are updated.
    Approve,
    /// The request is granted at a lower rate; part of the nonce is randomised.
    Reduce,
    /// The request is denied: rate, QS TTL and nonce are set to zero.
    Deny,
    /// Nothing is requested from this router: only the TTL and the checksum are updated.
    Forward,
    /// The packet goes to the slow path, unchanged; nothing is granted.
    SlowPath(SlowPathReason),
    /// The packet has no Quick-Start option and is unchanged. It may have other options.
    NoOption,
}

/// Why a packet goes to the slow path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlowPathReason {
    /// The TTL would become 0, which calls for ICMP time exceeded.
    Ttl,
    /// Options are malformed, or the Quick-Start option is not eight bytes long, which calls for
    /// ICMP parameter problem.
    Option,
}

/// Processes a packet whose header is `header`: a complete IPv4 header with its options, of a packet
/// that passed a router's checks. `random` comes from the router's source of randomness.
///
/// Options are checked first, then the TTL, then the request, so that nothing is granted to a packet
/// that is not forwarded. A header shorter than its own length field counts as malformed.
pub fn process(header: &mut [u8], pool: &mut GrantPool, random: u32) -> RequestOutcome {
    let length = header.first().map_or(0, |byte| usize::from(byte & 0xf) * 4);
    let Some(header) = header.get_mut(..length).filter(|header| header.len() >= 20) else {
        return RequestOutcome::SlowPath(SlowPathReason::Option);
    };
    let place = match find(header) {
        Ok(Some(place)) if place.len() == LENGTH => place,
        Ok(None) => return RequestOutcome::NoOption,
        _ => return RequestOutcome::SlowPath(SlowPathReason::Option),
    };
    if header[8] <= 1 {
        return RequestOutcome::SlowPath(SlowPathReason::Ttl);
    }
    let before = header.to_vec();
    header[8] -= 1;
    let outcome = match QuickStartOption::from_bytes(&header[place.clone()]) {
        Some(option) if option.function == RATE_REQUEST && option.rate != 0 => {
            let (outcome, option) = answer(option, pool, random);
            header[place].copy_from_slice(&option.to_bytes());
            outcome
        }
        _ => RequestOutcome::Forward,
    };
    checksum::update_ipv4(header, &before);
    outcome
}

/// Answers a rate request.
fn answer(
    option: QuickStartOption,
    pool: &mut GrantPool,
    random: u32,
) -> (RequestOutcome, QuickStartOption) {
    match pool.grant(option.rate) {
        0 => (RequestOutcome::Deny, QuickStartOption::denied()),
        code if code == option.rate => (RequestOutcome::Approve, option.granted(code, random)),
        code => (RequestOutcome::Reduce, option.granted(code, random)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::bytes;
    use super::RequestOutcome::{Approve, Deny, Forward, Reduce, SlowPath};
    use super::*;
    use proptest::prelude::*;

    type Vector = (
        &'static str,
        i32,
        i32,
        i32,
        RequestOutcome,
        &'static str,
        &'static str,
    );

    /// Identifier, limit, granted before and after, outcome, header before and after.
    const VECTORS: [Vector; 16] = [
        (
            "Q1",
            25000,
            0,
            256,
            Approve,
            "470000301234400040068b090a0000010a0100021908086456970f84",
            "47000030123440003f068c0a0a0000010a0100021908086356970f84",
        ),
        (
            "Q2",
            25000,
            24744,
            25000,
            Approve,
            "470000301234400040068b090a0000010a0100021908086456970f84",
            "47000030123440003f068c0a0a0000010a0100021908086356970f84",
        ),
        (
            "Q3",
            25000,
            24745,
            24873,
            Reduce,
            "470000301234400040068b090a0000010a0100021908086456970f84",
            "47000030123440003f068d0c0a0000010a0100021908076356950f84",
        ),
        (
            "Q4",
            25000,
            24992,
            25000,
            Reduce,
            "470000301234400040068b340a0000010a0100021908083956970f84",
            "47000030123440003f06e2360a0000010a010002190803385695be84",
        ),
        (
            "Q5",
            25000,
            24999,
            24999,
            Deny,
            "470000301234400040068b090a0000010a0100021908086456970f84",
            "47000030123440003f06fa880a0000010a0100021908000000000000",
        ),
        (
            "Q6",
            25000,
            25600,
            25600,
            Deny,
            "470000301234400040068b090a0000010a0100021908086456970f84",
            "47000030123440003f06fa880a0000010a0100021908000000000000",
        ),
        (
            "Q7",
            75000,
            0,
            4096,
            Approve,
            "4700003012344000c80610350a0000010a01000219080c00aaaaaaa8",
            "4700003012344000c70610360a0000010a01000219080cffaaaaaaa8",
        ),
        (
            "Q8",
            25000,
            0,
            0,
            SlowPath(SlowPathReason::Ttl),
            "47000030123440000106ca090a0000010a0100021908086456970f84",
            "47000030123440000106ca090a0000010a0100021908086456970f84",
        ),
        (
            "Q9",
            25000,
            0,
            0,
            Forward,
            "47000030123440003f06fa880a0000010a0100021908000000000000",
            "47000030123440003e06fb880a0000010a0100021908000000000000",
        ),
        (
            "Q10",
            25000,
            5120,
            5120,
            Forward,
            "470000301234400040060b6d0a0000010a0100021908880056970f84",
            "47000030123440003f060c6d0a0000010a0100021908880056970f84",
        ),
        (
            "Q11",
            25000,
            5120,
            5120,
            Forward,
            "470000301234400040064b640a0000010a0100021908480956970f84",
            "47000030123440003f064c640a0000010a0100021908480956970f84",
        ),
        (
            "Q12",
            25000,
            0,
            0,
            SlowPath(SlowPathReason::Option),
            "470000301234400040069aea0a0000010a0100021906080956970000",
            "470000301234400040069aea0a0000010a0100021906080956970000",
        ),
        (
            "Q13",
            25000,
            24600,
            24856,
            Reduce,
            "48000034123440004006cc040a0000010a010002011908092156970f84000000",
            "48000034123440003f06c6050a0000010a0100020119080820569f0f84000000",
        ),
        (
            "Q14",
            20000,
            0,
            16384,
            Reduce,
            "4700003012344000ff062a890a0000010a01000219080fffffffffff",
            "4700003012344000fe062c8a0a0000010a01000219080efeffffffff",
        ),
        (
            "Q15",
            3,
            0,
            2,
            Reduce,
            "47000030123440008006aa870a0000010a01000219080f0100000000",
            "47000030123440007f061bfa0a0000010a01000219080100deadbee0",
        ),
        (
            "Q16",
            25000,
            24999,
            24999,
            Deny,
            "4700003012344000400692200a0000010a0100021908014d56970f84",
            "47000030123440003f06fa880a0000010a0100021908000000000000",
        ),
    ];

    #[test]
    fn processed_packets_match_hand_computed_vectors() {
        for (name, limit, granted, after, outcome, before, expected) in VECTORS {
            let mut header = bytes(before);
            let mut pool = GrantPool { limit, granted };
            assert_eq!(
                process(&mut header, &mut pool, 0xdead_beef),
                outcome,
                "{name}"
            );
            assert_eq!(header, bytes(expected), "{name}");
            assert_eq!(
                pool,
                GrantPool {
                    limit,
                    granted: after
                },
                "{name}"
            );
            assert_eq!(checksum::sum(&header), 0xffff, "{name}");
        }
    }

    /// Q3 as the sender checks it in the response.
    #[test]
    fn nonce_proves_the_reduced_rate_only() {
        let sent = QuickStartOption::from_bytes(&bytes("1908086456970f84")).unwrap();
        let seen = QuickStartOption::from_bytes(&bytes("1908076356950f84")).unwrap();
        assert_eq!(
            (64_u8).wrapping_sub(sent.ttl),
            (63_u8).wrapping_sub(seen.ttl)
        );
        let proves = |code: u8| (sent.nonce ^ seen.nonce) & ((1 << (2 * code)) - 1) == 0;
        assert!(proves(7) && !proves(8));
    }

    #[test]
    fn header_without_the_option_is_unchanged() {
        for text in [
            "4500003c1c46400040069c5dc0a80001c0a800c7",
            "4600003c1c46400040069c5dc0a80001c0a800c701010101",
            "4600003c1c46400001069c5dc0a80001c0a800c700190808",
        ] {
            let mut header = bytes(text);
            let mut pool = GrantPool::default();
            assert_eq!(process(&mut header, &mut pool, 0), RequestOutcome::NoOption);
            assert_eq!(header, bytes(text));
        }
    }

    #[test]
    fn malformed_options_take_the_slow_path_regardless_of_ttl() {
        for text in [
            "4600003c1c46400001069c5dc0a80001c0a800c707010000",
            "4600003c1c46400001069c5dc0a80001c0a800c719080800",
            "47000000",
            "",
        ] {
            let mut header = bytes(text);
            let outcome = process(&mut header, &mut GrantPool::default(), 0);
            assert_eq!(outcome, SlowPath(SlowPathReason::Option), "{text}");
        }
    }

    proptest! {
        #[test]
        fn forwarded_packet_changes_only_ttl_option_and_checksum(
            options in prop::collection::vec(prop_oneof![Just(25), Just(8), Just(1), any::<u8>()], 0..=40),
            first: [u8; 20],
            limit in -10_i32..100_000,
            random: u32,
        ) {
            let mut header = first.to_vec();
            header.extend(options);
            header.truncate(header.len() / 4 * 4);
            header[0] = 0x40 | (header.len() / 4) as u8;
            let right = checksum::of_ipv4(&header);
            header[10..12].copy_from_slice(&right.to_be_bytes());
            let before = header.clone();
            let mut pool = GrantPool { limit, granted: 0 };
            let outcome = process(&mut header, &mut pool, random);
            prop_assert_eq!(checksum::sum(&header), 0xffff);
            prop_assert!(pool.granted == 0 || pool.granted <= limit);
            match outcome {
                RequestOutcome::SlowPath(_) | RequestOutcome::NoOption => {
                    prop_assert_eq!(header, before);
                    prop_assert_eq!(pool.granted, 0);
                }
                _ => {
                    prop_assert_eq!(header[8], before[8] - 1);
                    let place = find(&before).unwrap().unwrap();
                    for at in (0..header.len()).filter(|at| *at != 8 && *at != 10 && *at != 11 && !place.contains(at)) {
                        prop_assert_eq!(header[at], before[at]);
                    }
                    if outcome == RequestOutcome::Forward {
                        prop_assert_eq!(&header[place.clone()], &before[place]);
                    }
                }
            }
        }
    }
}
