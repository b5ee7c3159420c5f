//! The structure that the workspace must keep, and its violations.
//!
//! Existing violations are listed in `rules.toml`. The list may only shrink, and an entry
//! that no longer applies is an error as well.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::circles::circles;
use crate::imports::{Imports, imports_across};
use crate::modules::ModuleTree;
use crate::workspace::Crate;

/// The contents of `rules.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// Files that are still in a circle, relative to the workspace's root.
    #[serde(default)]
    pub in_circles: BTreeSet<String>,
    /// Crates with modules arranged in layers.
    #[serde(default)]
    pub floors: Vec<Floors>,
}

/// The layers ("floors") of one crate.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Floors {
    /// The crate's folder, relative to the workspace's root.
    #[serde(rename = "crate")]
    pub member: String,
    /// Top-level modules by floor, lowest floor first. A module may import from its own
    /// floor and from those below.
    pub floors: Vec<Vec<String>>,
}

impl Rules {
    /// Reads the rules of this workspace.
    ///
    /// # Panics
    /// Panics if `rules.toml` does not match this structure.
    #[must_use]
    pub fn of_workspace() -> Self {
        toml::from_str(include_str!("../rules.toml")).expect("rules.toml has circles and floors")
    }

    /// Returns the violations by circles: each circle with a file that is not listed, and
    /// each listed file that is in no circle. Empty if there are none.
    #[must_use]
    pub fn cycle_violations(&self, crates: &[Crate]) -> Vec<String> {
        let found: Vec<(BTreeSet<String>, String)> =
            crates.iter().flat_map(import_cycles).collect();
        let new = found
            .iter()
            .filter(|(files, _)| !files.is_subset(&self.in_circles))
            .map(|(files, arrows)| format!("circle of {} files:\n{arrows}", files.len()));
        let gone = self
            .in_circles
            .iter()
            .filter(|file| !found.iter().any(|(files, _)| files.contains(*file)))
            .map(|file| format!("rules.toml: {file} is in no circle any more, take it out"));
        new.chain(gone).collect()
    }

    /// Returns the violations of the floors: one line per upward import, and per module
    /// without a floor.
    #[must_use]
    pub fn layer_violations(&self, crates: &[Crate]) -> Vec<String> {
        let mut broken = Vec::new();
        for rule in &self.floors {
            let Some(member) = crates.iter().find(|member| member.name == rule.member) else {
                broken.push(format!("rules.toml: there is no crate {}", rule.member));
                continue;
            };
            for tree in &member.trees {
                broken.extend(rule.violations_in(tree));
            }
        }
        broken
    }
}

impl Floors {
    fn violations_in(&self, tree: &ModuleTree) -> Vec<String> {
        let mut broken = BTreeSet::new();
        let floors: Vec<Option<usize>> = tree
            .files
            .iter()
            .map(|file| self.floor_of(&file.name))
            .collect();
        for (file, floor) in tree.files.iter().zip(&floors) {
            if floor.is_none() && file.parent.is_some() {
                broken.insert(format!(
                    "{}: {} has no floor",
                    self.member,
                    top_module(&file.name)
                ));
            }
        }
        for ((from, to), names) in imports_across(tree) {
            if let (Some(lower), Some(upper)) = (floors[from], floors[to])
                && lower < upper
            {
                let (from, to) = (&tree.files[from].name, &tree.files[to].name);
                broken.insert(format!(
                    "{}: {from} imports from a higher floor, {to}: {names:?}",
                    self.member
                ));
            }
        }
        broken.into_iter().collect()
    }

    fn floor_of(&self, file: &str) -> Option<usize> {
        let module = top_module(file);
        self.floors
            .iter()
            .position(|floor| floor.iter().any(|name| name == module))
    }
}

/// The top-level module of a file under `src/`.
fn top_module(file: &str) -> &str {
    let below = file.strip_prefix("src/").unwrap_or(file);
    below
        .split('/')
        .next()
        .unwrap_or(below)
        .trim_end_matches(".rs")
}

/// Returns each circle of a crate: its files, and the imports among them as text.
#[must_use]
pub fn import_cycles(member: &Crate) -> Vec<(BTreeSet<String>, String)> {
    let mut found = Vec::new();
    for tree in &member.trees {
        let imports = imports_across(tree);
        let name = |file: usize| format!("{}/{}", member.name, tree.files[file].name);
        for circle in circles(&imports) {
            let files = circle.iter().map(|&file| name(file)).collect();
            found.push((files, arrows_text(&imports, &circle, name)));
        }
    }
    found
}

fn arrows_text(imports: &Imports, circle: &[usize], name: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for ((from, to), names) in imports {
        if circle.contains(from) && circle.contains(to) {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            text += &[
                "  ",
                &name(*from),
                " -> ",
                &name(*to),
                ": ",
                &names.join(", "),
                "\n",
            ]
            .concat();
        }
    }
    text
}
