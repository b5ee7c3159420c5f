//! Turns the tables in `isa/` into Rust source; a bad table stops the build.

use std::path::PathBuf;
use std::{env, fs};

#[path = "build/mod.rs"]
mod generator;

fn main() {
    let mut sources = generator::Sources::default();
    for (name, slot) in sources.slots() {
        match npsim_isa_tables::table(name) {
            Some(text) => text.clone_into(slot),
            None => stop(&[format!("there is no table {name}")]),
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
