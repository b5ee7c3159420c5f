//! The canonical text of every known word assembles to that word.

#![allow(
    clippy::format_push_string,
    reason = "short programs are built as text"
)]

use crate::support::{describe, image, run};
use npsim_asm::{Image, Severity};
use npsim_image::disassemble;

/// Word and text pairs of the instruction-set tables.
fn vectors() -> Vec<(u64, String)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../isa/vectors.toml");
    let table = std::fs::read_to_string(path).unwrap();
    let mut pairs = Vec::new();
    let mut word = None;
    for line in table.lines() {
        if let Some(value) = line.strip_prefix("word = ") {
            word = u64::from_str_radix(value.trim_matches('"'), 16).ok();
        } else if let Some(value) = line.strip_prefix("text = ") {
            pairs.push((word.take().unwrap(), value.trim_matches('"').to_owned()));
        }
    }
    pairs
}

#[test]
fn every_vector_assembles_to_its_word() {
    let vectors = vectors();
    assert!(vectors.len() >= 120, "{} vectors", vectors.len());
    let mut wrong = String::new();
    for (word, text) in vectors {
        // Enough surrounding words for branch targets, defer slots and CSR reads.
        let padding = "nop\n".repeat(400);
        let before = if text.contains("indirect_ref") || text.contains(">>") || text.contains("<<")
        {
            "alu[--, --, B, 0]\n"
        } else {
            "nop\n"
        };
        let source = format!("{before}{text}\nimmed[b0, 0]\n{padding}br[L0]\n");
        let assembly = run(&source);
        match &assembly.image {
            Some(image) if image.words[1] == word => {}
            Some(image) => wrong.push_str(&format!(
                "{text}: {:010x}, not {word:010x}\n",
                image.words[1]
            )),
            None => wrong.push_str(&format!("{text}: {}", describe(&assembly))),
        }
        let errors = assembly
            .diagnostics
            .iter()
            .filter(|d| d.level == Severity::Error);
        assert_eq!(errors.count() == 0, assembly.image.is_some());
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn all_vectors_round_trip_as_one_program() {
    // Branches are left as they are: the program is long enough for all targets.
    let mut words: Vec<u64> = Vec::new();
    for (word, text) in vectors() {
        if text.contains("defer") || text.starts_with("local_csr_rd") {
            continue;
        }
        words.push(word);
    }
    words.resize(512, 0xf0000c0300);
    let text = disassemble(&Image::from_words("vectors", words.clone()));
    assert_eq!(image(&text).words, words);
}
