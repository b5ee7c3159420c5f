//! `checksum.uc`.

use npsim_protocols::checksum::{fold, of_ipv4, sum, update};
use proptest::prelude::*;

use super::bench::{Program, Words, cases, few_runs, results};

/// The header in frame longwords 3 to 8.
fn header(words: &[u32]) -> Vec<u8> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    bytes[2..22].to_vec()
}

fn update_longword(checksum: u16, old: u32, new: u32) -> u16 {
    let high = update(checksum, (old >> 16) as u16, (new >> 16) as u16);
    update(high, old as u16, new as u16)
}

fn expected(case: &Words) -> Words {
    let bytes = header(case);
    let whole = sum(&bytes);
    let (checksum, low) = ((case[3] >> 16) as u16, case[3] & 0xffff);
    let with = |checksum: u16| u32::from(checksum) << 16 | low;
    let stepped = update(checksum, 0x0100, 0);
    let changed = update_longword(checksum, case[2], case[6]);
    let longer = [
        &bytes[..],
        &(case[5] << 16).to_be_bytes(),
        &case[7].to_be_bytes(),
    ]
    .concat();
    [
        u32::from(whole),
        with(stepped),
        with(changed),
        u32::from(sum(&longer)),
        u32::from(fold(case[7])),
        with(changed),
        0,
        0,
    ]
}

proptest! {
    #![proptest_config(few_runs())]

    /// Correct headers; a checksum of 0xffff, which no correct header has except one of zeros
    /// alone, is left out.
    #[test]
    fn checksum_macros_match_the_reference(mut cases in cases(3000)) {
        for (at, case) in cases.iter_mut().enumerate() {
            // The TTL is above 0, the version 4.
            case[0] = case[0] & !0xffff | 0x4500;
            case[2] = case[2] & !0xff00 | case[2] & 0x3f00 | 0x0100;
            if at % 8 != 0 {
                let right = of_ipv4(&header(&case[..]));
                case[3] = case[3] & 0xffff | u32::from(right) << 16;
            }
        }
        cases.retain(|case| case[3] >> 16 != 0xffff);
        let got = results(&Program::new("checksum"), &cases);
        for (case, got) in cases.iter().zip(got) {
            prop_assert_eq!(got, expected(case), "{:#x?}", case);
        }
    }
}
