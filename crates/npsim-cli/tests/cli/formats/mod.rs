//! Files that earlier versions wrote: those that can be read according to `docs/src/formats.md` give the same results,
//! the others are rejected by name, and documents have kept their properties.
//!
//! A file here stays as it is while its format has the same number. Where a test fails after a
//! change of a format, raise the number and add a file of the new one.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::harness::{Dir, LOOP, root};
use crate::json::STUDY;

fn stored(name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cli/formats");
    fs::read(path.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// A folder with the microcode that the stored files belong to, and with some of them.
fn folder(names: &[&str]) -> Dir {
    let dir = Dir::new().with("read.uc", stored("read.uc"));
    names
        .iter()
        .fold(dir, |dir, name| dir.with(name, stored(name)))
}

#[test]
fn images_of_all_versions_are_read() {
    let dir = folder(&["image-1.npi", "image-2.npi", "image-3.npi", "images-1.npi"]);
    dir.npsim("asm read.uc -o own.hex").expect(0, &[]);
    let words = dir.npsim("disasm own.hex").expect(0, &["ctx_swap["]).out;
    for image in ["image-1.npi", "image-2.npi", "image-3.npi", "images-1.npi"] {
        dir.npsim(&format!("asm {image} -o again.hex"))
            .expect(0, &[]);
        assert_eq!(dir.read("again.hex"), dir.read("own.hex"), "{image}");
        let listed = dir.npsim(&format!("disasm {image}")).expect(0, &[]).out;
        let instructions = |text: &str| text.matches('[').count();
        assert_eq!(instructions(&listed), instructions(&words), "{image}");
    }
    // For the newest version, the bytes equal those that are written now.
    dir.npsim("asm read.uc -o own.npi").expect(0, &[]);
    assert_eq!(dir.read("own.npi"), stored("image-3.npi"));
}

/// The stored checkpoint with another version of npsim in its header. Its header begins with the version; before it stand mark and
/// format (12 bytes), the digest of all that follows (32), and the header's length (4).
fn with_version(checkpoint: &[u8], wanted: &str) -> Vec<u8> {
    let (mark, rest) = checkpoint.split_at(12);
    let rest = &rest[32..];
    let length = u32::from_le_bytes(rest[..4].try_into().expect("four bytes")) as usize;
    let (header, state) = rest[4..].split_at(length);
    let named = |version: &str| [&[version.len() as u8], version.as_bytes()].concat();
    let fields = header.strip_prefix(named(WRITER).as_slice());
    let fields = fields.expect("the header begins with the version");
    let header = [named(wanted).as_slice(), fields].concat();
    let length = (header.len() as u32).to_le_bytes();
    let signed = [&length[..], &header, state].concat();
    [mark, Sha256::digest(&signed).as_slice(), &signed].concat()
}

/// The version that wrote the stored checkpoint of this format.
const WRITER: &str = "0.2.0";

#[test]
fn checkpoint_of_another_version_is_refused_naming_both() {
    let checkpoint = with_version(&stored("checkpoint-16.ckpt"), "0.1.0");
    let dir = folder(&[]).with("checkpoint-16.ckpt", checkpoint);
    let versions = format!(
        "was written by npsim 0.1.0, and this is npsim {}",
        env!("CARGO_PKG_VERSION")
    );
    dir.npsim("run --resume checkpoint-16.ckpt")
        .expect(1, &[&versions, "go on with the npsim that wrote it"]);
}

#[test]
fn checkpoint_of_this_format_resumes() {
    let checkpoint = with_version(&stored("checkpoint-16.ckpt"), env!("CARGO_PKG_VERSION"));
    let dir = folder(&[]).with("checkpoint-16.ckpt", checkpoint);
    dir.npsim("run read.uc --until 40us --quiet --stats whole.json")
        .expect(0, &[]);
    let resumed = "run --resume checkpoint-16.ckpt --until 40us --stats resumed.json";
    dir.npsim(resumed).expect(0, &[]);
    assert_eq!(dir.read("resumed.json"), dir.read("whole.json"));
}

#[test]
fn checkpoint_of_another_format_is_refused_naming_both() {
    for format in [14, 15] {
        let name = format!("checkpoint-{format}.ckpt");
        let has = format!("has format {format}");
        folder(&[&name])
            .npsim(&format!("run --resume {name}"))
            .expect(1, &[&has, "reads format 16"]);
    }
}

#[test]
fn stored_bundle_is_read() {
    let dir = folder(&["bundle-1.npb"]);
    dir.npsim("bundle info bundle-1.npb")
        .expect(0, &["npsim run read.uc --until 20us", "190 bytes"]);
}

/// The place and type of every value. Elements of a list count together.
fn collect_paths(value: &Value, place: &str, found: &mut BTreeSet<String>) {
    let kind = match value {
        // Values missing in one run are present in another.
        Value::Null => return,
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(values) => {
            for value in values {
                collect_paths(value, &format!("{place}[]"), found);
            }
            "array"
        }
        Value::Object(values) => {
            for (name, value) in values {
                collect_paths(value, &format!("{place}.{name}"), found);
            }
            "object"
        }
    };
    found.insert(format!("{place}: {kind}"));
}

#[test]
fn documents_keep_their_properties() {
    let dir = folder(&[]).with("loop.uc", LOOP).with("study.toml", STUDY);
    let network = root().join("traces/networks/dumbbell.toml");
    let network = network.canonicalize().expect("a network");
    let commands = [
        (
            "stats-2.json",
            "run read.uc --until 20us --quiet --stats -".to_owned(),
        ),
        (
            "profile-1.json",
            "run read.uc --until 20us --quiet --profile=-".to_owned(),
        ),
        (
            "explain-1.json",
            "explain read.uc:6 --format json".to_owned(),
        ),
        (
            "results-2.json",
            "sweep study.toml --format json".to_owned(),
        ),
        (
            "network-1.json",
            format!(
                "network {} --until 60s --quiet --stats -",
                network.display()
            ),
        ),
    ];
    for (name, command) in commands {
        let before: Value = serde_json::from_slice(&stored(name)).expect("JSON");
        let text = dir.npsim(&command).expect(0, &[]).out;
        let now: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{command}: {e}"));
        // Profiles have their number under another name.
        for number in ["schema", "format"] {
            assert_eq!(
                now[number], before[number],
                "{name}: a new number needs a file of its own"
            );
        }
        let (mut had, mut has) = (BTreeSet::new(), BTreeSet::new());
        collect_paths(&before, "", &mut had);
        collect_paths(&now, "", &mut has);
        let lost: Vec<_> = had.difference(&has).collect();
        assert!(lost.is_empty(), "{name} has lost {lost:?}");
    }
}
