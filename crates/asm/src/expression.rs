//! Constant expressions with the precedence of C on 64-bit signed numbers.
//!
//! An expression is parsed once and may be evaluated later, for the numbers of
//! registers and signals (`&name`) are known only after allocation. What names
//! and functions mean is up to the caller's [`Resolver`].

use std::rc::Rc;

use nom::{
    Err, IResult, Input, Parser,
    branch::alt,
    combinator::{map, verify},
    error::{ErrorKind, ParseError},
    multi::many0,
    sequence::{delimited, preceded},
};

use crate::{
    codes,
    diagnostic::Diagnostic,
    source::{ExpansionId, Span},
    token::{Token, TokenKind, Tokens, spell},
};

/// Brackets, prefix operators and `?:` may nest this deep.
const MAX_DEPTH: usize = 64;
/// An expression may have this many tokens; it bounds the depth of the tree.
const MAX_TOKENS: usize = 2048;

/// Why an expression has no value.
pub type Failure = Box<Diagnostic>;

/// What an expression gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number.
    Number(i64),
    /// A quoted text.
    Text(Rc<str>),
}

/// The meaning of names in an expression.
pub trait Resolver {
    /// The value of `name` or of the array element `name[index]`.
    ///
    /// # Errors
    /// If it has none here.
    fn name(&mut self, name: &Token, index: Option<i64>) -> Result<Value, Failure>;

    /// The value of `&name` or `&name[index]`.
    ///
    /// # Errors
    /// If it has none here.
    fn address(&mut self, name: &Token, index: Option<i64>) -> Result<Value, Failure>;

    /// The value of `function(arguments)`; see [`builtin`] for the text and
    /// number functions that mean the same everywhere.
    ///
    /// # Errors
    /// If there is no such function or it does not take these arguments.
    fn call(&mut self, function: &Token, arguments: &[Vec<Token>]) -> Result<Value, Failure>;
}

/// A parsed constant expression.
#[derive(Clone, Debug)]
pub struct Expression {
    kind: Kind,
    span: Span,
    expansion: ExpansionId,
}

