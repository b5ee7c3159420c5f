//! The microcode of the repository assembles, and its disassembly assembles to
//! the same words.

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use npsim_asm::{Assembly, Options, assemble, disassemble};
use support::{Texts, describe, image};

/// All `.uc` files below a folder, by file name.
fn texts(folder: &Path, into: &mut BTreeMap<String, String>, mains: &mut Vec<String>) {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            texts(&path, into, mains);
        } else if path.extension().is_some_and(|extension| extension == "uc") {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let library = path.parent().unwrap().ends_with("lib");
            let key = if library {
                name
            } else {
                let key = path.to_str().unwrap().to_owned();
                mains.push(key.clone());
                key
            };
            into.insert(key, std::fs::read_to_string(&path).unwrap());
        }
    }
}

/// Names that a project file supplies get some value: numbers, and a ring for
/// names of input states.
fn supplied(assembly: &Assembly, defines: &mut Vec<(String, String)>) -> bool {
    let before = defines.len();
    for diagnostic in &assembly.diagnostics {
        let text = match diagnostic.code {
            "not-constant" => "3",
            "unknown-state" => "scr_ring1_status",
            _ => continue,
        };
        let name = diagnostic.message.split('`').nth(1).unwrap_or_default();
        if !name.is_empty() && defines.iter().all(|(known, _)| known != name) {
            defines.push((name.to_owned(), text.to_owned()));
        }
    }
    defines.len() > before
}

#[test]
fn all_programs_assemble_and_come_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode");
    let mut files = BTreeMap::new();
    let mut mains = Vec::new();
    texts(&root, &mut files, &mut mains);
    assert!(!mains.is_empty());
    let files = Texts(files);
    for main in &mains {
        let mut options = Options::default();
        let mut assembly = assemble(main, &files, &options);
        while assembly.image.is_none() && supplied(&assembly, &mut options.defines) {
            assembly = assemble(main, &files, &options);
        }
        let Some(first) = &assembly.image else {
            panic!("{main}\n{}", describe(&assembly));
        };
        let second = image(&disassemble(first));
        assert_eq!(first.words, second.words, "{main}");
        assert_eq!(first.nn_mode, second.nn_mode);
    }
}
