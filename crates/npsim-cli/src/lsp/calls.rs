//! Who uses a macro, and what it uses.

use std::collections::BTreeMap;
use std::path::Path;

use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, Range, SymbolKind,
};
use npsim_asm::source::{Expansion, ExpansionId};

use super::analysis::Analysis;
use super::paths;
use super::publish::{file_location, location};
use super::scan::word_at;
use super::workspace::{Spot, Workspace};

/// The macro at a place, wherever it is defined; a name may have several.
#[must_use]
pub fn prepare(workspace: &Workspace, spot: &Spot) -> Vec<CallHierarchyItem> {
    let Some(word) = word_at(&spot.text, spot.offset) else {
        return Vec::new();
    };
    items(workspace, &spot.path, &spot.text.code()[word])
}

fn items(workspace: &Workspace, path: &Path, name: &str) -> Vec<CallHierarchyItem> {
    let Some(text) = workspace.documents.text(path) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for (file, definitions) in workspace.definitions(path, &text) {
        let Some(text) = workspace.documents.text(&file) else {
            continue;
        };
        for known in definitions.macros.iter().filter(|known| known.name == name) {
            let whole = file_location(&file, &text, known.whole.clone());
            let place = file_location(&file, &text, known.place.clone());
            let Some((whole, place)) = whole.zip(place) else {
                continue;
            };
            found.push(CallHierarchyItem {
                name: known.signature(),
                kind: SymbolKind::FUNCTION,
                tags: None,
                detail: file
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned()),
                uri: whole.uri,
                range: whole.range,
                selection_range: place.range,
                data: Some(serde_json::Value::String(known.name.clone())),
            });
        }
    }
    found
}

/// A source as the user of a macro that no macro uses.
fn program(analysis: &Analysis, path: &Path) -> Option<CallHierarchyItem> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let project = analysis.root.project.as_ref().map(|(name, _)| name.clone());
    Some(CallHierarchyItem {
        name,
        kind: SymbolKind::FILE,
        tags: None,
        detail: project,
        uri: paths::to_uri(path)?,
        range: Range::default(),
        selection_range: Range::default(),
        data: None,
    })
}

/// The macro that an item stands for, with the file in which it was asked about.
fn asked(item: &CallHierarchyItem) -> Option<(std::path::PathBuf, String)> {
    let path = paths::canonical(&paths::from_uri(&item.uri)?);
    Some((path, item.data.as_ref()?.as_str()?.to_owned()))
}

/// The name of the macro in which an expansion's use stands; none for plain text.
fn user<'a>(analysis: &'a Analysis, used: &Expansion) -> Option<&'a str> {
    let parent = analysis.sources.expansion(used.parent)?;
    (used.parent != ExpansionId::ROOT).then_some(parent.name.as_str())
}

/// Macros and sources that use a macro, with the places.
#[must_use]
pub fn incoming(workspace: &Workspace, item: &CallHierarchyItem) -> Vec<CallHierarchyIncomingCall> {
    let Some((path, name)) = asked(item) else {
        return Vec::new();
    };
    let mut users: BTreeMap<String, (Vec<CallHierarchyItem>, Vec<Range>)> = BTreeMap::new();
    for analysis in workspace.about(&path) {
        for used in analysis
            .sources
            .expansions()
            .iter()
            .filter(|it| it.name == name)
        {
            let Some(place) = location(analysis, used.call) else {
                continue;
            };
            let Some(file) = analysis.path(used.call) else {
                continue;
            };
            let (key, from) = match user(analysis, used) {
                Some(user) => (user.to_owned(), items(workspace, file, user)),
                None => (
                    format!("/{}", file.display()),
                    program(analysis, file).into_iter().collect(),
                ),
            };
            let (known, places) = users.entry(key).or_insert_with(|| (from, Vec::new()));
            let here = known.iter().any(|it| it.uri == place.uri);
            if here && !places.contains(&place.range) {
                places.push(place.range);
            }
        }
    }
    let calls = users.into_values().flat_map(|(from, from_ranges)| {
        from.into_iter().map(move |from| CallHierarchyIncomingCall {
            from,
            from_ranges: from_ranges.clone(),
        })
    });
    calls.collect()
}

/// The macros that a macro uses, with the places in it.
#[must_use]
pub fn outgoing(workspace: &Workspace, item: &CallHierarchyItem) -> Vec<CallHierarchyOutgoingCall> {
    let Some((path, name)) = asked(item) else {
        return Vec::new();
    };
    let mut uses: BTreeMap<String, Vec<Range>> = BTreeMap::new();
    for analysis in workspace.about(&path) {
        for used in analysis.sources.expansions() {
            if user(analysis, used) != Some(&name) {
                continue;
            }
            let Some(place) = location(analysis, used.call) else {
                continue;
            };
            let places = uses.entry(used.name.clone()).or_default();
            if place.uri == item.uri && !places.contains(&place.range) {
                places.push(place.range);
            }
        }
    }
    let calls = uses.into_iter().flat_map(|(name, from_ranges)| {
        let to = items(workspace, &path, &name);
        to.into_iter().map(move |to| CallHierarchyOutgoingCall {
            to,
            from_ranges: from_ranges.clone(),
        })
    });
    calls.collect()
}