#[derive(Clone, Debug)]
enum Kind {
    Number(i64),
    Text(Rc<str>),
    Name {
        name: Token,
        index: Option<Box<Expression>>,
    },
    Address {
        name: Token,
        index: Option<Box<Expression>>,
    },
    Call {
        function: Token,
        arguments: Vec<Vec<Token>>,
    },
    Unary(UnaryOperator, Box<Expression>),
    Binary(BinaryOperator, Box<Expression>, Box<Expression>),
    Conditional(Box<[Expression; 3]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UnaryOperator {
    Plus,
    Minus,
    Complement,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BinaryOperator {
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    And,
    Xor,
    Or,
    AndAlso,
    OrElse,
}

impl BinaryOperator {
    /// The operator of a token and how strongly it binds.
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

/// A name or call that occurs in an expression.
#[derive(Clone, Copy, Debug)]
pub enum Reference<'a> {
    /// `name` or `name[index]`.
    Name {
        /// The name.
        name: &'a Token,
        /// The element of an array.
        index: Option<&'a Expression>,
    },
    /// `&name` or `&name[index]`.
    Address {
        /// The name.
        name: &'a Token,
        /// The element of an array.
        index: Option<&'a Expression>,
    },
    /// `function(arguments)`.
    Call {
        /// The function's name.
        function: &'a Token,
        /// Its arguments as they stand.
        arguments: &'a [Vec<Token>],
    },
}

impl Expression {
    /// Parses all of `tokens`. `near` is where a missing expression is reported.
    ///
    /// # Errors
    /// If the tokens are no expression.
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

    /// The value.
    ///
    /// # Errors
    /// If a name is not known, a type does not fit, or the value leaves the
    /// range of 64-bit signed numbers.
    pub fn evaluate(&self, resolver: &mut dyn Resolver) -> Result<Value, Failure> {
        match &self.kind {
            Kind::Number(n) => Ok(Value::Number(*n)),
            Kind::Text(text) => Ok(Value::Text(text.clone())),
            Kind::Name { name, index } => {
                let index = index_value(index.as_deref(), resolver)?;
                resolver.name(name, index)
            }
            Kind::Address { name, index } => {
                let index = index_value(index.as_deref(), resolver)?;
                resolver.address(name, index)
            }
            Kind::Call {
                function,
                arguments,
            } => resolver.call(function, arguments),
            Kind::Unary(operator, operand) => {
                let n = operand.number(resolver)?;
                match operator {
                    UnaryOperator::Plus => Some(n),
                    UnaryOperator::Minus => n.checked_neg(),
                    UnaryOperator::Complement => Some(!n),
                    UnaryOperator::Not => Some(i64::from(n == 0)),
                }
                .map(Value::Number)
                .ok_or_else(|| self.overflow())
            }
            Kind::Binary(operator, left, right) => self.binary(*operator, left, right, resolver),
            Kind::Conditional(parts) => {
                let [condition, yes, no] = &**parts;
                if condition.number(resolver)? == 0 {
                    no.evaluate(resolver)
                } else {
                    yes.evaluate(resolver)
                }
            }
        }
    }

    /// The value as a number.
    ///
    /// # Errors
    /// As for [`Self::evaluate`], and if it is a text.
    pub fn number(&self, resolver: &mut dyn Resolver) -> Result<i64, Failure> {
        match self.evaluate(resolver)? {
            Value::Number(n) => Ok(n),
            Value::Text(text) => Err(Box::new(
                Diagnostic::error(
                    codes::TEXT_IN_ARITHMETIC,
                    format!("a number is needed here, not the text '{text}'"),
                    self.span,
                    self.expansion,
                )
                .help("compare texts with streq('a', 'b')"),
            )),
        }
    }

    /// Where it stands.
    #[must_use]
    pub fn place(&self) -> (Span, ExpansionId) {
        (self.span, self.expansion)
    }

    /// All names and calls in it, from left to right. Those in the arguments of
    /// calls are not looked into.
    #[must_use]
    pub fn references(&self) -> Vec<Reference<'_>> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found
    }

    fn collect<'a>(&'a self, found: &mut Vec<Reference<'a>>) {
        match &self.kind {
            Kind::Number(_) | Kind::Text(_) => {}
            Kind::Name { name, index } => {
                let index = index.as_deref();
                found.push(Reference::Name { name, index });
                if let Some(index) = index {
                    index.collect(found);
                }
            }
            Kind::Address { name, index } => {
                let index = index.as_deref();
                found.push(Reference::Address { name, index });
                if let Some(index) = index {
                    index.collect(found);
                }
            }
            Kind::Call {
                function,
                arguments,
            } => found.push(Reference::Call {
                function,
                arguments,
            }),
            Kind::Unary(_, operand) => operand.collect(found),
            Kind::Binary(_, left, right) => {
                left.collect(found);
                right.collect(found);
            }
            Kind::Conditional(parts) => parts.iter().for_each(|part| part.collect(found)),
        }
    }

    fn binary(
        &self,
        operator: BinaryOperator,
        left: &Self,
        right: &Self,
        resolver: &mut dyn Resolver,
    ) -> Result<Value, Failure> {
        use BinaryOperator as B;
        // The right side of `defined(X) && X > 1` must not be looked at needlessly.
        if operator == B::AndAlso || operator == B::OrElse {
            let decided = (left.number(resolver)? != 0) == (operator == B::OrElse);
            let value = if decided {
                operator == B::OrElse
            } else {
                right.number(resolver)? != 0
            };
            return Ok(Value::Number(i64::from(value)));
        }
        if operator == B::Equal || operator == B::NotEqual {
            let same = match (left.evaluate(resolver)?, right.evaluate(resolver)?) {
                (Value::Text(a), Value::Text(b)) => a == b,
                (Value::Number(a), Value::Number(b)) => a == b,
                _ => {
                    return Err(Box::new(Diagnostic::error(
                        codes::TEXT_IN_ARITHMETIC,
                        "a text cannot be compared with a number",
                        self.span,
                        self.expansion,
                    )));
                }
            };
            return Ok(Value::Number(i64::from(same == (operator == B::Equal))));
        }
        let a = left.number(resolver)?;
        let b = right.number(resolver)?;
        let value = match operator {
            B::Multiply => a.checked_mul(b),
            B::Divide | B::Remainder if b == 0 => {
                return Err(Box::new(
                    Diagnostic::error(
                        codes::DIVISION_BY_ZERO,
                        "division by zero",
                        self.span,
                        self.expansion,
                    )
                    .also(right.span, right.expansion, "this is 0"),
                ));
            }
            B::Divide => a.checked_div(b),
            B::Remainder => a.checked_rem(b),
            B::Add => a.checked_add(b),
            B::Subtract => a.checked_sub(b),
            B::ShiftLeft => u32::try_from(b)
                .ok()
                .and_then(|by| a.checked_shl(by).filter(|shifted| shifted >> by == a)),
            B::ShiftRight => u32::try_from(b).ok().map(|by| a >> by.min(63)),
            B::Less => Some(i64::from(a < b)),
            B::LessOrEqual => Some(i64::from(a <= b)),
            B::Greater => Some(i64::from(a > b)),
            B::GreaterOrEqual => Some(i64::from(a >= b)),
            B::And => Some(a & b),
            B::Xor => Some(a ^ b),
            B::Or => Some(a | b),
            B::Equal | B::NotEqual | B::AndAlso | B::OrElse => None,
        };
        value
            .map(Value::Number)
            .ok_or_else(|| self.overflow())
    }

    fn overflow(&self) -> Failure {
        Box::new(
            Diagnostic::error(
                codes::EXPRESSION_OVERFLOW,
                "the value does not fit 64 bits, or a shift count is negative",
                self.span,
                self.expansion,
            )
            .help("constants of the microengine have at most 32 bits"),
        )
    }
}

/// How deep brackets nest, those in arguments of calls included.
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

fn index_value(
    index: Option<&Expression>,
    resolver: &mut dyn Resolver,
) -> Result<Option<i64>, Failure> {
    index.map(|index| index.number(resolver)).transpose()
}

fn fail(code: &'static str, message: impl Into<String>, at: &Token) -> Failure {
    Box::new(Diagnostic::error(code, message, at.span, at.expansion))
}

fn unexpected(token: &Token, wanted: &str) -> Failure {
    Box::new(
        Diagnostic::error(
            codes::MALFORMED_EXPRESSION,
            format!(
                "`{}` does not belong into an expression here",
                spell(std::slice::from_ref(token))
            ),
            token.span,
            token.expansion,
        )
        .label(format!("{wanted} was expected")),
    )
}

fn too_large(token: &Token) -> Diagnostic {
    Diagnostic::error(
        codes::EXPRESSION_TOO_LARGE,
        format!("this expression has more than {MAX_TOKENS} terms or {MAX_DEPTH} levels"),
        token.span,
        token.expansion,
    )
    .help("compute parts of it with #define_eval")
}

/// Where parsing went wrong and what should have stood there.
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

