//! Programs of the core: a program that is read can be queried at every address.

#![no_main]

use libfuzzer_sys::fuzz_target;
use npsim::xscale::Program;

/// The number of addresses queried in each range of memory.
const ADDRESSES_PER_RANGE: usize = 64;

fuzz_target!(|input: &[u8]| {
    match Program::read(input) {
        Ok(program) => {
            let loaded: usize = program.segments.iter().map(|it| it.words.len()).sum();
            assert!(loaded <= input.len(), "{loaded} words of {} bytes", input.len());
            let rows = program.rows();
            let _ = program.address_of("main");
            for range in program.memory.iter().chain(&program.code) {
                assert!(range.start <= range.end, "{range:?}");
                for address in range.clone().step_by(4).take(ADDRESSES_PER_RANGE).chain([range.end]) {
                    let _ = program.place(address);
                    let _ = program.function(address);
                    let _ = program.begins_function(address);
                    let _ = program.is_code(address);
                }
            }
            assert!(rows.len() <= (1 << 24), "{} rows", rows.len());
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
