//! Sources in memory for the assembler's tests.

use std::collections::BTreeMap;

use npsim_asm::{Assembly, Diagnostic, Image, Includes, Options, Severity, assemble};
use npsim_isa::Generation;

/// Texts by name.
pub struct Texts(pub BTreeMap<String, String>);

impl Includes for Texts {
    fn load(&self, name: &str, _including: Option<&str>) -> Result<(String, String), String> {
        match self.0.get(name) {
            Some(text) => Ok((name.to_owned(), text.clone())),
            None => Err(format!("no text `{name}`")),
        }
    }
}

/// Assembles one text.
pub fn run(text: &str) -> Assembly {
    run_with(text, &Options::default())
}

/// Options for the newest generation, which has every instruction.
pub fn newest() -> Options {
    Options {
        generation: Generation::ALL[Generation::ALL.len() - 1],
        ..Options::default()
    }
}

/// Assembles one text with options.
pub fn run_with(text: &str, options: &Options) -> Assembly {
    let texts = Texts(BTreeMap::from([("main.uc".to_owned(), text.to_owned())]));
    assemble("main.uc", &texts, options)
}

/// The image of a text without errors.
pub fn image(text: &str) -> Image {
    let assembly = run(text);
    match assembly.image {
        Some(image) => image,
        None => panic!("{text}\n{}", describe(&run(text))),
    }
}

/// Codes and messages, one a line, with the place.
pub fn describe(assembly: &Assembly) -> String {
    let line = |d: &Diagnostic| {
        let (line, column) = assembly.sources.line_column(d.primary.span);
        let path = &assembly.sources.file(d.primary.span.file).path;
        format!(
            "{:?} {} {path}:{line}:{column} {} | {:?} | {:?}",
            d.level, d.code, d.message, d.notes, d.help
        )
    };
    let lines: Vec<String> = assembly.diagnostics.iter().map(line).collect();
    lines.join("\n")
}

/// Codes of a text's diagnostics at a level.
pub fn codes(text: &str, level: Severity) -> Vec<&'static str> {
    run(text)
        .diagnostics
        .iter()
        .filter(|d| d.level == level)
        .map(|d| d.code)
        .collect()
}
