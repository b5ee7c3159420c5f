//! The parser, from tokens to statements. A line that does not parse becomes a diagnostic, and
//! parsing continues with the next one.

mod line;
pub mod operand;
pub mod stream;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::foreign;
use crate::front::statement::{Body, SourcePlace, Statement};
use crate::front::token::{LogicalLine, Token, split_labels};
use stream::{Expected, Parsed, Tokens};

/// Parses all lines into one statement each; of a line that does not parse, only the labels remain.
pub fn parse(lines: &[LogicalLine], diagnostics: &mut Vec<Diagnostic>) -> Vec<Statement> {
    let mut statements = Vec::with_capacity(lines.len());
    for line in lines {
        match run(&line.tokens, line::statement) {
            Ok(Ok(statement)) => statements.push(statement),
            Ok(Err(unknown)) => {
                diagnostics.push(unknown.diagnostic());
                statements.push(unknown.stub());
            }
            Err(diagnostic) => {
                diagnostics.extend(foreign::explain(&line.tokens).or(diagnostic));
                let (labels, _) = split_labels(&line.tokens);
                statements.push(Statement {
                    labels: labels.iter().step_by(2).cloned().collect(),
                    body: Body::Empty,
                });
            }
        }
    }
    statements
}

/// Parses one line; `None` only if there are no tokens.
///
/// # Errors
/// Returns a `syntax` diagnostic at the unexpected token, or the one for an unknown directive.
pub fn statement_of(tokens: &[Token]) -> Result<Option<Statement>, Diagnostic> {
    match run(tokens, line::statement) {
        Ok(Ok(statement)) => Ok(Some(statement)),
        Ok(Err(unknown)) => Err(unknown.diagnostic()),
        Err(None) => Ok(None),
        Err(Some(diagnostic)) => Err(foreign::explain(tokens).unwrap_or(diagnostic)),
    }
}

/// Runs a parser over all of `tokens`. The error is `None` only if there are no tokens.
///
/// # Errors
/// Returns a `syntax` diagnostic at the unexpected token.
pub fn run<'a, T>(
    tokens: &'a [Token],
    mut parser: impl FnMut(Tokens<'a>) -> Parsed<'a, T>,
) -> Result<T, Option<Diagnostic>> {
    let failure = match parser(Tokens(tokens)) {
        Ok((rest, value)) if rest.0.is_empty() => return Ok(value),
        Ok((rest, _)) => Expected {
            at: rest,
            what: "the end of the operand",
        },
        Err(nom::Err::Error(failure) | nom::Err::Failure(failure)) => failure,
        Err(nom::Err::Incomplete(_)) => Expected {
            at: Tokens(&[]),
            what: "more",
        },
    };
    Err(describe(tokens, &failure))
}

fn describe(tokens: &[Token], failure: &Expected<'_>) -> Option<Diagnostic> {
    let wanted = match failure.what {
        what if what.len() <= 2 => format!("`{what}`"),
        what => what.to_owned(),
    };
    if let Some(found) = failure.at.0.first() {
        let message = format!("expected {wanted}, found `{}`", found.text);
        return Some(
            SourcePlace::of(found)
                .error(codes::SYNTAX, message)
                .label("not expected here"),
        );
    }
    let last = tokens.last()?;
    let mut place = SourcePlace::of(last);
    place.span.lo = place.span.hi;
    Some(
        place
            .error(codes::SYNTAX, format!("expected {wanted}, found the end"))
            .label("something is missing here"),
    )
}
