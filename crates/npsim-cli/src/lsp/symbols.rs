//! Names of all projects in reach.

use std::collections::BTreeSet;
use std::path::PathBuf;

use lsp_types::{SymbolInformation, SymbolKind};

use super::publish::file_location;
use super::workspace::Workspace;

/// So many are shown at most: who asks for one letter wants to type on.
const MOST: usize = 200;

/// Macros and names whose letters contain those asked for in their order, the shortest
/// names first.
#[must_use]
pub fn symbols(workspace: &mut Workspace, query: &str) -> Vec<SymbolInformation> {
    let files: BTreeSet<PathBuf> = workspace.files();
    let mut found = Vec::new();
    for file in files {
        let Some(text) = workspace.documents.text(&file) else {
            continue;
        };
        let container = file
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let known = text.definitions();
        let macros = { known.macros.iter() }.map(|it| (&it.name, SymbolKind::FUNCTION, &it.place));
        let names = { known.defines.iter() }.map(|it| (&it.name, SymbolKind::CONSTANT, &it.place));
        for (name, kind, place) in macros.chain(names) {
            if !has(name, query) {
                continue;
            }
            let Some(location) = file_location(&file, &text, place.clone()) else {
                continue;
            };
            #[expect(deprecated, reason = "the structure has no other constructor")]
            found.push(SymbolInformation {
                name: name.clone(),
                kind,
                tags: None,
                deprecated: None,
                location,
                container_name: container.clone(),
            });
        }
    }
    found.sort_by_key(|it| it.name.len());
    found.truncate(MOST);
    found
}

/// Whether a name has the letters of the query one after the other, in any case.
fn has(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    { query.chars().flat_map(char::to_lowercase) }.all(|wanted| letters.any(|it| it == wanted))
}
