//! Each published crate builds from its packed form and describes itself: no source reads a file outside of its crate's
//! folder, manifests are complete, and READMEs show examples that documentation tests run. The output of release
//! scripts is complete.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use npsim_structure::workspace;
use toml::Table;

/// Files that read outside of their crate on purpose, and tolerate missing files.
const ALLOWED: &[&str] = &["crates/lab/build.rs"];
/// Macros that include a file in a program.
const MACROS: &[&str] = &["include_str!(", "include_bytes!(", "include!("];

/// Rust files of a crate that are built into it: those below `src/`, and the build script with
/// its modules.
fn built(crate_folder: &Path, folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let is_other = folder == crate_folder
            && ["tests", "benches", "examples", "target"]
                .iter()
                .any(|it| name == *it);
        if path.is_dir() && !is_other {
            built(crate_folder, &path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// Whether a relative path leads out of the `depth` folders that are between it and the crate.
fn leads_out(path: &str, depth: usize) -> bool {
    let mut depth = depth as isize;
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            _ => {}
        }
        if depth < 0 {
            return true;
        }
    }
    false
}

#[test]
fn crate_sources_read_no_files_outside_the_crate() {
    let root = workspace::here();
    let mut outside = Vec::new();
    for member in workspace::read(&root).unwrap() {
        let folder = root.join(&member.name);
        let mut files = Vec::new();
        built(&folder, &folder, &mut files);
        assert!(!files.is_empty(), "{} has no sources", member.name);
        for file in files {
            let below = file.strip_prefix(&folder).unwrap();
            let name = Path::new(&member.name).join(below);
            if ALLOWED.iter().any(|allowed| Path::new(allowed) == name) {
                continue;
            }
            let depth = below.components().count() - 1;
            let text = std::fs::read_to_string(&file).unwrap();
            let is_build_script = below.ends_with("build.rs") || below.starts_with("build");
            for line in text.lines() {
                let takes = MACROS.iter().any(|it| line.contains(it));
                // The parts between quotation marks.
                let mut strings = line.split('"').skip(1).step_by(2);
                let out = strings.any(|it| it.contains("../") && leads_out(it, depth));
                if (takes || is_build_script) && out {
                    outside.push(format!("{}: {}", name.display(), line.trim()));
                }
            }
        }
    }
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}

#[test]
fn paths_leaving_a_crate_are_recognised() {
    assert!(leads_out("../../../docs/src/json.md", 1));
    assert!(leads_out("../../isa", 0));
    assert!(leads_out("a/../../b", 0));
    assert!(!leads_out("../studies/hauger/study.toml", 1));
    assert!(!leads_out("page/../page.css", 0));
}

/// The folders of the crates that are published, and their manifests.
fn published(root: &Path) -> Vec<(PathBuf, Table)> {
    let members = workspace::read(root).unwrap().into_iter();
    let all = members.map(|member| {
        let folder = root.join(&member.name);
        let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        (folder, text.parse::<Table>().unwrap())
    });
    let found: Vec<_> = all
        .filter(|(_, manifest)| {
            !manifest["package"]
                .as_table()
                .unwrap()
                .contains_key("publish")
        })
        .collect();
    assert!(found.len() > 20, "{} crates are published", found.len());
    found
}

#[test]
fn manifests_of_published_crates_are_complete() {
    let root = workspace::here();
    for (folder, manifest) in published(&root) {
        let at = folder.display();
        let package = manifest["package"].as_table().unwrap();
        for key in [
            "description",
            "repository",
            "readme",
            "keywords",
            "categories",
        ] {
            assert!(package.contains_key(key), "{at}: no `{key}`");
        }
        for key in ["version", "rust-version", "license", "repository"] {
            let inherits = package[key].get("workspace");
            assert!(inherits.is_some(), "{at}: `{key}` is not the workspace's");
        }
        let description = package["description"].as_str();
        assert!(
            description.is_some(),
            "{at}: the description is not its own"
        );
        let bounded = package.contains_key("exclude") || package.contains_key("include");
        assert!(bounded, "{at}: its tests would be packed");
        for name in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            let text = fs::read_to_string(folder.join(name));
            assert!(text.is_ok_and(|text| text.len() > 50), "{at}: no {name}");
        }
    }
}