    /// The alternative that came further knows better.
    fn or(self, other: Self) -> Self {
        if self.rest.0.len() < other.rest.0.len() {
            self
        } else {
            other
        }
    }
}

type Parsed<'a, T> = IResult<Tokens<'a>, T, Wrong<'a>>;

fn any(input: Tokens<'_>) -> Parsed<'_, &Token> {
    match input.0.split_first() {
        Some((token, rest)) => Ok((Tokens(rest), token)),
        None => Err(Err::Error(Wrong::from_error_kind(input, ErrorKind::Eof))),
    }
}

fn punct<'a>(
    text: &'static str,
) -> impl Parser<Tokens<'a>, Output = &'a Token, Error = Wrong<'a>> {
    verify(any, move |token: &&Token| token.is(text))
}

/// A punctuation without which what was begun makes no sense.
fn required<'a>(
    text: &'static str,
    what: &'static str,
) -> impl Fn(Tokens<'a>) -> Parsed<'a, &'a Token> {
    move |input| {
        punct(text)
            .parse(input)
            .map_err(|_| Err::Failure(Wrong { rest: input, what }))
    }
}

fn identifier(input: Tokens<'_>) -> Parsed<'_, &Token> {
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

fn around(first: &Expression, last: &Expression, kind: Kind) -> Expression {
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

fn at(token: &Token, kind: Kind) -> Expression {
    Expression {
        kind,
        span: token.span,
        expansion: token.expansion,
    }
}

fn conditional(input: Tokens<'_>, depth: usize) -> Parsed<'_, Expression> {
    let depth = deeper(input, depth)?;
    let (rest, condition) = binary(input, depth, 1)?;
    let Ok((rest, _)) = punct("?").parse(rest) else {
        return Ok((rest, condition));
    };
    let (rest, yes) = conditional(rest, depth)?;
    let (rest, _) = required(":", "`:` and the other value")(rest)?;
    let (rest, no) = conditional(rest, depth)?;
    let whole = around(&condition, &no, Kind::Number(0));
    let kind = Kind::Conditional(Box::new([condition, yes, no]));
    Ok((rest, Expression { kind, ..whole }))
}

/// Operators that bind at least as strongly as `least`.
fn binary(input: Tokens<'_>, depth: usize, least: u8) -> Parsed<'_, Expression> {
    let (mut rest, mut left) = unary(input, depth)?;
    while let Some((operator, strength)) = rest.0.first().and_then(BinaryOperator::of)
        && strength >= least
    {
        let (after, right) = binary(rest.take_from(1), depth, strength + 1)?;
        let whole = around(&left, &right, Kind::Number(0));
        let kind = Kind::Binary(operator, Box::new(left), Box::new(right));
        left = Expression { kind, ..whole };
        rest = after;
    }
    Ok((rest, left))
}

fn unary(input: Tokens<'_>, depth: usize) -> Parsed<'_, Expression> {
    let operator = |token: &Token| {
        Some(match &*token.text {
            "+" => UnaryOperator::Plus,
            "-" => UnaryOperator::Minus,
            "~" => UnaryOperator::Complement,
            "!" => UnaryOperator::Not,
            _ => return None,
        })
    };
    let prefix = map(
        verify(any, |token: &&Token| {
            token.kind == TokenKind::Punct && operator(token).is_some()
        }),
        |token| token,
    );
    let (rest, prefixes) = many0(prefix).parse(input)?;
    if prefixes.len() > MAX_DEPTH {
        deeper(input, MAX_DEPTH)?;
    }
    let (rest, mut operand) = primary(rest, depth)?;
    for token in prefixes.into_iter().rev() {
        if let Some(operator) = operator(token) {
            let whole = around(&at(token, Kind::Number(0)), &operand, Kind::Number(0));
            let kind = Kind::Unary(operator, Box::new(operand));
            operand = Expression { kind, ..whole };
        }
    }
    Ok((rest, operand))
}

fn primary(input: Tokens<'_>, depth: usize) -> Parsed<'_, Expression> {
    alt((
        literal,
        |input| parenthesized(input, depth),
        |input| address(input, depth),
        call,
        |input| name(input, depth),
    ))
    .parse(input)
}

fn literal(input: Tokens<'_>) -> Parsed<'_, Expression> {
    let (rest, token) = any(input)?;
    let kind = match token.kind {
        TokenKind::Number(n) => match i64::try_from(n) {
            Ok(n) => Kind::Number(n),
            Err(_) => {
                return Err(Err::Failure(Wrong {
                    rest: input,
                    what: "a number below 2^63",
                }));
            }
        },
        TokenKind::Quoted | TokenKind::Str => Kind::Text(token.text.clone()),
        _ => {
            return Err(Err::Error(Wrong::from_error_kind(input, ErrorKind::Tag)));
        }
    };
    Ok((rest, at(token, kind)))
}

fn parenthesized(input: Tokens<'_>, depth: usize) -> Parsed<'_, Expression> {
    delimited(
        punct("("),
        |input| conditional(input, depth),
        required(")", "`)`"),
    )
    .parse(input)
}

fn element(input: Tokens<'_>, depth: usize) -> Parsed<'_, Option<Box<Expression>>> {
    if input.0.first().is_some_and(|token| token.is("[")) {
        let index = |input| conditional(input, depth);
        let (rest, index) = delimited(punct("["), index, required("]", "`]`")).parse(input)?;
        Ok((rest, Some(Box::new(index))))
    } else {
        Ok((input, None))
    }
}

fn address(input: Tokens<'_>, depth: usize) -> Parsed<'_, Expression> {
    let (rest, name) = preceded(punct("&"), identifier).parse(input)?;
    let (rest, index) = element(rest, depth)?;
    let name = name.clone();
    Ok((rest, at(&name.clone(), Kind::Address { name, index })))
}

fn name(input: Tokens<'_>, depth: usize) -> Parsed<'_, Expression> {
    let (rest, name) = identifier(input)?;
    let (rest, index) = element(rest, depth)?;
    let name = name.clone();
    Ok((rest, at(&name.clone(), Kind::Name { name, index })))
}

/// `function(a, b)`; the arguments stay tokens, for some functions ask what
/// kind of text they are.
fn call(input: Tokens<'_>) -> Parsed<'_, Expression> {
    let (open, function) = identifier(input)?;
    punct("(").parse(open)?;
    let Some((arguments, used)) = crate::token::arguments(open.0) else {
        return Err(Err::Failure(Wrong {
            rest: open.take_from(open.input_len()),
            what: "`)`",
        }));
    };
    let close = &open.0[used - 1];
    let whole = around(
        &at(function, Kind::Number(0)),
        &at(close, Kind::Number(0)),
        Kind::Call {
            function: function.clone(),
            arguments: arguments.into_iter().map(<[Token]>::to_vec).collect(),
        },
    );
    Ok((open.take_from(used), whole))
}

/// The functions that mean the same wherever expressions are allowed: `log2`,
/// `streq`, `strlen`, `strstr`, `strleft` and `strright`; `None` for others.
///
/// `log2(x)` rounds down and `log2(x, 1)` up. `strstr` counts from 1 and gives
/// 0 for an absent needle. A negative count drops characters: `strleft('abc',
/// -1)` is `ab` and `strright('abc', -1)` is `bc`.
///
/// # Errors
/// The inner result says which argument does not fit.
pub fn builtin(
    function: &Token,
    arguments: &[Vec<Token>],
    resolver: &mut dyn Resolver,
) -> Option<Result<Value, Failure>> {
    let name = function.text.to_ascii_lowercase();
    let (least, most) = match &*name {
        "strlen" => (1, 1),
        "log2" => (1, 2),
        "streq" | "strstr" | "strleft" | "strright" => (2, 2),
        _ => return None,
    };
    if arguments.len() < least || arguments.len() > most {
        let wanted = match (least, most) {
            (1, 1) => "1 argument",
            (1, _) => "1 or 2 arguments",
            _ => "2 arguments",
        };
        return Some(Err(fail(
            codes::FUNCTION_ARGUMENT,
            format!("{name} takes {wanted}, but {} are given", arguments.len()),
            function,
        )));
    }
    Some(apply(&name, function, arguments, resolver))
}

fn apply(
    name: &str,
    function: &Token,
    arguments: &[Vec<Token>],
    resolver: &mut dyn Resolver,
) -> Result<Value, Failure> {
    if name == "log2" {
        let n = Expression::parse(&arguments[0], function)?.number(resolver)?;
        let up = match arguments.get(1) {
            Some(mode) => Expression::parse(mode, function)?.number(resolver)? != 0,
            None => false,
        };
        if n <= 0 {
            return Err(fail(
                codes::FUNCTION_ARGUMENT,
                format!("log2 needs a number above 0, not {n}"),
                function,
            ));
        }
        let floor = n.ilog2();
        let up = up && !n.cast_unsigned().is_power_of_two();
        return Ok(Value::Number(i64::from(floor) + i64::from(up)));
    }
    let text = text_argument(&arguments[0], function, resolver)?;
    Ok(match name {
        "strlen" => Value::Number(text.chars().count() as i64),
        "streq" => {
            let other = text_argument(&arguments[1], function, resolver)?;
            Value::Number(i64::from(text == other))
        }
        "strstr" => {
            let needle = text_argument(&arguments[1], function, resolver)?;
            let place = text
                .find(&*needle)
                .map_or(0, |at| text[..at].chars().count() as i64 + 1);
            Value::Number(place)
        }
        _ => {
            let count = Expression::parse(&arguments[1], function)?.number(resolver)?;
            let length = text.chars().count();
            let wanted = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
            let kept = if count < 0 {
                length.saturating_sub(wanted)
            } else {
                wanted.min(length)
            };
            Value::Text(if name == "strleft" {
                text.chars().take(kept).collect::<String>().into()
            } else {
                text.chars()
                    .skip(length - kept)
                    .collect::<String>()
                    .into()
            })
        }
    })
}

/// A quoted text, the result of a text function, or else the bare words.
fn text_argument(
    argument: &[Token],
    function: &Token,
    resolver: &mut dyn Resolver,
) -> Result<Rc<str>, Failure> {
    match argument {
        [token] if matches!(token.kind, TokenKind::Quoted | TokenKind::Str) => {
            Ok(token.text.clone())
        }
        [name, open, ..]
            if open.is("(")
                && ["strleft", "strright"]
                    .iter()
                    .any(|known| name.text.eq_ignore_ascii_case(known)) =>
        {
            match Expression::parse(argument, function)?.evaluate(resolver)? {
                Value::Text(text) => Ok(text),
                Value::Number(n) => Ok(n.to_string().into()),
            }
        }
        _ => Ok(spell(argument).into()),
    }
}

#[cfg(test)]
mod tests;
