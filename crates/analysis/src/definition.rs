//! From a use to its definition, and back.

use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

use super::keys::keys;
use super::position::Place;
use super::scan::word_at;
use super::workspace::{Spot, Workspace};

impl Workspace {
    /// Where the name at a place is defined.
    #[must_use]
    pub fn definition(&self, spot: &Spot) -> Vec<Place> {
        places(self, spot)
    }

    /// All places that refer to the symbol at a place.
    #[must_use]
    pub fn references(&self, spot: &Spot) -> Vec<Place> {
        let mut found: Vec<Place> = Vec::new();
        let mut known: BTreeSet<(&Path, u32, u32)> = BTreeSet::new();
        for (analysis, id) in self.symbols_at(spot) {
            for reference in analysis.index.references_to(id) {
                let span = reference.span;
                if let Some(path) = analysis.path(span)
                    && known.insert((path, span.lo, span.hi))
                {
                    found.extend(analysis.place(span));
                }
            }
        }
        found
    }
}

fn places(workspace: &Workspace, spot: &Spot) -> Vec<Place> {
    if let Some(place) = include(workspace, spot) {
        return vec![place];
    }
    let mut found: Vec<Place> = Vec::new();
    for (analysis, id) in workspace.symbols_at(spot) {
        let place = analysis.place(analysis.index.symbols[id].place);
        found.extend(place.filter(|place| !found.contains(place)));
    }
    if !found.is_empty() {
        return found;
    }
    let Some(word) = word_at(&spot.text, spot.offset) else {
        return Vec::new();
    };
    let start = word.start;
    let code = spot.text.code();
    let word = &code[word];
    let stem = word.trim_end_matches('#');
    let all = workspace.definitions(&spot.path, &spot.text);
    // A parameter of the surrounding macro hides everything else.
    for known in all
        .iter()
        .filter(|(path, _)| *path == spot.path)
        .flat_map(|(_, found)| &found.macros)
        .filter(|known| known.whole.contains(&start))
    {
        if known.parameters.iter().any(|name| name == stem) {
            let from = known.place.end;
            let at = code[from..known.whole.end]
                .find(stem)
                .map_or(from, |at| from + at);
            return vec![spot.text.place(&spot.path, at..at + stem.len())];
        }
    }
    let mut uses = Vec::new();
    let arguments = argument_count(&code[start + word.len()..]);
    for (path, definitions) in &all {
        let Some(text) = (if *path == spot.path {
            Some(Rc::clone(&spot.text))
        } else {
            workspace.documents.text(path)
        }) else {
            continue;
        };
        for known in definitions.macros.iter().filter(|known| known.name == word) {
            uses.push((
                known.parameters.len() == arguments,
                text.place(path, known.place.clone()),
            ));
        }
        for known in definitions
            .defines
            .iter()
            .filter(|known| known.name == word)
        {
            uses.push((true, text.place(path, known.place.clone())));
        }
    }
    if uses.is_empty() {
        return keys(workspace, spot, word);
    }
    // Of several macros with the same name, the one with as many parameters is meant.
    let exact = uses.iter().any(|(fits, _)| *fits);
    uses.into_iter()
        .filter(|(fits, _)| *fits || !exact)
        .map(|(_, place)| place)
        .collect()
}

/// The number of arguments in the bracket at the beginning of a text.
fn argument_count(text: &str) -> usize {
    let Some(inside) = text.trim_start_matches([' ', '\t']).strip_prefix('(') else {
        return 0;
    };
    let mut depth = 0usize;
    let mut count = 0;
    let mut filled = false;
    for character in inside.chars() {
        match character {
            ')' if depth == 0 => break,
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => count += 1,
            _ => {}
        }
        filled |= !character.is_whitespace();
    }
    count + usize::from(filled)
}

/// The file that an `#include` line names.
fn include(workspace: &Workspace, spot: &Spot) -> Option<Place> {
    let code = spot.text.code();
    let start = code[..spot.offset].rfind('\n').map_or(0, |at| at + 1);
    let line = code[start..].lines().next()?;
    let rest = line.trim_start().strip_prefix('#')?.trim_start();
    let word = rest.get(..7)?;
    if !word.eq_ignore_ascii_case("include") {
        return None;
    }
    let name = rest[7..].trim();
    let name = name
        .strip_prefix('"')
        .or_else(|| name.strip_prefix('<'))?
        .trim_end_matches(['"', '>']);
    let path = workspace.included_by(&spot.path, name)?;
    let text = workspace.documents.text(&path)?;
    Some(text.place(&path, 0..0))
}

#[cfg(test)]
mod tests {
    #[test]
    fn arguments_are_counted_as_the_preprocessor_does() {
        for (text, count) in [
            ("", 0),
            ("()", 0),
            ("(a)", 1),
            (" (a, b[1, 2], (c, d))", 3),
            ("(a", 1),
            ("(, )", 2),
        ] {
            assert_eq!(super::argument_count(text), count, "{text}");
        }
    }
}
