//! Renaming of registers, signals and labels, whose uses are all known, and of the preprocessor's
//! names (`text_names.rs`).

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use npsim_asm::name_index::NameKind;
use npsim_asm::source::ExpansionId;
use npsim_isa::mnemonic;

use super::analysis::Analysis;
use super::name_form::{is_physical, is_plain, split_sigil};
use super::position::Edit;
use super::scan::word_at;
use super::text_names;
use super::workspace::{Spot, Workspace};

impl Workspace {
    /// The bytes of the name at a place, if it can be renamed.
    ///
    /// # Errors
    /// Returns the reason if it cannot.
    pub fn renameable(&self, spot: &Spot) -> Result<Range<usize>, String> {
        if let Some(name) = text_names::at(self, spot) {
            name.check(self)?;
            return Ok(name.range);
        }
        let found = symbols(self, spot)?;
        let range = word_at(&spot.text, spot.offset).ok_or("there is no name here")?;
        for (analysis, id) in found {
            check(analysis, id)?;
        }
        Ok(range)
    }

    /// The edits that rename the symbol at a place, by file and in order within a file.
    ///
    /// # Errors
    /// Returns the reason if it cannot have that name.
    pub fn rename(&self, spot: &Spot, new: &str) -> Result<Vec<Edit>, String> {
        if let Some(name) = text_names::at(self, spot) {
            name.check(self)?;
            return name.edits(self, new.trim());
        }
        let mut edits: BTreeMap<(&Path, u32, u32), Edit> = BTreeMap::new();
        for (analysis, id) in symbols(self, spot)? {
            check(analysis, id)?;
            let new = new_name(analysis, id, new)?;
            free(self, spot, analysis, id, &new)?;
            for span in analysis.index.references_to(id).map(|it| it.span) {
                let Some((path, place)) = analysis.path(span).zip(analysis.place(span)) else {
                    continue;
                };
                let text = new.clone();
                let key = (path, span.lo, span.hi);
                edits.entry(key).or_insert(Edit { place, text });
            }
        }
        Ok(edits.into_values().collect())
    }
}

fn symbols<'a>(
    workspace: &'a Workspace,
    spot: &Spot,
) -> Result<Vec<(&'a Analysis, usize)>, String> {
    let found = workspace.symbols_at(spot);
    if !found.is_empty() {
        return Ok(found);
    }
    let range = word_at(&spot.text, spot.offset).ok_or("there is no name here")?;
    let word = &spot.text.code()[range];
    let from_project = workspace.analyses_of(&spot.path).any(|analysis| {
        let defines = &analysis.root.options.defines;
        defines.iter().any(|(name, _)| name == word)
    });
    Err(if from_project {
        format!("`{word}` is a name of the project; change it in the project file")
    } else {
        format!("`{word}` is not a register, signal, label, macro or define that is declared here")
    })
}

/// Checks that all uses are text that belongs to this symbol alone.
fn check(analysis: &Analysis, id: usize) -> Result<(), String> {
    let index = &analysis.index;
    let symbol = &index.symbols[id];
    let name = &symbol.name;
    if let Some(used) = analysis.sources.expansion(symbol.expansion) {
        return Err(format!(
            "`{name}` is declared by the macro `{}`; change the macro",
            used.name
        ));
    }
    if symbol.kind == NameKind::Import {
        return Err(format!("the loader knows `{name}` by this name"));
    }
    for reference in index.references_to(id) {
        if reference.expansion != ExpansionId::ROOT {
            let macros = analysis.sources.expansion(reference.expansion);
            let used = macros.map_or("a macro", |used| used.name.as_str());
            return Err(format!(
                "the text of `{used}` names `{name}`, and other programs may use it too"
            ));
        }
        if analysis.path(reference.span).is_none() {
            return Err(format!(
                "`{name}` comes from the project or the command line"
            ));
        }
        if analysis.text(reference.span) != name {
            return Err(format!("a use of `{name}` is pasted together from pieces"));
        }
        let first = index
            .references
            .partition_point(|other| other.span < reference.span);
        let mut here = index.references[first..]
            .iter()
            .take_while(|other| other.span == reference.span);
        let shared = here.any(|other| other.symbol != id);
        if shared {
            return Err(format!(
                "one text names both `{name}` and another symbol, so it cannot be changed for one alone"
            ));
        }
    }
    Ok(())
}

/// The new name in full, or the reason why it is invalid for this kind of symbol.
fn new_name(analysis: &Analysis, id: usize, new: &str) -> Result<String, String> {
    let symbol = &analysis.index.symbols[id];
    let new = new.trim();
    if symbol.kind == NameKind::Label {
        let stem = new.strip_suffix('#').unwrap_or(new);
        if is_plain(stem) {
            return Ok(format!("{stem}#"));
        }
        return Err(format!(
            "`{new}` is not a label: use letters, digits and `_`, then `#`"
        ));
    }
    let (sigil, _) = split_sigil(&symbol.name);
    let (new_sigil, stem) = split_sigil(new);
    if !is_plain(stem) {
        return Err(format!(
            "`{new}` is not a name: use letters, digits and `_`"
        ));
    }
    if sigil != new_sigil {
        return Err(format!(
            "the sigil says what kind of register it is; the new name must begin with `{sigil}`"
        ));
    }
    Ok(new.to_owned())
}

/// Checks that the new name is not taken where the old one is used.
fn free(
    workspace: &Workspace,
    spot: &Spot,
    analysis: &Analysis,
    id: usize,
    new: &str,
) -> Result<(), String> {
    let symbol = &analysis.index.symbols[id];
    if new == symbol.name {
        return Ok(());
    }
    let taken = analysis.index.symbols.iter().any(|other| {
        let labels = other.kind == NameKind::Label;
        other.name == new && labels == (symbol.kind == NameKind::Label)
    });
    if taken {
        return Err(format!("`{new}` already exists"));
    }
    if is_physical(new) {
        return Err(format!(
            "`{new}` is the name of a physical register or signal"
        ));
    }
    let stem = new.trim_end_matches('#');
    if symbol.kind != NameKind::Label && mnemonic(stem).is_some() {
        return Err(format!("`{new}` is an instruction"));
    }
    let defines = &analysis.root.options.defines;
    let defined = defines.iter().any(|(name, _)| name == new)
        || workspace
            .definitions(&spot.path, &spot.text)
            .iter()
            .any(|(_, found)| {
                found.defines.iter().any(|known| known.name == new)
                    || found.macros.iter().any(|known| known.name == new)
            });
    if defined {
        return Err(format!("`{new}` is a macro or a defined name"));
    }
    Ok(())
}
