//! Project files give a project that can be explained, or messages. The text after a NUL is the
//! content of every other file.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use npsim::files::MemoryFiles;
use npsim::project::{Overrides, Project};

fuzz_target!(|input: &[u8]| {
    let mut parts = input.split(|&byte| byte == 0);
    let mut files = MemoryFiles::default();
    files.insert("/p/npsim.toml", parts.next().unwrap_or_default());
    let other = parts.next().unwrap_or(b"nop\n");
    for name in ["forward.uc", "transmit.uc", "other.toml", "routes.csv", "chip.toml", "x.elf"] {
        files.insert(Path::new("/p").join(name), other);
    }
    let registry = npsim::registry();
    match Project::load_from(&files, Path::new("/p"), &Overrides::default(), &registry) {
        Ok(project) => {
            let _ = project.explain();
            let _ = npsim::load::ports(&project);
        }
        Err(problems) => {
            assert!(!problems.0.is_empty());
            for problem in &problems.0 {
                assert!(!npsim::diagnostics::render_problem(problem).is_empty());
            }
        }
    }
});
