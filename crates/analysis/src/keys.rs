//! From a name that the project defines to the key that defines it.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::position::Place;
use super::workspace::{Spot, Workspace};

/// The keys that define a word of a text, in the files of the projects that run it.
#[must_use]
pub fn keys(workspace: &Workspace, spot: &Spot, word: &str) -> Vec<Place> {
    let mut found: Vec<Place> = Vec::new();
    for analysis in workspace.analyses_of(&spot.path) {
        if !analysis
            .root
            .options
            .defines
            .iter()
            .any(|(name, _)| name == word)
        {
            continue;
        }
        // The project file itself comes last, after those that it extends.
        let place = analysis.root.files.iter().rev().find_map(|file| {
            let text = workspace.documents.text(file)?;
            Some(text.place(file, key(&text, word)?))
        });
        found.extend(place.filter(|place| !found.contains(place)));
    }
    found
}

/// The place where a project file names something that `word` is the name of, or a derived name
/// such as `RING_STATUS` for `RING`; or where it defines the word.
fn key(text: &str, word: &str) -> Option<Range<usize>> {
    let table = DeTable::parse(text).ok()?;
    let mut named: Vec<(usize, Range<usize>)> = Vec::new();
    collect_places(table.get_ref(), word, true, &mut named);
    let (_, place) = named.into_iter().max_by_key(|(length, _)| *length)?;
    Some(place)
}

/// Collects the places, each with the length of the word that it accounts for. At the top level,
/// the name is that of the project.
fn collect_places(
    table: &DeTable<'_>,
    word: &str,
    top: bool,
    named: &mut Vec<(usize, Range<usize>)>,
) {
    for (name, value) in table {
        match (name.get_ref().as_ref(), value.get_ref()) {
            ("name", DeValue::String(text)) if !top => {
                let rest = word.strip_prefix(text.as_ref());
                if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_')) {
                    named.push((text.len(), value.span()));
                }
            }
            ("define" | "import", DeValue::Table(defines)) => {
                let own = defines.iter().find(|(name, _)| name.get_ref() == word);
                named.extend(own.map(|(name, _)| (word.len(), name.span())));
            }
            (_, DeValue::Table(inner)) => collect_places(inner, word, false, named),
            (_, DeValue::Array(entries)) => {
                for entry in entries {
                    if let DeValue::Table(inner) = entry.get_ref() {
                        collect_places(inner, word, false, named);
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn longest_matching_project_name_is_found() {
        let text = "name = \"TX\"\n[[ring]]\nname = \"TX_RING\"\n[[me]]\nid = 0\n\
                    define = { TX_RING_DEPTH = 3 }\n";
        let shown = |word: &str| key(text, word).map(|place| &text[place]);
        assert_eq!(shown("TX_RING"), Some("\"TX_RING\""));
        assert_eq!(shown("TX_RING_STATUS"), Some("\"TX_RING\""));
        assert_eq!(shown("TX_RING_DEPTH"), Some("TX_RING_DEPTH"));
        // The name of the project is unrelated.
        assert_eq!(shown("TX_SEQUENCE"), None);
        assert_eq!(shown("TXT"), None);
        assert_eq!(key("[[", "TX"), None);
    }
}
