//! Turns the tables in `isa/` into Rust source; a bad table stops the build.

use std::path::PathBuf;
use std::{env, fs};

use npsim_isa_generator::{Sources, generate};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    match generate(&Sources::shipped()) {
        Ok(files) => {
            let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets this"));
            for (name, text) in files {
                fs::write(out.join(name), text).expect("OUT_DIR is writable");
            }
        }
        Err(errors) => {
            for error in &errors {
                eprintln!("error: {error}");
            }
            panic!(
                "the instruction tables hold {} error(s), see above",
                errors.len()
            );
        }
    }
}
