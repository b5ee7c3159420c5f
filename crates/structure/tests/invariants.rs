//! Statements of pages about the code are true: tests that they name exist, format versions are those that are written,
//! and sources that they name exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use npsim_structure::workspace;

/// The words in backquotes of a cell.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

fn is_test_name(word: &str) -> bool {
    let is_part = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    word.contains('_') && word.chars().all(is_part)
}

/// The cells of a column, counted from 1, of the tables of a text, without their heads. A bar in a
/// cell is written `\\|`.
fn column(text: &str, number: usize) -> Vec<String> {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| {
        let row = row.replace("\\|", "\0");
        row.split('|').nth(number).map(str::to_owned)
    });
    cells.filter(|cell| cell.contains('`')).collect()
}

#[test]
fn invariants_name_tests_that_exist() {
    const PAGE: &str = "docs/src/architecture.md";
    let root = workspace::here();
    let page = fs::read_to_string(root.join(PAGE)).unwrap();
    let section = page.split("## Rules that hold everywhere").nth(1);
    let section = section.and_then(|rest| rest.split("\n## ").next()).unwrap();
    let cells = column(section, 2);
    let mut missing: Vec<_> = { cells.iter() }
        .flat_map(|cell| quoted(cell))
        .filter(|word| is_test_name(word))
        .collect();
    assert!(missing.len() > 10, "{PAGE} names {} tests", missing.len());
    for folder in ["crates", "benches"] {
        remove_found(&root.join(folder), &mut missing);
    }
    assert!(
        missing.is_empty(),
        "{PAGE} names tests that are not there: {missing:?}"
    );
}

#[test]
fn statements_name_tests_that_exist_in_their_files() {
    const PAGE: &str = "docs/src/statements.md";
    let root = workspace::here();
    let page = fs::read_to_string(root.join(PAGE)).unwrap();
    let mut texts = BTreeMap::new();
    let mut named = 0;
    for cell in column(&page, 3) {
        let mut file = None;
        for word in quoted(&cell) {
            if Path::new(word).extension().is_some_and(|it| it == "rs") {
                let text = fs::read_to_string(root.join(word));
                let text = text.unwrap_or_else(|error| panic!("{PAGE}: `{word}`: {error}"));
                texts.insert(word.to_owned(), text);
                file = Some(word);
            } else {
                let file = file.unwrap_or_else(|| panic!("{PAGE}: `{word}` stands behind no file"));
                assert!(
                    defines_test(&texts[file], word),
                    "{PAGE}: `{file}` has no test `{word}`"
                );
                named += 1;
            }
        }
        assert!(file.is_some(), "{PAGE}: no test in `{cell}`");
    }
    assert!(named > 0, "{PAGE} names no tests");
}

/// Whether a text has a function of this name with the attribute of a test.
fn defines_test(text: &str, name: &str) -> bool {
    let head = format!("fn {name}(");
    let before = text.split_once(&head).map(|it| it.0);
    before.is_some_and(|it| it.trim_end().ends_with("#[test]"))
}

/// Removes the names of functions that a file below a folder defines.
fn remove_found(folder: &Path, missing: &mut Vec<&str>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            remove_found(&path, missing);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            missing.retain(|name| !text.contains(&format!("fn {name}(")));
        }
    }
}

#[test]
fn documented_format_versions_match_the_code() {
    const PAGE: &str = "docs/src/formats.md";
    let root = workspace::here();
    let page = fs::read_to_string(root.join(PAGE)).unwrap();
    let versions = column(&page, 2);
    let files = column(&page, 4);
    assert!(versions.len() > 8, "{PAGE} has {} formats", versions.len());
    assert_eq!(versions.len(), files.len(), "{PAGE}: rows without a file");
    for (version, file) in versions.iter().zip(&files) {
        let version = quoted(version).next().unwrap();
        let file = quoted(file).next().unwrap();
        let text = fs::read_to_string(root.join(file));
        let text = text.unwrap_or_else(|error| panic!("{PAGE}: `{file}`: {error}"));
        // A number after a name is a separate constant.
        let written = match version.split_once(' ') {
            Some((_, number)) => format!(": u32 = {number};"),
            None => format!("\"{version}\""),
        };
        assert!(
            text.contains(&written),
            "{PAGE}: `{file}` does not write `{version}`"
        );
    }
}

/// The paths of files below a folder, from the root, by the ending of their names.
fn files_below(root: &Path, folder: &Path, ending: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let is_made = ["target", "node_modules", "dist", "artifacts", "found"];
        if path.is_dir() && !is_made.iter().any(|it| name == *it) {
            files_below(root, &path, ending, found);
        } else if path.extension().is_some_and(|it| it == ending) {
            let path = path.strip_prefix(root).unwrap();
            found.push(path.to_str().unwrap().replace('\\', "/"));
        }
    }
}

#[test]
fn pages_name_existing_sources() {
    // The examples of a page, which a reader creates.
    const MADE: &[(&str, &str)] = &[("CONTRIBUTING.md", "price.rs")];
    let root = workspace::here();
    let (mut pages, mut sources) = (Vec::new(), Vec::new());
    files_below(&root, &root, "md", &mut pages);
    files_below(&root, &root, "rs", &mut sources);
    let (mut named, mut missing) = (0, Vec::new());
    for page in &pages {
        let text = fs::read_to_string(root.join(page)).unwrap();
        let is_made = |word: &str| { MADE.iter() }.any(|it| page == it.0 && word.ends_with(it.1));
        // Listings are tested by the tests that run them.
        let prose = text.split("```").step_by(2);
        for word in prose.flat_map(|it| it.lines().flat_map(quoted)) {
            let is_name = |it: char| it.is_ascii_alphanumeric() || "_-./".contains(it);
            let is_source = Path::new(word).extension().is_some_and(|it| it == "rs");
            if is_source && word.chars().all(is_name) && !is_made(word) {
                let tail = format!("/{}", word.trim_start_matches("../"));
                let is_there = sources.iter().any(|it| format!("/{it}").ends_with(&tail));
                if !is_there {
                    missing.push(format!("{page}: `{word}`"));
                }
                named += 1;
            }
        }
    }
    assert!(named > 100, "pages name {named} sources");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn fuzz_targets_are_run_and_described() {
    let folder = workspace::here().join("fuzz");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let targets = manifest["bin"].as_array().unwrap().iter();
    let mut targets: Vec<_> = targets.map(|it| it["name"].as_str().unwrap()).collect();
    targets.sort_unstable();
    // The arguments of `set --`, which continue after a backslash.
    let script = read("run.sh");
    let run = script
        .split_once("|| set -- ")
        .unwrap()
        .1
        .replace("\\\n", " ");
    let mut run: Vec<_> = run.lines().next().unwrap().split_whitespace().collect();
    run.sort_unstable();
    assert_eq!(run, targets, "fuzz/run.sh");
    let rows = column(&read("README.md"), 1);
    let mut described: Vec<_> = rows.iter().filter_map(|it| quoted(it).next()).collect();
    described.sort_unstable();
    assert_eq!(described, targets, "fuzz/README.md");
}
