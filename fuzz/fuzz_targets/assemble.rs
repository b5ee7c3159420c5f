//! The whole assembler on any text; assembled programs are disassembled and assembled again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use npsim_asm::Options;
use npsim_fuzz::{Program, assemble_checked};

fuzz_target!(|input: &[u8]| {
    let program = Program::new(input);
    let first = assemble_checked(&program, &Options::default());
    if first.image.is_none() {
        let options = Options {
            spill_moves: true,
            ..Options::default()
        };
        let _ = assemble_checked(&program, &options);
    }
});
