//! The tests that the architecture page names as the keepers of its invariants exist.

use npsim_structure::workspace;

const PAGE: &str = "docs/src/architecture.md";

/// The names in backticks of the second column of the invariants' table that are names of tests.
fn keepers(page: &str) -> Vec<String> {
    let section = page
        .split("## Rules that hold everywhere")
        .nth(1)
        .and_then(|rest| rest.split("\n## ").next())
        .unwrap();
    let rows = section.lines().filter_map(|line| line.split('|').nth(2));
    rows.flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter(|name| {
            name.contains('_') && name.chars().all(|it| it.is_ascii_lowercase() || it == '_')
        })
        .map(str::to_owned)
        .collect()
}

#[test]
fn invariants_name_tests_that_exist() {
    let root = workspace::here();
    let page = std::fs::read_to_string(root.join(PAGE)).unwrap();
    let names = keepers(&page);
    assert!(names.len() > 10, "{PAGE} names {} tests", names.len());
    let mut missing = names;
    for folder in ["crates", "benches"] {
        drop_found(&root.join(folder), &mut missing);
    }
    assert!(
        missing.is_empty(),
        "{PAGE} names tests that are not there: {missing:?}"
    );
}

/// Takes out the names of functions that a file below a folder defines.
fn drop_found(folder: &std::path::Path, missing: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            drop_found(&path, missing);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            missing.retain(|name| !text.contains(&format!("fn {name}(")));
        }
    }
}
