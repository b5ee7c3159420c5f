//! Renaming of macros, their parameters and defines: names known to the preprocessor. They are
//! plain text, so all texts of the programs that contain the definition are searched.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;

use npsim_asm::front::token::{Token, TokenKind};
use npsim_isa::mnemonic;

use super::definitions::{Definitions, place};
use super::name_form::{is_physical, is_plain};
use super::position::Edit;
use super::scan::word_at;
use super::text::Text;
use super::workspace::{Spot, Workspace};

/// A name of the preprocessor at a place.
#[derive(Debug)]
pub(crate) struct TextName {
    name: String,
    /// The bytes of the name at the place.
    pub range: Range<usize>,
    path: PathBuf,
    text: Rc<Text>,
    /// The macro or define that it is a parameter of; `None` for a global name.
    owner: Option<Range<usize>>,
}

/// The macro, parameter or define whose name is at a place.
pub(crate) fn at(workspace: &Workspace, spot: &Spot) -> Option<TextName> {
    let mut range = word_at(&spot.text, spot.offset)?;
    let code = spot.text.code();
    let is_label = code[range.clone()].ends_with('#');
    range.end -= usize::from(is_label);
    let name = code[range.clone()].to_owned();
    let owner = owner(spot.text.definitions(), &name, range.start);
    let known = || {
        let all = workspace.definitions(&spot.path, &spot.text);
        all.iter().any(|(_, found)| defines(found, &name))
    };
    // A label with the name of a define is a different name.
    if owner.is_none() && (is_label || !known()) {
        return None;
    }
    Some(TextName {
        name,
        range,
        path: spot.path.clone(),
        text: Rc::clone(&spot.text),
        owner,
    })
}

/// Whether a text defines the name.
fn defines(found: &Definitions, name: &str) -> bool {
    found.macros.iter().any(|known| known.name == name)
        || found.defines.iter().any(|known| known.name == name)
}

/// The innermost macro or define around a byte that has a parameter with this name.
fn owner(found: &Definitions, name: &str, at: usize) -> Option<Range<usize>> {
    parameter_scopes(found, name)
        .into_iter()
        .filter(|whole| whole.contains(&at))
        .min_by_key(Range::len)
}

/// The macros and defines that have a parameter with this name, from after their own names.
fn parameter_scopes(found: &Definitions, name: &str) -> Vec<Range<usize>> {
    let macros = { found.macros.iter() }
        .filter(|known| known.parameters.iter().any(|it| it == name))
        .map(|known| known.place.end..known.whole.end);
    let defines = found.defines.iter().filter(|known| {
        let list = known.parameters.as_deref().unwrap_or_default();
        let mut names = list.trim_matches(['(', ')']).split(',');
        names.any(|it| it.trim() == name)
    });
    let defines = defines.map(|known| known.place.end..known.whole.end);
    macros.chain(defines).collect()
}

impl TextName {
    /// Checks that it can be renamed.
    ///
    /// # Errors
    /// Returns the reason if it cannot.
    pub fn check(&self, workspace: &Workspace) -> Result<(), String> {
        if self.owner.is_some() {
            return Ok(());
        }
        let name = &self.name;
        for analysis in workspace.analyses_of(&self.path) {
            let defines = &analysis.root.options.defines;
            if defines.iter().any(|(known, _)| known == name) {
                return Err(format!(
                    "`{name}` is a name of the project; change it in the project file"
                ));
            }
            if analysis.index.symbols.iter().any(|it| it.name == *name) {
                return Err(format!(
                    "`{name}` is the name of a register, signal or synonym as well"
                ));
            }
        }
        Ok(())
    }

    /// The edits that rename it, by file and in order within a file.
    ///
    /// # Errors
    /// Returns the reason if it cannot have that name.
    pub fn edits(&self, workspace: &Workspace, new: &str) -> Result<Vec<Edit>, String> {
        if !is_plain(new) {
            return Err(format!(
                "`{new}` is not a name: use letters, digits and `_`"
            ));
        }
        if is_physical(new) || mnemonic(new).is_some() {
            return Err(format!(
                "`{new}` is the name of an instruction, or of a register or signal by number"
            ));
        }
        let mut edits = Vec::new();
        for (path, text) in self.texts(workspace) {
            let owner = self.owner.as_ref();
            let taken = words(&text, owner, new, &[]);
            if new != self.name && !taken.is_empty() {
                let line = text.line(taken[0].start) + 1;
                return Err(format!("`{new}` already exists: {}:{line}", path.display()));
            }
            let mut hidden = parameter_scopes(text.definitions(), &self.name);
            hidden.retain(|it| owner.is_none_or(|owner| owner.start < it.start));
            let found = words(&text, owner, &self.name, &hidden).into_iter();
            edits.extend(found.map(|range| Edit {
                place: text.place(&path, range),
                text: new.to_owned(),
            }));
        }
        Ok(edits)
    }

    /// The texts that may use the name.
    fn texts(&self, workspace: &Workspace) -> Vec<(PathBuf, Rc<Text>)> {
        let own = (self.path.clone(), Rc::clone(&self.text));
        if self.owner.is_some() {
            return vec![own];
        }
        let mut paths: BTreeSet<PathBuf> = BTreeSet::from([self.path.clone()]);
        for (path, found) in workspace.definitions(&self.path, &self.text) {
            if defines(&found, &self.name) {
                paths.extend(workspace.files_with(&path));
            }
        }
        let texts = paths.into_iter().map(|path| {
            let text = if path == self.path {
                Some(Rc::clone(&self.text))
            } else {
                workspace.text(&path)
            };
            text.map(|text| (path, text))
        });
        texts.flatten().collect()
    }
}

/// The bytes of a text at which the preprocessor may read a name: words, also in single quotes,
/// and stems of labels (of all labels for a parameter, otherwise only of those that are pasted
/// together). For a parameter, only those in its macro or define count. Those `hidden` by other
/// parameters are left out.
fn words(
    text: &Text,
    owner: Option<&Range<usize>>,
    name: &str,
    hidden: &[Range<usize>],
) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for line in text.lines() {
        for (at, token) in line.tokens.iter().enumerate() {
            let range = place(token);
            match token.kind {
                TokenKind::Ident if &*token.text == name => found.push(range),
                TokenKind::Label if token.text.strip_suffix('#') == Some(name) => {
                    let pastes = |token: Option<&Token>| token.is_some_and(|it| it.is("##"));
                    let before = at.checked_sub(1).and_then(|at| line.tokens.get(at));
                    if owner.is_some() || pastes(before) || pastes(line.tokens.get(at + 1)) {
                        found.push(range.start..range.end - 1);
                    }
                }
                TokenKind::Quoted => found.extend(in_quotes(text, range, name)),
                _ => {}
            }
        }
    }
    found.retain(|range| {
        owner.is_none_or(|owner| owner.contains(&range.start))
            && !hidden.iter().any(|it| it.contains(&range.start))
    });
    found
}

/// The occurrences of a name as a word in quoted text.
fn in_quotes(text: &Text, quoted: Range<usize>, name: &str) -> Vec<Range<usize>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let inside = &text[quoted.clone()];
    let found = inside.match_indices(name).filter(|(at, _)| {
        let before = inside[..*at].chars().next_back();
        let after = inside[at + name.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    });
    found
        .map(|(at, _)| quoted.start + at..quoted.start + at + name.len())
        .collect()
}
