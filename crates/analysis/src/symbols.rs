//! The names in all projects in reach.

use super::outline::SymbolKind;
use super::position::Place;
use super::workspace::Workspace;

/// Maximum number of symbols shown: a user who enters one letter wants to type on.
const MAX_SYMBOLS: usize = 200;

/// A macro, or a name that stands for text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// The kind.
    pub kind: SymbolKind,
    /// Where the name is defined.
    pub place: Place,
}

impl Workspace {
    /// The macros and names that contain the letters of the query in order, shortest names first.
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
        found.truncate(MAX_SYMBOLS);
        found
    }
}

/// Whether a name contains the letters of the query in order, ignoring case.
fn has(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    { query.chars().flat_map(char::to_lowercase) }.all(|wanted| letters.any(|it| it == wanted))
}
