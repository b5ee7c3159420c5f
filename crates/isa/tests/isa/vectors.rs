//! Known words against their text, in both directions.

use npsim_isa::{Format, decode, encode};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    vector: Vec<Vector>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    word: String,
    text: String,
    origin: String,
}

fn vectors() -> Vec<(u64, String, String)> {
    let file: File = toml::from_str(include_str!("../../../../isa/vectors.toml")).unwrap();
    file.vector
        .into_iter()
        .map(|v| (u64::from_str_radix(&v.word, 16).unwrap(), v.text, v.origin))
        .collect()
}

#[test]
fn every_word_disassembles_to_its_text() {
    for (word, text, origin) in vectors() {
        let instruction = decode(word).unwrap_or_else(|error| panic!("{origin}: {error}"));
        assert_eq!(instruction.to_string(), text, "{word:010x} from {origin}");
    }
}

#[test]
fn every_decoded_word_encodes_to_itself() {
    for (word, text, origin) in vectors() {
        let instruction = decode(word).unwrap();
        assert_eq!(encode(&instruction), Ok(word), "{text} from {origin}");
    }
}

#[test]
fn vectors_cover_every_format_with_golden_words() {
    let vectors = vectors();
    assert!(vectors.len() >= 128, "{}", vectors.len());
    let golden: Vec<Format> = vectors
        .iter()
        .filter(|(_, _, origin)| origin.starts_with("rx") || origin.starts_with("tx"))
        .filter_map(|(word, ..)| Format::of(*word))
        .collect();
    for format in [
        Format::Alu,
        Format::AluShf,
        Format::Immed,
        Format::Branch,
        Format::CtxArb,
        Format::LocalCsr,
        Format::Sram,
        Format::Scratch,
        Format::Dram,
        Format::Msf,
        Format::CapCsr,
    ] {
        assert!(golden.contains(&format), "{format:?}");
    }
}
