//! The callers of a macro, and the macros that it uses.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use npsim_asm::source::{Expansion, ExpansionId};

use super::analysis::Analysis;
use super::position::Place;
use super::scan::word_at;
use super::workspace::{Spot, Workspace};

/// A macro, or a source as the top-level user of macros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallItem {
    /// `name(a, b)`, or the name of the source.
    pub title: String,
    /// The name of the macro's file, or of the source's project.
    pub detail: Option<String>,
    /// The name of the macro; `None` for a source.
    pub name: Option<String>,
    /// The whole definition, or the beginning of a source.
    pub place: Place,
    /// The bytes of the name in the definition.
    pub selection: Range<usize>,
}

/// Uses of a macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The user, or the used macro.
    pub item: CallItem,
    /// The uses in the text of the user.
    pub uses: Vec<Place>,
}

impl Workspace {
    /// The macros whose name is at a place, wherever they are defined; a name may have several.
    #[must_use]
    pub fn macros_at(&self, spot: &Spot) -> Vec<CallItem> {
        let word = word_at(&spot.text, spot.offset);
        let word = word.map(|word| &spot.text.code()[word]);
        word.map_or_else(Vec::new, |word| self.macros(&spot.path, word))
    }

    fn macros(&self, path: &Path, name: &str) -> Vec<CallItem> {
        let Some(text) = self.documents.text(path) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for (file, definitions) in self.definitions(path, &text) {
            let Some(text) = self.documents.text(&file) else {
                continue;
            };
            let known = definitions.macros.iter().filter(|it| it.name == name);
            found.extend(known.map(|known| CallItem {
                title: known.signature(),
                detail: file_name(&file),
                name: Some(known.name.clone()),
                place: text.place(&file, known.whole.clone()),
                selection: known.place.clone(),
            }));
        }
        found
    }

    /// The macros and sources that use a macro, in the programs that contain a file.
    #[must_use]
    pub fn callers(&self, path: &Path, name: &str) -> Vec<Call> {
        let mut users: BTreeMap<String, (Vec<CallItem>, Vec<Place>)> = BTreeMap::new();
        for analysis in self.analyses_of(path) {
            let uses = analysis.sources.expansions().iter();
            for used in uses.filter(|it| it.name == name) {
                let Some(place) = analysis.place(used.call) else {
                    continue;
                };
                let (key, from) = match containing_macro(analysis, used) {
                    Some(containing_macro) => (
                        containing_macro.to_owned(),
                        self.macros(&place.path, containing_macro),
                    ),
                    None => (
                        format!("/{}", place.path.display()),
                        vec![program(analysis, &place)],
                    ),
                };
                let (known, places) = users.entry(key).or_insert_with(|| (from, Vec::new()));
                let here = known.iter().any(|it| it.place.path == place.path);
                if here && !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        users.into_values().flat_map(calls).collect()
    }

    /// The macros that a macro of a file uses.
    #[must_use]
    pub fn callees(&self, path: &Path, name: &str) -> Vec<Call> {
        let mut uses: BTreeMap<&str, Vec<Place>> = BTreeMap::new();
        for analysis in self.analyses_of(path) {
            for used in analysis.sources.expansions() {
                if containing_macro(analysis, used) != Some(name) {
                    continue;
                }
                let Some(place) = analysis.place(used.call) else {
                    continue;
                };
                let places = uses.entry(&used.name).or_default();
                if place.path == path && !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        let uses = uses.into_iter();
        uses.flat_map(|(name, uses)| calls((self.macros(path, name), uses)))
            .collect()
    }
}

/// The uses, repeated for each of the items.
fn calls((items, uses): (Vec<CallItem>, Vec<Place>)) -> impl Iterator<Item = Call> {
    items.into_iter().map(move |item| Call {
        item,
        uses: uses.clone(),
    })
}

fn file_name(path: &Path) -> Option<String> {
    let name = path.file_name();
    name.map(|name| name.to_string_lossy().into_owned())
}

/// The source that contains a use, as its user.
fn program(analysis: &Analysis, used: &Place) -> CallItem {
    let project = analysis.root.project.as_ref();
    CallItem {
        title: file_name(&used.path).unwrap_or_default(),
        detail: project.map(|(name, _)| name.clone()),
        name: None,
        place: Place::new(&used.path, &used.text, 0..0),
        selection: 0..0,
    }
}

/// The name of the macro that contains the use of an expansion; `None` for plain text.
fn containing_macro<'a>(analysis: &'a Analysis, used: &Expansion) -> Option<&'a str> {
    let parent = analysis.sources.expansion(used.parent)?;
    (used.parent != ExpansionId::ROOT).then_some(parent.name.as_str())
}
