//! The decoder against yaxpeax-arm, over random words.

use std::collections::BTreeMap;

use npsim_arm::{Instruction, decode_arm, decode_thumb};
use npsim_strategy::cases;
use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv7::{InstDecoder, Opcode};

use crate::random::Random;

/// Instructions by one name for both decoders.
fn name(instruction: &Instruction) -> &'static str {
    instruction.operation.mnemonic()
}

/// The other decoder's name: there, a register shift has its own mnemonic, and PUSH and POP stand for STM and LDM.
fn other_name(opcode: Opcode) -> String {
    let text = format!("{opcode:?}").to_lowercase();
    let base = text.split('(').next().unwrap();
    match base {
        "svc" => "swi".into(),
        "push" => "stm".into(),
        "pop" => "ldm".into(),
        "smlal_halfword" => "smlalxy".into(),
        "smul" => "smulxy".into(),
        "smla" => "smlaxy".into(),
        "smulw" => "smulwy".into(),
        "smlaw" => "smlawy".into(),
        other => other.into(),
    }
}

fn other(decoder: &InstDecoder, bytes: &[u8]) -> String {
    // Registers beyond PC, as in LDRD to PC, make the other decoder panic.
    let decoded = std::panic::catch_unwind(|| decoder.decode(&mut U8Reader::new(bytes)));
    match decoded {
        Ok(Ok(instruction)) => other_name(instruction.opcode),
        Ok(Err(_)) => "undefined".into(),
        Err(_) => "a panic".into(),
    }
}

/// The pairs of names that differ, with their number and an example.
fn differences(
    pairs: impl Iterator<Item = (u32, &'static str, String)>,
) -> BTreeMap<(&'static str, String), (u32, u32)> {
    let mut found = BTreeMap::new();
    for (word, ours, theirs) in pairs {
        // Instructions whose registers make them undefined here may or may not be rejected there.
        if ours != theirs && ours != "unpredictable" {
            found.entry((ours, theirs)).or_insert((0, word)).0 += 1;
        }
    }
    found
}

/// Pairs of names that differ, here and there, with the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("add", "adr", "ADD to PC has a name of its own there"),
    ("sub", "adr", "SUB from PC has a name of its own there"),
    ("undefined", "a panic", "a register beyond PC"),
    ("mov", "lsl", "MOV is LSL by 0 in Thumb"),
    ("lsl", "mov", "MOV of a shifted register in ARM state"),
    ("lsr", "mov", "MOV of a shifted register in ARM state"),
    ("asr", "mov", "MOV of a shifted register in ARM state"),
    ("ror", "mov", "MOV of a shifted register in ARM state"),
    ("rrx", "mov", "MOV of a shifted register in ARM state"),
    (
        "mcr",
        "undefined",
        "coprocessors 10 and 11, which a bus may have",
    ),
    (
        "mrc",
        "undefined",
        "coprocessors 10 and 11, which a bus may have",
    ),
    (
        "mrs",
        "undefined",
        "bits that should be zero, which ARMv7 gave to banked registers",
    ),
    (
        "msr",
        "undefined",
        "bits that should be zero, which ARMv7 gave to banked registers",
    ),
    ("msr", "invalid", "MSR of no field, a hint since ARMv6K"),
    (
        "pld",
        "undefined",
        "PLD with a subtracted offset is not known there",
    ),
    (
        "smulwy",
        "smlawy",
        "SMULWy with bits that should be zero; qemu has it as here",
    ),
    (
        "smulxy",
        "undefined",
        "SMULxy with bits that should be zero",
    ),
    ("undefined", "ldrd", "an odd register, undefined as in qemu"),
    ("undefined", "strd", "an odd register, undefined as in qemu"),
    ("undefined", "mov", "MOVW of ARMv6T2"),
    ("undefined", "mcr", "MCR2, with condition 1111"),
    ("undefined", "mrc", "MRC2, with condition 1111"),
];

