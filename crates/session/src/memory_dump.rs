//! The final content of a named memory or counter of the project, as text.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::str::FromStr;

use npsim_chip::chip::Chip;

use npsim_project::Project;
use npsim_project::problem::Problem;

/// A memory or counter to write, and the file to write it to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpRequest {
    /// Its name in the project.
    pub name: String,
    /// The file.
    pub file: PathBuf,
}

impl FromStr for DumpRequest {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, file)) if !name.is_empty() && !file.is_empty() => Ok(Self {
                name: name.to_owned(),
                file: file.into(),
            }),
            _ => Err("write NAME=FILE, such as `TABLE=table.txt`".to_owned()),
        }
    }
}

/// A named range of one memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DumpRange {
    space: String,
    start: u32,
    end: u32,
}

impl DumpRange {
    /// A range of a memory (`scratch`, `sram0`..., `dram`), by the byte addresses of its first
    /// longword and of the first one after it.
    #[must_use]
    pub fn new(space: &str, start: u32, end: u32) -> Self {
        Self {
            space: space.to_owned(),
            start,
            end,
        }
    }
}

/// Finds the range of a `[[memory]]`, a `[[counter]]` or the registers of a
/// device of the project.
///
/// # Errors
/// Returns an error if the project has none of this name.
pub fn find(project: &Project, name: &str) -> Result<DumpRange, Problem> {
    for device in &project.boot.devices {
        if let Some((start, bytes)) = device.registers(name) {
            return Ok(DumpRange {
                space: format!("sram{}", device.attachment().channel),
                start,
                end: start + bytes,
            });
        }
    }
    let mut known = Vec::new();
    for space in &project.spaces {
        for region in space.regions() {
            let Some(own) = ["memory `", "counter `"]
                .iter()
                .find_map(|kind| region.name.strip_prefix(kind)?.strip_suffix('`'))
            else {
                continue;
            };
            if own == name {
                return Ok(DumpRange {
                    space: space.name.clone(),
                    start: region.start as u32,
                    end: region.end as u32,
                });
            }
            known.push(own);
        }
    }
    let problem = Problem::new(format!("the project has no memory or counter `{name}`"));
    Err(if known.is_empty() {
        problem.help("add a [[memory]] or [[counter]] to the project")
    } else {
        problem.suggest_or_list(name, known)
    })
}

/// The longwords of a range with their byte addresses; in SRAM, bits 31-30 are the channel, as in
/// microcode. Addresses without memory are left out.
#[must_use]
pub fn words(chip: &Chip, range: &DumpRange) -> Vec<(u32, u32)> {
    let channel = range.space.strip_prefix("sram");
    let base = channel.and_then(|n| n.parse::<u32>().ok()).unwrap_or(0) << 30;
    let word = |offset: u32| {
        let address = base | offset;
        let word = match range.space.as_str() {
            "scratch" => chip.units().scratch.read(address),
            "dram" => chip.units().dram.read_word(address),
            _ => chip.units().sram.read_word(address),
        };
        // A project's ranges lie in populated memory or registers, so there is
        // always a word.
        word.map(|word| (address, word))
    };
    (range.start & !3..range.end)
        .step_by(4)
        .filter_map(word)
        .collect()
}

/// Longwords per line.
const COLUMNS: usize = 4;

/// The longwords of a range in hexadecimal, four per line after the byte address of the first.
/// Lines with only zeros are left out; a line of its own says so if nothing else remains.
#[must_use]
pub fn text(chip: &Chip, range: &DumpRange) -> String {
    let words = words(chip, range);
    let mut out = String::new();
    for line in words.chunks(COLUMNS) {
        let (address, _) = line[0];
        let is_zero = line.iter().all(|(_, word)| *word == 0);
        if is_zero && words.len() > COLUMNS {
            continue;
        }
        let _ = write!(out, "{address:#010x}");
        for (_, word) in line {
            let _ = write!(out, " {word:#010x}");
        }
        out.push('\n');
    }
    if let ([(first, _), .., (last, _)], true) = (words.as_slice(), out.is_empty()) {
        let _ = writeln!(out, "{first:#010x} to {:#010x}: all zero", last + 3);
    }
    out
}
