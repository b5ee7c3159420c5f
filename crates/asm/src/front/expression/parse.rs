//! The grammar of constant expressions.

use nom::{
    Err, IResult, Input, Parser,
    branch::alt,
    combinator::verify,
    error::{ErrorKind, ParseError},
    sequence::{delimited, preceded},
};

use super::{BinaryOperator, Expression, ExpressionKind, Failure, UnaryOperator, fail};
use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::token::{Token, TokenKind, Tokens, arguments, each, spell};

/// Maximum nesting of brackets, prefix operators and `?:`.
const MAX_DEPTH: usize = 64;
/// Maximum number of tokens in an expression, which bounds the depth of the tree.
const MAX_TOKENS: usize = 2048;

impl BinaryOperator {
    /// Returns the operator of a token and its binding strength.
    fn of(token: &Token) -> Option<(Self, u8)> {
        if token.kind != TokenKind::Punct {
            return None;
        }
        Some(match &*token.text {
            "*" => (Self::Multiply, 10),
            "/" => (Self::Divide, 10),
            "%" => (Self::Remainder, 10),
            "+" => (Self::Add, 9),
            "-" => (Self::Subtract, 9),
            "<<" => (Self::ShiftLeft, 8),
            ">>" => (Self::ShiftRight, 8),
            "<" => (Self::Less, 7),
            "<=" => (Self::LessOrEqual, 7),
            ">" => (Self::Greater, 7),
            ">=" => (Self::GreaterOrEqual, 7),
            "==" => (Self::Equal, 6),
            "!=" => (Self::NotEqual, 6),
            "&" => (Self::And, 5),
            "^" => (Self::Xor, 4),
            "|" => (Self::Or, 3),
            "&&" => (Self::AndAlso, 2),
            "||" => (Self::OrElse, 1),
            _ => return None,
        })
    }
}

/// Whether a token is a binary operator.
#[must_use]
pub fn joins_operands(token: &Token) -> bool {
    BinaryOperator::of(token).is_some() || token.is("?")
}

impl Expression {
    /// Parses all of `tokens`. A missing expression is reported at `near`.
    ///
    /// # Errors
    /// Returns an error if the tokens are not an expression.
    pub fn parse(tokens: &[Token], near: &Token) -> Result<Self, Failure> {
        let Some(last) = tokens.last() else {
            return Err(fail(
                codes::MALFORMED_EXPRESSION,
                "an expression is missing here",
                near,
            ));
        };
        if tokens.len() > MAX_TOKENS || deepest_bracket(tokens) > MAX_DEPTH {
            return Err(too_large(&tokens[0]).into());
        }
        match conditional(Tokens(tokens), 0) {
            Ok((Tokens([]), expression)) => Ok(expression),
            Ok((Tokens([extra, ..]), _)) => Err(unexpected(extra, "an operator")),
            Err(Err::Error(wrong) | Err::Failure(wrong)) => Err(match wrong.rest.0.first() {
                Some(token) if wrong.what == TOO_DEEP => too_large(token).into(),
                Some(token) => unexpected(token, wrong.what),
                None => Box::new(
                    Diagnostic::error(
                        codes::MALFORMED_EXPRESSION,
                        format!("the expression ends too early: {} is missing", wrong.what),
                        last.span,
                        last.expansion,
                    )
                    .label(format!("{} should follow", wrong.what)),
                ),
            }),
            Err(Err::Incomplete(_)) => Err(unexpected(last, "an operand")),
        }
    }
}

/// Returns how deeply brackets nest, including those in arguments of calls.
fn deepest_bracket(tokens: &[Token]) -> usize {
    let (mut depth, mut deepest) = (0usize, 0);
    for token in tokens {
        if token.is("(") || token.is("[") {
            depth += 1;
            deepest = deepest.max(depth);
        } else if token.is(")") || token.is("]") {
            depth = depth.saturating_sub(1);
        }
    }
    deepest
}

fn unexpected(token: &Token, wanted: &str) -> Failure {
    Box::new(
        Diagnostic::error(
            codes::MALFORMED_EXPRESSION,
            format!(
                "`{}` does not belong in an expression here",
                spell(std::slice::from_ref(token))
            ),
            token.span,
            token.expansion,
        )
        .label(format!("{wanted} was expected"))
        .help(
            "an expression consists of values and operators between them, such as `(2 * SIZE + 1)`",
        ),
    )
}

