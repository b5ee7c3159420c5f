//! `.operand_synonym name operand`: from there on, in the same scope, the name stands for the
//! operand.

use std::collections::BTreeMap;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::directives::{DeclarationDirective, DirectiveName, RewriteDirective, ScopeDirective};
use crate::front::statement::{Body, Directive, SourcePlace, Statement};
use crate::front::token::{Token, TokenKind, spell};

/// Maximum number of tokens of an operand. Synonyms of synonyms grow fast.
const MAX_TOKENS: usize = 256;

/// An operand synonym, for debuggers and listings, which show the source beside the words.
#[derive(Clone, Debug)]
pub struct Synonym {
    /// The name.
    pub name: String,
    /// Index of its scope: 0 is the file; the others follow in the order in which they are opened.
    pub scope: usize,
    /// The operand, with all synonyms in it resolved.
    pub operand: String,
    /// The place of the directive.
    pub place: SourcePlace,
}

/// The synonyms of one scope, by name.
#[derive(Default)]
struct SynonymScope {
    number: usize,
    known: BTreeMap<String, Vec<Token>>,
}

/// Replaces synonyms by their operands and removes the directives; returns the synonyms in source
/// order.
pub fn replace(
    statements: Vec<Statement>,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<Statement>, Vec<Synonym>) {
    let introduces = DirectiveName::Rewrite(RewriteDirective::OperandSynonym);
    let mut directives = statements.iter().filter_map(Statement::directive);
    if !directives.any(|it| it.name == introduces) {
        return (statements, Vec::new());
    }
    let mut scopes = vec![SynonymScope::default()];
    let (mut opened, mut found) = (0, Vec::new());
    let mut kept = Vec::with_capacity(statements.len());
    for mut statement in statements {
        match &mut statement.body {
            Body::Empty => {}
            Body::Instruction(instruction) => {
                for operand in &mut instruction.operands {
                    substitute(operand, &scopes);
                }
                for choice in &mut instruction.options {
                    for argument in &mut choice.arguments {
                        substitute(argument, &scopes);
                    }
                }
            }
            Body::Directive(directive) => match directive.name {
                DirectiveName::Rewrite(RewriteDirective::OperandSynonym) => {
                    match enter(directive, &mut scopes) {
                        Ok(synonym) => found.extend(synonym),
                        Err(diagnostic) => diagnostics.push(diagnostic),
                    }
                    statement.body = Body::Empty;
                    if statement.labels.is_empty() {
                        continue;
                    }
                }
                DirectiveName::Scope(ScopeDirective::Begin | ScopeDirective::Local) => {
                    opened += 1;
                    scopes.push(SynonymScope {
                        number: opened,
                        ..SynonymScope::default()
                    });
                }
                // Mismatched scopes are reported when names are declared.
                DirectiveName::Scope(ScopeDirective::End | ScopeDirective::Endlocal) => {
                    if scopes.len() > 1 {
                        scopes.pop();
                    }
                }
                DirectiveName::Declaration(
                    DeclarationDirective::Reg | DeclarationDirective::Sig,
                ) => {}
                DirectiveName::Declaration(DeclarationDirective::ImportVar)
                | DirectiveName::Hint(_)
                | DirectiveName::Program(_)
                | DirectiveName::Rewrite(RewriteDirective::Word)
                | DirectiveName::Structured(_) => {
                    substitute(&mut directive.arguments, &scopes);
                }
            },
        }
        kept.push(statement);
    }
    (kept, found)
}

fn enter(
    directive: &Directive,
    scopes: &mut [SynonymScope],
) -> Result<Option<Synonym>, Diagnostic> {
    let malformed = |place: SourcePlace| {
        place
            .error(
                codes::SYNTAX,
                "`.operand_synonym` needs a new name and an operand",
            )
            .help("write `.operand_synonym name operand`")
    };
    let Some((name, rest)) = directive.arguments.split_first() else {
        return Err(malformed(directive.place));
    };
    let operand = match rest.split_first() {
        Some((comma, operand)) if comma.is(",") => operand,
        _ => rest,
    };
    if name.kind != TokenKind::Ident || operand.is_empty() {
        return Err(malformed(SourcePlace::of(name)));
    }
    let mut operand = operand.to_vec();
    substitute(&mut operand, scopes);
    if operand.len() > MAX_TOKENS {
        return Err(SourcePlace::of(name)
            .error(
                codes::SYNTAX,
                format!(
                    "the operand has {} tokens, at most {MAX_TOKENS} are possible",
                    operand.len()
                ),
            )
            .help("does the synonym occur several times in its own operand?"));
    }
    let Some(scope) = scopes.last_mut() else {
        return Ok(None);
    };
    let synonym = Synonym {
        name: String::from(&*name.text),
        scope: scope.number,
        operand: spell(&operand),
        place: directive.place,
    };
    scope.known.insert(String::from(&*name.text), operand);
    Ok(Some(synonym))
}

/// Replaces synonyms in tokens; the new tokens get the position of the synonym.
fn substitute(tokens: &mut Vec<Token>, scopes: &[SynonymScope]) {
    let meaning = |token: &Token| {
        (token.kind == TokenKind::Ident)
            .then(|| scopes.iter().rev().find_map(|s| s.known.get(&*token.text)))
            .flatten()
    };
    if !tokens.iter().any(|token| meaning(token).is_some()) {
        return;
    }
    let mut made = Vec::with_capacity(tokens.len());
    for token in tokens.drain(..) {
        match meaning(&token) {
            None => made.push(token),
            Some(operand) => made.extend(operand.iter().enumerate().map(|(i, inner)| Token {
                span: token.span,
                expansion: token.expansion,
                joined: if i == 0 { token.joined } else { inner.joined },
                ..inner.clone()
            })),
        }
    }
    *tokens = made;
}
