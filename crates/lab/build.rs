//! A mark of everything that decides what a run comes to besides its inputs: the
//! sources of the instruction set, the assembler, the chip, the lines, networks and
//! their hosts, and the way in which metrics are taken. Results that another model measured are then
//! not taken for this one's.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// What the mark covers, relative to this crate.
const COVERED: &[&str] = &[
    "../../isa",
    "../isa/src",
    "../image/src",
    "../asm/src",
    "../chip/src",
    "../chip/profiles",
    "../inspect/src",
    "../net/src",
    "../network/src",
    "../petri/src",
    "../project/src",
    "../protocols/src",
    "../session/src",
    "../transport/src",
    "src",
];

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut hash = Sha256::new();
    for folder in COVERED {
        let folder = here.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files = Vec::new();
        collect(&folder, &mut files);
        files.sort();
        for file in files {
            let name = file.strip_prefix(&folder).unwrap_or(&file);
            hash.update(name.to_string_lossy().as_bytes());
            hash.update([0]);
            hash.update(fs::read(&file).unwrap_or_default());
            hash.update([0]);
        }
    }
    let mark: Vec<_> = hash
        .finalize()
        .iter()
        .take(8)
        .map(|b| format!("{b:02x}"))
        .collect();
    println!("cargo::rustc-env=NPSIM_MODEL={}", mark.concat());
}

/// Files below a folder. One that is not there has none: the version number is
/// then all that marks the model.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
