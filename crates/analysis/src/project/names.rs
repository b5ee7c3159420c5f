//! The names that can occur in a project file: of chips and boards, of things that the project
//! itself names, of files.

use std::collections::BTreeSet;
use std::path::Path;

use npsim_profile::{Board, Profile};
use npsim_project::files::Files;
use toml::{Table, Value};

use super::super::documents::Documents;
use super::super::roots::is_folder;
use super::super::workspace::is_toml;

/// Maximum depth of files that extend one another.
const MAX_DEPTH: usize = 8;
/// Maximum depth of the folders whose files are offered.
const MAX_FOLDER_DEPTH: usize = 2;
/// Maximum number of files offered.
const MAX_NAMES: usize = 200;

/// The names of a kind (`x-names` of the schema) in a file.
#[must_use]
pub fn names(documents: &Documents, path: &Path, text: &str, kind: &str) -> Vec<String> {
    let owned = |names: &mut dyn Iterator<Item = &'static str>| names.map(str::to_owned).collect();
    let folder = path.parent().unwrap_or_else(|| Path::new(""));
    let on = documents.files();
    match kind {
        "chips" => owned(&mut Profile::names()),
        "boards" => owned(&mut Board::names()),
        "spaces" => owned(&mut ["scratch", "sram0", "sram1", "sram2", "sram3", "dram"].into_iter()),
        "sources" => files(on, folder, &|it| {
            it.extension().is_some_and(|it| it == "uc")
        }),
        "projects" => files(on, folder, &|it| is_toml(it) && it != path),
        "folders" => files(on, folder, &|it| is_folder(on, it)),
        list => {
            let mut found = BTreeSet::new();
            collect(documents, path, text, list, 0, &mut found);
            found.into_iter().collect()
        }
    }
}

/// Collects the names of the entries of a list, in a file and in those that it extends.
fn collect(
    documents: &Documents,
    path: &Path,
    text: &str,
    list: &str,
    depth: usize,
    found: &mut BTreeSet<String>,
) {
    found.extend(names_in_list(text, list));
    if depth == MAX_DEPTH {
        return;
    }
    for other in extended_files(text) {
        let other = path.parent().unwrap_or_else(|| Path::new("")).join(other);
        if let Some(text) = documents.text(&other) {
            collect(documents, &other, &text, list, depth + 1, found);
        }
    }
}

/// The sections of a text, separately, so that an error in one does not affect the others.
fn sections(text: &str) -> impl Iterator<Item = &str> {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices("\n[").map(|(at, _)| at + 1))
        .chain([text.len()])
        .collect();
    let pairs: Vec<(usize, usize)> = starts.windows(2).map(|it| (it[0], it[1])).collect();
    pairs.into_iter().map(|(start, end)| &text[start..end])
}

fn names_in_list(text: &str, list: &str) -> Vec<String> {
    let header = format!("[[{list}]]");
    let own = sections(text).filter(|it| it.starts_with(&header));
    let name = |section: &str| {
        // A line that is being typed may not be valid TOML.
        let line = section.lines().find(|line| {
            let rest = line.trim_start().strip_prefix("name");
            rest.is_some_and(|rest| rest.trim_start().starts_with('='))
        })?;
        let table: Table = line.parse().ok()?;
        Some(table.get("name")?.as_str()?.to_owned())
    };
    own.filter_map(name).collect()
}

/// The files that a text extends. Other lines may not be valid TOML yet.
fn extended_files(text: &str) -> Vec<String> {
    let head = sections(text).next().unwrap_or_default();
    let mut at = 0;
    let mut lines = head.split_inclusive('\n').map(|line| {
        at += line.len();
        (at - line.len(), at, line)
    });
    let is_key = |line: &str| line.trim_start().starts_with("extends");
    let Some((start, end, _)) = lines.find(|(_, _, line)| is_key(line)) else {
        return Vec::new();
    };
    // A list may span several lines.
    let ends = std::iter::once(end).chain(lines.map(|(_, end, _)| end));
    let table = ends
        .take(MAX_NAMES)
        .find_map(|end| head[start..end].parse::<Table>().ok());
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match table.and_then(|mut it| it.remove("extends")) {
        Some(Value::Array(values)) => values.iter().filter_map(text).collect(),
        Some(value) => text(&value).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Files in a folder and its subfolders, and in the folders beside it, as a project would name
/// them.
fn files(on: &dyn Files, folder: &Path, wanted: &dyn Fn(&Path) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    search_folder(on, folder, "", MAX_FOLDER_DEPTH, wanted, &mut found);
    if let Some(above) = folder.parent() {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let mut siblings = Vec::new();
        search_folder(
            on,
            above,
            "../",
            MAX_FOLDER_DEPTH - 1,
            wanted,
            &mut siblings,
        );
        let own = format!("../{name}");
        siblings.retain(|it| !Path::new(it).starts_with(&own));
        found.append(&mut siblings);
    }
    found.truncate(MAX_NAMES);
    found
}

fn search_folder(
    on: &dyn Files,
    folder: &Path,
    prefix: &str,
    depth: usize,
    wanted: &dyn Fn(&Path) -> bool,
    found: &mut Vec<String>,
) {
    let Ok(mut paths) = on.list(folder) else {
        return;
    };
    paths.sort();
    for path in paths {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.starts_with('.') || name == "target" || found.len() >= MAX_NAMES {
            continue;
        }
        let shown = format!("{prefix}{name}");
        if wanted(&path) {
            found.push(shown.clone());
        }
        if depth > 0 && is_folder(on, &path) {
            search_folder(on, &path, &format!("{shown}/"), depth - 1, wanted, found);
        }
    }
}
