//! `.word 0xf0000c0300`: a word as stored in the control store, for what no text can express: bits
//! in fields without effect, and words that are not valid instructions.
//!
//! The analyses see the word's effect through the instruction that it decodes to.

use npsim_isa::{ContextMode, DecodeReason, Generation, Target, WORD_MASK, decode_lenient_in};

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::directives::{DirectiveName, ProgramDirective, RewriteDirective};
use crate::front::constant;
use crate::front::lexer::{Interner, lex_fragment};
use crate::front::parse::statement_of;
use crate::front::statement::{Body, Directive, Instruction, SourcePlace, Statement};
use crate::front::token::{Token, TokenKind};

/// Replaces the directives by instructions.
pub fn replace(
    statements: &mut [Statement],
    generation: Generation,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let target = Target {
        generation,
        contexts: contexts(statements),
    };
    let replaced = DirectiveName::Rewrite(RewriteDirective::Word);
    for statement in statements {
        let directive = statement.directive().filter(|it| it.name == replaced);
        let Some(directive) = directive else {
            continue;
        };
        match instruction(directive, target) {
            Ok(made) => statement.body = Body::Instruction(made),
            Err(wrong) => {
                diagnostics.push(wrong);
                statement.body = Body::Empty;
            }
        }
    }
}

/// Returns the context mode of the program, on which transfer register numbers depend. An invalid
/// mode is reported where it is set.
fn contexts(statements: &[Statement]) -> ContextMode {
    let sets = DirectiveName::Program(ProgramDirective::NumContexts);
    let set = { statements.iter().rev() }
        .filter_map(Statement::directive)
        .find(|it| it.name == sets);
    let number = set.map(|it| constant::evaluate(&it.arguments, it.place));
    number
        .and_then(Result::ok)
        .and_then(ContextMode::with_contexts)
        .unwrap_or_default()
}

fn instruction(directive: &Directive, target: Target) -> Result<Instruction, Diagnostic> {
    let mut place = directive.place;
    if let Some(argument) = SourcePlace::of_all(&directive.arguments)
        && argument.expansion == place.expansion
    {
        place.span = place.span.to(argument.span);
    }
    let value = constant::evaluate(&directive.arguments, directive.place)?;
    let word = u64::try_from(value)
        .ok()
        .filter(|word| *word <= WORD_MASK)
        .ok_or_else(|| {
            SourcePlace::of_all(&directive.arguments)
                .unwrap_or(place)
                .error(
                    codes::CONSTANT_RANGE,
                    format!("{value:#x} is not a word of the control store"),
                )
                .help("a word has 40 bits: 0 to 0xffffffffff")
        })?;
    let text = match decode_lenient_in(word, target) {
        Ok(instruction) => instruction.to_string(),
        Err(error) => match error.reason {
            DecodeReason::NotInGeneration(newer) => return Err(place.newer_instruction(newer)),
            // A word that is not a valid instruction counts as a `nop`, unless it is executed.
            _ => "nop".to_owned(),
        },
    };
    let like = Token {
        kind: TokenKind::Ident,
        text: "".into(),
        span: place.span,
        expansion: place.expansion,
        joined: false,
    };
    let tokens = spaced(&text, &like);
    match statement_of(&tokens)?.map(|made| made.body) {
        Some(Body::Instruction(made)) => Ok(Instruction {
            raw: Some(word),
            place,
            ..made
        }),
        // The text of a decoded instruction always parses as one.
        _ => Err(place.error(
            codes::SYNTAX,
            format!("`{text}` is not a valid instruction"),
        )),
    }
}

/// Lexes a text into tokens that keep track of the white space before them.
fn spaced(text: &str, like: &Token) -> Vec<Token> {
    let mut interner = Interner::default();
    let words = text.split_inclusive(' ');
    words
        .flat_map(|word| lex_fragment(word, like, &mut interner))
        .collect()
}