fn too_large(token: &Token) -> Diagnostic {
    Diagnostic::error(
        codes::EXPRESSION_TOO_LARGE,
        format!("this expression has more than {MAX_TOKENS} terms or {MAX_DEPTH} levels"),
        token.span,
        token.expansion,
    )
    .help("compute parts of the expression with #define_eval")
}

/// Where parsing failed, and what was expected there.
#[derive(Debug)]
struct Wrong<'a> {
    rest: Tokens<'a>,
    what: &'static str,
}

const TOO_DEEP: &str = "a simpler expression";

impl<'a> ParseError<Tokens<'a>> for Wrong<'a> {
    fn from_error_kind(rest: Tokens<'a>, _: ErrorKind) -> Self {
        Self {
            rest,
            what: "an operand",
        }
    }

    fn append(_: Tokens<'a>, _: ErrorKind, other: Self) -> Self {
        other
    }

    /// Prefers the alternative that got further, since its message is more specific.
    fn or(self, other: Self) -> Self {
        if self.rest.0.len() < other.rest.0.len() {
            self
        } else {
            other
        }
    }
}

type ExpressionResult<'a, T> = IResult<Tokens<'a>, T, Wrong<'a>>;

fn any(input: Tokens<'_>) -> ExpressionResult<'_, &Token> {
    match input.0.split_first() {
        Some((token, rest)) => Ok((Tokens(rest), token)),
        None => Err(Err::Error(Wrong::from_error_kind(input, ErrorKind::Eof))),
    }
}

fn punct<'a>(text: &'static str) -> impl Parser<Tokens<'a>, Output = &'a Token, Error = Wrong<'a>> {
    verify(any, move |token: &&Token| token.is(text))
}

/// Parses punctuation that is required to complete a construct.
fn required<'a>(
    text: &'static str,
    what: &'static str,
) -> impl Fn(Tokens<'a>) -> ExpressionResult<'a, &'a Token> {
    move |input| {
        punct(text)
            .parse(input)
            .map_err(|_| Err::Failure(Wrong { rest: input, what }))
    }
}

