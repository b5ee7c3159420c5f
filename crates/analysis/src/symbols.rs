//! Names of all projects in reach.

use super::outline::SymbolKind;
use super::position::Place;
use super::workspace::Workspace;

/// Symbols that are shown at most: a user who asks for one letter wants to type on.
const MOST: usize = 200;

/// A macro, or a name that stands for a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// Where the name is defined.
    pub place: Place,
}

impl Workspace {
    /// Macros and names whose letters contain those asked for in their order, the shortest
    /// names first.
    #[must_use]
    pub fn symbols(&mut self, query: &str) -> Vec<Symbol> {
        let mut found = Vec::new();
        for file in self.files() {
            let Some(text) = self.documents.text(&file) else {
                continue;
            };
            let known = text.definitions();
            let macros = { known.macros.iter() }.map(|it| (&it.name, SymbolKind::Macro, &it.place));
            let names =
                { known.defines.iter() }.map(|it| (&it.name, SymbolKind::Define, &it.place));
            let fitting = macros.chain(names).filter(|(name, ..)| has(name, query));
            found.extend(fitting.map(|(name, kind, place)| Symbol {
                name: name.clone(),
                kind,
                place: text.place(&file, place.clone()),
            }));
        }
        found.sort_by_key(|it| it.name.len());
        found.truncate(MOST);
        found
    }
}

/// Whether a name has the letters of the query one after the other, in any case.
fn has(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    { query.chars().flat_map(char::to_lowercase) }.all(|wanted| letters.any(|it| it == wanted))
}
