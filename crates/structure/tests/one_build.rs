//! One build serves all: a library is compiled with the same features for the command, for the Python package and for
//! the whole workspace. With other features it would be compiled again, and with it every crate above it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

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

/// Whether a file below a folder has a test.
fn has_tests(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return has_tests(&path);
        }
        path.extension().is_some_and(|ending| ending == "rs")
            && fs::read_to_string(path).unwrap().contains("#[test]")
    })
}

#[test]
fn libraries_are_built_for_their_tests_where_there_are_some() {
    let root = workspace::here();
    let mut without = 0;
    for member in workspace::read(&root).unwrap() {
        let folder = root.join(&member.name);
        if !folder.join("src/lib.rs").exists() {
            continue;
        }
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let library = manifest.get("lib").and_then(|lib| lib.get("test"));
        let tested = library.and_then(toml::Value::as_bool).unwrap_or(true);
        assert_eq!(
            tested,
            has_tests(&folder.join("src")),
            "{}: `[lib] test` in its manifest",
            member.name
        );
        without += usize::from(!tested);
    }
    assert!(without > 0);
}

#[test]
fn libraries_are_compiled_for_macros_as_for_the_workspace() {
    let manifest = std::fs::read_to_string(workspace::here().join("Cargo.toml")).unwrap();
    let manifest: toml::Table = manifest.parse().unwrap();
    assert_eq!(
        manifest["profile"]["release"]["lto"].as_bool(),
        Some(false),
        "with another value a library of macros is compiled again wherever the workspace links it"
    );
}
