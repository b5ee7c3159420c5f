//! Encoder and decoder against each other.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};

use npsim_isa::*;
use npsim_strategy::{NEWEST, arb_instruction, arb_instruction_in, arb_unchecked};

const FOUR: Target = Target {
    contexts: ContextMode::Four,
    ..NEWEST
};

/// Random words, most of which belong to a class; half of them have few bits set, so that legal
/// words occur.
fn arb_word() -> impl Strategy<Value = u64> {
    let random = any::<u64>().prop_map(|word| word & WORD_MASK);
    let near_legal =
        (arb_instruction(), 0..WORD_BITS, any::<bool>()).prop_map(|(instruction, bit, flip)| {
            let word = encode_in(&instruction, NEWEST)
                .expect("the strategy yields encodable instructions");
            if flip { word ^ (1 << bit) } else { word }
        });
    prop_oneof![random, near_legal]
}

proptest! {
    #![proptest_config(Config::with_cases(4096))]

    #[test]
    fn a_decoded_word_encodes_to_itself(word in arb_word()) {
        match decode_in(word, NEWEST) {
            Ok(instruction) => {
                prop_assert_eq!(encode_in(&instruction, NEWEST), Ok(word));
                prop_assert_eq!(instruction.canonical(), instruction);
            }
            Err(error) => {
                prop_assert_eq!(error.word, word);
                prop_assert_ne!(error.bits, 0);
                prop_assert_eq!(error.bits & !WORD_MASK, 0);
                let text = error.to_string();
                let (high, _) = error.ranges()[0];
                let start = format!("word {word:010x}: bits {high}");
                prop_assert!(text.starts_with(&start), "{}", text);
            }
        }
    }

    #[test]
    fn a_leniently_decoded_word_has_a_canonical_form(word in arb_word()) {
        if let Ok(instruction) = decode_lenient_in(word, NEWEST) {
            let canonical = encode_in(&instruction, NEWEST).unwrap();
            prop_assert_eq!(decode_in(canonical, NEWEST), Ok(instruction.canonical()));
            prop_assert_eq!(decode_in(word, NEWEST).is_ok(), canonical == word);
        } else {
            prop_assert!(decode_in(word, NEWEST).is_err());
        }
    }

    #[test]
    fn an_encoded_instruction_decodes_to_itself(instruction in arb_instruction()) {
        let word = encode_in(&instruction, NEWEST).unwrap();
        prop_assert_eq!(word & !WORD_MASK, 0);
        prop_assert_eq!(decode_in(word, NEWEST), Ok(instruction));
        prop_assert_eq!(decode_lenient_in(word, NEWEST), Ok(instruction));
    }

    #[test]
    fn four_context_instructions_round_trip(instruction in arb_instruction_in(FOUR)) {
        let word = encode_in(&instruction, FOUR).unwrap();
        prop_assert_eq!(decode_in(word, FOUR), Ok(instruction));
    }

    #[test]
    fn unchecked_instructions_decode_to_canonical_form(instruction in arb_unchecked()) {
        if let Ok(word) = encode_in(&instruction, NEWEST) {
            prop_assert_eq!(decode_in(word, NEWEST), Ok(instruction.canonical()));
        }
    }

    #[test]
    fn every_text_starts_with_its_mnemonic(instruction in arb_instruction()) {
        let name = instruction.mnemonic();
        prop_assert!(mnemonic(name).is_some(), "{}", name);
        prop_assert!(instruction.to_string().starts_with(name));
        prop_assert!(instruction.defer() <= instruction.defer_limit());
    }
}

#[test]
fn flipping_any_bit_changes_the_decoded_instruction() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..500 {
        let instruction = arb_instruction().new_tree(&mut runner).unwrap().current();
        let word = encode_in(&instruction, NEWEST).unwrap();
        for bit in 0..WORD_BITS {
            assert_ne!(
                decode_in(word ^ (1 << bit), NEWEST),
                Ok(instruction),
                "{word:010x}"
            );
        }
    }
}

#[test]
fn different_instructions_have_different_texts() {
    let mut runner = TestRunner::deterministic();
    let strategy = arb_instruction();
    let mut texts = BTreeMap::new();
    for _ in 0..30_000 {
        let instruction = strategy.new_tree(&mut runner).unwrap().current();
        let other = texts.insert(instruction.to_string(), instruction);
        assert_eq!(other.unwrap_or(instruction), instruction);
    }
}

#[test]
fn strategy_covers_every_format_mnemonic_and_command() {
    let mut runner = TestRunner::deterministic();
    let strategy = arb_instruction();
    let mut formats = BTreeSet::new();
    let mut names = BTreeSet::new();
    let mut commands = BTreeSet::new();
    for _ in 0..30_000 {
        let instruction = strategy.new_tree(&mut runner).unwrap().current();
        let word = encode_in(&instruction, NEWEST).unwrap();
        formats.insert(Format::of(word).unwrap());
        names.insert(instruction.mnemonic());
        if let Instruction::Command(command) = instruction {
            commands.insert(command.op);
        }
    }
    assert_eq!(formats.len(), FORMATS.len());
    assert_eq!(commands.len(), CommandOp::ALL.len());
    let spellings = ["load_addr", "halt"];
    for row in mnemonics() {
        let listed = spellings.contains(&row.name);
        assert_ne!(names.contains(row.name), listed, "{}", row.name);
    }
}
