//! Evaluation of constant expressions in operands and directives.

use std::rc::Rc;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::expression::{self, Expression as Parsed, Failure, Resolver};
use crate::front::statement::SourcePlace;
use crate::front::token::{Token, TokenKind};
use crate::middle::program::{BoundExpression, SymbolReference};

/// Resolves no names: they are replaced by numbers before evaluation, and any left over has no
/// value.
struct NumbersOnly;

impl Resolver for NumbersOnly {
    fn name(&mut self, name: &Token, _: Option<i64>) -> Result<expression::Value, Failure> {
        Err(unknown(name))
    }

    fn address(&mut self, name: &Token, _: Option<i64>) -> Result<expression::Value, Failure> {
        Err(unknown(name))
    }

    fn call(
        &mut self,
        function: &Token,
        arguments: &[Vec<Token>],
    ) -> Result<expression::Value, Failure> {
        match expression::builtin(function, arguments, self) {
            Some(value) => value,
            None => Err(unknown(function)),
        }
    }
}

fn unknown(name: &Token) -> Failure {
    Box::new(
        SourcePlace::of(name)
            .error(
                codes::NOT_CONSTANT,
                format!("`{}` has no value here", name.text),
            )
            .help("define it with `#define`"),
    )
}

/// Evaluates an expression of numbers; an empty one is reported at `place`.
///
/// # Errors
/// Returns any error that [`expression::Expression`] finds.
pub fn evaluate(tokens: &[Token], place: SourcePlace) -> Result<i64, Diagnostic> {
    let Some(first) = tokens.first() else {
        return Err(place.error(codes::MALFORMED_EXPRESSION, "a constant is missing here"));
    };
    let value = Parsed::parse(tokens, first)
        .and_then(|parsed| parsed.number(&mut NumbersOnly))
        .map_err(|failure| *failure)?;
    i64::try_from(value).map_err(|_| {
        place
            .error(
                codes::CONSTANT_RANGE,
                format!("the constant {value:#x} does not fit 32 bits"),
            )
            .help("take a half of it, as in `(x >> 32)` and `(x & 0xffffffff)`")
    })
}

/// Evaluates an expression whose references are now known.
///
/// # Errors
/// Returns an error like [`evaluate`], or any error that `value` returns for a reference.
pub fn resolve(
    expression: &BoundExpression,
    place: SourcePlace,
    mut value: impl FnMut(&SymbolReference) -> Result<i64, Diagnostic>,
) -> Result<i64, Diagnostic> {
    let mut tokens = expression.tokens.clone();
    for (index, reference) in &expression.references {
        let number = value(reference)?;
        let token = &mut tokens[*index];
        token.kind = TokenKind::Number(number.max(0) as u64);
        token.text = Rc::from(number.to_string());
    }
    evaluate(&tokens, place)
}
