//! Shared code of the fuzz targets: sources in memory, and the conditions that all results of the
//! assembler must meet.

pub mod conversation;
pub mod statements;
pub mod forwarder;

use npsim_asm::{Assembly, Diagnostic, Includes, Options, Severity, SourceMap, assemble, codes};
use npsim_image::{Image, disassemble};

/// The name of the main source.
pub const MAIN: &str = "main.uc";

/// A program in memory: the text up to the first NUL is the main source; every `#include` finds the
/// text after it.
pub struct Program {
    main: String,
    included: String,
}

impl Program {
    /// The program of a fuzzer's input; bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn new(input: &[u8]) -> Self {
        let text = String::from_utf8_lossy(input);
        let (main, included) = text.split_once('\0').unwrap_or((&text, ""));
        Self {
            main: main.to_owned(),
            included: included.to_owned(),
        }
    }
}

impl Includes for Program {
    fn load(&self, name: &str, including: Option<&str>) -> Result<(String, String), String> {
        let text = if including.is_none() {
            &self.main
        } else if name.starts_with('!') {
            return Err("there is no such file".to_owned());
        } else {
            &self.included
        };
        Ok((name.to_owned(), text.clone()))
    }
}

/// Assembles a program and checks the conditions on all results.
///
/// # Panics
/// If one of the conditions is violated.
#[must_use]
pub fn assemble_checked(program: &Program, options: &Options) -> Assembly {
    let assembly = assemble(MAIN, program, options);
    check_diagnostics(&assembly.diagnostics, &assembly.sources);
    // A file that contains only macros is not an error, and gives no image.
    let without_image = |d: &Diagnostic| d.level == Severity::Error || d.code == codes::EMPTY_PROGRAM;
    assert_eq!(
        assembly.diagnostics.iter().any(without_image),
        assembly.image.is_none(),
        "an image goes with no errors, and comes without: {:?}",
        messages(&assembly)
    );
    if let Some(image) = &assembly.image {
        check_image(image, options);
    }
    assembly
}

/// Checks that every message has a text, a documented code, and a valid position.
///
/// # Panics
/// If one does not.
pub fn check_diagnostics(diagnostics: &[Diagnostic], sources: &SourceMap) {
    for diagnostic in diagnostics {
        assert!(!diagnostic.message.is_empty(), "{diagnostic:?}");
        assert!(
            npsim_asm::codes::explain(diagnostic.code).is_some(),
            "{} is not explained",
            diagnostic.code
        );
        let span = diagnostic.primary.span;
        assert!(span.lo <= span.hi, "{diagnostic:?}");
        // Both panic for a position outside of the text or inside a character.
        let _ = sources.text(span);
        let _ = sources.line_column(span);
        let _ = sources.presumed_location(span);
    }
}

/// An image survives its file, and its text assembles to the same words.
fn check_image(image: &Image, options: &Options) {
    let bytes = image.to_file_bytes();
    assert_eq!(
        Image::from_file_bytes(&bytes).as_ref(),
        Ok(image),
        "{}",
        String::from_utf8_lossy(&bytes)
    );
    assert!(!npsim_image::listing(image).is_empty());
    for address in 0..image.words.len() {
        let _ = image.place(address as u16);
    }
    let text = disassemble(image);
    let again = assemble(MAIN, &Program::new(text.as_bytes()), options);
    let Some(second) = &again.image else {
        panic!("the disassembly fails:\n{text}\n{:#?}", messages(&again));
    };
    assert_eq!(second.words, image.words, "\n{text}");
    assert_eq!(
        (second.contexts, second.nn_mode),
        (image.contexts, image.nn_mode)
    );
}

fn messages(assembly: &Assembly) -> Vec<String> {
    assembly
        .diagnostics
        .iter()
        .map(|d| {
            let (line, column) = assembly.sources.line_column(d.primary.span);
            format!("{:?} {} {line}:{column} {}", d.level, d.code, d.message)
        })
        .collect()
}
