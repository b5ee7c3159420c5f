//! The `.list` format: addresses, words, origins and text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use npsim_isa::{Operand, decode_lenient_in};

use crate::image::{Image, NnMode, TransferDirection};

/// Returns the image as a listing. `.N` at the start of a line gives the word at address N; the
/// lines after it are its text. Labels precede their words and `.%line` gives the source line of a
/// word. Comments (`;`) give the names of registers and signals.
#[must_use]
pub fn listing(image: &Image) -> String {
    let mut text = String::new();
    header(&mut text, image);
    imports(&mut text, image);
    let mut labels: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for label in &image.labels {
        labels.entry(label.address).or_default().push(&label.name);
    }
    let mut last = None;
    for (address, &word) in image.words.iter().enumerate() {
        put_labels(&mut text, &labels, address as u16);
        if let Some(origin) = image.origins.get(address) {
            let place = (origin.file, origin.line);
            if last != Some(place) {
                let file = image
                    .files
                    .get(origin.file as usize)
                    .map_or("?", String::as_str);
                let _ = writeln!(text, ".%line {} \"{file}\"", origin.line);
                last = Some(place);
            }
        }
        let _ = writeln!(text, ".{address} {word:010X}");
        match decode_lenient_in(word, image.target()) {
            Ok(instruction) => {
                let _ = writeln!(text, "    {instruction}");
            }
            Err(error) => {
                let _ = writeln!(text, "    ; {error}");
            }
        }
    }
    put_labels(&mut text, &labels, image.words.len() as u16);
    text.push_str("; +ucode_end\n");
    text
}

fn put_labels(text: &mut String, labels: &BTreeMap<u16, Vec<&str>>, address: u16) {
    for name in labels.get(&address).into_iter().flatten() {
        let _ = writeln!(text, "{name}#:");
    }
}

fn header(text: &mut String, image: &Image) {
    let _ = writeln!(text, "; {}: {} words", image.name, image.words.len());
    let _ = writeln!(text, ".num_contexts {}", image.contexts.contexts());
    let mode = match image.nn_mode {
        NnMode::Neighbor => "neighbor",
        NnMode::Own => "self",
    };
    let _ = writeln!(text, ".init_nn_mode {mode}");
    for register in &image.registers {
        let direction = match register.direction {
            TransferDirection::Read => " read",
            TransferDirection::Write => " write",
            TransferDirection::Both => "",
        };
        let _ = writeln!(
            text,
            "; .reg{direction} {} {}",
            scoped(&register.name, register.scope),
            register.operand
        );
    }
    for signal in &image.signals {
        let _ = writeln!(
            text,
            "; .sig {} s{}",
            scoped(&signal.name, signal.scope),
            signal.number
        );
    }
    for initial in &image.initial_values {
        let register: Operand = initial.register;
        let _ = match initial.context {
            None => writeln!(text, ".init {register} {:#x}", initial.value),
            Some(context) => writeln!(text, ".init_ctx {context} {register} {:#x}", initial.value),
        };
    }
    for initial in &image.initial_memory {
        let (space, address) = (initial.space.name(), initial.address);
        let _ = writeln!(text, "; .init {space} {address:#x} {:#x}", initial.value);
    }
}

fn imports(text: &mut String, image: &Image) {
    for fixup in &image.imports {
        let value = fixup
            .value
            .map_or("open".to_owned(), |value| format!("{value:#x}"));
        let _ = writeln!(
            text,
            "; .import_var {} at {}: {:?} of {value}",
            fixup.name, fixup.address, fixup.part
        );
    }
}

/// Inserts the scope number after the sigil of a name: `$l0003!hdr`. Names of the file scope are
/// unchanged.
fn scoped(name: &str, scope: u32) -> String {
    if scope == 0 {
        return name.to_owned();
    }
    let sigil = ["$$", "n$", "$", "@"]
        .into_iter()
        .find(|sigil| name.starts_with(sigil))
        .unwrap_or("");
    format!("{sigil}l{scope:04}!{}", &name[sigil.len()..])
}
