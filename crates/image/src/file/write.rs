//! Writing image files.

use std::fmt::Write;

use npsim_isa::{Bank, Generation, IndexStep, Operand};

use super::{MAGIC, VERSION};
use crate::image::{Image, ImportPart, NnMode, Origin, TransferDirection};
use crate::live::LiveRange;

/// Returns the image as the bytes of a file.
#[must_use]
pub(super) fn to_file_bytes(image: &Image) -> Vec<u8> {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write(&mut text, image);
    text.into_bytes()
}

fn write(text: &mut String, image: &Image) -> std::fmt::Result {
    writeln!(text, "{MAGIC} {VERSION}")?;
    writeln!(text, "name {}", quoted(&image.name))?;
    // A file without this line is for the only generation that existed when the format was defined.
    if image.generation != Generation::default() {
        writeln!(text, "generation {}", image.generation)?;
    }
    writeln!(text, "contexts {}", image.contexts.contexts())?;
    let mode = match image.nn_mode {
        NnMode::Neighbor => "neighbor",
        NnMode::Own => "self",
    };
    writeln!(text, "nn-mode {mode}")?;
    for path in &image.files {
        writeln!(text, "file {}", quoted(path))?;
    }
    for used in &image.expansions {
        write!(
            text,
            "expansion {} {}",
            quoted(&used.name),
            origin(&used.call)
        )?;
        for (parameter, value) in &used.arguments {
            write!(text, " {} {}", quoted(parameter), quoted(value))?;
        }
        writeln!(text)?;
    }
    for scope in &image.scopes {
        let parent = optional(scope.parent);
        let (begin, end) = (origin(&scope.begin), origin(&scope.end));
        writeln!(text, "scope {parent} {begin} {end}")?;
    }
    for word in &image.words {
        writeln!(text, "word {word:010x}")?;
    }
    for place in &image.origins {
        writeln!(text, "origin {}", origin(place))?;
    }
    if !image.statements.is_empty() {
        write!(text, "statements")?;
        addresses(text, &image.statements)?;
    }
    for scope in 0..image.scopes.len() as u32 {
        let inside = (0..).zip(&image.word_scopes);
        let inside = inside.filter(|(_, of)| **of == scope);
        let inside: Vec<u16> = inside.map(|(address, _)| address).collect();
        if !inside.is_empty() {
            write!(text, "within {scope}")?;
            addresses(text, &inside)?;
        }
    }
    for synonym in &image.synonyms {
        writeln!(
            text,
            "synonym {} {} {} {}",
            quoted(&synonym.name),
            synonym.scope,
            quoted(&synonym.operand),
            origin(&synonym.origin)
        )?;
    }
    symbols(text, image)?;
    writeln!(text, "end")
}

/// Writes labels, registers and signals with their live ranges, initial values and imports.
fn symbols(text: &mut String, image: &Image) -> std::fmt::Result {
    for label in &image.labels {
        writeln!(text, "label {} {}", quoted(&label.name), label.address)?;
    }
    for symbol in &image.registers {
        let direction = match symbol.direction {
            TransferDirection::Read => "read",
            TransferDirection::Write => "write",
            TransferDirection::Both => "both",
        };
        write!(
            text,
            "register {} {} {} {direction}",
            quoted(&symbol.name),
            symbol.scope,
            operand(symbol.operand)
        )?;
        live(text, &symbol.live)?;
        if !symbol.live_out.is_empty() {
            write!(text, " out")?;
            live(text, &symbol.live_out)?;
        }
        writeln!(text)?;
    }
    for signal in &image.signals {
        write!(
            text,
            "signal {} {} {}",
            quoted(&signal.name),
            signal.scope,
            signal.number
        )?;
        live(text, &signal.live)?;
        writeln!(text)?;
    }
    for initial in &image.initial_values {
        let context = optional(initial.context.map(u32::from));
        let register = operand(initial.register);
        writeln!(text, "init {register} {context} {:#x}", initial.value)?;
    }
    for initial in &image.initial_memory {
        let (space, address) = (initial.space.name(), initial.address);
        writeln!(text, "memory {space} {address:#x} {:#x}", initial.value)?;
    }
    for fixup in &image.imports {
        let part = match fixup.part {
            ImportPart::Whole => "whole".to_owned(),
            ImportPart::Low => "low".to_owned(),
            ImportPart::High => "high".to_owned(),
            ImportPart::Byte(n) => format!("byte{n}"),
        };
        let form = if fixup.shifted { "shifted" } else { "free" };
        let value = fixup.value.map_or("-".to_owned(), |v| format!("{v:#x}"));
        let name = quoted(&fixup.name);
        writeln!(
            text,
            "import {name} {} {part} {form} {value}",
            fixup.address
        )?;
    }
    Ok(())
}

/// Writes addresses and ranges of addresses, to the end of the line.
fn addresses(text: &mut String, ascending: &[u16]) -> std::fmt::Result {
    let mut rest = ascending;
    while let Some(&first) = rest.first() {
        let run = rest
            .iter()
            .zip(first..=u16::MAX)
            .take_while(|(a, b)| *a == b)
            .count();
        match rest[run - 1] {
            last if last == first => write!(text, " {first}")?,
            last => write!(text, " {first}-{last}")?,
        }
        rest = &rest[run..];
    }
    writeln!(text)
}

fn live(text: &mut String, ranges: &[LiveRange]) -> std::fmt::Result {
    ranges.iter().try_for_each(|range| write!(text, " {range}"))
}

fn origin(origin: &Origin) -> String {
    format!(
        "{} {} {} {}",
        origin.file,
        origin.line,
        origin.column,
        optional(origin.expansion)
    )
}

fn optional(number: Option<u32>) -> String {
    number.map_or_else(|| "-".to_owned(), |n| n.to_string())
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

/// Returns an operand as a single word.
fn operand(operand: Operand) -> String {
    let bank = |bank: Bank| match bank {
        Bank::A => 'a',
        Bank::B => 'b',
    };
    let step = |step: IndexStep| match step {
        IndexStep::Keep => "",
        IndexStep::Increment => "++",
        IndexStep::Decrement => "--",
    };
    match operand {
        Operand::None => "--".to_owned(),
        Operand::Gpr(b, n) => format!("{}{n}", bank(b)),
        Operand::GprAbsolute(b, n) => format!("@{}{n}", bank(b)),
        Operand::STransfer(n) => format!("${n}"),
        Operand::DTransfer(n) => format!("$${n}"),
        Operand::SIndexed(s) => format!("*$index{}", step(s)),
        Operand::DIndexed(s) => format!("*$$index{}", step(s)),
        Operand::LocalMemory { pointer, offset } => format!("*l$index{pointer}[{offset}]"),
        Operand::LocalMemoryStep { pointer, step: s } => format!("*l$index{pointer}{}", step(s)),
        Operand::NnPeek => "*n$index".to_owned(),
        Operand::NnRing => "*n$index++".to_owned(),
        Operand::Nn(n) => format!("n${n}"),
        Operand::Constant(n) => n.to_string(),
    }
}
