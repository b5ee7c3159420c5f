//! Parser, selection, analysis and allocation on statements made of whole words.

#![no_main]

use libfuzzer_sys::fuzz_target;
use npsim_asm::Options;
use npsim_fuzz::{Program, assemble_checked, statements};

fuzz_target!(|input: &[u8]| {
    let Some((&switches, words)) = input.split_first() else {
        return;
    };
    let options = Options {
        spill_moves: switches & 1 != 0,
        imports: if switches & 2 == 0 {
            Vec::new()
        } else {
            vec![("imp".to_owned(), 0x1234_5678 >> (switches >> 3))]
        },
        ..Options::default()
    };
    let text = statements::program(words);
    let _ = assemble_checked(&Program::new(text.as_bytes()), &options);
});
