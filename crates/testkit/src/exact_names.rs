//! Checks that an image gives the exact name of every register and signal in every
//! word.

use npsim_asm::{Image, SourceMap};
use npsim_image::Origin;

/// Returns the inexact names of an image, one line per finding.
///
/// Each register and signal in a word must have exactly one name at that point, and
/// the statement, its macro calls or their arguments must mention it. Only those
/// that the statement itself gives by number may have no name. Only names generated
/// by the assembler (`_value_1`, `_copy_7`) and registers that a command moves
/// besides the one it names may go unmentioned. In unreachable words, where
/// registers are not kept apart (`unreachable`), there may be several names as long
/// as the statement mentions them.
#[must_use]
pub fn inexact_names(image: &Image, sources: &SourceMap, unreachable: bool) -> Vec<String> {
    let mut found = Vec::new();
    let synonyms: Vec<(&str, &str)> = sources
        .files()
        .iter()
        .flat_map(|file| file.text.lines())
        .filter_map(|line| line.trim().strip_prefix(".operand_synonym "))
        .filter_map(|rest| rest.trim().split_once(char::is_whitespace))
        .collect();
    for address in 0..image.words.len() as u16 {
        let mut text = statement(image, sources, address);
        for (synonym, operand) in &synonyms {
            if mentions(&text, synonym) {
                text.push(' ');
                text += operand;
            }
        }
        let mut fail = |what: &str, names: &[&str]| {
            found.push(format!(
                "{} word {address}: {what} is {names:?} in `{text}`",
                image.place(address)
            ));
        };
        for used in image.registers_used(address) {
            let mut names: Vec<&str> = image.register_at(used).map(|s| s.name.as_str()).collect();
            if unreachable && names.len() > 1 {
                names.retain(|name| mentions(&text, stem(name)));
                names.dedup();
            }
            let exact = match names[..] {
                [] => used.implied || mentions(&text, &used.operand.to_string()),
                [name] => used.implied || name.starts_with('_') || mentions(&text, stem(name)),
                _ => unreachable,
            };
            if !exact {
                fail(&used.operand.to_string(), &names);
            }
            // The reverse: the name must denote this register at this point of the
            // source.
            if let [name] = names[..]
                && !used.implied
                && !name.starts_with('_')
            {
                let mut meant = image.registers_named(name, used.point).into_iter();
                if !meant.any(|it| it.symbol.operand == used.operand) {
                    fail(&format!("what `{name}` means"), &[]);
                }
            }
        }
        for used in image.signals_used(address) {
            let signals = image.signal_at(used);
            let names: Vec<&str> = signals.iter().map(|s| s.name.as_str()).collect();
            let exact = match names[..] {
                // The even signal of a pair stands for both.
                [] => [used.number, used.number & !1]
                    .iter()
                    .any(|n| mentions(&text, &format!("s{n}"))),
                [name] => mentions(&text, stem(name)),
                _ => false,
            };
            if !exact {
                fail(&format!("signal {}", used.number), &names);
            }
            if let [name] = names[..] {
                let meant = image.signal_named(name, used.point);
                if meant.is_none_or(|it| it.number | 1 != used.number | 1) {
                    fail(&format!("what `{name}` means"), &[]);
                }
            }
        }
    }
    found
}

/// A name without its element index.
fn stem(name: &str) -> &str {
    name.split('[').next().unwrap_or(name)
}

/// The statement of a word, with the macro calls that produced it and their
/// arguments.
fn statement(image: &Image, sources: &SourceMap, address: u16) -> String {
    let mut text = String::new();
    let mut place = Some(image.origins[usize::from(address)]);
    while let Some(origin) = place {
        text += &lines(image, sources, &origin);
        place = origin.expansion.map(|used| {
            let used = &image.expansions[used as usize];
            for (_, argument) in &used.arguments {
                text.push(' ');
                text += argument;
            }
            used.call
        });
    }
    text
}

/// The line of an origin and its continuation lines.
fn lines(image: &Image, sources: &SourceMap, origin: &Origin) -> String {
    let path = &image.files[origin.file as usize];
    let file = sources.files().iter().find(|file| file.path == *path);
    let mut lines = file.map_or("", |file| &file.text).lines();
    let mut text = String::from("\n");
    for line in lines.by_ref().skip(origin.line as usize - 1) {
        let code = line.split(';').next().unwrap_or("").trim_end();
        text += code;
        if !code.ends_with([',', '\\']) {
            break;
        }
    }
    text
}

/// Whether a text contains a name that is not part of a longer one.
fn mentions(text: &str, name: &str) -> bool {
    let part = |letter: char| letter.is_alphanumeric() || "_$@".contains(letter);
    // Registers and signals given by number may be written in capitals.
    let (text, name) = (text.to_ascii_lowercase(), name.to_ascii_lowercase());
    text.match_indices(&name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}