fn identifier(input: Tokens<'_>) -> ExpressionResult<'_, &Token> {
    verify(any, |token: &&Token| token.kind == TokenKind::Ident).parse(input)
}

fn deeper(input: Tokens<'_>, depth: usize) -> Result<usize, Err<Wrong<'_>>> {
    if depth >= MAX_DEPTH {
        return Err(Err::Failure(Wrong {
            rest: input,
            what: TOO_DEEP,
        }));
    }
    Ok(depth + 1)
}

fn around(first: &Expression, last: &Expression, kind: ExpressionKind) -> Expression {
    let span = if first.expansion == last.expansion {
        first.span.to(last.span)
    } else {
        first.span
    };
    Expression {
        kind,
        span,
        expansion: first.expansion,
    }
}

fn at(token: &Token, kind: ExpressionKind) -> Expression {
    Expression {
        kind,
        span: token.span,
        expansion: token.expansion,
    }
}

fn conditional(input: Tokens<'_>, depth: usize) -> ExpressionResult<'_, Expression> {
    let depth = deeper(input, depth)?;
    let (rest, condition) = binary(input, depth, 1)?;
    let Ok((rest, _)) = punct("?").parse(rest) else {
        return Ok((rest, condition));
    };
    let (rest, yes) = conditional(rest, depth)?;
    let (rest, _) = required(":", "`:` and the other value")(rest)?;
    let (rest, no) = conditional(rest, depth)?;
    let whole = around(&condition, &no, ExpressionKind::Number(0));
    let kind = ExpressionKind::Conditional(Box::new([condition, yes, no]));
    Ok((rest, Expression { kind, ..whole }))
}

/// Parses operators that bind at least as strongly as `least`.
fn binary(input: Tokens<'_>, depth: usize, least: u8) -> ExpressionResult<'_, Expression> {
    let (mut rest, mut left) = unary(input, depth)?;
    while let Some((operator, strength)) = rest.0.first().and_then(BinaryOperator::of)
        && strength >= least
    {
        let (after, right) = binary(rest.take_from(1), depth, strength + 1)?;
        let whole = around(&left, &right, ExpressionKind::Number(0));
        let kind = ExpressionKind::Binary(operator, Box::new(left), Box::new(right));
        left = Expression { kind, ..whole };
        rest = after;
    }
    Ok((rest, left))
}

fn unary(input: Tokens<'_>, depth: usize) -> ExpressionResult<'_, Expression> {
    let operator = |token: &Token| {
        Some(match &*token.text {
            "+" => UnaryOperator::Plus,
            "-" => UnaryOperator::Minus,
            "~" => UnaryOperator::Complement,
            "!" => UnaryOperator::Not,
            _ => return None,
        })
    };
    let prefix = verify(any, |token: &&Token| {
        token.kind == TokenKind::Punct && operator(token).is_some()
    });
    let (rest, prefixes) = each(prefix).parse(input)?;
    if prefixes.len() > MAX_DEPTH {
        deeper(input, MAX_DEPTH)?;
    }
    let (rest, mut operand) = primary(rest, depth)?;
    for token in prefixes.into_iter().rev() {
        if let Some(operator) = operator(token) {
            let whole = around(
                &at(token, ExpressionKind::Number(0)),
                &operand,
                ExpressionKind::Number(0),
            );
            let kind = ExpressionKind::Unary(operator, Box::new(operand));
            operand = Expression { kind, ..whole };
        }
    }
    Ok((rest, operand))
}

fn primary(input: Tokens<'_>, depth: usize) -> ExpressionResult<'_, Expression> {
    alt((
        literal,
        |input| parenthesized(input, depth),
        |input| address(input, depth),
        call,
        |input| name(input, depth),
    ))
    .parse(input)
}

fn literal(input: Tokens<'_>) -> ExpressionResult<'_, Expression> {
    let (rest, token) = any(input)?;
    let kind = match token.kind {
        TokenKind::Number(n) => ExpressionKind::Number(n.into()),
        TokenKind::Quoted | TokenKind::Str => ExpressionKind::Text(token.text.clone()),
        _ => {
            return Err(Err::Error(Wrong::from_error_kind(input, ErrorKind::Tag)));
        }
    };
    Ok((rest, at(token, kind)))
}

fn parenthesized(input: Tokens<'_>, depth: usize) -> ExpressionResult<'_, Expression> {
    delimited(
        punct("("),
        |input| conditional(input, depth),
        required(")", "`)`"),
    )
    .parse(input)
}

fn element(input: Tokens<'_>, depth: usize) -> ExpressionResult<'_, Option<Box<Expression>>> {
    if input.0.first().is_some_and(|token| token.is("[")) {
        let index = |input| conditional(input, depth);
        let (rest, index) = delimited(punct("["), index, required("]", "`]`")).parse(input)?;
        Ok((rest, Some(Box::new(index))))
    } else {
        Ok((input, None))
    }
}

fn address(input: Tokens<'_>, depth: usize) -> ExpressionResult<'_, Expression> {
    let (rest, name) = preceded(punct("&"), identifier).parse(input)?;
    let (rest, index) = element(rest, depth)?;
    let name = name.clone();
    Ok((
        rest,
        at(&name.clone(), ExpressionKind::Address { name, index }),
    ))
}

fn name(input: Tokens<'_>, depth: usize) -> ExpressionResult<'_, Expression> {
    let (rest, name) = identifier(input)?;
    let (rest, index) = element(rest, depth)?;
    let name = name.clone();
    Ok((
        rest,
        at(&name.clone(), ExpressionKind::Name { name, index }),
    ))
}

/// Parses `function(a, b)`; the arguments stay tokens, since some functions inspect their text.
fn call(input: Tokens<'_>) -> ExpressionResult<'_, Expression> {
    let (open, function) = identifier(input)?;
    punct("(").parse(open)?;
    let Some((list, used)) = arguments(open.0) else {
        return Err(Err::Failure(Wrong {
            rest: open.take_from(open.input_len()),
            what: "`)`",
        }));
    };
    let close = &open.0[used - 1];
    let whole = around(
        &at(function, ExpressionKind::Number(0)),
        &at(close, ExpressionKind::Number(0)),
        ExpressionKind::Call {
            function: function.clone(),
            arguments: list.into_iter().map(<[Token]>::to_vec).collect(),
        },
    );
    Ok((open.take_from(used), whole))
}