/// The text between lines that begin with the two marks.
fn blocks(text: &str, begin: &str, end: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while lines.by_ref().any(|line| line.starts_with(begin)) {
        let block = lines.by_ref().take_while(|line| !line.starts_with(end));
        found.push(block.map(str::to_owned).collect());
    }
    found
}

#[test]
fn readme_examples_of_published_crates_are_tested() {
    let root = workspace::here();
    let first = fs::read_to_string(root.join("README.md")).unwrap();
    let first = blocks(&first, "```rust", "```");
    let mut shown = 0;
    for (folder, _) in published(&root) {
        let library = fs::read_to_string(folder.join("src/lib.rs")).unwrap_or_default();
        let documentation: String = { library.lines() }
            .map_while(|line| line.strip_prefix("//!"))
            .map(|line| line.strip_prefix(' ').unwrap_or(line))
            .filter(|line| !line.starts_with("# "))
            .flat_map(|line| [line, "\n"])
            .collect();
        let mut tested = blocks(&documentation, "```", "```");
        // The program of the repository's README.
        tested.extend(first.iter().cloned());
        let text = fs::read_to_string(folder.join("README.md")).unwrap();
        for example in blocks(&text, "```rust", "```") {
            let at = folder.display();
            assert!(
                tested.contains(&example),
                "{at}: README.md shows what no test of its documentation runs: {}",
                example.join("\n")
            );
            shown += 1;
        }
    }
    assert!(shown >= 8, "READMEs show {shown} examples");
}

fn name(manifest: &Table) -> &str {
    manifest["package"]["name"].as_str().unwrap()
}

/// The crates of the workspace that a section of a manifest names.
fn named<'a>(manifest: &'a Table, section: &str, own: &BTreeSet<&str>) -> BTreeSet<&'a str> {
    let section = manifest.get(section).and_then(|it| it.as_table());
    let names = section.into_iter().flat_map(|it| it.keys());
    let names = names.map(String::as_str);
    names.filter(|name| own.contains(name)).collect()
}

/// A dependency with a version stays in the packed manifest and must exist in the registry: no published crate depends
/// on an unpublished one, or on one that depends on it, not even for its tests.
#[test]
fn published_crates_depend_acyclically_on_published_crates() {
    let root = workspace::here();
    let published = published(&root);
    let workspace = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let workspace = workspace.parse::<Table>().unwrap();
    let known = workspace["workspace"]["dependencies"].as_table().unwrap();
    let own = { known.iter() }.filter(|(_, how)| how.get("path").is_some());
    let own: BTreeSet<&str> = own.map(|(name, _)| name.as_str()).collect();
    let needs: BTreeMap<&str, BTreeSet<&str>> = { published.iter() }
        .map(|(_, manifest)| {
            let built = named(manifest, "dependencies", &own);
            let script = named(manifest, "build-dependencies", &own);
            (name(manifest), built.union(&script).copied().collect())
        })
        .collect();
    for (_, manifest) in &published {
        let from = name(manifest);
        for needed in &needs[from] {
            assert!(
                needs.contains_key(needed),
                "{from} needs {needed}, which is not published"
            );
        }
        for tested in named(manifest, "dev-dependencies", &own) {
            if known[tested].get("version").is_none() {
                continue;
            }
            let mut reached = BTreeSet::from([tested]);
            let mut left = vec![tested];
            while let Some(next) = left.pop() {
                let more = needs.get(next).into_iter().flatten();
                left.extend(more.copied().filter(|it| reached.insert(it)));
            }
            assert!(
                !reached.contains(from),
                "tests of {from} need {tested}, which needs {from}"
            );
            assert!(
                needs.contains_key(tested),
                "tests of {from} need {tested}, which is not published but has a version"
            );
        }
    }
}

#[test]
fn promised_minimum_rust_is_the_toolchain_version() {
    let root = workspace::here();
    let table = |name: &str| {
        let text = fs::read_to_string(root.join(name)).unwrap();
        text.parse::<Table>().unwrap()
    };
    let promised = &table("Cargo.toml")["workspace"]["package"]["rust-version"];
    let used = &table("rust-toolchain.toml")["toolchain"]["channel"];
    let promised = promised.as_str().unwrap();
    let used = used.as_str().unwrap();
    assert!(
        used == promised || used.starts_with(&format!("{promised}.")),
        "manifests promise Rust {promised}, the gate compiles with {used}"
    );
}