/// Instructions that the other decoder accepts, but that ARMv5TE, or a core with no coprocessors except CP14 and CP15,
/// does not have: its architecture versions exclude nothing.
const LATER: &[&str] = &[
    // Coprocessors.
    "ldc",
    "ldcl",
    "stc",
    "stcl",
    "cdp",
    "mcrr",
    "mrrc",
    // ARMv5TEJ.
    "bxj",
    // ARMv6 and its extensions.
    "ldrex",
    "ldrexb",
    "ldrexh",
    "ldrexd",
    "strex",
    "strexb",
    "strexh",
    "strexd",
    "clrex",
    "umaal",
    "srs",
    "rfe",
    "cps",
    "cps_modeonly",
    "setend",
    "sel",
    "rev",
    "rev16",
    "revsh",
    "pkhbt",
    "pkhtb",
    "ssat",
    "ssat16",
    "usat",
    "usat16",
    "sxtb",
    "sxtb16",
    "sxth",
    "sxtab",
    "sxtab16",
    "sxtah",
    "uxtb",
    "uxtb16",
    "uxth",
    "uxtab",
    "uxtab16",
    "uxtah",
    "smlad",
    "smlsd",
    "smuad",
    "smusd",
    "smlald",
    "smlsld",
    "smmla",
    "smmlar",
    "smmls",
    "smmlsr",
    "smmul",
    "usad8",
    "usada8",
    "smc",
    "sadd16",
    "qadd16",
    "shadd16",
    "sasx",
    "qasx",
    "shasx",
    "ssax",
    "qsax",
    "shsax",
    "ssub16",
    "qsub16",
    "shsub16",
    "sadd8",
    "qadd8",
    "shadd8",
    "ssub8",
    "qsub8",
    "shsub8",
    "uadd16",
    "uqadd16",
    "uhadd16",
    "uasx",
    "uqasx",
    "uhasx",
    "usax",
    "uqsax",
    "uhsax",
    "usub16",
    "uqsub16",
    "uhsub16",
    "uadd8",
    "uqadd8",
    "uhadd8",
    "usub8",
    "uqsub8",
    "uhsub8",
    // ARMv6T2 and ARMv7.
    "mls",
    "movt",
    "bfi",
    "bfc",
    "sbfx",
    "ubfx",
    "rbit",
    "ldrht",
    "ldrsbt",
    "ldrsht",
    "strht",
    "cbz",
    "cbnz",
    "it",
    "nop",
    "yield",
    "wfe",
    "wfi",
    "sev",
    "hint",
    "csdb",
    "dbg",
    "dsb",
    "dmb",
    "isb",
    "pli",
    "udf",
    "sdiv",
    "udiv",
    "hvc",
    "eret",
    // ARMv8.
    "lda",
    "ldab",
    "ldah",
    "ldaex",
    "ldaexb",
    "ldaexd",
    "ldaexh",
    "stl",
    "stlb",
    "stlh",
    "stlex",
    "stlexb",
    "stlexd",
    "stlexh",
    "esb",
];

fn check(found: &BTreeMap<(&'static str, String), (u32, u32)>) {
    let explained = |ours: &str, theirs: &str| {
        let excepted = EXCEPTIONS.iter().any(|&(a, b, _)| a == ours && b == theirs);
        excepted || ours == "undefined" && LATER.contains(&theirs)
    };
    let unexplained: Vec<_> = found
        .iter()
        .filter(|((ours, theirs), _)| !explained(ours, theirs))
        .map(|((ours, theirs), (times, word))| {
            format!("{ours}, there {theirs}: {times} times, as {word:08x}")
        })
        .collect();
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
}

#[test]
fn arm_mnemonics_match_the_reference_decoder() {
    let decoder = InstDecoder::armv5().allow_nonconforming(true);
    let mut random = Random::new(5);
    let words = (0..cases(300_000)).map(|_| random.word());
    let found = differences(words.map(|word| {
        let ours = name(&decode_arm(word));
        (word, ours, other(&decoder, &word.to_le_bytes()))
    }));
    check(&found);
}

#[test]
fn thumb_mnemonics_match_the_reference_decoder() {
    let decoder = InstDecoder::armv5().with_thumb_mode(true);
    // From 11101 on, there are halves of BL and BLX, and of the long instructions of Thumb-2.
    let found = differences((0..0b11101 << 11).map(|half: u16| {
        let bytes = half.to_le_bytes();
        let theirs = other(&decoder, &[bytes[0], bytes[1], 0, 0]);
        (u32::from(half), name(&decode_thumb(half)), theirs)
    }));
    check(&found);
}
