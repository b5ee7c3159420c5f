//! The kinds of the words of a text, for highlighting beyond what a grammar can do.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use npsim_asm::Span;
use npsim_asm::front::token::{Token, TokenKind, split_labels};
use npsim_asm::name_index::NameKind;
use npsim_asm::source::FileId;
use npsim_isa::mnemonic;

use super::definitions::Macro;
use super::workspace::Workspace;

/// The kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// A mnemonic.
    Instruction,
    /// A directive, including those of the preprocessor.
    Directive,
    /// The name of a macro.
    Macro,
    /// A parameter of the macro around it.
    Parameter,
    /// A name that stands for text.
    Define,
    /// A general-purpose register.
    Register,
    /// A transfer register.
    Transfer,
    /// A signal.
    Signal,
    /// A label.
    Label,
    /// An import variable.
    Import,
    /// A part that conditions leave out in every program.
    Inactive,
}

/// A word with a meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The bytes.
    pub range: Range<usize>,
    /// The kind.
    pub kind: WordKind,
    /// Whether the word is declared here.
    pub declares: bool,
    /// Whether all contexts share it.
    pub shared: bool,
}

/// An outermost macro, with those inside it.
struct Outer {
    start: usize,
    end: usize,
    /// The indices of these macros in the list of macros.
    macros: Range<usize>,
}

/// Groups the macros of a text, which are in order, by their outermost macro.
fn outermost(macros: &[Macro]) -> Vec<Outer> {
    let mut found: Vec<Outer> = Vec::new();
    for (number, known) in macros.iter().enumerate() {
        match found.last_mut() {
            Some(last) if known.whole.start < last.end => last.macros.end = number + 1,
            _ => found.push(Outer {
                start: known.whole.start,
                end: known.whole.end,
                macros: number..number + 1,
            }),
        }
    }
    found
}

impl Workspace {
    /// The words of a text that have a meaning, in order.
    #[must_use]
    pub fn words(&self, path: &Path) -> Option<Vec<Word>> {
        let text = self.documents.text(path)?;
        let inactive = self.inactive(path);
        let symbols = symbols(self, path);
        let definitions = self.definitions(path, &text);
        let every = definitions.iter().map(|(_, found)| found);
        let macros: BTreeSet<&str> = { every.clone() }
            .flat_map(|found| found.macros.iter().map(|known| known.name.as_str()))
            .collect();
        let mut defines: BTreeSet<&str> = every
            .flat_map(|found| found.defines.iter().map(|known| known.name.as_str()))
            .collect();
        for analysis in self.analyses_of(path) {
            let given = { analysis.root.options.defines.iter() }.map(|(name, _)| name.as_str());
            defines.extend(given);
        }
        let own = definitions.iter().find(|(file, _)| file == path);
        let own_macros = own.map_or(&[][..], |(_, found)| &found.macros);
        let outer = outermost(own_macros);
        let parameter = |token: &Token| {
            let at = token.span.lo as usize;
            let stem = token.text.trim_end_matches('#');
            let group = outer.partition_point(|it| it.start <= at).checked_sub(1);
            let macros = group.map_or(&[][..], |it| &own_macros[outer[it].macros.clone()]);
            let mut around = macros.iter().filter(|known| known.whole.contains(&at));
            around.any(|known| known.parameters.iter().any(|name| name == stem))
        };
        let mut found: Vec<Word> = Vec::new();
        for line in text.lines() {
            let first = split_labels(&line.tokens).1.first().map(|it| it.span);
            for token in line.directive.iter().chain(&line.tokens) {
                let place = token.span.lo as usize..token.span.hi as usize;
                let before = inactive.partition_point(|it| it.start <= place.start);
                let around = before.checked_sub(1).map(|at| &inactive[at]);
                let out = around.is_some_and(|it| place.end <= it.end);
                let is_directive =
                    { line.directive.as_ref() }.is_some_and(|it| it.span == token.span);
                let known = symbols.get(&place.start).filter(|_| !out && !is_directive);
                let (declares, shared) = known.map_or((false, false), |it| (it.1, it.2));
                let kind = if out {
                    WordKind::Inactive
                } else if is_directive {
                    WordKind::Directive
                } else if let Some((kind, ..)) = known {
                    *kind
                } else if !matches!(token.kind, TokenKind::Ident | TokenKind::Label) {
                    continue;
                } else if parameter(token) {
                    WordKind::Parameter
                } else if macros.contains(&*token.text) {
                    WordKind::Macro
                } else if defines.contains(&*token.text) {
                    WordKind::Define
                } else if token.text.starts_with('.') {
                    WordKind::Directive
                } else if first == Some(token.span) && mnemonic(&token.text).is_some() {
                    WordKind::Instruction
                } else if token.kind == TokenKind::Label {
                    WordKind::Label
                } else {
                    continue;
                };
                found.push(Word {
                    range: place,
                    kind,
                    declares,
                    shared,
                });
            }
        }
        found.sort_by_key(|it| it.range.start);
        Some(found)
    }
}

/// The symbols by their first byte: the kind, whether it is declared there, and whether all
/// contexts share it.
fn symbols(workspace: &Workspace, path: &Path) -> BTreeMap<usize, (WordKind, bool, bool)> {
    let mut found = BTreeMap::new();
    for analysis in workspace.analyses_of(path) {
        let ours: Vec<FileId> = analysis.files(path).collect();
        for reference in &analysis.index.references {
            let Span { file, lo, .. } = reference.span;
            if !ours.contains(&file) {
                continue;
            }
            let symbol = &analysis.index.symbols[reference.symbol];
            let kind = match symbol.kind {
                NameKind::Register | NameKind::Synonym if symbol.name.starts_with('$') => {
                    WordKind::Transfer
                }
                NameKind::Register | NameKind::Synonym => WordKind::Register,
                NameKind::Signal => WordKind::Signal,
                NameKind::Label => WordKind::Label,
                NameKind::Import => WordKind::Import,
            };
            let shared = symbol.name.starts_with('@');
            found.insert(lo as usize, (kind, reference.declares, shared));
        }
    }
    found
}
