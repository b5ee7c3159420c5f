//! A mark of everything that decides what a run comes to besides its inputs: the sources of
//! this crate and of all crates of the workspace that it depends on. Results that another model
//! measured are then not taken for this one's.
//!
//! Where this crate is built from a package, away from its workspace, the mark is its version:
//! packages of the workspace depend on exactly one version of each other.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use toml::Table;

/// What decides no result: how results are drawn, and sources that a run reads as inputs.
const IRRELEVANT_CRATES: &[&str] = &["npsim-report", "npsim-microcode"];
/// Folders of a crate that are not built into it, or that are inputs, which have marks of their own.
const NOT_BUILT: &[&str] = &["tests", "benches", "examples", "studies"];

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets this"));
    println!("cargo::rerun-if-changed=build.rs");
    let mark = match workspace_paths(&here.join("../..")) {
        Some(paths) => hash_of_sources(&here.join("../.."), &paths),
        None => format!("version-{}", env!("CARGO_PKG_VERSION")),
    };
    println!("cargo::rustc-env=NPSIM_MODEL={mark}");
}

/// The crates of the workspace with their folders below its root; nothing if there is no
/// workspace of which this crate is a part.
fn workspace_paths(root: &Path) -> Option<Vec<(String, String)>> {
    let manifest: Table = fs::read_to_string(root.join("Cargo.toml"))
        .ok()?
        .parse()
        .ok()?;
    let dependencies = manifest.get("workspace")?.get("dependencies")?.as_table()?;
    let paths: Vec<_> = { dependencies.iter() }
        .filter_map(|(name, how)| Some((name.clone(), how.get("path")?.as_str()?.to_owned())))
        .collect();
    let own = paths.iter().any(|(name, _)| name == "npsim-lab");
    own.then_some(paths)
}

fn hash_of_sources(root: &Path, paths: &[(String, String)]) -> String {
    let mut found = BTreeSet::from(["npsim-lab".to_owned()]);
    let mut left: Vec<_> = found.iter().cloned().collect();
    while let Some(name) = left.pop() {
        let next = dependencies_of(&root.join(path_of(paths, &name)));
        let next = next.filter(|next| paths.iter().any(|(known, _)| known == next));
        for next in next.filter(|next| !IRRELEVANT_CRATES.contains(&next.as_str())) {
            if found.insert(next.clone()) {
                left.push(next);
            }
        }
    }
    let mut hash = Sha256::new();
    for name in &found {
        let folder = root.join(path_of(paths, name));
        let mut files = Vec::new();
        collect(&folder, &mut files);
        files.sort();
        for file in files {
            let below = file.strip_prefix(&folder).unwrap_or(&file);
            let text = fs::read(&file);
            let text = text.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            hash.update(name.as_bytes());
            hash.update([0]);
            hash.update(below.to_string_lossy().as_bytes());
            hash.update([0]);
            hash.update(text);
            hash.update([0]);
        }
    }
    let bytes = hash.finalize();
    let mark: Vec<_> = bytes.iter().take(8).map(|b| format!("{b:02x}")).collect();
    mark.concat()
}

fn path_of<'a>(paths: &'a [(String, String)], name: &str) -> &'a str {
    let known = paths.iter().find(|(known, _)| known == name);
    &known.expect("a crate of the workspace").1
}

/// What a crate is built with, by name.
fn dependencies_of(folder: &Path) -> impl Iterator<Item = String> + use<> {
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let manifest: Table =
        { text.parse() }.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut names = Vec::new();
    for section in ["dependencies", "build-dependencies"] {
        let section = manifest.get(section).and_then(|section| section.as_table());
        names.extend(section.into_iter().flatten().map(|(name, _)| name.clone()));
    }
    names.into_iter()
}

/// The files of a crate from which it is built.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder);
    let entries = entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if NOT_BUILT.contains(&name.as_ref()) || name.ends_with(".md") {
            continue;
        }
        // A folder as well, for files that are new in it.
        println!("cargo::rerun-if-changed={}", path.display());
        if path.is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
