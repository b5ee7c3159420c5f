//! Small programs, one for each feature of the language, with the assembler's results.
//!
//! The first lines of a program state briefly what is expected:
//! `; good`, `; error CODE LINE`, `; warning CODE LINE`, `; note CODE LINE`, and
//! `; first-constant N` for the constant of its first instruction. The file
//! beside it contains all words and messages. `NPSIM_UPDATE_CORPUS=1 cargo test -p
//! npsim-asm corpus` rewrites these files; review the changes.

#![allow(clippy::format_push_string, reason = "expectations are built as text")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{newest, run_with};
use npsim_asm::{Assembly, Severity};
use npsim_isa::{Instruction, decode_in, mnemonics};

fn programs() -> Vec<(String, PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut found: Vec<(String, PathBuf, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "uc"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = fs::read_to_string(&path).unwrap();
            (name, path, text)
        })
        .collect();
    found.sort();
    found
}

fn run(text: &str) -> Assembly {
    run_with(text, &newest())
}

fn level(level: Severity) -> &'static str {
    match level {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// All messages of the assembler, as text.
fn result(assembly: &Assembly) -> String {
    let mut text = String::new();
    for d in &assembly.diagnostics {
        let (line, column) = assembly.sources.line_column(d.primary.span);
        text += &format!(
            "{} {} {line}:{column}: {}\n",
            level(d.level),
            d.code,
            d.message
        );
        for label in &d.secondary {
            let (line, column) = assembly.sources.line_column(label.span);
            text += &format!("    at {line}:{column}: {}\n", label.text);
        }
        for note in &d.notes {
            text += &format!("    note: {note}\n");
        }
        if let Some(help) = &d.help {
            text += &format!("    help: {help}\n");
        }
    }
    let Some(image) = &assembly.image else {
        return text;
    };
    for (address, word) in image.words.iter().enumerate() {
        for label in image
            .labels
            .iter()
            .filter(|l| usize::from(l.address) == address)
        {
            text += &format!("{}#:\n", label.name);
        }
        let line = match decode_in(*word, image.target()) {
            Ok(instruction) => instruction.to_string(),
            Err(error) => format!("? {error}"),
        };
        text += &format!("{address:3} {word:010x} {line}\n");
    }
    for label in image
        .labels
        .iter()
        .filter(|l| usize::from(l.address) == image.words.len())
    {
        text += &format!("{}#:\n", label.name);
    }
    for initial in &image.initial_values {
        text += &format!(
            "init {:?} {:?} {:#x}\n",
            initial.register, initial.context, initial.value
        );
    }
    for fixup in &image.imports {
        text += &format!(
            "import {} {} {:?} {}\n",
            fixup.address, fixup.name, fixup.part, fixup.shifted
        );
    }
    text
}

/// The short expectations at the head of a program.
fn head(text: &str) -> Vec<Vec<&str>> {
    text.lines()
        .map_while(|line| line.strip_prefix("; "))
        .map(|line| line.split(' ').collect())
        .collect()
}

#[test]
fn header_expectations_hold() {
    let mut wrong = String::new();
    for (name, _, text) in programs() {
        let assembly = run(&text);
        let head = head(&text);
        let mut wanted: Vec<String> = Vec::new();
        let mut good = false;
        for words in &head {
            match words.as_slice() {
                ["good"] => good = true,
                ["first-constant", n] => {
                    let image = assembly.image.as_ref().unwrap();
                    let first = decode_in(image.words[0], image.target()).unwrap();
                    let Instruction::Immed { value, .. } = first else {
                        panic!("{name}: {first}");
                    };
                    if value.to_string() != *n {
                        wrong += &format!("{name}: the constant is {value}\n");
                    }
                }
                [level, code, line] => wanted.push(format!("{level} {code} {line}")),
                other => panic!("{name}: {other:?}"),
            }
        }
        let found: Vec<String> = assembly
            .diagnostics
            .iter()
            .map(|d| {
                let (line, _) = assembly.sources.line_column(d.primary.span);
                format!("{} {} {line}", level(d.level), d.code)
            })
            .collect();
        if good != assembly.image.is_some() {
            wrong += &format!("{name}: good is {good}\n{}\n", result(&assembly));
        }
        // A program with errors must match only what is stated.
        let extra = good && found != wanted;
        if extra || wanted.iter().any(|w| !found.contains(w)) {
            wrong += &format!("{name}: {wanted:?}, found {found:?}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn results_match_committed_files() {
    let update = std::env::var_os("NPSIM_UPDATE_CORPUS").is_some();
    let mut wrong = String::new();
    for (name, path, text) in programs() {
        let found = result(&run(&text));
        let path = path.with_extension("expect");
        if update {
            fs::write(&path, &found).unwrap();
            continue;
        }
        let wanted = fs::read_to_string(&path).unwrap_or_default();
        if found != wanted {
            wrong += &format!("--- {name}\nexpected:\n{wanted}found:\n{found}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The text without what depends on columns.
fn without_columns(assembly: &Assembly) -> (Vec<String>, Option<Vec<u64>>) {
    let summaries = assembly.diagnostics.iter().map(|it| {
        let (line, _) = assembly.sources.line_column(it.primary.span);
        format!("{} {} {line}", level(it.level), it.code)
    });
    let words = assembly.image.as_ref().map(|it| it.words.clone());
    (summaries.collect(), words)
}

#[test]
fn formatted_programs_assemble_identically() {
    for (name, _, text) in programs() {
        let formatted = npsim_asm::format::format(&text);
        let (was, is) = (run(&text), run(&formatted));
        assert_eq!(without_columns(&is), without_columns(&was), "{name}");
        assert_eq!(npsim_asm::format::format(&formatted), formatted, "{name}");
    }
}

#[test]
fn every_instruction_directive_and_function_is_covered() {
    let programs = programs();
    assert!(programs.len() >= 150, "{}", programs.len());
    let all: String = programs
        .iter()
        .map(|(_, _, text)| text.to_ascii_lowercase())
        .collect();
    let words: BTreeSet<&str> = all
        .split(|c: char| c.is_whitespace() || "[](),;".contains(c))
        .collect();
    let preprocessor = [
        "#define",
        "#define_eval",
        "#undef",
        "#if",
        "#ifdef",
        "#ifndef",
        "#elif",
        "#else",
        "#endif",
        "#macro",
        "#endm",
        "#exitm",
        "#while",
        "#for",
        "#repeat",
        "#endloop",
        "#error",
        "#warning",
        "#info",
        "#pragma",
        "#line",
    ];
    let functions = [
        "defined",
        "isnum",
        "is_ct_const",
        "is_rt_const",
        "isimport",
        "isrestricted",
        "streq",
        "strlen",
        "strstr",
        "strleft",
        "strright",
        "log2",
        "mask",
        "is_ixptype",
        "bit",
        "byte",
        "cout",
        "signal",
        "ctx",
        "inp_state",
    ];
    let names = mnemonics().iter().map(|row| row.name);
    let missing: Vec<&str> = names
        .chain(npsim_asm::directives::names())
        .chain(preprocessor)
        .chain(functions)
        .filter(|name| !words.contains(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
