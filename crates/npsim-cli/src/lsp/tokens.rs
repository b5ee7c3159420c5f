//! Semantic tokens: the kind of each word of a text, in the protocol's packed form.

use lsp_types::{SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokensLegend};
use npsim::analysis::{LineIndex, Word, WordKind};

use super::position;

/// The kinds of words and the protocol's names for them; the index in the list is the number of a
/// kind. Names that the protocol predefines are known to every theme.
const TYPES: [(WordKind, SemanticTokenType); 11] = [
    (WordKind::Instruction, SemanticTokenType::KEYWORD),
    (WordKind::Directive, SemanticTokenType::MODIFIER),
    (WordKind::Macro, SemanticTokenType::MACRO),
    (WordKind::Parameter, SemanticTokenType::PARAMETER),
    (WordKind::Define, SemanticTokenType::ENUM_MEMBER),
    (WordKind::Register, SemanticTokenType::VARIABLE),
    (WordKind::Transfer, SemanticTokenType::PROPERTY),
    (WordKind::Signal, SemanticTokenType::EVENT),
    (WordKind::Label, SemanticTokenType::FUNCTION),
    (WordKind::Import, SemanticTokenType::TYPE_PARAMETER),
    (WordKind::Inactive, SemanticTokenType::COMMENT),
];

/// The legend for the numbers in [`packed`].
#[must_use]
pub fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: TYPES.map(|(_, name)| name).to_vec(),
        // `static` marks what all contexts share.
        token_modifiers: vec![
            SemanticTokenModifier::DECLARATION,
            SemanticTokenModifier::STATIC,
        ],
    }
}

/// Encodes each word by its distance from the previous one.
#[must_use]
pub fn packed(text: &LineIndex, words: &[Word]) -> Vec<SemanticToken> {
    let mut tokens = Vec::with_capacity(words.len());
    let (mut line, mut column) = (0, 0);
    for word in words {
        let shown = position::range(text, &word.range);
        let number = TYPES.iter().position(|(kind, _)| *kind == word.kind);
        // A word continued over several lines by a backslash cannot be encoded.
        let Some(number) = number.filter(|_| {
            shown.start.line == shown.end.line && shown.start.character < shown.end.character
        }) else {
            continue;
        };
        let delta_line = shown.start.line - line;
        let delta_start = match delta_line {
            0 => shown.start.character - column,
            _ => shown.start.character,
        };
        tokens.push(SemanticToken {
            delta_line,
            delta_start,
            length: shown.end.character - shown.start.character,
            token_type: number as u32,
            token_modifiers_bitset: u32::from(word.declares) | u32::from(word.shared) << 1,
        });
        (line, column) = (shown.start.line, shown.start.character);
    }
    tokens
}
