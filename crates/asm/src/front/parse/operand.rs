//! Operands, operators and shifts.

use nom::Parser;
use nom::branch::alt;
use nom::combinator::{all_consuming, map, opt, rest, value, verify};
use nom::sequence::{pair, preceded, terminated};
use npsim_isa::{AluOp, IndexStep, Operand as Physical};

use super::line::balanced_until;
use super::stream::{Parsed, Tokens, fail, ident, punct, token};
use crate::front::token::{Token, TokenKind};

/// The syntactic form of an operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OperandForm<'a> {
    /// `--`
    None,
    /// An indexed register or the next-neighbour ring.
    Indexed(Physical),
    /// `*l$indexP[offset]` with a constant expression as the offset; `None` for
    /// 0.
    LocalMemory(u8, Option<&'a [Token]>),
    /// A name, optionally with an element number.
    Name(&'a Token, Option<&'a [Token]>),
    /// `name#`
    Label(&'a Token),
    /// A constant expression.
    Expression(&'a [Token]),
}

/// The amount of a shift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShiftAmount<'a> {
    /// `indirect`
    Indirect,
    /// A constant expression.
    By(&'a [Token]),
    /// `rotN`, written as one name.
    Rotate(u64),
    /// `rot(N)`
    RotateBy(&'a [Token]),
}

/// A shift, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShiftText<'a> {
    /// Whether it is `<<` rather than `>>`.
    pub left: bool,
    /// The amount of the shift.
    pub count: ShiftAmount<'a>,
}

fn none(input: Tokens<'_>) -> Parsed<'_, OperandForm<'_>> {
    value(OperandForm::None, punct("--")).parse(input)
}

fn step(input: Tokens<'_>) -> Parsed<'_, IndexStep> {
    map(
        opt(alt((
            value(IndexStep::Increment, punct("++")),
            value(IndexStep::Decrement, punct("--")),
        ))),
        |step| step.unwrap_or(IndexStep::Keep),
    )
    .parse(input)
}

fn element(input: Tokens<'_>) -> Parsed<'_, &[Token]> {
    terminated(preceded(punct("["), balanced_until(&["]"])), punct("]")).parse(input)
}

fn indexed(input: Tokens<'_>) -> Parsed<'_, OperandForm<'_>> {
    let (after, name) = preceded(punct("*"), ident).parse(input)?;
    match &*name.text.to_ascii_lowercase() {
        index @ ("l$index0" | "l$index1") => {
            let pointer = u8::from(index.ends_with('1'));
            let (after, offset) = opt(element).parse(after)?;
            if offset.is_some() {
                return Ok((after, OperandForm::LocalMemory(pointer, offset)));
            }
            let (after, step) = step(after)?;
            Ok((
                after,
                match step {
                    IndexStep::Keep => OperandForm::LocalMemory(pointer, None),
                    step => OperandForm::Indexed(Physical::LocalMemoryStep { pointer, step }),
                },
            ))
        }
        "$index" => map(step, |step| OperandForm::Indexed(Physical::SIndexed(step))).parse(after),
        "$$index" => map(step, |step| OperandForm::Indexed(Physical::DIndexed(step))).parse(after),
        "n$index" => map(opt(punct("++")), |put| {
            OperandForm::Indexed(if put.is_some() {
                Physical::NnRing
            } else {
                Physical::NnPeek
            })
        })
        .parse(after),
        _ => fail(
            input,
            "`*l$index0`, `*l$index1`, `*$index`, `*$$index` or `*n$index`",
        ),
    }
}

fn name(input: Tokens<'_>) -> Parsed<'_, OperandForm<'_>> {
    map(pair(ident, opt(element)), |(name, element)| {
        OperandForm::Name(name, element)
    })
    .parse(input)
}

fn label(input: Tokens<'_>) -> Parsed<'_, OperandForm<'_>> {
    map(
        token("a label", |token| token.kind == TokenKind::Label),
        OperandForm::Label,
    )
    .parse(input)
}

fn expression(input: Tokens<'_>) -> Parsed<'_, OperandForm<'_>> {
    map(
        verify(rest, |tokens: &Tokens<'_>| !tokens.0.is_empty()),
        |tokens: Tokens<'_>| OperandForm::Expression(tokens.0),
    )
    .parse(input)
}

/// Parses an operand.
pub fn operand(input: Tokens<'_>) -> Parsed<'_, OperandForm<'_>> {
    if input.0.first().is_some_and(|token| token.is("*")) {
        return all_consuming(indexed).parse(input);
    }
    alt((
        all_consuming(none),
        all_consuming(name),
        all_consuming(label),
        expression,
    ))
    .parse(input)
}

/// Parses the operator of `alu` and `alu_shf`.
pub fn operator(input: Tokens<'_>) -> Parsed<'_, AluOp> {
    let text: String = input.0.iter().map(|token| &*token.text).collect();
    let op = match &*text.to_ascii_uppercase() {
        "B" => AluOp::B,
        "~B" => AluOp::NotB,
        "+" => AluOp::Add,
        "-" => AluOp::Sub,
        "+8" => AluOp::Add8,
        "+16" => AluOp::Add16,
        "+CARRY" => AluOp::AddCarry,
        "-CARRY" => AluOp::SubCarry,
        "B-A" => AluOp::SubReverse,
        "AND" => AluOp::And,
        "~AND" => AluOp::NotAAnd,
        "AND~" => AluOp::AndNot,
        "OR" => AluOp::Or,
        "XOR" => AluOp::Xor,
        _ => {
            return fail(
                input,
                "an operator: +, -, +carry, -carry, +8, +16, B-A, B, ~B, AND, ~AND, AND~, OR or XOR",
            );
        }
    };
    Ok((Tokens(&[]), op))
}

/// Parses `<<n`, `>>n`, `<<rotn`, `>>rotn`, `<<indirect` or `>>indirect`.
pub fn shift(input: Tokens<'_>) -> Parsed<'_, ShiftText<'_>> {
    let direction = alt((value(true, punct("<<")), value(false, punct(">>"))));
    map(pair(direction, shift_count), |(left, count)| ShiftText {
        left,
        count,
    })
    .parse(input)
}

fn shift_count(input: Tokens<'_>) -> Parsed<'_, ShiftAmount<'_>> {
    let Some((first, after)) = input.0.split_first() else {
        return fail(input, "a shift count");
    };
    if first.kind == TokenKind::Ident {
        let folded = first.text.to_ascii_lowercase();
        if folded == "indirect" && after.is_empty() {
            return Ok((Tokens(after), ShiftAmount::Indirect));
        }
        if let Some(digits) = folded.strip_prefix("rot") {
            if digits.is_empty() && !after.is_empty() {
                return Ok((Tokens(&[]), ShiftAmount::RotateBy(after)));
            }
            if let (Ok(count), true) = (digits.parse(), after.is_empty()) {
                return Ok((Tokens(after), ShiftAmount::Rotate(count)));
            }
        }
    }
    Ok((Tokens(&[]), ShiftAmount::By(input.0)))
}