/// Whether `packaging/set-version --check` accepts this as a version; `None` without Python.
fn accepts_version(version: &str) -> Option<bool> {
    let script = workspace::here().join("packaging/set-version");
    let mut python = Command::new("python3");
    let ran = python.arg(script).args(["--check", version]).output();
    let said = String::from_utf8(ran.ok()?.stderr).unwrap();
    Some(!said.contains("is no version"))
}

#[test]
fn only_valid_cargo_versions_are_accepted() {
    for good in ["0.3.0", "10.20.30", "0.3.0-rc.1", "1.0.0-0a.x-y"] {
        assert_ne!(accepts_version(good), Some(false), "{good}");
    }
    for bad in [
        "",
        "1.2",
        "v1.2.3",
        "01.2.3",
        "1.2.3-",
        "1.2.3-..",
        "1.2.3-01",
        "1.2.3+b",
        "1.2.3\n",
        "\u{663}.2.3",
        "99999999999999999999.0.0",
    ] {
        assert_ne!(accepts_version(bad), Some(true), "{bad}");
    }
}

#[cfg(unix)]
mod scripts {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use npsim_structure::workspace;

    const NOTES: &str = "packaging/release-notes";

    /// The result of the script for a changelog: its exit code, and its output on both streams.
    fn release_notes(changelog: &str, version: &str) -> (Option<i32>, String) {
        let name = format!("notes-{}-{version}", changelog.len());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let script = folder.join(NOTES);
        fs::create_dir_all(script.parent().unwrap()).unwrap();
        fs::copy(workspace::here().join(NOTES), &script).unwrap();
        fs::write(folder.join("CHANGELOG.md"), changelog).unwrap();
        let output = Command::new("bash")
            .arg(&script)
            .arg(version)
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    }

    const CHANGELOG: &str = "# Changelog\n\n## Unreleased\n\n## 0.3.0 - 2027-01-01\n\n\
        **Run.** Two lines\nof a [page](docs/src/run.md).\n\n- An entry\n  of two lines.\n- Another.\n\n\
        ## 0.2.0 - 2026-01-01\n\nOlder.\n";

    #[test]
    fn release_notes_are_the_unwrapped_changelog_section() {
        let (code, text) = release_notes(CHANGELOG, "0.3.0");
        assert_eq!(
            text,
            "**Run.** Two lines of a [page](https://github.com/npsim/npsim/blob/v0.3.0/docs/src/run.md).\n\n\
             - An entry of two lines.\n- Another.\n"
        );
        assert_eq!(code, Some(0));
        let (code, text) = release_notes(CHANGELOG, "0.2.0");
        assert_eq!((code, text.as_str()), (Some(0), "Older.\n"));
    }

    #[test]
    fn release_notes_refuse_missing_or_unreleased_entries() {
        let (code, text) = release_notes(CHANGELOG, "0.4.0");
        assert_eq!(code, Some(1));
        assert!(text.contains("no section `## 0.4.0`"), "{text}");
        let uncut = CHANGELOG.replace("Unreleased\n", "Unreleased\n\n- Not in a version yet.\n");
        let (code, text) = release_notes(&uncut, "0.3.0");
        assert_eq!(code, Some(1));
        assert!(text.contains("entries under Unreleased"), "{text}");
    }

    /// On Windows, a redirected script has an 8-bit code page.
    #[test]
    fn licence_texts_are_utf_8_on_any_console() {
        let script = workspace::here().join("packaging/third-party");
        let is_new = "import sys; sys.exit(sys.version_info < (3, 11))";
        let python = Command::new("python3").args(["-c", is_new]).status();
        if !python.is_ok_and(|it| it.success()) {
            println!("skipped: Python 3.11 is not there");
            return;
        }
        let output = Command::new("python3")
            .arg(&script)
            .arg("--texts")
            .env("PYTHONIOENCODING", "ascii")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mistake = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{mistake}");
        assert!(!text.is_ascii() && text.contains("Permission is hereby granted"));
    }
}
