//! The structure of the workspace: no two files of a crate import each other, and no folder imports
//! from a layer above its own.

use npsim_structure::rules::Rules;
use npsim_structure::workspace::{self, Crate};

fn crates() -> Vec<Crate> {
    workspace::read(&workspace::here()).unwrap()
}

#[test]
fn files_of_a_crate_have_no_import_cycles() {
    let broken = Rules::of_workspace().cycle_violations(&crates());
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn folders_import_from_no_higher_layer() {
    let broken = Rules::of_workspace().layer_violations(&crates());
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn module_trees_cover_the_sources_of_every_crate() {
    for member in crates() {
        // A file below src/ that no `mod` declares for the product is test code.
        let sources = member
            .trees
            .iter()
            .map(|tree| tree.files.len())
            .sum::<usize>();
        let others = member
            .others
            .iter()
            .filter(|(name, _)| name.starts_with("src/") && !name.contains("test"))
            .count();
        assert!(sources > 0, "{} has no module tree", member.name);
        assert!(
            others * 4 <= sources,
            "{}: {others} files of src/ are in no module tree, {sources} are",
            member.name
        );
    }
}
