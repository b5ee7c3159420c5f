//! What each word of a text is, for colours that no grammar can give.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;

use lsp_types::{SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokensLegend};
use npsim_asm::Span;
use npsim_asm::front::token::{Token, TokenKind, split_labels};
use npsim_asm::name_index::NameKind;
use npsim_asm::source::FileId;
use npsim_isa::mnemonic;

use super::definitions::Macro;
use super::text::Text;
use super::workspace::Workspace;

/// What a word can be; the number is its place in the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Instruction,
    Directive,
    Macro,
    Parameter,
    Define,
    Register,
    Transfer,
    Signal,
    Label,
    Import,
    LeftOut,
}

/// The names of [`Word`]s in the protocol, in their order. Those of the protocol's own
/// list come first to mind of every theme.
const TYPES: [SemanticTokenType; 11] = [
    SemanticTokenType::KEYWORD,
    SemanticTokenType::MODIFIER,
    SemanticTokenType::MACRO,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::EVENT,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::TYPE_PARAMETER,
    SemanticTokenType::COMMENT,
];

const DECLARATION: u32 = 1;
const STATIC: u32 = 2;

/// The legend that the numbers of [`tokens`] follow.
#[must_use]
pub fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: TYPES.to_vec(),
        // `static` is what all contexts share.
        token_modifiers: vec![
            SemanticTokenModifier::DECLARATION,
            SemanticTokenModifier::STATIC,
        ],
    }
}

/// A macro that stands in no other, with those in it.
struct Outer {
    start: usize,
    end: usize,
    /// Their places in the list of macros.
    macros: Range<usize>,
}

/// The macros of a text, which are in order, by those that stand in no other.
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

struct Found {
    place: Range<usize>,
    word: Word,
    modifiers: u32,
}

/// The words of a text that mean something, as the protocol packs them.
#[must_use]
pub fn tokens(workspace: &Workspace, path: &Path) -> Option<Vec<SemanticToken>> {
    let text = workspace.documents.text(path)?;
    let left_out = workspace.left_out(path);
    let symbols = symbols(workspace, path);
    let definitions = workspace.definitions(path, &text);
    let every = definitions.iter().map(|(_, found)| found);
    let macros: BTreeSet<&str> = { every.clone() }
        .flat_map(|found| found.macros.iter().map(|known| known.name.as_str()))
        .collect();
    let mut defines: BTreeSet<&str> = every
        .flat_map(|found| found.defines.iter().map(|known| known.name.as_str()))
        .collect();
    for analysis in workspace.about(path) {
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
    let mut found: Vec<Found> = Vec::new();
    for line in text.lines() {
        let first = split_labels(&line.tokens).1.first().map(|it| it.span);
        for token in line.directive.iter().chain(&line.tokens) {
            let place = token.span.lo as usize..token.span.hi as usize;
            let before = left_out.partition_point(|it| it.start <= place.start);
            let around = before.checked_sub(1).map(|at| &left_out[at]);
            let out = around.is_some_and(|it| place.end <= it.end);
            let (word, modifiers) = if out {
                (Some(Word::LeftOut), 0)
            } else if line
                .directive
                .as_ref()
                .is_some_and(|it| it.span == token.span)
            {
                (Some(Word::Directive), 0)
            } else if let Some((word, modifiers)) = symbols.get(&place.start) {
                (Some(*word), *modifiers)
            } else if !matches!(token.kind, TokenKind::Ident | TokenKind::Label) {
                (None, 0)
            } else if parameter(token) {
                (Some(Word::Parameter), 0)
            } else if macros.contains(&*token.text) {
                (Some(Word::Macro), 0)
            } else if defines.contains(&*token.text) {
                (Some(Word::Define), 0)
            } else if token.text.starts_with('.') {
                (Some(Word::Directive), 0)
            } else if first == Some(token.span) && mnemonic(&token.text).is_some() {
                (Some(Word::Instruction), 0)
            } else if token.kind == TokenKind::Label {
                (Some(Word::Label), 0)
            } else {
                (None, 0)
            };
            if let Some(word) = word {
                found.push(Found {
                    place,
                    word,
                    modifiers,
                });
            }
        }
    }
    found.sort_by_key(|it| it.place.start);
    Some(packed(&text, &found))
}

/// What stands where, by the byte of its beginning.
fn symbols(workspace: &Workspace, path: &Path) -> BTreeMap<usize, (Word, u32)> {
    let mut found = BTreeMap::new();
    for analysis in workspace.about(path) {
        let ours: Vec<FileId> = analysis.files(path).collect();
        for reference in &analysis.index.references {
            let Span { file, lo, .. } = reference.span;
            if !ours.contains(&file) {
                continue;
            }
            let symbol = &analysis.index.symbols[reference.symbol];
            let word = match symbol.kind {
                NameKind::Register | NameKind::Synonym if symbol.name.starts_with('$') => {
                    Word::Transfer
                }
                NameKind::Register | NameKind::Synonym => Word::Register,
                NameKind::Signal => Word::Signal,
                NameKind::Label => Word::Label,
                NameKind::Import => Word::Import,
            };
            let shared = if symbol.name.starts_with('@') {
                STATIC
            } else {
                0
            };
            let declares = if reference.declares { DECLARATION } else { 0 };
            found.insert(lo as usize, (word, declares | shared));
        }
    }
    found
}

/// Each place told as its distance from the one before it.
fn packed(text: &Text, found: &[Found]) -> Vec<SemanticToken> {
    let mut tokens = Vec::with_capacity(found.len());
    let (mut line, mut column) = (0, 0);
    for it in found {
        let shown = text.range(it.place.clone());
        // A text that a backslash continues has no one line.
        if shown.start.line != shown.end.line || shown.start == shown.end {
            continue;
        }
        let delta_line = shown.start.line - line;
        let delta_start = match delta_line {
            0 => shown.start.character - column,
            _ => shown.start.character,
        };
        tokens.push(SemanticToken {
            delta_line,
            delta_start,
            length: shown.end.character - shown.start.character,
            token_type: it.word as u32,
            token_modifiers_bitset: it.modifiers,
        });
        (line, column) = (shown.start.line, shown.start.character);
    }
    tokens
}
