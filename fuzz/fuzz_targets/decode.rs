//! Words of five bytes to instructions, text, and back to words.

#![no_main]

use libfuzzer_sys::fuzz_target;
use npsim_asm::{Options, assemble};
use npsim_image::{Image, disassemble};
use npsim_fuzz::{MAIN, Program};
use npsim_isa::{ContextMode, Target, decode, decode_in, decode_lenient, encode, encode_in, mnemonic};

fuzz_target!(|input: &[u8]| {
    let words: Vec<u64> = input
        .chunks_exact(5)
        .map(|bytes| bytes.iter().fold(0, |word, &b| word << 8 | u64::from(b)))
        .collect();
    for &word in &words {
        check_word(word);
    }
    program(words);
});

fn check_word(word: u64) {
    for contexts in [ContextMode::Eight, ContextMode::Four] {
        let target = Target::with_mode(contexts);
        match decode_in(word, target) {
            Ok(instruction) => {
                assert_eq!(encode_in(&instruction, target), Ok(word));
                let text = instruction.to_string();
                assert!(text.starts_with(instruction.mnemonic()), "{text}");
                assert!(mnemonic(instruction.mnemonic()).is_some(), "{text}");
            }
            Err(error) => {
                assert_eq!(error.word, word);
                assert_ne!(error.bits, 0);
                assert!(!error.to_string().is_empty());
            }
        }
    }
    match decode_lenient(word) {
        Ok(instruction) => {
            let canonical = encode(&instruction).expect("what decodes leniently encodes");
            assert_eq!(decode(canonical), Ok(instruction.canonical()));
            assert_eq!(decode(word).is_ok(), canonical == word);
        }
        Err(error) => {
            assert!(decode(word).is_err());
            assert!(!error.to_string().is_empty());
        }
    }
}

/// The assembler may reject the combination of words, but if it accepts it, the words are the same.
fn program(words: Vec<u64>) {
    let image = Image::from_words("words", words);
    let text = disassemble(&image);
    let again = assemble(MAIN, &Program::new(text.as_bytes()), &Options::default());
    let strict = image.words.iter().all(|&word| decode(word).is_ok());
    if let Some(second) = again.image
        && strict
    {
        assert_eq!(second.words, image.words, "{text}");
    }
}
