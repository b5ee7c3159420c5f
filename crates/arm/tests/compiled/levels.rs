//! Programs in C (`tests/compiled/c`), compiled at each level for ARM and Thumb.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{linux, qemu};

const COMPILER: &str = "arm-none-eabi-gcc";

/// The programs of the folder, ordered by name.
fn sources() -> (PathBuf, Vec<PathBuf>) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compiled/c");
    let mut sources: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "c"))
        .collect();
    sources.sort();
    (folder, sources)
}

#[test]
fn compiled_programs_match_qemu_output() {
    if !qemu::available(COMPILER) || !qemu::available("qemu-arm") {
        return;
    }
    let (folder, sources) = sources();
    let target = tempfile::tempdir().unwrap();
    let thorough = std::env::var_os("NPSIM_THOROUGH").is_some();
    let mut ways = Vec::new();
    for (i, source) in sources.iter().enumerate() {
        for (j, level) in ["-O0", "-O1", "-O2", "-O3"].into_iter().enumerate() {
            for (k, state) in ["-marm", "-mthumb"].into_iter().enumerate() {
                // Each way of a program in turn, or all.
                if thorough || (i + 2 * k) % 4 == j {
                    ways.push((source, level, state));
                }
            }
        }
    }
    for (source, level, state) in ways {
        let program = target.path().join("program");
        let status = Command::new(COMPILER)
            .args([
                "-mcpu=xscale",
                "-ffreestanding",
                "-nostdlib",
                "-static",
                "-w",
                level,
                state,
                "-o",
            ])
            .arg(&program)
            .arg(folder.join("start.s"))
            .arg(source)
            .arg("-lgcc")
            .status()
            .unwrap();
        assert!(status.success(), "{source:?}");
        let expected = qemu::run("qemu-arm", &program, &["program"], &[]);
        assert!(!expected.written.is_empty());
        let found = linux::run(&std::fs::read(&program).unwrap(), &["program"], &[]);
        assert_eq!(found, Ok(expected), "{source:?} {level} {state}");
    }
}
