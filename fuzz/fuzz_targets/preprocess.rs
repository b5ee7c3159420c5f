//! The preprocessor, and its printed result through it once more.

#![no_main]

use libfuzzer_sys::fuzz_target;
use npsim_asm::{
    Severity, Options, SourceMap,
    front::preprocess::{preprocess, print_preprocessed},
};
use npsim_fuzz::{MAIN, Program, check_diagnostics};

fuzz_target!(|input: &[u8]| {
    let Some((lines, failed)) = printed(&Program::new(input)) else {
        return;
    };
    if !failed {
        let again = printed(&Program::new(lines.as_bytes()));
        if let Some((second, _)) = again {
            assert_eq!(second, lines, "the printed text is not stable");
        }
    }
});

/// The preprocessed text and whether there was an error; `None` if the text is too long to be
/// processed twice.
fn printed(program: &Program) -> Option<(String, bool)> {
    let mut sources = SourceMap::default();
    let mut diagnostics = Vec::new();
    let preprocessed = preprocess(
        MAIN,
        program,
        &Options::default(),
        &mut sources,
        &mut diagnostics,
    );
    check_diagnostics(&diagnostics, &sources);
    if preprocessed.lines.len() > 2000 {
        return None;
    }
    let failed = diagnostics.iter().any(|d| d.level == Severity::Error);
    Some((print_preprocessed(&preprocessed.lines, &sources), failed))
}
