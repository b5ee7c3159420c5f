//! Turns the tables in `isa/` into Rust source; a bad table stops the build.

use std::path::PathBuf;
use std::{env, fs};

#[path = "build/mod.rs"]
mod generator;

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets this"));
    let tables = root.join("../../isa");
    let mut sources = generator::Sources::default();
    for (name, slot) in sources.slots() {
        let path = tables.join(name);
        println!("cargo:rerun-if-changed={}", path.display());
        match fs::read_to_string(&path) {
            Ok(text) => *slot = text,
            Err(error) => stop(&[format!("cannot read {}: {error}", path.display())]),
        }
    }
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=build.rs");
    match generator::generate(&sources) {
        Ok(files) => {
            let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets this"));
            for (name, text) in files {
                fs::write(out.join(name), text).expect("OUT_DIR is writable");
            }
        }
        Err(errors) => stop(&errors),
    }
}

fn stop(errors: &[String]) -> ! {
    for error in errors {
        eprintln!("error: {error}");
    }
    panic!(
        "the instruction tables hold {} error(s), see above",
        errors.len()
    );
}
