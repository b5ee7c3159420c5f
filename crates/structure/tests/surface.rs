//! The library's public interface is the one listed in `crates/npsim/api.txt`, so that changes are visible in review.
//! `NPSIM_UPDATE_API=1` rewrites the list.

use std::fs;

use npsim_structure::surface::surface;
use npsim_structure::workspace;

#[test]
fn public_interface_matches_the_listed_one() {
    let root = workspace::here();
    let crates = workspace::read(&root).unwrap();
    let now = surface(&crates, "npsim").unwrap();
    assert!(now.contains("system::System::load  fn load"), "{now}");
    assert!(now.contains("\nnpsim_chip::chip: "), "{now}");
    let path = root.join("crates/npsim/api.txt");
    if std::env::var_os("NPSIM_UPDATE_API").is_some() {
        fs::write(&path, &now).unwrap();
    }
    let listed = fs::read_to_string(&path).unwrap_or_default();
    let gone = listed
        .lines()
        .filter(|line| !now.lines().any(|it| it == *line));
    let new = now
        .lines()
        .filter(|line| !listed.lines().any(|it| it == *line));
    let changes: Vec<String> = gone
        .map(|line| format!("- {line}"))
        .chain(new.map(|line| format!("+ {line}")))
        .collect();
    assert!(
        changes.is_empty() && listed == now,
        "the library offers something else than crates/npsim/api.txt lists. If that is meant, write it anew \
         (NPSIM_UPDATE_API=1 cargo test --release -p npsim-structure --test surface), and name in CHANGELOG.md what \
         breaks:\n{}",
        changes.join("\n")
    );
}
