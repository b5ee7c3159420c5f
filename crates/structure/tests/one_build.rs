//! One build serves all: a library is compiled with the same features for the command, for the Python package and for
//! the whole workspace. With other features, it would be compiled again, and with it every crate that depends on it. No
//! library is compiled for unit tests that it does not have.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use npsim_structure::modules::ModuleTree;
use npsim_structure::workspace;

/// Libraries that `selection` links or that its build scripts and macros use, each with its features.
fn libraries(selection: &[&str]) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree", "--locked", "--prefix", "none", "--format", "{p} {f}",
        ])
        .args(selection)
        .current_dir(workspace::here())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| line.trim_end_matches(" (*)").trim_end().to_string())
        .collect()
}

#[test]
fn libraries_have_the_same_features_in_every_build() {
    let all = libraries(&["--workspace", "--edges", "normal,build,dev"]);
    for package in ["npsim-cli", "npsim-python"] {
        let alone = libraries(&["--package", package, "--edges", "normal,build"]);
        assert!(alone.len() > 100, "{alone:?}");
        let others: Vec<&String> = alone.difference(&all).collect();
        assert!(
            others.is_empty(),
            "the workspace turns features on that {package} alone has not: name them under \"Used by no line of ours\" \
             in Cargo.toml:\n{others:#?}"
        );
    }
}

#[test]
fn libraries_without_unit_tests_set_test_false() {
    let root = workspace::here();
    let mut without = 0;
    for member in workspace::read(&root).unwrap() {
        let is_library = |tree: &&ModuleTree| tree.files[0].name.ends_with("lib.rs");
        let Some(library) = member.trees.iter().find(is_library) else {
            continue;
        };
        let has_tests = { library.files.iter() }.any(|file| file.text.contains("#[test]"));
        let manifest = fs::read_to_string(root.join(&member.name).join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let said = manifest.get("lib").and_then(|lib| lib.get("test"));
        let is_tested = said.and_then(toml::Value::as_bool).unwrap_or(true);
        assert_eq!(
            is_tested, has_tests,
            "{}: its manifest has to say `test = false` under [lib] where the library has no test, and only there",
            member.name
        );
        without += usize::from(!has_tests);
    }
    assert!(without > 0);
}

#[test]
fn release_profile_turns_lto_off() {
    let manifest = std::fs::read_to_string(workspace::here().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    assert_eq!(
        manifest["profile"]["release"]["lto"].as_bool(),
        Some(false),
        "with another value a library of macros is compiled again wherever the workspace links it"
    );
}
