//! `npsim disasm`: words back to text.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use npsim::problem::Problem;
use npsim::whole_file::read_text;
use npsim_asm::Image;

use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim disasm firmware.hex
  npsim disasm firmware.bin > firmware.uc
  npsim asm microcode/forward --words > all.txt && npsim disasm all.txt";

/// Show words as canonical assembly, which assembles to the same words again
///
/// FILE has one word of ten hexadecimal digits on each line, with `;` comments, or
/// five bytes for each word, most significant first; which of them is seen from
/// the contents. A comment line `; me ...` begins another program.
///
/// A word that is no instruction, or that has something in fields without effect,
/// does not come back the same; a comment at its line says so.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Words as text or binary
    file: PathBuf,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let path = &arguments.file;
    let shown = path.display();
    let bytes = read_text(path).map_err(|error| Problem::io("read", path, &error))?;
    if !is_text(&bytes) {
        let image = Image::from_be_bytes(&bytes).map_err(|error| {
            Problem::new(format!("{shown}: {error}"))
                .help("words in binary have five bytes each, most significant first")
        })?;
        output::print(&npsim_asm::disassemble(&image))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = String::from_utf8_lossy(&bytes);
    for section in sections(&text) {
        // Empty lines stand for the lines before the section, so that line
        // numbers in errors are the file's.
        let lines = "\n".repeat(section.first_line) + section.text;
        let image = Image::from_hex(&lines).map_err(|error| {
            Problem::new(format!("{shown}: {error}"))
                .help("words as text are ten hexadecimal digits, one word a line")
        })?;
        if let Some(title) = section.title {
            output::print(&format!("{title}\n"))?;
        }
        output::print(&npsim_asm::disassemble(&image))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether it can be hexadecimal text: printable ASCII and white space.
fn is_text(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace())
        || std::str::from_utf8(bytes).is_ok_and(|text| text.trim_start().starts_with(';'))
}

/// The words of one program in a file.
struct Section<'a> {
    title: Option<&'a str>,
    text: &'a str,
    first_line: usize,
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let mut starts = Vec::new();
    let mut at = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if line.starts_with("; me ") {
            starts.push((number, at, Some(line.trim_end())));
        }
        at += line.len();
    }
    let before = starts.first().map_or(text.len(), |(_, at, _)| *at);
    if starts.is_empty()
        || text[..before]
            .lines()
            .any(|line| !line.trim().is_empty() && !line.trim_start().starts_with(';'))
    {
        starts.insert(0, (0, 0, None));
    }
    let ends: Vec<_> = starts
        .iter()
        .skip(1)
        .map(|(_, at, _)| *at)
        .chain([text.len()])
        .collect();
    starts
        .into_iter()
        .zip(ends)
        .map(|((first_line, at, title), end)| Section {
            title,
            text: &text[at..end],
            first_line,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{is_text, sections};

    #[test]
    fn programs_are_told_apart() {
        let text = "; me 0: a.uc\n01\n02\n; me 1: b.uc\n03\n";
        let parts: Vec<_> = sections(text)
            .iter()
            .map(|s| (s.title, s.text, s.first_line))
            .collect();
        assert_eq!(
            parts,
            [
                (Some("; me 0: a.uc"), "; me 0: a.uc\n01\n02\n", 0),
                (Some("; me 1: b.uc"), "; me 1: b.uc\n03\n", 3)
            ]
        );
        assert_eq!(sections("01\n").len(), 1);
        assert_eq!(sections("01\n; me 1: b\n02\n").len(), 2);
        assert_eq!(sections("").len(), 1);
    }

    #[test]
    fn text_or_binary() {
        assert!(is_text(b"F000000000\r\n; x\n"));
        assert!(!is_text(&[0xf0, 0, 0, 0, 0]));
    }
}
