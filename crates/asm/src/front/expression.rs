//! Constant expressions with C's precedence, on signed and unsigned 64-bit numbers: from -2^63 to
//! 2^64 - 1. A constant with the top bit set is not negative.
//!
//! An expression is parsed once and may be evaluated later, since the numbers of registers and
//! signals (`&name`) are known only after allocation. The caller's [`Resolver`] defines names and
//! functions.

mod builtin;
mod parse;

use std::rc::Rc;

use crate::codes;
use crate::diagnostic::Diagnostic;
use crate::front::token::Token;
use crate::source::{ExpansionId, Span};

pub use builtin::builtin;
pub use parse::joins_operands;

/// The reason why an expression has no value.
pub type Failure = Box<Diagnostic>;

/// The value of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number, from -2^63 to 2^64 - 1.
    Number(i128),
    /// A quoted string.
    Text(Rc<str>),
}

/// Resolves the names in an expression.
pub trait Resolver {
    /// Returns the value of `name` or of the array element `name[index]`.
    ///
    /// # Errors
    /// Returns an error if it has no value here.
    fn name(&mut self, name: &Token, index: Option<i64>) -> Result<Value, Failure>;

    /// Returns the value of `&name` or `&name[index]`.
    ///
    /// # Errors
    /// Returns an error if it has no value here.
    fn address(&mut self, name: &Token, index: Option<i64>) -> Result<Value, Failure>;

    /// Returns the value of `function(arguments)`; see [`builtin`] for the string and number
    /// functions with the same meaning everywhere.
    ///
    /// # Errors
    /// Returns an error if there is no such function or it does not accept these arguments.
    fn call(&mut self, function: &Token, arguments: &[Vec<Token>]) -> Result<Value, Failure>;
}

/// A parsed constant expression.
#[derive(Clone, Debug)]
pub struct Expression {
    kind: ExpressionKind,
    span: Span,
    expansion: ExpansionId,
}

#[derive(Clone, Debug)]
enum ExpressionKind {
    Number(i128),
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

impl Expression {
    /// Evaluates the expression.
    ///
    /// # Errors
    /// Returns an error if a name is unknown, a type does not match, or the value does not fit 64
    /// bits.
    pub fn evaluate(&self, resolver: &mut dyn Resolver) -> Result<Value, Failure> {
        match &self.kind {
            ExpressionKind::Number(n) => Ok(Value::Number(*n)),
            ExpressionKind::Text(text) => Ok(Value::Text(text.clone())),
            ExpressionKind::Name { name, index } => {
                let index = self.index_value(index.as_deref(), resolver)?;
                resolver.name(name, index)
            }
            ExpressionKind::Address { name, index } => {
                let index = self.index_value(index.as_deref(), resolver)?;
                resolver.address(name, index)
            }
            ExpressionKind::Call {
                function,
                arguments,
            } => resolver.call(function, arguments),
            ExpressionKind::Unary(operator, operand) => {
                let n = operand.number(resolver)?;
                match operator {
                    UnaryOperator::Plus => Some(n),
                    UnaryOperator::Minus => within(-n),
                    UnaryOperator::Complement => Some(bits([n, n], |n, _| !n)),
                    UnaryOperator::Not => Some(i128::from(n == 0)),
                }
                .map(Value::Number)
                .ok_or_else(|| self.overflow())
            }
            ExpressionKind::Binary(operator, left, right) => {
                self.binary(*operator, left, right, resolver)
            }
            ExpressionKind::Conditional(parts) => {
                let [condition, yes, no] = &**parts;
                if condition.number(resolver)? == 0 {
                    no.evaluate(resolver)
                } else {
                    yes.evaluate(resolver)
                }
            }
        }
    }

    /// Evaluates the expression as a number.
    ///
    /// # Errors
    /// Returns an error like [`Self::evaluate`], or if the value is a string.
    pub fn number(&self, resolver: &mut dyn Resolver) -> Result<i128, Failure> {
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

    fn binary(
        &self,
        operator: BinaryOperator,
        left: &Self,
        right: &Self,
        resolver: &mut dyn Resolver,
    ) -> Result<Value, Failure> {
        use BinaryOperator as B;
        // The right side of `defined(X) && X > 1` must be evaluated only if needed.
        if operator == B::AndAlso || operator == B::OrElse {
            let decided = (left.number(resolver)? != 0) == (operator == B::OrElse);
            let value = if decided {
                operator == B::OrElse
            } else {
                right.number(resolver)? != 0
            };
            return Ok(Value::Number(i128::from(value)));
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
            return Ok(Value::Number(i128::from(same == (operator == B::Equal))));
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
                    .also(right.span, right.expansion, "this is 0")
                    .help("test the divisor first with `#if`, or choose between two values with `? :`"),
                ));
            }
            B::Divide => a.checked_div(b),
            B::Remainder => a.checked_rem(b),
            B::Add => a.checked_add(b),
            B::Subtract => a.checked_sub(b),
            B::ShiftLeft => u32::try_from(b)
                .ok()
                .filter(|by| *by < 64)
                .and_then(|by| a.checked_mul(1 << by)),
            B::ShiftRight => u32::try_from(b).ok().map(|by| a >> by.min(127)),
            B::Less => Some(i128::from(a < b)),
            B::LessOrEqual => Some(i128::from(a <= b)),
            B::Greater => Some(i128::from(a > b)),
            B::GreaterOrEqual => Some(i128::from(a >= b)),
            B::And => Some(bits([a, b], |a, b| a & b)),
            B::Xor => Some(bits([a, b], |a, b| a ^ b)),
            B::Or => Some(bits([a, b], |a, b| a | b)),
            B::Equal | B::NotEqual | B::AndAlso | B::OrElse => None,
        };
        value
            .and_then(within)
            .map(Value::Number)
            .ok_or_else(|| self.overflow())
    }

    fn index_value(
        &self,
        index: Option<&Self>,
        resolver: &mut dyn Resolver,
    ) -> Result<Option<i64>, Failure> {
        let Some(index) = index else {
            return Ok(None);
        };
        let index = index.number(resolver)?;
        i64::try_from(index).map(Some).map_err(|_| self.overflow())
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

/// Returns the number if it fits 64 bits.
fn within(n: i128) -> Option<i128> {
    (i128::from(i64::MIN)..=i128::from(u64::MAX))
        .contains(&n)
        .then_some(n)
}

/// Applies a bitwise operation. The result is signed unless an operand exceeds the signed range.
fn bits(numbers: [i128; 2], operation: impl Fn(i128, i128) -> i128) -> i128 {
    let [a, b] = numbers;
    let result = operation(a, b) as u64;
    if numbers.iter().any(|n| *n > i128::from(i64::MAX)) {
        i128::from(result)
    } else {
        i128::from(result.cast_signed())
    }
}

fn fail(code: &'static str, message: impl Into<String>, at: &Token) -> Failure {
    Box::new(Diagnostic::error(code, message, at.span, at.expansion))
}

#[cfg(test)]
mod tests;
