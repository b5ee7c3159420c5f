//! Project files: what can be written in them and what their keys mean, from the schema derived
//! from the types that read them.

mod names;
mod place;
mod schema;

use std::ops::Range;

use npsim_project::FILE_NAME;

use self::place::{At, Place, is_bare, path_of, place};
use self::schema::{Node, root};
use super::items::{Completion, Item, ItemKind};
use super::workspace::{Spot, Workspace, is_toml};

/// Whether a text is a project file: by its name, because a project is read from it, or by its
/// content.
#[must_use]
pub fn is_project(workspace: &Workspace, spot: &Spot) -> bool {
    let Spot { path, text, .. } = spot;
    let named = path.file_name().is_some_and(|name| name == FILE_NAME);
    let of_project = || {
        workspace
            .projects
            .roots
            .iter()
            .any(|root| root.files.iter().any(|it| it == path))
    };
    let says = || {
        let mut lines = text.split('\n').map(str::trim);
        lines.any(|line| line.starts_with("[[me]]") || line.starts_with("extends"))
    };
    is_toml(path) && (named || of_project() || says())
}

/// The completions at a place in a project file.
#[must_use]
pub fn completion(workspace: &Workspace, spot: &Spot) -> Completion {
    let Some(place) = place(&spot.text, spot.offset) else {
        return Completion::default();
    };
    let items = match place.at {
        At::Header => sections(spot, &place),
        At::Key => keys(spot, &place),
        At::Value => values(workspace, spot, &place),
    };
    Completion {
        typed: place.typed,
        items,
    }
}

fn item(label: String, text: String, kind: ItemKind, doc: &str) -> Item {
    Item {
        label,
        kind,
        detail: None,
        doc: (!doc.is_empty()).then(|| doc.to_owned()),
        text,
        filter: None,
    }
}

/// All sections: their names, whether they are arrays of tables, and their schema nodes.
fn all_sections() -> Vec<(String, bool, Node)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), root())];
    while let Some((prefix, node)) = open.pop() {
        for (key, node) in node.keys() {
            let name = format!("{prefix}{key}");
            let (one, several) = node.section();
            found.extend(one.then(|| (name.clone(), false, node)));
            found.extend(several.then(|| (name.clone(), true, node)));
            if one || several {
                open.push((format!("{name}."), node));
            }
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    found
}

/// The completions of sections after one bracket, or after two.
fn sections(spot: &Spot, place: &Place) -> Vec<Item> {
    let wanted = spot.text[..place.typed.start].ends_with("[[");
    let text_after = spot.text[place.typed.end..].trim_start_matches(|it| is_bare(it) || it == '.');
    let closed = if text_after.starts_with(']') {
        ""
    } else if wanted {
        "]]"
    } else {
        "]"
    };
    let rows = all_sections()
        .into_iter()
        .filter(|(_, list, _)| *list == wanted);
    rows.map(|(name, _, node)| {
        let written = format!("{name}{closed}");
        item(
            name,
            written,
            ItemKind::Section,
            node.text().unwrap_or_default(),
        )
    })
    .collect()
}

fn keys(spot: &Spot, place: &Place) -> Vec<Item> {
    let Some(node) = root().at(&place.path) else {
        return Vec::new();
    };
    let rest = spot.text[place.typed.end..].trim_start_matches(is_bare);
    let assigned = rest.trim_start().starts_with(['=', '.']) || place.quoted;
    // A line can also begin another section.
    let line = spot.text.line_start(place.typed.start);
    let fresh = spot.text[line..place.typed.start].trim().is_empty() && !place.quoted && !assigned;
    let headers = all_sections()
        .into_iter()
        .filter(|_| fresh)
        .map(|(name, list, node)| {
            let header = if list {
                format!("[[{name}]]")
            } else {
                format!("[{name}]")
            };
            let doc = node.text().unwrap_or_default();
            Item {
                filter: Some(name),
                ..item(header.clone(), header, ItemKind::Section, doc)
            }
        });
    let keys = node.keys().into_iter();
    let top = place.path.is_empty();
    // At the top level, tables are written as sections.
    let keys = keys.filter(|(_, node)| !(top && node.section() != (false, false)));
    let keys = keys.map(|(key, node)| {
        let written = if assigned {
            key.to_owned()
        } else {
            format!("{key} = ")
        };
        let doc = node.text().unwrap_or_default();
        Item {
            detail: Some(node.kind()),
            ..item(key.to_owned(), written, ItemKind::Key, doc)
        }
    });
    keys.chain(headers).collect()
}

fn values(workspace: &Workspace, spot: &Spot, place: &Place) -> Vec<Item> {
    let Some(node) = root().at(&place.path) else {
        return Vec::new();
    };
    let mut found = node.values();
    if let Some(kind) = node.names() {
        let names = names::names(&workspace.documents, &spot.path, &spot.text, kind);
        found.extend(names.into_iter().map(|name| (name, "")));
    }
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|(value, _)| seen.insert(value.clone()));
    let quotes = node.is_text() && !place.quoted;
    let rows = found
        .into_iter()
        .filter(|(value, _)| !(place.quoted && matches!(value.as_str(), "true" | "false")));
    rows.map(|(value, text)| {
        let plain = matches!(value.as_str(), "true" | "false");
        let written = if quotes && !plain {
            format!("\"{value}\"")
        } else {
            value.clone()
        };
        item(value, written, ItemKind::Value, text)
    })
    .collect()
}

/// The meaning of the key or the value at a place, with its bytes.
#[must_use]
pub fn hover(spot: &Spot) -> Option<(String, Range<usize>)> {
    let rest = spot.text.get(spot.offset..)?;
    let within = |letter: char| is_bare(letter);
    let end = spot.offset + rest.find(|c| !within(c)).unwrap_or(rest.len());
    let place = place(&spot.text, end)?;
    let word = spot.text[place.typed.clone()].to_owned();
    let (path, value) = match place.at {
        At::Header => (path_of(&word), None),
        At::Key if word.is_empty() => return None,
        At::Key => ([place.path.as_slice(), &[word]].concat(), None),
        At::Value => (place.path.clone(), Some(word)),
    };
    let node = root().at(&path)?;
    let mut text = format!("`{}`", path.join("."));
    let kind = node.kind();
    if !kind.is_empty() {
        text = format!("{text}: {kind}");
    }
    if let Some(meaning) = node.text() {
        text = format!("{text}\n\n{meaning}");
    }
    let values = node.values();
    let known = values
        .iter()
        .find(|(known, _)| value.as_ref() == Some(known));
    match known {
        Some((value, meaning)) if !meaning.is_empty() => {
            text = format!("{text}\n\n`{value}`: {meaning}");
        }
        _ => {
            for (value, meaning) in values.iter().filter(|(_, meaning)| !meaning.is_empty()) {
                text = format!("{text}\n- `{value}`: {meaning}");
            }
        }
    }
    Some((text, place.typed))
}
