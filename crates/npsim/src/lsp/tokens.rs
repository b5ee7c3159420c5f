//! What each word of a text is, for colours that no grammar can give.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use lsp_types::{SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokensLegend};
use npsim_asm::Span;
use npsim_asm::front::text::lines;
use npsim_asm::front::token::{Token, TokenKind};
use npsim_isa::mnemonic;

use super::index::{Kind, split_labels};
use super::position;
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
    let is_macro = |name: &str| {
        let mut all = definitions.iter().flat_map(|(_, found)| &found.macros);
        all.any(|known| known.name == name)
    };
    let is_define = |name: &str| {
        let mut all = definitions.iter().flat_map(|(_, found)| &found.defines);
        let given = |it: &(String, String)| it.0 == name;
        all.any(|known| known.name == name)
            || workspace
                .about(path)
                .any(|it| it.root.options.defines.iter().any(given))
    };
    let own = definitions.iter().find(|(file, _)| file == path);
    let parameter = |token: &Token| {
        let at = token.span.lo as usize;
        let mut macros = own.iter().flat_map(|(_, found)| &found.macros);
        macros.any(|known| {
            let stem = token.text.trim_end_matches('#');
            known.whole.contains(&at) && known.parameters.iter().any(|name| name == stem)
        })
    };
    let mut found: Vec<Found> = Vec::new();
    for line in lines(&text) {
        let first = split_labels(&line.tokens).1.first().map(|it| it.span);
        for token in line.directive.iter().chain(&line.tokens) {
            let place = token.span.lo as usize..token.span.hi as usize;
            let out = left_out
                .iter()
                .any(|it| it.start <= place.start && place.end <= it.end);
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
            } else if is_macro(&token.text) {
                (Some(Word::Macro), 0)
            } else if is_define(&token.text) {
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
        for reference in &analysis.index.references {
            let Span { lo, .. } = reference.span;
            if analysis.path(reference.span) != Some(path) {
                continue;
            }
            let symbol = &analysis.index.symbols[reference.symbol];
            let word = match symbol.kind {
                Kind::Register | Kind::Synonym if symbol.name.starts_with('$') => Word::Transfer,
                Kind::Register | Kind::Synonym => Word::Register,
                Kind::Signal => Word::Signal,
                Kind::Label => Word::Label,
                Kind::Import => Word::Import,
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
fn packed(text: &str, found: &[Found]) -> Vec<SemanticToken> {
    let mut tokens = Vec::with_capacity(found.len());
    let (mut line, mut column) = (0, 0);
    for it in found {
        let shown = position::range(text, it.place.clone());
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
