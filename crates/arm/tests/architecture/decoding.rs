//! The decoder against yaxpeax-arm, over random words.

use std::collections::BTreeMap;

use npsim_arm::{Instruction, Operation, decode_arm, decode_thumb};
use npsim_strategy::cases;
use yaxpeax_arch::{Decoder, U8Reader};
use yaxpeax_arm::armv7::{InstDecoder, Opcode};

use crate::random::Random;

/// Instructions by one name for both decoders.
fn name(instruction: &Instruction) -> &'static str {
    instruction.operation.mnemonic()
}

/// The other decoder's name: a shift of a register is a mnemonic of its own there, PUSH and POP stand for STM and LDM.
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
    match decoder.decode(&mut U8Reader::new(bytes)) {
        Ok(instruction) => other_name(instruction.opcode),
        Err(_) => "undefined".into(),
    }
}

/// The pairs of names that differ, how often, and with an example.
fn differences(
    pairs: impl Iterator<Item = (u32, &'static str, String)>,
) -> BTreeMap<(&'static str, String), (u32, u32)> {
    let mut found = BTreeMap::new();
    for (word, ours, theirs) in pairs {
        // What registers leave open here may be refused or not there.
        if ours != theirs && ours != "unpredictable" {
            found.entry((ours, theirs)).or_insert((0, word)).0 += 1;
        }
    }
    found
}

/// Reasons for names that differ.
const ARM_EXCEPTIONS: &[(&str, &str, &str)] = &[];

const THUMB_EXCEPTIONS: &[(&str, &str, &str)] = &[];

fn check(found: &BTreeMap<(&'static str, String), (u32, u32)>, exceptions: &[(&str, &str, &str)]) {
    let unexplained: Vec<_> = found
        .iter()
        .filter(|((ours, theirs), _)| {
            !exceptions
                .iter()
                .any(|(a, b, _)| (a == ours || *a == "*") && (b == theirs || *b == "*"))
        })
        .map(|((ours, theirs), (times, word))| {
            format!("{ours}, there {theirs}: {times} times, as {word:08x}")
        })
        .collect();
    assert!(unexplained.is_empty(), "{}", unexplained.join("\n"));
}

#[test]
fn arm_words_decode_to_the_same_mnemonics() {
    let decoder = InstDecoder::armv5().allow_nonconforming(true);
    let mut random = Random::new(5);
    let words = (0..cases(300_000)).map(|_| random.word());
    let found = differences(words.map(|word| {
        let ours = name(&decode_arm(word));
        (word, ours, other(&decoder, &word.to_le_bytes()))
    }));
    check(&found, ARM_EXCEPTIONS);
}

#[test]
fn all_thumb_halfwords_decode_to_the_same_mnemonics() {
    let decoder = InstDecoder::armv5().with_thumb_mode(true);
    let found = differences((0..=u16::MAX).filter_map(|half| {
        let instruction = decode_thumb(half);
        // Halves of BL and BLX are one instruction there.
        let half_of_two = matches!(
            instruction.operation,
            Operation::LinkPrefix { .. } | Operation::LinkSuffix { .. }
        );
        (!half_of_two).then(|| {
            let bytes = half.to_le_bytes();
            let theirs = other(&decoder, &[bytes[0], bytes[1], 0, 0]);
            (u32::from(half), name(&instruction), theirs)
        })
    }));
    check(&found, THUMB_EXCEPTIONS);
}
