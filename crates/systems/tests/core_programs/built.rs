//! The ELF files equal a build of their sources, if the compiler that made them is installed.

use std::path::Path;
use std::process::Command;

use npsim_testkit::microcode::shipped;

/// The compiler, and the version that the committed files are from.
const COMPILER: &str = "arm-none-eabi-gcc";
const VERSION: &str = "12.2.1";

/// The folders with programs of the core. Those of tests share start-up code, so the relative positions of folders are
/// kept.
const FOLDERS: [&str; 3] = [
    "microcode/core",
    "crates/xscale/tests/programs",
    "crates/systems/tests/firmware/core_program",
];

/// The program in Rust, from a nightly compiler whose code changes from night to night.
const IN_RUST: &str = "tally.elf";

/// Copies the folder of sources, so that the build has a different path from the one that made the files.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else if path.extension().is_none_or(|kind| kind != "elf") {
            std::fs::copy(&path, target).unwrap();
        }
    }
}

fn is_installed() -> bool {
    let version = Command::new(COMPILER).arg("-dumpversion").output();
    version.is_ok_and(|it| String::from_utf8_lossy(&it.stdout).trim() == VERSION)
        && Command::new("make").arg("--version").output().is_ok()
}

fn make(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("make");
    let made = command
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let diagnostics = String::from_utf8_lossy(&made.stderr);
    assert!(
        made.status.success() && !diagnostics.contains("warning"),
        "{diagnostics}"
    );
}

/// The programs in a folder, by name.
fn programs(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut programs: Vec<_> = paths
        .filter(|path| path.extension().is_some_and(|kind| kind == "elf"))
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect();
    programs.sort();
    programs
}

#[test]
fn committed_programs_equal_a_build_of_their_sources() {
    if !is_installed() {
        eprintln!("{COMPILER} {VERSION} is not installed");
        return;
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let repository = shipped().parent().unwrap().to_owned();
    for folder in FOLDERS {
        copy(&repository.join(folder), &elsewhere.path().join(folder));
    }
    for folder in FOLDERS {
        let built = elsewhere.path().join(folder);
        make(&built, &[]);
        let mut committed = programs(&repository.join(folder));
        committed.retain(|(name, _)| name != IN_RUST);
        assert_equal_the_build(&committed, &programs(&built));
    }
}

/// The committed programs equal the built ones and contain no path of a machine.
fn assert_equal_the_build(committed: &[(String, Vec<u8>)], built: &[(String, Vec<u8>)]) {
    let names = |all: &[(String, Vec<u8>)]| -> Vec<String> {
        all.iter().map(|program| program.0.clone()).collect()
    };
    assert_eq!(names(committed), names(built));
    for ((name, committed), (_, built)) in committed.iter().zip(built) {
        assert!(
            committed == built,
            "{name} is older than its sources: run make"
        );
        let mut strings = built.split(|byte| *byte == 0);
        let path = strings.find(|it| is_absolute(it));
        let path = path.map(String::from_utf8_lossy);
        assert_eq!(path, None, "{name} has a path of the machine in it");
    }
}

/// Whether a string looks like the path of a file from the root on.
fn is_absolute(string: &[u8]) -> bool {
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
    matches!(string, [b'/', b'a'..=b'z', _, _, ..]) && string.iter().all(is_of_name)
}

#[test]
fn programs_build_for_a_little_endian_core() {
    if !is_installed() {
        eprintln!("{COMPILER} {VERSION} is not installed");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    copy(&shipped().join("core"), folder.path());
    make(folder.path(), &["ORDER=little", "BUILD=little"]);
    for (name, bytes) in programs(&folder.path().join("little")) {
        let program = npsim_xscale::Program::read(&bytes).unwrap();
        assert_eq!(program.order, npsim_arm::ByteOrder::Little, "{name}");
    }
}
